# test_schema.sh - results of every analysis as JSON are what docs/schema/ says, and what they are not
# the schemas refuse: each value of another type, each key too many, each missing one.
# timeout: 400
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
examples=$TROD_SOURCE/examples schemas=$TROD_SOURCE/docs/schema
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace # if there
python=
for try in python3 /usr/bin/python3; do
    ! "$try" -c 'import jsonschema' 2>/dev/null || { python=$try && break; }
done
[[ -n $python ]] || { echo 'skipped: no Python with jsonschema'; exit 77; }
mapfile -t analyses < <(sed -n 's/^TROD_ANALYSIS(\(.*\))/\1/p' "$TROD_SOURCE/src/analysis/analyses.def")
check test "${#analyses[@]}" -gt 12

# What else each analysis is asked, one line a run.
more() {
    case $1 in
        cache) printf '%s\n' '--classify --sharing' '--by thread' '--by line' '--by data' '--by instruction' \
            '--preset zen2 --by region' '--interval 20' '--windows 20,5,5' '--sweep size=1K..4K,ways=1..2,line=64' ;;
        locality) printf '%s\n' '--times' '--window 10' '--ways 2' '--touched 1K' '--strides' '--histogram' \
            '--per instruction' '--per data --shared' '--per page' '--sample 2' '--memory 2M' '--limit-lines 2' ;;
        syscalls | functions) printf '%s\n' '--list 3' ;;
        branches) printf '%s\n' '--predictors bimodal,btb,ras,ittage' ;;
        phases) printf '%s\n' '--interval 20 --list' ;;
        calls) printf '%s\n' '--list' '--final-stack' '--weight loads,bytes_read' ;;
        profile | flame) printf '%s\n' '--weight loads' '--weight cache.L1D:preset=zen2' ;;&
        flame) printf '%s\n' "--against $examples/sum.trace.zip" ;;
        count) printf '%s\n' '--per-thread' '--top 1' ;;
        deps) printf '%s\n' '--most-lines 1' ;;
        info) printf '%s\n' '--quick' ;;
        schedule) printf '%s\n' '--order dynamic' ;;
        check) printf '%s\n' '--rules' ;;
    esac
}

# results ANALYSIS: as files NAME.N.json, of examples and, where they are, of real traces.
results() {
    local n=0 file more
    while read -r more; do
        for file in "$examples"/{sum.trace.zip,hello.tarmac,records.tt6e,boot.byu12} "$traces"/offline-func-trace; do
            [[ -e $file ]] || continue
            [[ $n -lt 4 ]] || drawn || continue
            # shellcheck disable=SC2086 # options and their values
            "$TROD" "$1" --format json $more "$file" >"$1.$n.json" 2>/dev/null
            if [[ -s $1.$n.json ]]; then n=$((n + 1)); else rm "$1.$n.json"; fi
        done
    done < <(printf '%s\n' '' '--interval 20000' '--by thread' '--by core' '--by module' '--by function'; more "$1")
}

# What only a configuration asks for: TLBs, physical addresses, coherence, what another thread empties; tables of nothing.
cat >all.conf <<'X'
cores 2
addresses physical
coherence on
flush all
cache A code size=1K ways=2
cache B data size=1K ways=2
cache C size=8K ways=4 shared
tlb T entries=2 ways=full
walk C
X
sed "s/^flush all/flush tlbs/" all.conf >tlbs.conf

n=1000 # behind the files of results
for a in "${analyses[@]}"; do
    last="results of $a"
    check test -s "$schemas/$a.schema.json"
    results "$a"
    check test -s "$a.0.json"
    echo check "$a" "$a".*.json >>held
    # the largest result of an example has most of what may be altered
    # shellcheck disable=SC2012 # names of our own
    echo alter "$a" "$(ls -S "$a".[0-3].json | head -1)" >>held
    checks=$((checks + 2))
done
file=$examples/sum.trace.zip
for more in "--config all.conf --warmup full --sharing" "--config tlbs.conf --windows 20,5,5 --classify" "--physical --warmup full" \
    "--sweep size=1K,ways=1 --kind instr"; do
    last="trod cache $more"
    # shellcheck disable=SC2086
    "$TROD" cache --format json $more "$file" >"cache.$n.json" 2>/dev/null
    check test -s "cache.$n.json"
    printf '%s\n' "check cache cache.$n.json" "alter cache cache.$n.json" >>held
    n=$((n + 1))
done
# More pages than are counted exactly; more lines than stores are kept of.
awk 'BEGIN {
    print "kind,pc,addr,size"
    for (i = 0; i < 70000; i++)
        printf "INSTR,0x%x,,4\nREAD,0x%x,0x%x,8\n", 4096 * i, 4096 * i, 4096 * (i + 100000)
}' >wide.csv
last='trod count wide.csv'
"$TROD" count --format json wide.csv >count.$n.json 2>/dev/null
check grep -q code_footprint_estimated count.$n.json
check grep -q data_footprint_estimated count.$n.json
printf '%s\n' "check count count.$n.json" "alter count count.$n.json" >>held
n=$((n + 1))
awk 'BEGIN { for (i = 1; i <= 200; i++) {
         printf "%d clk cpu0 IT (%d) 00008000:000000008000_NS f90007e0 O EL1h_n : X\n", i, i
         printf "%d clk cpu0 MW8 %08x:%012x_NS 00000000_00000001\n", i, i * 64, i * 64 } }' >wide.tarmac
last='trod deps --most-lines 10 wide.tarmac'
"$TROD" deps --most-lines 10 --format json wide.tarmac >deps.$n.json 2>/dev/null
check grep -q stores_forgotten deps.$n.json
printf '%s\n' "check deps deps.$n.json" "alter deps deps.$n.json" >>held
n=$((n + 1))
# What is told of a file by itself: of a quick look, of one that is damaged.
head -c 100 "$examples/boot.byu12" >cut.byu12
last='trod info cut.byu12'
for more in '' --quick; do
    # shellcheck disable=SC2086 # none or one
    "$TROD" info $more --format json cut.byu12 >info.$n.json 2>/dev/null
    check test -s info.$n.json
    printf '%s\n' "check info info.$n.json" "alter info info.$n.json" >>held
    n=$((n + 1))
done
last='trod info --quick -'
"$TROD" info --quick --format json - <"$examples/hello.tarmac" >info.$n.json 2>/dev/null
check test -s info.$n.json
echo "check info info.$n.json" >>held
n=$((n + 1))
# A critical path of two hops: one thread, rows that say none, another thread. 0x20 gives a signal, 0x30 waits for it.
cat >path.csv <<'X'
kind,stream,pc,addr,value,sub
INSTR,1,0x1000,0x1000,,
INSTR,1,0x1004,0x1004,,
SYNC,1,,0x8000,1,0x20
SYNC,,,0x8000,1,0x30
INSTR,,0x2000,0x2000,,
SYNC,,,0x9000,1,0x20
INSTR,2,0x3000,0x3000,,
SYNC,2,,0x9000,1,0x30
INSTR,2,0x3004,0x3004,,
X
last='trod sync path.csv'
"$TROD" sync --format json path.csv >sync.$n.json 2>/dev/null
check test "$(grep -c '"from":' sync.$n.json)" = 2
printf '%s\n' "check sync sync.$n.json" "alter sync sync.$n.json" >>held
n=$((n + 1))
# Every format, what is damaged too; of the first file of each also what a run is divided by.
formats=0
for folder in "$TROD_SOURCE"/tests/golden/*/; do
    [[ $folder != */negative/ ]] || continue
    divided=('' '--by thread' '--by core' '--interval 3:rows --warmup 2:rows' '--warmup 1000000:rows')
    for file in "$folder"*; do
        [[ $file != *.md ]] || continue
        for a in "${analyses[@]}"; do
            for option in "${divided[@]}"; do
                drawn || continue
                last="trod run $a $option $file"
                # shellcheck disable=SC2086 # options and their values
                "$TROD" run "$a" --format json $option "$file" >"$a.$n.json" 2>/dev/null
                [[ -s $a.$n.json ]] && echo "check $a $a.$n.json" >>held
                n=$((n + 1))
            done
            case $a in info | check | sync | cache)
                "$TROD" "$a" --format json "$file" >"$a.$n.json" 2>/dev/null
                [[ -s $a.$n.json ]] && echo "check $a $a.$n.json" >>held
                n=$((n + 1))
                ;;
            esac
        done
        divided=('')
    done
    formats=$((formats + 1))
done
check test $formats -gt 25
# No source names a key that no schema has.
last='keys in the sources'
result_keys >keys
check test "$(wc -l <keys)" -gt 300
while read -r key; do
    check grep -qF "\"$key\"" "$schemas"/*.json
done <keys
last='schema.py'
"$python" "$TROD_SOURCE/tests/cli/schema.py" "$schemas" <held >wrong 2>&1 || echo "status $?" >>wrong
[[ ! -s wrong ]] || head -20 wrong | wrong
for file in "$schemas"/*.json; do
    name=${file##*/}
    check grep -qx "${name%.schema.json}" <(printf '%s\n' "${analyses[@]}")
done
finish

# test_jobs.sh - every analysis finds the same, byte for byte, for any number of threads: alone and
# several in one run, in traces that cannot be parted (one stream of gzip, a file without cuts).
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
gen=$(dirname "$TROD")/../../tests/gen/trod-gen

# rows of several times the batches that threads hand on
if [[ -x $gen ]]; then
    "$gen" drm-small --records 200000 >small.trace
    "$gen" drm-small --records 90000 | gzip -1 >small.trace.gz
fi
trod gen zipf:lines=3000,count=20000 zipf.trace >/dev/null
trod gen sharing:count=12000 shared.d --to drmemtrace >/dev/null
awk 'BEGIN {
    for (i = 0; i < 30000; i++) {
        printf "%d clk cpu%d IT (%d) %08x %s O EL1h_n : X\n", i, i / 50 % 2, i + 1,
               65536 + 4 * (i * 7 % 900), i % 3 ? "d503201f" : "f9400001"
        if (i % 3 == 0)
            printf "%d clk cpu%d MR8 %08x 00000000_00000001\n", i, i / 50 % 2, 8388608 + i * 8 % 65536
        if (i == 20000)
            print "12 clk cpu0 IT (x) zz"
    }
}' | gzip -1 >t.tarmac.gz

# same_for JOBS OPTION... TRACE: -j 1 says what must come of the others
same_for() {
    local counts=$1
    shift
    run trod run -j 1 --format json "$@"
    local was=$got
    cp "$stdout" one
    cp "$stderr" one.err
    for jobs in $counts; do
        run trod run -j "$jobs" --format json "$@"
        status "$was"
        same one "$stdout"
        same one.err "$stderr"
    done
}

# analyses_of TRACE: those that can read it, with commas between them
analyses_of() {
    local may=
    for analysis in $(trod run --list | awk 'NR > 2 {print $1}'); do
        trod run -j 1 "$analysis" "$1" >/dev/null 2>&1 && may=$may,$analysis
    done
    echo "${may#,}"
}

drm=$(analyses_of zipf.trace) text=$(analyses_of t.tarmac.gz)
check test "$(tr -dc , <<<"$drm" | wc -c)" -ge 12
for trace in small.trace small.trace.gz zipf.trace shared.d; do
    [[ -e $trace ]] || { echo "no trod-gen: $trace not tested"; continue; }
    same_for "2 3 5" "$drm" $trace
done
for analysis in ${drm//,/ }; do
    drawn || continue
    same_for 2 "$analysis" zipf.trace
done
same_for "2 4" --limit 33333 "${drm/,check/}" zipf.trace # which looks at whole traces
same_for "2 3 5" "$text" t.tarmac.gz
# Records of FULL move where another trace begins: parts behind it would begin inside them.
if [[ -x $gen ]]; then
    "$gen" full --records 14000 >one.full
    cat one.full one.full >joined.full
    head -c 13000000 one.full >cut.full
    "$gen" tt6 --records 4000000 >one.tt6
    for trace in joined.full one.tt6; do
        split -b 3000000 $trace part. # not at records
        for part in part.??; do
            gzip -1 -c $part >>members.${trace#*.}.gz
        done
        rm part.??
    done
    for trace in one.full joined.full cut.full members.full.gz members.tt6.gz; do
        for analysis in count mix,hot check cache,locality calls; do
            same_for "2 3" $analysis $trace
        done
    done
    # what was written cannot be taken back when a part began wrongly
    { head -c 9000000 one.tt6; printf 'zzzzzzzzzzzzzzzzzzz'; tail -c +9000001 one.tt6; } >bad.tt6
    for trace in joined.full bad.tt6; do
        for jobs in 1 2 3; do
            for view in folded callgrind; do
                run trod export -j $jobs --to $view -o written $trace
                sed -i '/^cmd:/d' written
                { cat written; grep -o '[0-9,]* rows' "$stderr"; } >$view.$jobs
            done
            run trod cache -q -j $jobs --misses misses.$jobs.din $trace
        done
        for jobs in 2 3; do
            check cmp folded.1 folded.$jobs
            check cmp callgrind.1 callgrind.$jobs
            check cmp misses.1.din misses.$jobs.din
        done
    done
    rm ./*.full ./*.tt6 members.*
    # Parts of drmemtrace assume what is before them: not so behind the beginning of kernel code.
    "$gen" drm-large --records 1000000 >one.trace
    { head -c 4800000 one.trace; printf '\x1c\0\x1b\0\x03\0\0\0\0\0\0\0'; tail -c +4800001 one.trace; } >kernel.trace
    { head -c 4800000 one.trace; printf 'nonsense'; tail -c +4800001 one.trace; } >wild.trace
    for trace in one.trace kernel.trace wild.trace; do
        same_for "2 3" count,cache,locality $trace
        same_for "2 3" --by thread count $trace
    done
    rm one.trace kernel.trace wild.trace
fi
trod gen producer prod.d >/dev/null
for analysis in ${drm//,/ }; do
    for by in thread core; do
        drawn || continue
        trod run -j 1 --by $by "$analysis" prod.d >/dev/null 2>&1 && same_for 3 --by $by "$analysis" prod.d
    done
done
run trod run info --by thread -j 1 --format json prod.d
json '[.streams_2[].streams[] | [.name, .rows]] == [.streams[] | [.name, .rows]] and (.streams_2 | length) == 2'
# What each file says of itself is said of the first one.
for chunk in 5000 20000; do
    mkdir -p of$chunk
    trod gen zipf:lines=300,count=9000 of$chunk/1.trace.zip --to drmemtrace:chunk=$chunk >/dev/null
    trod gen zipf:lines=300,count=9000 of$chunk/2.trace.zip --to drmemtrace:chunk=$((25000 - chunk)) >/dev/null
    for jobs in 1 2 3; do
        run trod info -j $jobs --format json of$chunk
        json ".files[0].drmemtrace.instructions_per_chunk == $chunk"
    done
done
run trod run branches --by core -j 2 --format json prod.d
json '.branches == 20000 and ([.cores[].branches] | add) == 20000' # each thread stays on its core

# A core that did not run every thread: its table has their numbers in the trace.
mkdir cores
entry() { printf '%b' "$(printf '\\x%02x\\x00\\x%02x\\x00\\x%02x\\x%02x\\x00\\x00\\x00\\x00\\x00\\x00' "$1" "$2" \
    $(($3 & 255)) $(($3 >> 8)))"; }
for tid in 1 2 3; do
    {
        entry 25 0 7 && entry 28 12 7 && entry 28 9 $((0x440)) && entry 22 4 $tid && entry 24 4 7 && entry 28 10 64
        entry 28 20 1000 && entry 28 18 4096 && entry 28 2 $((1000 + tid)) && entry 28 3 $((tid == 2))
        entry 10 2 $((0x1000)) && entry 23 4 $tid && entry 26 0 0
    } >cores/drmemtrace.x.0000$tid.0001.trace
done
same_for "2 3" --by core info,count cores
json '[.info.cores[] | [.streams[].stream]] == [[0, 2], [1]]'

# Two programs at the same addresses, without opcodes: each has instructions of its own.
for size in 2 3 4; do
    {
        echo 'kind,stream,addr,size'
        for ((i = 0; i < 3000; i++)); do
            printf 'INSTR,1,0x%x,%d\n' $((4096 + size * (i % 40))) $size
        done
    } >size$size.csv
done
for jobs in 1 2 3; do
    run trod run mix -j $jobs --format json size4.csv size2.csv size3.csv
    status 0
    json '[.lengths[] | [.length, .instructions]] == [[2, 3000], [3, 3000], [4, 3000]]'
done
same_for "2 3" "mix,hot,branches,deps,phases" size4.csv size2.csv size3.csv
same_for "2 4" --interval 7000 cache,locality,mix zipf.trace
same_for "2 4" --region 5000..61000 --warmup 3000 cache,branches zipf.trace
same_for "2 4" --order time cache,locality,deps shared.d
# Several files, which take turns and whose batches are handed on whole, or in parts: few of them, and more.
files=()
for n in 1 2 3; do
    trod gen sharing:count=$((7000 * n)) turn$n.d --to drmemtrace >/dev/null
    files+=(turn$n.d)
done
for set in mix,hot functions,schedule count mix,hot,branches calls "cache,locality,deps"; do
    same_for "2 4" --order time "$set" "${files[@]}"
    same_for "2 4" --order time "$set" prod.d prod.d prod.d prod.d prod.d
done

# compare decodes both sides ahead: edits, damage on either side, an early end, orders of several files
# compared_for OPTION... A B: -j 1 says what must come of the others
compared_for() {
    run trod compare -j 1 "$@"
    local was=$got
    cp "$stdout" one
    cp "$stderr" one.err
    for jobs in 2 3 5; do
        run trod compare -j "$jobs" "$@"
        status "$was"
        same one "$stdout"
        same one.err "$stderr"
    done
}

zcat t.tarmac.gz >t.tarmac
sed -e '9000,9020d' -e '17000s/d503201f/d503201e/' -e '25000s/clk/???/' t.tarmac >u.tarmac
trod gen sharing:count=12000 shared/ --to drmemtrace >/dev/null
{ head -c 300001 zipf.trace; tail -c +300020 zipf.trace; } >bad.trace
# Damage inside a member of an archive and at its end: told in the same order, however far is read ahead.
trod gen zipf:lines=3000,count=60000 chunks.zip --to drmemtrace:chunk=20000 >/dev/null
{ head -c 30001 chunks.zip; head -c 200 /dev/zero; tail -c +30202 chunks.zip; } >broken.zip
for options in '' '--strict' '--interval 5000'; do
    # shellcheck disable=SC2086 # options are words
    same_for "2 3" $options count broken.zip
    if [[ $options == --strict ]]; then # what the damage inflates to comes first
        err_has 'record has the unknown type'
    else
        err_has 'zip member'
    fi
done
# A member that makes more than it says, before a place where the file is cut: the part before that ends inside it.
for number in 71 72 73; do
    python3 "$TROD_SOURCE/tests/cli/long_members.py" long.din.gz $number
    same_for "2 3" count:footprint=none long.din.gz
    status 2
    err_has 'wrong checksum or length'
done
# files that an analysis cannot write are named
for option in picture simpoints bb; do
    run trod phases --$option nowhere/file zipf.trace
    status 2
    err_has "cannot create 'nowhere/file"
done
for options in '' '-w 8' '--first-dif-stop' '--strict' '--independent' '--boot-size 30000'; do
    # shellcheck disable=SC2086 # options are words
    compared_for $options t.tarmac.gz u.tarmac
    # shellcheck disable=SC2086
    compared_for $options bad.trace zipf.trace
done
head -n 20000 t.tarmac >cut.tarmac
compared_for --skip-rest u.tarmac cut.tarmac
compared_for --order time shared/ shared.d
check test "$(find shared -name '*.trace.*' | wc -l)" -gt 1
for jobs in 1 2; do
    run trod convert -q --order time --to csv -j $jobs shared/ "$jobs.csv"
    status 0
done
check cmp 1.csv 2.csv

# ---- a file in a directory that is no part of the trace is named once, whatever the number of threads
mkdir strays
for i in 1 2 3; do trod gen cyclic:lines=100,laps=3 strays/t$i.trace >/dev/null; done
printf 'not a trace of anything\n' >strays/t4.trace
for c in count mix locality branches info check 'run count,hot'; do
    for jobs in 1 2 4; do
        # shellcheck disable=SC2086 # a command and its analyses
        run trod $c -j $jobs strays
        status 0
        check test "$(grep -c "warning: 'strays/t4.trace' is no part of the trace: passed over" "$stderr")" = 1
    done
done
finish

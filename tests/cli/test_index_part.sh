# test_index_part.sh - commands that are asked about a part of an indexed trace read no more than it
# needs, and answer as they do without the index.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
have python3

# --- what is read: a line before the part that is damaged behind the index' back is not met

awk 'BEGIN { srand(5); for (i = 1; i <= 60000; i++) {
    printf "%d clk IT (%d) %08x e1a00000 A svc_s : NOP\n", i, i, 32768 + 4 * int(rand() * 300)
    if (rand() < .6) printf "%d clk MW4 %08x %08x\n", i, 65536 + 4 * int(rand() * 5000), i } }' >t.tarmac
cp -p t.tarmac whole.tarmac
run trod index t.tarmac
status 0
rows=$(trod index --info --format json t.tarmac | jq '.traces[0].rows')
touch -r t.tarmac stamp
printf '\n12 clk MW4 zz\nx' | dd of=t.tarmac bs=1 seek=1500000 conv=notrunc 2>/dev/null
touch -r stamp t.tarmac
check test "$(stat -c %s t.tarmac)" -gt 3000000
run trod count --no-index --range $((rows - 500))..$((rows - 1)) t.tarmac
status 2

parts=("--range $((rows - 500))..$((rows - 100))" '--time 59000..59100' '--instructions 59000..59100'
    "--where row>=$((rows - 500))" '--region 59000..59100' "--region $((rows - 500))..$((rows - 100)):rows"
    '--region 59000..59100:time' '--region 59000..59100 --warmup 50' '--region 59000..59100 --interval 20'
    "--region $((rows - 500))..$((rows - 100)):rows --interval 30:time" '--region 59000..59100:time --interval 50:rows')
for part in "${parts[@]}"; do
    commands='count mix hot branches locality functions deps phases schedule run:count,hot'
    [[ $part == --region* ]] || commands+=' cache view convert waves truncate export'
    commands+=' calls profile run:calls,mix'
    for command in $commands; do
        drawn || continue
        set -- ${command/:/ }
        case $command in
        convert) trod convert -q --no-index $part whole.tarmac want.tarmac ;;
        export) trod export -q -T speedscope -o want.tarmac --no-index $part whole.tarmac ;;
        waves | truncate) trod "$@" -q --no-index $part whole.tarmac >want ;;
        *) trod "$@" --format json --no-index $part whole.tarmac >want ;;
        esac
        case $command in
        convert) run trod convert -q $part t.tarmac got.tarmac ;;
        export) run trod export -q -T speedscope -o got.tarmac $part t.tarmac ;;
        waves | truncate) run trod "$@" -q $part t.tarmac ;;
        *) run trod "$@" --format json $part t.tarmac ;;
        esac
        status 0
        err </dev/null
        if [[ $command == convert || $command == export ]]; then
            sed -i 's/whole[.]tarmac/t.tarmac/g' want.tarmac
            check test -s got.tarmac
            check cmp want.tarmac got.tarmac
        else
            sed -i 's/whole[.]tarmac/t.tarmac/g' want
            check test -s want
            out_is want
        fi
    done
done

# cache --skip: caches are as cold behind it, and windows and warm-ups count from where it ends
for options in '' '--warmup 300' '--warmup full' '--warmup rows:5000' '--windows 200,20,50' '--by line' '--by thread --interval 100' \
    '--classify' '--preset zen2'; do
    run trod cache --format json --skip 58000 $options t.tarmac
    status 0
    err </dev/null
    trod cache --format json --no-index --skip 58000 $options whole.tarmac >want
    out_is want
done
for options in '--skip 58000' "--range $((rows - 900))..$((rows - 100))" '--skip 58000 --warmup 300'; do
    for to in csv dinero drmemtrace; do
        drawn || continue
        trod cache --no-index $options --misses misses --to $to whole.tarmac >want 2>want.err
        rm -rf want.misses
        mv misses want.misses
        run trod cache $options --misses misses --to $to t.tarmac
        status 0
        out_is want
        check test -s want.misses
        check diff -r want.misses misses
        rm -rf misses want.misses
        check cmp -s want.err "$stderr"
    done
done
for options in '--skip 58000 --by data' '--skip 58000 --by block' '--skip 58000 --by region'; do
    run trod cache $options t.tarmac # where the stacks are is known by what is skipped
    status 2
done

python3 "$TROD_SOURCE/tests/cli/elf_functions.py" f.elf 0x8000 0x1000 f:0x8000:0x400
# so do the calls, whoever they are of, of rows that are chosen and of those that are not, and strict readers of a trace that
# had no damage
calls() {
    for command in calls 'calls --list --final-stack' 'calls --function 0x8100' profile flame; do
        drawn || continue
        run trod $command "$@" t.tarmac
        status 0
        err </dev/null
        trod $command --no-index "$@" whole.tarmac >want
        check test -s want
        out_is want
    done
}
for options in "--strict --range $((rows - 500))..$((rows - 100))" '--region 59000..59100 --interval 20' \
    '--region 59000..59100 --by thread' '--region 59000..59100 --by core' '--region 59000..59100 --warmup 30' \
    '--instructions 59000..59100' '--time 59000..59100 --kind instr --by thread' "--where row>=$((rows - 500)) --interval 50" \
    "--range $((rows - 500))..$((rows - 100)) --limit 90" "--range $((rows - 500))..$((rows - 100)) --kind instr --symbols f.elf"; do
    calls $options
done
for command in calls profile flame 'calls --function 0x8100'; do
    for part in '--region 59000..59100' "--range $((rows - 500))..$((rows - 100))"; do
        drawn || continue
        run trod $command --like tarmac $part t.tarmac
        status 0
        trod $command --like tarmac --no-index $part whole.tarmac >want
        out_is want
    done
done
run trod view --strict --range $((rows - 500))..$((rows - 100)) t.tarmac
status 0
trod view --strict --no-index --range $((rows - 500))..$((rows - 100)) whole.tarmac >want
out_is want

# --no-index reads it; so do calls that symbols decide of
for options in '--no-index --region 59000..59100' '--symbols f.elf --region 59000..59100'; do
    run trod calls $options t.tarmac
    status 2
done
# of an index that was made with these symbols they are given the calls, of a part and of all, but no others
cp whole.tarmac named.tarmac
python3 "$TROD_SOURCE/tests/cli/elf_functions.py" g.elf 0x8000 0x1000 f:0x8000:0x404
run trod index named.tarmac
run trod index --symbols f.elf named.tarmac
err_has '^made named.tarmac.trodx$'
for with in '--symbols f.elf' ''; do
    run trod index $with named.tarmac
    err_has 'is there and fits'
done
check test "$(trod index --info --format json named.tarmac | jq '.traces[0].activations_with_symbols')" -gt 0
trod index -q -j 1 --again --index . --symbols f.elf whole.tarmac
mv whole.tarmac.trodx one.trodx
trod index -q -j 4 --again --index . --symbols f.elf whole.tarmac
check cmp one.trodx whole.tarmac.trodx
rm whole.tarmac.trodx
touch -r named.tarmac stamp
printf '\n12 clk MW4 zz\nx' | dd of=named.tarmac bs=1 seek=1500000 conv=notrunc 2>/dev/null
touch -r stamp named.tarmac
for part in '' '--region 59000..59100' "--range $((rows - 500))..$((rows - 100))" '--region 59000..59100 --interval 20'; do
    for command in calls 'calls --list --final-stack' 'calls --function f' profile flame; do
        drawn || continue
        run trod $command --symbols f.elf $part named.tarmac
        status 0
        err </dev/null
        trod $command --symbols f.elf --no-index $part whole.tarmac >want
        check test -s want
        out_is want
    done
done
run trod calls --symbols g.elf named.tarmac
status 2
run trod calls --no-index --symbols f.elf named.tarmac
status 2

# of a trace that is damaged the first damage ends strict reading, wherever the part lies
printf '%s\n' '1 clk IT (1) 8000 e1a00000 A svc_s : NOP' '2 clk MW4 zz' '3 clk IT (2) 8004 e1a00000 A svc_s : NOP' >damaged.tarmac
run trod index -q damaged.tarmac
run trod index --info --strict damaged.tarmac
out_has '^  damaged places: +1$'
for command in 'count --range 1..1' 'calls --range 1..1' 'state --at 1' 'view --range 1..1' 'find kind==instr' calls; do
    trod $command --strict --no-index damaged.tarmac >want 2>want.err
    run trod $command --strict damaged.tarmac
    status 2
    out_is want
    check cmp -s want.err "$stderr"
done
# a part at the end, in which weights need rows
run trod flame --weight stores --range $((rows - 500))..$((rows - 1)) t.tarmac
status 0
trod flame --no-index --weight stores --range $((rows - 500))..$((rows - 1)) whole.tarmac >want
out_is want

# --- the same answer: several cpus, one of which sleeps; files of threads; formats, compression

awk 'BEGIN { srand(3); for (i = 1; i <= 30000; i++) {
    c = int(rand() * 3); if (c == 2 && i > 9000 && i < 21000) c = 0
    printf "%d clk cpu%d IT (%d) %08x e1a00000 A svc_s : NOP\n", i, c, i, 32768 + 4 * int(rand() * 300)
    if (rand() < .6) printf "%d clk cpu%d MW4 %08x %08x\n", i, c, 65536 + 4 * int(rand() * 5000), i
    if (rand() < .3) printf "%d clk cpu%d R r%d %08x\n", i, (c + int(rand() * 2)) % 3, int(rand() * 8), i } }' >cpus.tarmac
gzip -k cpus.tarmac
mkdir threads
for n in 1 2; do
    trod gen -q --to drmemtrace "cyclic:lines=$((50 * n)),laps=200" threads/drmemtrace.a.1.$n.trace >/dev/null
done
trod gen -q --to tt6e "cyclic:lines=200,laps=100" one.tt6e >/dev/null
trod convert -q threads/drmemtrace.a.1.1.trace one.trace.zip
for f in cpus.tarmac cpus.tarmac.gz threads one.tt6e one.trace.zip; do
    run trod index -q $f
    status 0
    rows=$(trod index --info --format json $f | jq '.traces[0].rows')
    check test "$rows" -gt 10000
    for at in 2 3 4; do
        part=$((rows - rows / at))..$((rows - rows / at + 1500))
        for question in "count --range $part" "hot --range $part --by thread" "mix --range $part --interval 100" \
            "branches --region $part:rows" "count --region $((rows / at))..$((rows / at + 900)) --by core" \
            "count --region $part:rows --interval 300" "mix --region $((rows / at))..$((rows / at + 900)) --interval 250:time" \
            "cache --skip $((rows / 2))" "cache --skip $((rows / at)) --by line --windows 5000,10,200" \
            "functions --range $part --by thread" "cache --by instruction --range $part" "locality --range $part" \
            "calls --list --final-stack --range $part" "profile --region $part:rows --weight loads,rows" \
            "calls --region $((rows / at))..$((rows / at + 900))" "profile --exceptions inline --range $part" \
            "view --range $part --where pc>0x8100" "find --range $part pc>0x8100"; do
            drawn || continue
            set -- $question
            command=("$1" --format json "${@:2}")
            [[ $1 == find ]] && command=(find --format json --range $part)
            last=("$f")
            [[ $1 == find ]] && last=("$f" 'pc>0x8100')
            [[ $question == 'cache --by instruction'* ]] && command+=(--misses misses)
            rm -f misses
            trod "${command[@]}" --no-index "${last[@]}" >want 2>want.err
            [[ ! -f misses ]] || mv misses want.misses
            run trod "${command[@]}" "${last[@]}"
            out_is want
            check cmp -s want.err "$stderr"
            [[ ! -f misses ]] || check cmp want.misses misses
        done
    done
done

# a part that begins with a file: calls of the file before end there
trod index -q threads/drmemtrace.a.1.1.trace
rows=$(trod index --info --format json threads/drmemtrace.a.1.1.trace | jq '.traces[0].rows')
rm threads/*.trodx
check test "$rows" -gt 5000
for from in $((rows - 1)) $rows $((rows + 1)); do
    trod calls --format json --list --final-stack --no-index --range $from..$((from + 900)) threads >want
    run trod calls --format json --list --final-stack --range $from..$((from + 900)) threads
    out_is want
done
finish

# test_asked.sh - what commands are asked for: the total of a run with intervals is that without;
# options of analyses in trod run; numbers that make no sense, which are refused with what to write.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
sum=$TROD_SOURCE/examples/sum.trace.zip

# loops and calls on two cpus, which intervals cut
awk 'BEGIN { srand(5); split("d503201f 54ffffe1 94000004 d65f03c0 f9400020 9b017c00", op, " ")
    for (n = 1; n <= 1500; n++) {
        cpu = n % 7 < 3; pc = 32768 + 4 * ((n + 3 * cpu) % 23); o = op[1 + int(rand() * 6)]
        printf "%d clk cpu%d IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, cpu, n, pc, pc, o
        if (o == "f9400020") printf "%d clk cpu%d MR8 %08x:%012x_NS 00000000_00000000\n", n, cpu, 8 * int(rand() * 64), 0
    } }' >t.tarmac

# ---- totals
# total ANALYSIS OPTION...: of a run with intervals, which there are
total() {
    trod run "$@" --format json t.tarmac >want
    run trod run "$@" --interval 100 --format json t.tarmac
    status 0
    json '[.. | .intervals?, .interval_predictors? | select(. != null) | length] | max >= 7'
    jq -S 'walk(if type == "object" then del(.intervals, .interval_predictors) else . end)' "$stdout" >got
    jq -S . want >whole
    same whole got
}
for a in count mix hot deps calls profile flame branches locality info; do
    total $a
done
for by in thread core; do
    for a in count hot profile calls; do
        total $a --by $by
    done
done
total deps --by thread
total hot --region 200..900
total calls --warmup 300
total hot,deps,mix
# an interval by itself is a run of its instructions
trod run deps --region 201..300 --format json t.tarmac | jq -S 'del(.format, .files, .streams)' >want
run trod run deps --interval 100 --format json t.tarmac
jq -S '.intervals[2] | del(.interval, .rows_end, .instructions_end, .time_end)' "$stdout" >got
same want got
for jobs in 2 3; do
    trod run hot,deps,calls --interval 100 --by thread -j 1 --format json t.tarmac >want
    run trod run hot,deps,calls --interval 100 --by thread -j $jobs --format json t.tarmac
    out_is want
done
run trod run mix,sync --interval 100 t.tarmac
status 2
err_has "^trod: analysis 'sync' has no intervals of a run: it follows the trace as a whole$"

# ---- options of analyses
for o in 'by=instruction,top=3' 'by=line' 'by=page,top=2' interval=100 preset=zen2 sharing classify skip=20 \
    sweep=size=4K..16K; do
    options=()
    for word in ${o//,/ }; do options+=("--$word"); done
    trod cache "${options[@]}" --format json t.tarmac | jq -S . >want
    run trod run "cache:$o" --format json t.tarmac
    status 0
    jq -S . "$stdout" >got
    same want got
done
# refused TEXT COMMAND...: with a message that says it
refused() {
    run trod "${@:2}"
    status 2
    check test ! -s "$stdout"
    err_has "^trod: .*$1"
}
refused "has no results by function: it has an option of its own, 'cache:by=function'" run cache --by function t.tarmac
refused "by line: it has an option of its own, 'cache:by=source'" run count,cache --by line t.tarmac
refused "has no intervals of a run: it has an option of its own, 'cache:interval=N'" run cache --interval 5 t.tarmac
refused 'misses by function need .* --symbols' run cache:by=function t.tarmac
refused "unknown option 'nonsense'" run cache:nonsense=3 t.tarmac
refused "'sync' has no options" run sync:x t.tarmac
for o in cache: cache:, cache:by=page,,top=3 mix:,top=3; do
    refused 'the name of an option is missing' run $o t.tarmac
done
refused 'the name of an option is missing' view --from tarmac: t.tarmac

# ---- numbers
for r in 0 0..3 0.. ..0 0..3:instructions; do
    refused "'$r' begins with no instruction: they count from 1" mix --region $r t.tarmac
done
for r in ..3 1..3; do
    run trod mix --region $r --format json t.tarmac
    json '.instructions == 3'
done
run trod mix --region 0..2:rows --format json t.tarmac
status 0
for o in mix,--limit cache,--interval locality,--sample locality,--window locality,--ways locality,--limit-lines \
    locality,--width schedule,--width compare,--lookahead compare,--window-size calls,--depth branches,--alignment report,--rows; do
    for n in 0 -1 18446744073709551616 '' 5x 1.5 ' 5' 0x; do
        refused "'$n' is not a number from 1" ${o/,/ }="$n" t.tarmac t.tarmac
    done
done
for o in locality,--memory locality,--touched locality,--size count,--line-size; do
    refused 'is not a number of bytes from 1' ${o/,/ }=0 t.tarmac
done
refused 'say 3440640 or more' locality --memory 1 t.tarmac
refused '65 is more than 64' locality --ways 65 t.tarmac
for n in 0 256 257 999999 4294967296 18446744073709551615; do # of threads there is a most
    trod mix --format json "$sum" >want
    run trod mix -j $n --format json "$sum"
    status 0
    out_is want
done
mkdir index
run trod index -j 4294967297 --index index "$sum"
status 0
refused "bad value '-5' for --start-addr" compare --start-addr -5 t.tarmac t.tarmac
refused 'for --start-addr' compare --start-addr 11111111111111111 t.tarmac t.tarmac
# where comparing never begins, traces are not called equal
run trod compare --start-addr 777 t.tarmac t.tarmac
status 2
err_has 't.tarmac has no instruction at the start address 0x777$'
run trod compare --boot-size 9999 t.tarmac t.tarmac
status 2
err_has 'nothing is compared: t.tarmac has no instruction after the first 9999 instructions, which are skipped$'
refused "'--stream': a value is missing" mix --stream= t.tarmac
refused "'--kind': a value is missing" view -k INSTR, t.tarmac
run trod compare --lookahead 4294967296 t.tarmac t.tarmac
status 0
finish

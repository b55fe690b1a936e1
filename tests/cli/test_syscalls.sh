# test_syscalls.sh - trod syscalls: examples counted by hand, arguments and results of a recorded
# trace, threads, files on several threads, saved parts, damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
examples=$TROD_SOURCE/examples

# by hand: one exit at the end of sum.c; its instruction in the other formats
run trod syscalls --format json "$examples/sum.trace.zip"
status 0
json '.total_calls == 1 and .returned == 0 and .failed == 0 and .instructions == 1'
json '.calls == [{number: 60, name: "exit", calls: 1, returned: 0, failed: 0, blocking: 0, timed: 0,
    time: null, mean: null, least: null, most: null, traces: 0}]'
run trod syscalls --format json "$examples/sum.tt6"
status 0
json '.instructions == 1 and (.places | length) == 1 and .places[0].instruction == "sc" and (.note | test("not name"))'
run trod syscalls --format json "$examples/hello.tarmac"
json '.instructions == 1 and .places[0].instruction == "svc #0"'
run trod syscalls "$examples/mips.trace"
status 0
out_has 'not known'

# a call whose result is not recorded: whether it failed is not known, and the result says so; and one whose result is
e() { # TYPE SIZE ADDRESS: an entry of 12 bytes, lowest byte first
    local i text
    printf -v text '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8)) $(($2 & 255)) $(($2 >> 8))
    for ((i = 0; i < 8; i++)); do printf -v text '%s\\x%02x' "$text" $((($3 >> (8 * i)) & 255)); done
    printf '%b' "$text"
}
mark() { e 28 "$1" "$2"; }
one_call() { # TIMED RECORDED
    e 25 0 7 && mark 12 7 && mark 9 0x40 && e 22 4 77 && e 24 4 76 && mark 10 64
    mark 2 1000 && mark 3 0
    e 10 4 0x401000
    (($1)) && mark 2 1500
    mark 25 0
    (($2)) && mark 4 $((1 << 32)) && mark 7 5
    (($1)) && mark 2 1900
    mark 3 0
    e 10 4 0x401004
    e 23 4 77 && e 26 0 0
}
for timed in 0 1; do
    for recorded in 0 1; do
        one_call $timed $recorded >one.trace
        run trod syscalls --from drmemtrace --format json one.trace
        status 0
        json ".returned == 1 and .failed == 0 and .timed == $timed and .with_result == $recorded"
        json "((.note // \"\") | test(\"no results\")) == ($recorded == 0)"
        json "((.note // \"\") | test(\"no times\")) == ($timed == 0)"
    done
done

# several files, several threads, parts
for jobs in 1 4; do
    run trod syscalls -j $jobs --list 5 --format json "$examples/sum.trace.zip" "$examples/sum.trace.zip"
    status 0
    json '.total_calls == 2 and (.list | length) == 2'
    cp "$stdout" two.$jobs
done
same two.1 two.4
for list in 1 2 5; do
    run trod run syscalls:list=$list --format json "$examples/sum.trace.zip" "$examples/sum.trace.zip"
    status 0
    cp "$stdout" one
    for part in 0 1; do
        run trod run --part $part/2 --save part.$part syscalls:list=$list "$examples/sum.trace.zip" \
            "$examples/sum.trace.zip"
        status 0
    done
    run trod merge --format json part.0 part.1
    status 0
    json ".total_calls == 2 and .calls[0].calls == 2 and .calls[0].name == \"exit\"
        and (.list | length) == $((list < 2 ? list : 2))"
    same one "$stdout"
done

# intervals and threads
run trod syscalls --interval 10 --by thread --format json "$examples/sum.trace.zip"
status 0
json '([.intervals[].calls] | add) <= 1 and (.streams | length) == 1 and .streams[0].total_calls == 1'
# by hand: a call at the end of each of two files of 50 and of 57 instructions. The thread of the second
# begins in the third interval; whatever its format, those of all are those without --by
for name in sum.trace.zip sum.tt6; do
    run trod syscalls --interval 20 --format json "$examples/$name" "$examples/$name"
    jq -c '.intervals' "$stdout" >all
    [[ $name == *.zip ]] && key=calls last_one=4 || key=instructions last_one=5
    json "[.intervals[] | select(.$key > 0) | [.interval, .$key]] == [[2, 1], [$last_one, 1]]"
    run trod syscalls --interval 20 --by thread --format json "$examples/$name" "$examples/$name"
    jq -c '.intervals' "$stdout" >by
    same all by
    json "[.streams[] | .intervals | [.[0].interval, (map(.$key) | add)]] == [[0, 1], [2, 1]]"
done
run trod syscalls --interval 20 --warmup 57 --format json "$examples/sum.tt6" "$examples/sum.tt6"
json '.instructions == 1 and [.intervals[].instructions] == [0, 0, 1]'
run trod syscalls --format csv "$examples/sum.trace.zip"
status 0
run trod syscalls --list 99999999 "$examples/sum.trace.zip"
status 2
err_has 'at most'

# damaged and empty
unzip -p "$examples/sum.trace.zip" >whole.trace 2>/dev/null || gzip -dc "$examples/sum.trace.zip" >whole.trace
for n in 0 1 12 100 250; do
    head -c $n whole.trace >cut.trace
    run trod syscalls --from drmemtrace cut.trace
    check test "$got" -le 2
    run trod syscalls --from drmemtrace --like syscall_mix cut.trace
    check test "$got" -le 2
done
finish

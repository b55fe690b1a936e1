# test_schedule.sh - trod schedule: examples by hand, orders and cores, the chart, a schedule file,
# damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
examples=$TROD_SOURCE/examples

# one thread on one cpu
total=$(trod count --format json "$examples/sum.trace.zip" | jq '.total.fetched_instructions // .fetched_instructions // empty' | head -1)
run trod schedule --format json "$examples/sum.trace.zip"
status 0
json '.switches == 0 and (.threads | length) == 1 and .threads[0].letter == "A" and .cores_from == "the recorded cpus"'
[[ -z $total ]] || json ".instructions == $total and ([.cores[].instructions] | add) == $total"
run trod schedule --format json "$examples/hello.tarmac"
status 0
json '.instructions == 12 and [.cores[].instructions] == [12] and .chart[0].to == 12'

# cores of the scheduler: one thread, the others idle
run trod schedule --order dynamic --format json "$examples/sum.trace.zip"
status 0
json '(.cores | length) == 4 and ([.cores[] | select(.instructions > 0)] | length) == 1 and .idle > 0'
run trod schedule --order dynamic:cores=2 --format json "$examples/sum.trace.zip" "$examples/sum.trace.zip"
status 0
json '(.cores | length) == 2 and ([.cores[] | select(.instructions > 0)] | length) == 2 and .idle < 20'
run trod schedule --order dynamic:cores=x "$examples/sum.trace.zip"
status 2
run trod schedule --order dynamic:colour=red "$examples/sum.trace.zip"
status 2
run trod schedule --order file:cores=3 --format json "$examples/sum.trace.zip"
status 0

# the chart
run trod schedule --chart --width 60 --order dynamic "$examples/sum.trace.zip"
status 0
out_has '^core    0 [|]A+ *[|]$'
out_has '^core    1 [|][.]+ *[|]$'
out_has '^  A  thread '
awk 'length > 60' "$stdout" >long
check test ! -s long

# a schedule that is written, and one made here: what runs where, and in which order
run trod schedule --order dynamic:cores=2 --like serial_schedule -o written.bin.gz "$examples/sum.trace.zip"
status 0
run trod schedule --order recorded:file=written.bin.gz --format json "$examples/sum.trace.zip"
status 0
json '.cores_from == "the order of the trace" and .instructions == 50 and (.cores | length) == 1'
little() { # BYTES NUMBER: lowest byte first
    local text= i
    for ((i = 0; i < $1; i++)); do printf -v text '%s\\x%02x' "$text" $((($2 >> (8 * i)) & 255)); done
    printf '%b' "$text"
}
entry() { little 2 "$1" && little 2 "$2" && little 8 "$3"; } # TYPE SIZE ADDRESS
for tid in 77 78; do
    {
        entry 25 0 4 && entry 28 12 4 && entry 28 9 64 && entry 22 4 $tid && entry 24 4 70
        entry 28 2 1000 && entry 28 3 0
        for pc in 1 2 3 4; do entry 10 4 $((4096 * tid + pc)); done
        entry 23 4 $tid && entry 26 0 0
    } >t$tid.trace
done
turn() { little 8 "$1" && little 8 "$2" && little 8 "$3" && little 8 "$4"; } # THREAD TIME CPU START
{ turn 77 0 0 0 && turn 78 1 0 0 && turn 77 2 1 2 && turn 78 3 0 3; } >turns.bin
run trod view --order recorded:file=turns.bin --kind INSTR --format json t77.trace t78.trace
status 0
jq -r '.address' "$stdout" | tr '\n' ' ' >got
printf '0x4d001 0x4d002 0x4e001 0x4e002 0x4e003 0x4d003 0x4d004 0x4e004 ' >want
same want got
run trod schedule --order recorded:file=turns.bin --format json t77.trace t78.trace
status 0
json '[.cores[].instructions] == [6, 2] and .migrations == 1 and [.threads[].cores] == [2, 1]'
run trod schedule --order recorded:file=turns.bin --interval 3 --format json t77.trace t78.trace
status 0
json '[.intervals[] | [.instructions_end, .switches, .migrations]] == [[3, 1, 0], [6, 0, 1], [8, 0, 0]]'
run trod schedule --order recorded:file=turns.bin --warmup 3 --format json t77.trace t78.trace
status 0
json '.instructions == 5 and [.cores[].instructions] == [3, 2] and .switches == 0'
head -c 40 turns.bin >cut.bin
run trod schedule --order recorded:file=cut.bin t77.trace t78.trace
status 2
err_has 'schedule is cut'
run trod schedule --order recorded:file=none.bin t77.trace t78.trace
status 2

# what the scheduler records, replayed: the same rows on the same cores; damaged ones end
thread() { # TID CALLS: a thread of system calls of 1 ms; every third goes to thread 90
    local i
    entry 25 0 7 && entry 28 12 7 && entry 28 9 $((0xe40)) && entry 22 4 "$1" && entry 24 4 70
    entry 28 2 $((1000 + $1)) && entry 28 3 0
    for ((i = 0; i < $2; i++)); do
        entry 47 2 $((0x050f)) && entry 10 2 $((4096 * $1 + i)) # syscall
        entry 28 25 1 && entry 28 26 0
        ((i % 3)) || entry 28 "${3:-0}" 90
        entry 28 2 $((1000 + $1 + 1000 * (i + 1))) && entry 28 3 0
    done
    entry 23 4 "$1" && entry 26 0 0
}
for tid in 81 82 83 84 90; do thread $tid $((tid - 70)) >c$tid.trace; done
calls="c81.trace c82.trace c83.trace c84.trace c90.trace"
for cores in 1 2 3 7; do
    order=dynamic:cores=$cores
    # shellcheck disable=SC2086 # several words
    {
        run trod schedule --order $order --like record_file -o record.zip $calls
        status 0
        check test "$(unzip -Z1 record.zip | tr '\n' ' ')" = "$(seq -f 'output.%04g' -s ' ' 0 $((cores - 1))) "
        run trod view --order $order $calls
        status 0
        cp "$stdout" want
        run trod view --order recorded:file=record.zip $calls
        status 0
        cp "$stdout" got
        same want got
        run trod schedule --order $order --format json $calls
        jq -c '[.idle, .cores[].instructions, .cores[].idle]' "$stdout" >want
        run trod schedule --order recorded:file=record.zip --format json $calls
        jq -c '[.idle, .cores[].instructions, .cores[].idle]' "$stdout" >got
        same want got
    }
done
unzip -p record.zip >members
for n in 64 50 100 $(($(wc -c <members) - 32)); do
    head -c $n members >cut.bin
    # shellcheck disable=SC2086
    run trod schedule --order recorded:file=cut.bin $calls
    check test "$got" = 2
done
cp members odd.bin
little 4 77 | dd of=odd.bin bs=1 seek=36 conv=notrunc 2>/dev/null # an input that there is not
# shellcheck disable=SC2086
run trod schedule --order recorded:file=odd.bin $calls
status 2
err_has 'no input 77'
record() { little 4 "$1" && little 4 "$2" && little 8 "$3" && little 8 "$4" && little 8 "$5"; }
{ # each waits for what the other is to run first
    record 1 0 0 0 0 && record 0 0 3 9 0 && record 0 1 0 3 1 && record 2 0 0 0 0
    record 1 0 0 0 0 && record 0 1 3 9 0 && record 0 0 0 3 1 && record 2 0 0 0 0
} >knot.bin
run trod view --order recorded:file=knot.bin --kind INSTR t77.trace t78.trace
status 0
check test "$(wc -l <"$stdout")" -gt 1
{ # 2 idle steps of 0.001 us, then a turn that begins in the middle and waits for the other core's
    record 1 0 0 0 0 && record 6 0 2 0 0 && record 0 0 3 9 5 && record 2 0 0 0 0
    record 1 0 0 0 0 && record 0 0 0 3 0 && record 2 0 0 0 0
} >gaps.bin
run trod schedule --order recorded:file=gaps.bin --format json t77.trace
status 0
# six records before instruction 3 on core 1, core 0 idle for two of these steps; then three on core 0
# and the step in which it sees that it is at its end
json '[.cores[] | [.instructions, .idle, .waits]] == [[2, 2, 4], [2, 4, 0]]'

# a gap of very many steps is passed at once; more than any run has are refused
record 1 0 0 0 0 >long.bin
record 6 0 $((1 << 43)) 0 0 >>long.bin
{ record 0 0 0 9 5 && record 2 0 0 0 0; } >>long.bin
run timeout 20 "$TROD" schedule --order recorded:file=long.bin --format json t77.trace
status 0
json '[.cores[] | [.instructions, .idle]] == [[4, 8796093022208]]'
{ record 1 0 0 0 0 && record 6 0 $((1 << 50)) 0 0 && record 2 0 0 0 0; } >longer.bin
run trod schedule --order recorded:file=longer.bin t77.trace
status 2

# threads that switch to another (31), that are unscheduled (37) and scheduled (38)
for marker in 31 37 38; do
    for tid in 81 82; do thread $tid 4 $marker >m$tid.trace; done
    thread 90 2 >m90.trace
    run trod view --order dynamic:cores=1 --kind INSTR --format json m81.trace m82.trace m90.trace
    status 0
    check test "$(wc -l <"$stdout")" = 10
    jq -r '.thread' "$stdout" | uniq | tr '\n' ' ' >switches.$marker
done
# 81 runs first, and gives way to 90 although 82 is there
check grep -q '^81 90 ' switches.31
check grep -q '^81 82 ' switches.37
run trod schedule --order dynamic:cores=1 --format json m81.trace m82.trace m90.trace
thread 81 4 31 >m81.trace
run trod schedule --order dynamic:cores=1 --like schedule_stats m81.trace m82.trace m90.trace
out_has ' 2 direct switch requests'
out_has '81 .* vol *direct'

# a tenth of the threads is not given to its end
many=
for ((i = 0; i < 20; i++)); do
    thread $((100 + i)) $((2 + i)) >d$i.trace
    many="$many d$i.trace"
done
# shellcheck disable=SC2086
{
    run trod count --order dynamic $many
    err_has '2 of 20 threads are not given to their end'
    run trod view --order dynamic:all --kind INSTR $many
    status 0
    check test "$(wc -l <"$stdout")" = $((20 * 2 + 190))
}

# as traced: the cores take turns, and wait
{ turn 77 0 0 0 && turn 78 1 1 0 && turn 77 2 1 2; } >cpus.bin
run trod schedule --order recorded:file=cpus.bin,lockstep --format json t77.trace t78.trace
status 0
json '([.cores[].instructions] | add) == 8 and .cores[0].instructions == 1 and .cores[1].instructions == 7'
run trod schedule --order dynamic --like cpu_schedule -o cpus.zip t77.trace t78.trace
status 0
run trod schedule --order recorded:file=cpus.zip,lockstep --format json t77.trace t78.trace
status 0
json '[.cores[].instructions] == [4, 4]'

# other analyses in the same pass
run trod run --format json schedule,count "$examples/sum.trace.zip"
status 0
json '.schedule.instructions > 0'

# what it cannot know, damaged and empty
for file in records.tt6e boot.byu6 mips.trace sum.full.gz; do
    run trod schedule "$examples/$file"
    check test "$got" -le 2
done
unzip -p "$examples/sum.trace.zip" >whole.trace 2>/dev/null || gzip -dc "$examples/sum.trace.zip" >whole.trace
for n in 0 1 12 100 250; do
    head -c $n whole.trace >cut.trace
    for options in "" "--order dynamic" "--like schedule_stats" "--chart"; do
        # shellcheck disable=SC2086 # several words
        run trod schedule --from drmemtrace $options cut.trace
        check test "$got" -le 2
    done
done

# rows of cores that were idle are for who asks: what stands beside schedule finds what it finds by itself
mkdir three
for laps in 20 40 60; do
    check trod gen cyclic:lines=50,laps=$laps three/$laps.trace
done
run trod run --order dynamic:cores=4 --format json schedule three
json '.idle > 1000'
all=count,calls:list,deps,hot,branches
for options in '' '--interval 1000' '--interval 500:rows' '--range 100..15000' '--region 1000..3000' '--warmup 700' \
    '--limit 3000' '--where row%2==1'; do
    for j in 1 3; do
        what=$all
        [[ $options == --int* ]] || what=$all,cache # which has intervals of its own
        # shellcheck disable=SC2086
        run trod run -j $j --order dynamic:cores=4 $options --format json $what three
        status 0
        cp "$stdout" want
        # shellcheck disable=SC2086
        run trod run -j $j --order dynamic:cores=4 $options --format json $what,schedule three
        status 0
        jq 'del(.schedule)' "$stdout" >got
        jq . want >wanted
        same wanted got
    done
done
for j in 1 3; do # of one file the records of its check, too
    run trod run -j $j --order dynamic:cores=2 --format json check three/20.trace
    jq 'del(.format, .files)' "$stdout" >want
    run trod run -j $j --order dynamic:cores=2 --format json check,schedule three/20.trace
    json '.schedule.idle > 1000'
    jq .check "$stdout" >got
    same want got
done
finish

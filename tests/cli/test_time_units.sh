# test_time_units.sh - traces whose times change unit or decimals from line to line, have more decimals than a view,
# or lie at the end of 64 bits: what calls cost, calls over time, waves, who.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
needs_format tarmac
have jq

# The same six instructions twice over, half a nanosecond each, from 1 ns on: 0x8000 calls 0x8020 (3 instructions) and
# returns behind it. ONE: all in ps; MIXED: with decimals only where there are some, and every fourth one in us.
awk 'BEGIN { split("8000 8020 8024 8028 8004 8008", pc)
             split("94000008 d503201f d503201f d65f03c0 d503201f 17fffffe", op)
             for (n = 0; n < 12; n++) {
                 k = n % 6 + 1; half = n + 2
                 one = 500 * half " ps"
                 mixed = n % 4 == 2 ? half / 2000 " us" : half / 2 " ns"
                 line = sprintf("cpu0 IT (%d) 0000%s %s O EL1h_n : X", n + 1, pc[k], op[k])
                 print one, line >"one.tarmac"
                 print mixed, line >"mixed.tarmac"
             } }'
check grep -q '^1.5 ns' mixed.tarmac
check grep -q '^1 ns' mixed.tarmac

# ---- calls: in the finest unit, 100 ps, what the others are in ps
for command in calls 'calls --list' 'profile --weight time' 'calls --final-stack'; do
    run trod $command --format json one.tarmac
    status 0
    json '.time_unit == null'
    jq 'walk(if type == "object" then with_entries(if .key | test("time$|^until$") then .value /= 100 else . end)
             else . end)' "$stdout" >want
    run trod $command --format json mixed.tarmac
    status 0
    json '.time_unit == "100 ps" and .time == 55' # from 1 ns to 6.5 ns
    jq 'del(.time_unit)' "$stdout" >got
    same want got
done
run trod calls --format json mixed.tarmac
json '[.tree[].time] == [55, 30]' # with what was called, and 0x8020 by itself
run trod flame --weight time mixed.tarmac
out <<'END'
0x8000 25
0x8000;0x8020 30
END
# the time that listed calls are chosen by is the one that is shown
run trod calls --list --during 15..25 --format json mixed.tarmac
json '[.list[] | [.function, .time, .until]] == [["0x8000", 10, 65], ["0x8020", 15, 25]]'
# with an index, which has times as they stand there
trod index -q mixed.tarmac
run trod calls --list --format json mixed.tarmac
cp "$stdout" indexed
run trod calls --list --format json --no-index mixed.tarmac
same "$stdout" indexed
# files of one unit each: an index each, all in the finer one; parts that are merged, any number of threads
sed 's/\([0-9]*\)00 ps/\1 clk/' one.tarmac >clk.tarmac
awk '{ $1 *= 1000; $2 = "fs"; print }' one.tarmac >fs.tarmac
trod index -q one.tarmac
trod index -q fs.tarmac
for files in 'one.tarmac fs.tarmac' 'fs.tarmac one.tarmac'; do
    run trod calls --format json $files
    json '.time == 2 * 5500000 and .time_unit == "1 fs" and [.tree[].time] == [2 * 5500000, 2 * 3000000]'
    for jobs in 1 4; do
        run trod calls --no-index -j $jobs --format json $files
        json '.time == 2 * 5500000 and .time_unit == "1 fs" and [.tree[].time] == [2 * 5500000, 2 * 3000000]'
    done
    for part in 0 1; do
        check trod run -q --part $part/2 --save part$part calls $files
    done
    run trod merge --format json part0 part1
    status 0
    json '[.. | .time_unit? // empty] == ["1 fs"] and [.. | .time? // empty | numbers][0] == 2 * 5500000'
done
# units that cannot be compared count one for one
run trod calls --no-index --format json clk.tarmac one.tarmac
json '.time == 55 + 5500 and .time_unit == "1 clk"'
# what a file's units count does not depend on the files before it, nor who reads it: ONE, of which each file takes 11
# halves of a nanosecond, in ns; CLKUS counts clk, then us, which are one for one there
sed 's/\([0-9]*\)00 ps/\1 ns/' one.tarmac >ns5.tarmac
awk '{ $1 = NR * 5; $2 = NR < 7 ? "clk" : "us"; print }' one.tarmac >clkus.tarmac
# ps, and as long in ns but so late that the time since 0 is more than 64 bits of ps hold
awk '{ printf "200000000000000%02d ns", NR; $1 = $2 = ""; print }' one.tarmac >late_ns.tarmac
# every JOBS, and parts that are merged
alike() {
    local i n states=
    run trod run --no-index -j 1 --format json "$@"
    status 0
    cp "$stdout" want
    cp "$stderr" want.err
    for n in 2 3; do
        run trod run --no-index -j $n --format json "$@"
        out_is want
        err <want.err
    done
    for i in 0 1 2; do
        check trod run -q --part $i/3 --save late$i "$@"
        states="$states late$i"
    done
    # shellcheck disable=SC2086
    run trod merge --format json $states
    out_is want
    err <want.err
}
for what in profile calls flame calls:list; do
    alike $what ns5.tarmac clkus.tarmac
    alike $what clkus.tarmac ns5.tarmac one.tarmac
    alike $what one.tarmac late_ns.tarmac
    alike $what late_ns.tarmac one.tarmac fs.tarmac
done
run trod profile -j 1 --no-index --format json ns5.tarmac clkus.tarmac
json '.time == 55 + 55'
for files in 'one.tarmac late_ns.tarmac' 'late_ns.tarmac one.tarmac'; do
    # shellcheck disable=SC2086
    run trod profile -j 1 --no-index --format json $files
    json '.time == 5500 + 11000 and .time_unit == "1 ps"'
    err </dev/null
done
# more than 64 bits hold: 10^9 s are 10^24 fs
{ echo '0 fs cpu0 IT (1) 00008000 d503201f O EL1h_n : NOP'
  echo '1000000000 s cpu0 IT (2) 00008004 d503201f O EL1h_n : NOP'; } >years.tarmac
run trod calls --format json years.tarmac
status 0
json 'has("time") | not'
err_has 'warning: times are too large for the finest unit'
run trod export --to chrome years.tarmac
err_has 'warning: times are too large for the finest unit'

# ---- calls over time
spans() { jq -c '.traceEvents[] | select(.ph == "B" or .ph == "E") | [.ph, .name, .ts]' "$stdout"; }
run trod export --to chrome one.tarmac
spans | sed '$d' >want # what is open ends one tick later, and ticks differ
run trod export --to chrome mixed.tarmac
json '.otherData.clock == "ns"'
spans | sed '$d' >got
same want got
check grep -qxF '["B","0x8020",0.0015]' got
check grep -qxF '["E","0x8020",0.003]' got
run trod export --to speedscope mixed.tarmac
json '[.profiles[0].events[].at] == [1, 1.5, 3, 4.5, 6, 6.6] and .profiles[0].unit == "nanoseconds"'
# the limit is reached before the first finer time: ten calls of one instruction, then one of a thousand
awk 'function i(t, pc, op) { printf "%s ns cpu0 IT (%d) 0000%s %s O EL1h_n : X\n", t, ++n, pc, op }
     BEGIN { for (; k < 10; k++) { i(++t, "8000", "94000008"); i(++t, "8020", "d65f03c0"); i(++t, "8004", "17ffffff") }
             i(++t, "8000", "94000008")
             for (k = 0; k < 999; k++) i(++t, sprintf("%x", 32800 + 4 * k), "d503201f")
             i(++t ".5", sprintf("%x", 32800 + 4 * k), "d65f03c0"); i(++t, "8004", "d503201f") }' >late.tarmac
run trod export --to chrome:limit=4 late.tarmac
err_has 'note: 10 calls shorter than 2 ticks are left out'
spans >got
check grep -qxF '["B","0x8020",0.032]' got
check test "$(wc -l <got)" = 4

# below one nanosecond: JSON has decimals, Perfetto and CTF do not, and say so
run trod export --to chrome one.tarmac
json '[.traceEvents[] | select(.ph == "B") | .ts] == [0.001, 0.0015, 0.0045]'
run trod export --to speedscope one.tarmac
json '[.profiles[0].events[].at] == [1, 1.5, 3, 4.5, 6, 6.501]'
run trod export -o one.pftrace one.tarmac
status 0
err_has 'note: 3 times are rounded down to whole nanoseconds' # 1.5, 4.5 and 6.501
run trod export -o one.ctf --format json one.tarmac
json '.times_rounded == 6'
err_has 'note: 6 times are rounded down'
awk '{ $2 = "ns"; print }' one.tarmac >ns.tarmac
run trod export -o ns.pftrace ns.tarmac
check test "$(grep -c rounded "$stderr")" = 0

# ---- the limit: whether time is the clock does not depend on it
model 20 >model.tarmac
{ cat model.tarmac; echo '1 clk cpu0 E 00000000 00000005 CoreEvent_Test'; } >back.tarmac
for limit in 2 10 31 40 64 82 100 1000000; do # 1 + 20 + 40 calls
    run trod export -q --to chrome:limit=$limit back.tarmac
    json ".otherData.clock == \"instructions\" and
        ([.traceEvents[] | select(.ph == \"B\" or .ph == \"E\")] | length) <= $limit"
    run trod export -q --to chrome:limit=$limit,clock=instructions model.tarmac
    spans >want
    run trod export -q --to chrome:limit=$limit back.tarmac
    spans >got
    same want got
    run trod export -q --to chrome:limit=$limit model.tarmac
    json '.otherData.clock == "clk"'
    spans >got
    run trod export -q --to chrome:limit=$limit,clock=time model.tarmac
    spans >want
    same want got
done
run trod export --to chrome:limit=42 model.tarmac # as many as main and the calls of f are
json '([.traceEvents[] | select(.ph == "B")] | length) == 21 and .otherData.calls_left_out == 40'

# ---- the end of 64 bits
cat >end.tarmac <<'END'
18446744073709551610 clk cpu0 IT (1) 00008000 94000008 O EL1h_n : BL 0x8020
18446744073709551612 clk cpu0 IT (2) 00008020 d503201f O EL1h_n : NOP
18446744073709551612 clk cpu0 MR8 00006400:000000006400_NS 00000000_0000002a
18446744073709551615 clk cpu0 IT (3) 00008024 d65f03c0 O EL1h_n : RET
END
run trod waves end.tarmac
status 0
through grep '^#'
through uniq
check sort -c -n -k 1.2 "$stdout"
out <<'END'
#18446744073709551610
#18446744073709551612
#18446744073709551615
END
for to in chrome speedscope; do
    run trod export --to $to end.tarmac
    status 0
    err_has 'note: times begin at 0, which is 18446744073709551610 in ticks'
done
json '[.profiles[0].events[].at] == [0, 2, 4, 4] and .profiles[0].endValue == 4' # the largest time is none
run trod export --to chrome end.tarmac
json '[.traceEvents[] | select(.ph == "B" or .ph == "E") | .ts] == [0, 2, 4, 4]
    and .otherData.time_of_0 == "18446744073709551610"'
run trod export -o end.pftrace end.tarmac
err_has 'note: times begin at 0'

# ---- who: times with their units where they have several
run trod who mixed.tarmac --executes 0x8000 --before 11 -n 2 --format json
status 0
json '[.who[].time] == ["0.004 us", "1 ns"]'
run trod who mixed.tarmac --executes 0x8020 --before 11 -n 2 --format json
json '[.who[].time] == [45, 15]' # both of the same decimals, as for time:45
run trod who one.tarmac --executes 0x8020 --before 11 -n 2 --format json
json '[.who[].time] == [4500, 1500]'

# ---- options that would say nothing
run trod export --to callgrind:D1=1024/2/16 model.tarmac
status 2
err_has "option 'D1' is the shape of a cache, and none is simulated: add option 'cache'"
run trod export --to callgrind:cache,D1=1024/2/16 model.tarmac
status 0
out_has '^events: .*D1mr'
run trod export -z gzip -o packed.ctf model.tarmac
status 2
err_has "'ctf' is not compressed"
check test ! -e packed.ctf
run trod export -z none -o plain.ctf model.tarmac
status 0
run trod export -z zstd -o model.pb.gz model.tarmac
status 2
err_has "'pprof' is always compressed with gzip"
finish

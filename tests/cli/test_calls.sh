# test_calls.sh - trod calls, profile and flame: a program whose calls are known, with recursion, a tail
# call and a call that never returns; weights; two traces; pictures; parts, threads, damage.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# 1000 calls 2000 twice, which calls itself once and then 3000; then 4000, which hangs. A64:
# bl 0x2000, bl 0x2000, bl 0x4000 at 1000, 1004, 1008; 2000: nop, bl 0x2000, nop, bl 0x3000, ret
awk 'function i(pc, op) { printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", ++n, n, pc, pc, op }
     function read() { printf "%d clk cpu0 MR8 0000%04x:00000000%04x_NS 00000000_00000000\n", n, n * 64, n * 64 }
     function f(deep) {
         i(8192, "d503201f"); read()
         if (!deep) { i(8196, "97ffffff"); printf "%d clk cpu0 R X0 0000000000000007\n", n; f(1) } else i(8196, "d503201f")
         i(8200, "d503201f"); i(8204, "940003fd"); g(); i(8208, "d65f03c0") }
     function g() { i(12288, "d503201f"); read(); read(); i(12292, "d65f03c0") }
     BEGIN { i(4096, "94000400"); f(0); i(4100, "940003ff"); f(0); i(4104, "94000bfe")
             i(16384, "d503201f"); i(16388, "14000000"); i(16388, "14000000") }' >known.tarmac

run trod calls --format json known.tarmac
status 0
json '.instructions == 34 and .calls == 9 and .returns == 8 and .open == 2 and .unwound == 0'
jq -c '.tree[] | [(.function | ltrimstr(" ") | gsub(" "; "")), .depth, .calls, .inclusive, .exclusive]' "$stdout" >tree
sort tree >tree.sorted
sort >want <<'T'
["0x1000",0,1,34,3]
["0x2000",1,2,28,10]
["0x2000",2,2,14,10]
["0x3000",3,2,4,4]
["0x3000",2,2,4,4]
["0x4000",1,1,3,3]
T
same want tree.sorted

run trod profile --format json known.tarmac
status 0
json '[.functions[] | [.function, .calls, .exclusive, .inclusive]] ==
    [["0x2000", 4, 20, 28], ["0x3000", 4, 8, 8], ["0x1000", 1, 3, 34], ["0x4000", 1, 3, 3]]'
json '[.functions[].exclusive] | add == 34'
json '[.callers[] | select(.function == "0x2000") | [.caller, .calls, .inclusive]] | sort ==
    [["0x1000", 2, 28], ["0x2000", 2, 0]]'
# what a time belongs to: the instruction it passes behind
json '.time == 33 and ([.functions[].exclusive_time] | add) == 33'

# accesses: 1 in each call of 2000, 2 in each of 3000; each to a line of its own or the one before
run trod profile --weight loads --format json known.tarmac
json '.loads == 12 and [.functions[] | [.function, .exclusive_loads, .inclusive_loads]] ==
    [["0x3000", 8, 8], ["0x2000", 4, 12], ["0x1000", 0, 12], ["0x4000", 0, 0]]'
run trod profile --weight bytes --format json known.tarmac
json '.bytes == 96 and ([.functions[].exclusive_bytes] | add) == 96'
run trod profile --weight misses --format json known.tarmac
json '.misses == 8' # the second read of 3000 is of the same line
run trod profile --weight rows --format json known.tarmac
json '.rows == 48 and ([.functions[].exclusive_rows] | add) == 48'
run trod profile --sort calls --top 1 --format json known.tarmac
json '[.functions[].function] == ["0x2000"]'

# folded: every stack, what it cost, sorted
run trod flame known.tarmac
status 0
out <<'T'
0x1000 3
0x1000;0x2000 10
0x1000;0x2000;0x2000 10
0x1000;0x2000;0x2000;0x3000 4
0x1000;0x2000;0x3000 4
0x1000;0x4000 3
T
run trod flame --reverse known.tarmac
out <<'T'
0x1000 3
0x2000;0x1000 10
0x2000;0x2000;0x1000 10
0x3000;0x2000;0x1000 4
0x3000;0x2000;0x2000;0x1000 4
0x4000;0x1000 3
T
run trod flame --format json known.tarmac
json '.total == 34 and (.stacks | length) == 6'

# two traces: the second has the first call of 2000 only
head -20 known.tarmac >less.tarmac
n=$(grep -c ' IT ' less.tarmac)
run trod flame --against less.tarmac known.tarmac
status 0
out_has '^0x1000;0x4000 3 0$'
check test "$(awk '{ a += $2; b += $3 } END { print a, b }' "$stdout")" = "34 $n"
run trod flame --against known.tarmac --normalize less.tarmac
check test "$(awk '{ a += $2; b += $3 } END { print (a >= 33 && a <= 35), b }' "$stdout")" = "1 34"
run trod flame --against less.tarmac --format json known.tarmac
json ".first == 34 and .second == $n"
run trod flame --against missing known.tarmac
status 2
run trod flame --against less.tarmac --like tarmac known.tarmac
status 2
err_has "'--like'"

# pictures: well-formed, nothing from outside, every function there
for args in '' '--against less.tarmac' '--title a<b&c'; do
    # shellcheck disable=SC2086 # words
    run trod flame --svg $args known.tarmac
    status 0
    cp "$stdout" picture.svg
    out_has '^<svg xmlns="http://www.w3.org/2000/svg"'
    out_not 'href|src=|url\(|@import'
    out_has 'prefers-color-scheme:dark'
    out_has '<title>0x1000 \('
    if command -v python3 >/dev/null; then
        check python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' picture.svg
    fi
    if command -v node >/dev/null; then
        sed -n '/<script>/,/<\/script>/p' picture.svg | sed '1d;$d' >script.js
        check node --check script.js
    fi
done
if command -v node >/dev/null; then # the script at work: six functions and all; below 2000, three
    trod flame --svg known.tarmac >picture.svg
    run node "$TROD_SOURCE/tests/cli/flame_picture.js" picture.svg 3000 0x2000
    status 0
    out <<'T'
visible 7 of 7
zoomed 6 width 1200 x 10 past 2 label 0x2000
matched: 2 functions match, 23.53 % 2
reset 7 hits 0 
0x2000 (28 instructions, 82.35 %)
T
fi

# single calls
run trod calls --function 0x2000 --format json known.tarmac
status 0
json '[.list[] | [.time, .until, .instructions]] == [[2, 15, 14], [4, 10, 7], [17, 30, 14], [19, 25, 7]]'
json '.calls_found == 4 and [.list[] | .arguments] == ["", "0x7", "0x7", "0x7"]'
json '[.list[] | [.depth, .caller, .site, .end]] ==
    [[1, "0x1000", "0x1000", "returned"], [2, "0x2000", "0x2004", "returned"],
     [1, "0x1000", "0x1004", "returned"], [2, "0x2000", "0x2004", "returned"]]'
run trod calls --list --depth 2 --format json known.tarmac
json '[.list[].function] == ["0x1000", "0x2000", "0x2000", "0x4000"]'
# --during: of lists, and of traces that have times
run trod calls --during 33..34 known.tarmac
status 2
err_has "'--during' goes with '--list' or '--function'"
trod gen -q --to tt6 recursion:depth=2,count=2 timeless.tt6 >/dev/null
run trod calls --list --during 1..9 timeless.tt6
err_has "the trace has no times: no call is known to go on during '--during'"
run trod calls --list --during 33..34 --format json known.tarmac
json '[.list[].function | gsub(" "; "")] == ["0x1000", "0x4000"]'
run trod calls --list --most 2 --format json known.tarmac
json '.calls_listed == 2 and .calls_found == 10'
run trod calls --final-stack --format json known.tarmac
json '[.final_stack[] | [.depth, .function]] == [[1, "0x4000"], [0, "0x1000"]]'
run trod calls --function nosuch known.tarmac
status 2
err_has "no function is called 'nosuch'"
run trod calls --top 2 --format json known.tarmac
json '(.tree | length) == 2 and .rows_not_shown == 4'
trod calls --top 0 --format json known.tarmac | jq '[.tree[].inclusive] | sort | reverse' >all
for top in 1 2 3 4 5 6; do # those that cost most
    run trod calls --top $top --format json known.tarmac
    check jq -e --slurpfile all all --argjson n $top '([.tree[].inclusive] | sort | reverse) == $all[0][:$n]' "$stdout"
done

# every example: the exclusive costs add up, and nothing depends on threads
for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.trace.zip; do
    [[ -e $examples/$file ]] || continue
    n=$(trod count --format json "$examples/$file" 2>/dev/null | jq '.total.instructions // .instructions // 0')
    for jobs in 1 3; do
        trod profile -j $jobs --top 0 --format json "$examples/$file" >profile.$jobs 2>/dev/null
        trod flame -j $jobs "$examples/$file" >flame.$jobs 2>/dev/null
        trod calls -j $jobs --list --format json "$examples/$file" >calls.$jobs 2>/dev/null
    done
    last="profile, flame and calls of $file"
    same profile.1 profile.3
    same flame.1 flame.3
    same calls.1 calls.3
    check jq -e '([.functions[].exclusive] | add // 0) == .instructions' profile.1 >/dev/null
    check test "$(awk '{ n += $NF } END { print n + 0 }' flame.1)" = "$(jq .instructions profile.1)"
done

# the rules of Arm's tools need registers
for command in calls profile flame; do
    for trace in records.tt6e sum.tt6 sum.trace.zip; do
        run trod $command --like tarmac "$examples/$trace"
        status 2
        err_has "follows writes of Arm's link register and stack pointer"
        out_is /dev/null
    done
done

# parts that are put together: streams begin and end with their files, whatever part these are in; calls are
# open at the ends of all of them
awk '{ print > ("p" int((NR - 1) / 11) ".tarmac") }' known.tarmac
files=(p0.tarmac p1.tarmac p2.tarmac p3.tarmac)
for plan in calls:list calls:final-stack calls:function=0x2000,most=3 calls:weight=loads profile:weight=misses flame; do
    trod run -j 1 --format json $plan "${files[@]}" | jq -S . >want
    check grep -q 0x2000 want
    run trod run -j 4 --format json $plan "${files[@]}"
    status 0
    through jq -S .
    out_is want
    for parts in 1 2 3 7; do
        states=()
        for ((i = 0; i < parts; i++)); do
            run trod run --part $i/$parts --save "state$i" $plan "${files[@]}"
            status 0
            states+=("state$i")
        done
        run trod merge --format json "${states[@]}"
        status 0
        through jq -S .
        out_is want
    done
done
run trod run --save state calls:like=tarmac known.tarmac
status 2
err_has 'cannot be saved'
# rows of the second file go on from those of the first, whatever chooses rows
for choice in "" "-k INSTR" "-a 0x3000..0x3fff"; do
    # shellcheck disable=SC2086 # words
    trod calls --list $choice -j 1 --format json "${files[@]}" >want
    # shellcheck disable=SC2086
    run trod calls --list $choice -j 4 --format json "${files[@]}"
    out_is want
done

# what is open at the ends of files that name their cpus in another order
for cpus in "0 1 2" "2 3 0 1"; do
    for cpu in $cpus; do
        echo "$cpu clk cpu$cpu IT ($cpu) 00008000 94000008 O EL1h_n : BL 0x8020"
        echo "$cpu clk cpu$cpu IT ($cpu) 00008020 d503201f O EL1h_n : NOP"
    done >"cpus${cpus:0:1}.tarmac"
done
trod calls --final-stack --format json -j 1 cpus0.tarmac cpus2.tarmac >want
check jq -e '[.final_stack[] | select(.depth == 1) | .stream] == ["cpu0", "cpu1", "cpu2", "cpu2", "cpu3", "cpu0", "cpu1"]' want
for j in 2 3; do
    run trod calls --final-stack --format json -j $j cpus0.tarmac cpus2.tarmac
    out_is want
done

# a trace by pieces of time: each interval by itself
run trod profile --interval 10 --format json known.tarmac
status 0
json '[.intervals[].instructions] | add == 34'

# a part of a trace: its instructions and loads under all that is open, as the stacks of the whole trace say;
# bl pushes what comes next, ret pops. Rows before it are read with an index as without.
awk '$4 == "IT" { pc = substr($6, 1, 8); sub(/^0+/, "0x", pc)
                  if (op ~ /^9[47]/) name[++n] = pc
                  else if (op == "d65f03c0") n--
                  else if (!k) name[0] = pc
                  op = $7; k++; all = name[0]
                  for (i = 1; i <= n; i++) all = all ";" name[i] }
     { print NR - 1, k, $4, all }' known.tarmac >truth
part() # FROM TO FIELD KIND: what folded stacks that part has
{
    awk -v a="$1" -v b="$2" -v f="$3" -v kind="$4" '$f >= a && $f <= b && $3 ~ kind { n[$4]++ }
        END { for (s in n) print s, n[s] }' truth | sort
}
for ((from = 1; from <= 34; from += 5)); do
    for to in "$from" $((from + 4)) $((from + 15)) 34; do
        part "$from" "$to" 2 '^IT$' >want
        run trod flame --region "$from..$to" known.tarmac
        status 0
        through sort
        out_is want
        part "$from" "$to" 1 '^IT$' >want
        run trod flame --range "$from..$to" known.tarmac
        through sort
        out_is want
        part "$from" "$to" 1 '^MR8$' >want
        run trod flame --weight loads --range "$from..$to" known.tarmac
        through sh -c 'sort | grep -v " 0$"'
        out_is want
    done
done
trod index -q known.tarmac
part 20 40 1 '^IT$' >want
run trod flame --range 20..40 known.tarmac
through sort
out_is want
rm known.tarmac.trodx
part 12 34 2 '^IT$' >want
run trod flame --warmup 11 known.tarmac
through sort
out_is want
# instructions 9 to 26 call each function twice and see six returns, of 2000 and 3000 three each
run trod calls --region 9..26 --list --format json known.tarmac
status 0
json '.instructions == 18 and .calls == 4 and .returns == 6 and .open == 2 and .unwound == 0'
json '[.list[].function] | length == 4'
run trod profile --region 9..26 --format json known.tarmac
json '[.functions[] | .exclusive] | add == 18'
json '.time == 17 and ([.functions[].exclusive_time] | add) == 17'
json '[.functions[] | select(.function == "0x1000") | [.calls, .inclusive]] == [[0, 18]]'
run trod calls --like tarmac --region 9..26 known.tarmac
status 0
# parts of a trace add up to all of it, whatever is called, jumped to or interrupted at their borders
for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.trace.zip; do
    [[ -e $examples/$file ]] || continue
    trod flame "$examples/$file" 2>/dev/null | grep -v ' 0$' | sort >want
    for part in 1..7 8..19 20..20 21..33 34..9999; do
        run trod flame --region $part "$examples/$file"
        status 0
        cat "$stdout"
    done | awk '{ k = $NF; sub(/ [0-9]*$/, ""); n[$0] += k } END { for (s in n) if (n[s]) print s, n[s] }' | sort >sums
    check cmp want sums
done

# dependences as weights. 1000: ldr x0,[x1]; add x2,x0,x0, which waits 3 of 4 cycles and ends the chain after 5; bl 2000.
# 2000: ldr x3,[x4]; nop; add x5,x3,x3, which waits 2; mul x5,x5,x5, done after 8 cycles: 3 more; ret
awk 'function i(pc, op) { printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", ++n, n, pc, pc, op }
     function read(at) { printf "%d clk cpu0 MR8 %08x:0000%08x_NS 00000000_00000000\n", n, at, at }
     BEGIN { i(4096, "f9400020"); read(256); i(4100, "8b000002"); i(4104, "940003fe"); i(8192, "f9400083"); read(512)
             i(8196, "d503201f"); i(8200, "8b030065"); i(8204, "9b057ca5"); i(8208, "d65f03c0"); i(4108, "d503201f") }' >deps.tarmac
run trod profile --weight deps.stalls,deps.cycles --format json deps.tarmac
status 0
json '[.functions[] | [.function, .exclusive_deps_stalls, .exclusive_deps_cycles]] | sort == [["0x1000", 3, 5], ["0x2000", 2, 3]]'
run trod profile --weight deps.nothing deps.tarmac
status 2
err_has 'deps.stalls and deps.cycles'
# what "deps" finds in all is what functions have together, also of several threads and files
for file in hello.tarmac mips.trace sum.tt6 sum.trace.zip; do
    [[ -e $examples/$file ]] || continue
    run trod deps --format json "$examples/$file" "$examples/$file"
    jq -S '[.load_use_stalls, .parallelism[0].cycles]' "$stdout" >want
    run trod profile -j 1 --top 0 --weight deps.stalls,deps.cycles --format json "$examples/$file" "$examples/$file"
    status 0
    through jq -S '[.deps_stalls, .deps_cycles]'
    out_is want
done

# damaged, empty, without instructions
sed '5s/.*/6 clk cpu0 IT (x y/' known.tarmac >bad.tarmac
for command in calls profile flame; do
    run trod $command bad.tarmac
    status 2
    out_has 1000
    : >empty.tarmac
    run trod $command --from tarmac empty.tarmac
    check test "$got" -le 2
    for format in text json csv; do # no result: not even an empty one
        run trod $command --format $format "$examples/boot.byu6"
        status 2
        out </dev/null
        err_has 'have no instructions'
    done
done
# a trace without times has none, and no zeros in their place, with an index and without
cp "$TROD_SOURCE/tests/golden/tt6/records.canonical.tt6" untimed.tt6
for index in --no-index ''; do
    [[ -n $index ]] || trod index -q untimed.tt6
    for command in 'calls --list' calls profile; do
        run trod $command $index --format json untimed.tt6
        json '.instructions > 0 and ([.. | objects | to_entries[] | select(.key | test("time|until")) | .value // empty] == [])'
    done
done
# 300 functions, each called by the one before: of a stack the outermost 256 are named
awk 'function i(pc, op) { printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", ++n, n, pc, pc, op }
     BEGIN { for (k = 0; k < 300; k++) {
                 i(65536 + 256 * k, "d503201f"); i(65540 + 256 * k, k < 299 ? "9400003f" : "d503201f") } }' >deep.tarmac
for way in '' --reverse; do
    awk -v reverse="$way" 'function put(s, name) { return s == "" ? name : reverse ? name ";" s : s ";" name }
        BEGIN { for (k = 0; k < 256; k++) { s = put(s, sprintf("%#x", 65536 + 256 * k)); print s, 2 }
                print put(s, "(deeper)"), 88 }' | LC_ALL=C sort >want
    run trod flame $way deep.tarmac
    status 0
    same want "$stdout"
done
# an output with nothing in it does not pass for one of a trace without calls
run trod calls --like tarmac "$TROD_SOURCE/tests/golden/matcher/mips.canonical.trace"
status 0
check test ! -s "$stdout"
err_has "'calls' has nothing to print"
# nothing says what is a call: of a trace without opcodes and of a table without the columns, whoever reads it
{ printf 'I  1000,4\nI  2000,4\nI  2004,4\nI  1004,4\n'; } >unsaid.lackey
printf 'kind,addr,size\nINSTR,0x1000,4\nINSTR,0x2000,4\nINSTR,0x1004,4\n' >unsaid.csv
for file in unsaid.lackey unsaid.csv; do
    for plan in calls profile flame; do
        for jobs in 1 3; do
            run trod $plan --format json -j $jobs $file
            status 0
            json '.note | test("does not say which instructions are branches")'
        done
    done
    for part in 0 1; do
        run trod run calls --part $part/2 --save unsaid.$part $file $file
        status 0
    done
    run trod merge --format json unsaid.0 unsaid.1
    status 0
    json '.note | test("does not say which instructions are branches")'
done
run trod run calls --part 0/2 --save unsaid.0 "$TROD_SOURCE/examples/sum.trace.zip" "$TROD_SOURCE/examples/sum.trace.zip"
run trod run calls --part 1/2 --save unsaid.1 "$TROD_SOURCE/examples/sum.trace.zip" "$TROD_SOURCE/examples/sum.trace.zip"
run trod merge --format json unsaid.0 unsaid.1
status 0
json '.note == null'
finish

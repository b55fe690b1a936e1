# test_compare.sh - compare: edited copies of a trace and what must be said of each, formats of the
# report, pipes, other dialects and formats, the real traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq awk
needs_format tarmac
needs_format matcher

# A program of 600 instructions, some with a register write, some with an access.
awk 'BEGIN {
    for (i = 0; i < 600; i++) {
        t = i + 1
        printf "%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n", t, t, 32768 + 4 * i
        if (i % 2) printf "%d clk R X%d %016x\n", t, i % 29, 4660 * i
        if (i % 5 == 0) printf "%d clk MW8 %016x 00000000_%08x\n", t, 1048576 + 8 * i, i
    }
}' >a.tarmac
line() { # line N: the number of the line of instruction N
    grep -n -F " IT ($1) " a.tarmac | cut -d: -f1
}

# list: type and counts of all differences of the last JSON report
list() {
    through jq -c '.comparisons[].differences[] | [.type, .rows_a, .rows_b, .fields]'
}

run trod compare a.tarmac a.tarmac
status 0
out_has '^  equal: +yes$'
out_not '^difference'

# a trace's own words for the unit of time compare by name, in whatever order they come up
sed 's/ clk / beats /' a.tarmac >beats.tarmac
sed 's/ clk / moons /' a.tarmac >moons.tarmac
run trod compare --compare unit beats.tarmac beats.tarmac
status 0
run trod compare --compare unit -C 2 beats.tarmac moons.tarmac
status 1
out_has '^  unit: beats against moons$'
sed '1s/ clk / moons /; 2,$s/ clk / beats /' a.tarmac >first.tarmac
sed '1s/ clk / suns /; 2,$s/ clk / beats /' a.tarmac >second.tarmac
run trod compare --format json --compare unit first.tarmac second.tarmac
status 1
json '.comparisons[0].summary.differences == 1'
run trod compare --format json --compare unit first.tarmac beats.tarmac
status 1
json '.comparisons[0].summary.differences == 1'

# times are compared by what they are, whatever their units and decimals
for time in 10.5_us 10.50_us 10500_ns 105_us 11_clk; do
	echo "${time/_/ } IT (1) 00001000 d503201f O EL1h_n : NOP" >time.$time.tarmac
done
for time in 10.50_us 10500_ns; do
	run trod compare --compare time time.10.5_us.tarmac time.$time.tarmac
	status 0
done
run trod compare --compare time time.10.5_us.tarmac time.105_us.tarmac
status 1
out_has '^  time: 10.5 us against 105 us$'
out_not '^  unit:'
run trod compare --compare time time.10.5_us.tarmac time.11_clk.tarmac
status 1
out_has '^  unit: us against clk$'
run trod compare --compare unit time.10.5_us.tarmac time.105_us.tarmac
status 0
run trod compare --compare unit time.10.5_us.tarmac time.10500_ns.tarmac
status 1
out_has '^  unit: us against ns$'

# one register value
sed "$(($(line 100) + 1))s/.\$/f/" a.tarmac >value.tarmac
run trod compare --symbols /dev/null a.tarmac value.tarmac
status 2
run trod compare -C 2 a.tarmac value.tarmac
status 1
through sed -n '1,6p'
n=$(($(line 100) - 1))
out <<EOF
difference 1: changed: value of register X12
  value: 0x$(printf %x $((4660 * 99))) against 0x$(printf %xf $((4660 * 99 / 16)))
$(printf '%12d' $((n - 1)))  99 clk IT (99) 00008188 d503201f O EL1h_n : NOP
$(printf '%12d' $n)  100 clk IT (100) 0000818c d503201f O EL1h_n : NOP
-$(printf '%11d' $((n + 1)))  100 clk R X12 $(printf %016x $((4660 * 99)))
+$(printf '%11d' $((n + 1)))  100 clk R X12 $(printf %015xf $((4660 * 99 / 16)))
EOF

# an instruction less, more, another opcode; a block moved; registers in another order
sed "$(line 200),$(($(line 201) - 1))d" a.tarmac >less.tarmac
sed "$(line 300)i 300 clk IT (300) 00004000 d503201f O EL1h_n : NOP" a.tarmac >more.tarmac
sed "$(line 400)s/d503201f/d5032020/" a.tarmac >opcode.tarmac
awk -v from="$(line 100)" -v to="$(($(line 110) - 1))" -v behind="$(($(line 150) - 1))" '
    NR >= from && NR <= to { block = block $0 "\n"; next }
    { print }
    NR == behind { printf "%s", block }' a.tarmac >moved.tarmac
awk '/ MW8 / && held { print; print held; held = ""; next }
     held { print held; held = "" }
     / R X/ { held = $0; next }
     { print }
     END { if (held) print held }' a.tarmac >order.tarmac
check test "$(cmp a.tarmac order.tarmac | wc -l)" = 1
check test "$(wc -l <moved.tarmac)" = "$(wc -l <a.tarmac)"
sed "$(line 590),\$d" a.tarmac >cut.tarmac

for case in 'less ["missing",2,0,null]' 'more ["inserted",0,1,null]' 'opcode ["changed",1,1,"opcode"]' \
    'moved ["reordered",17,17,null]' 'order' "cut [\"rest\",$(($(wc -l <a.tarmac) - $(wc -l <cut.tarmac))),0,null]"; do
    run trod compare --format json a.tarmac "${case%% *}.tarmac"
    status "$([[ $case == order ]] && echo 0 || echo 1)"
    json '.comparisons[0].summary | .rows_a == .equal_a + .differing_a + .not_compared_a'
    json '.comparisons[0].summary | .rows_b == .equal_b + .differing_b + .not_compared_b'
    list
    out < <([[ $case == order ]] || echo "${case#* }")
done
run trod compare --skip-rest a.tarmac cut.tarmac
status 0

# all of it at once, more than two files
cp less.tarmac all.tarmac
run trod compare --format json a.tarmac less.tarmac a.tarmac opcode.tarmac
status 1
json '[.comparisons[].summary.differences] == [1, 0, 1]'
json '.comparisons[0].differences[0] | .context_a[-1].record == .context_b[-1].record and .first_a == .a[0].record'
json '.comparisons[0].summary.by_pc | map([.instruction, .differences]) == [["0x831c", 1]]'

# JUnit is XML, and says what failed
run trod compare --format junit a.tarmac value.tarmac a.tarmac
status 1
out_has '<testsuite name="trod compare" tests="2" failures="1" errors="0">'
out_has 'classname="trod.compare" name="value.tarmac"'
if command -v xmllint >/dev/null; then
    check xmllint --noout "$stdout"
fi
run trod compare --format csv a.tarmac value.tarmac
status 1
out_has '^comparisons\.0\.differences\.0\.type,changed$'

# registers: masks, names left out, other names
run trod compare --mask reg=X12:fff0 a.tarmac value.tarmac
status 0
run trod compare --mask X12:f a.tarmac value.tarmac
status 1
run trod compare --mask X12 a.tarmac value.tarmac
status 2
err_has "bad value 'X12' for --mask"
run trod compare --ignore-register x12 a.tarmac value.tarmac
status 0
run trod compare --ignore value a.tarmac value.tarmac
status 0
run trod compare --track instr,mem a.tarmac value.tarmac
status 0
sed 's/R X12 /R TMP /' a.tarmac >alias.tarmac
run trod compare -n 0 a.tarmac alias.tarmac
status 1
run trod compare --alias TMP=X12 a.tarmac alias.tarmac
status 0

# addresses that slid, code and data by different amounts
awk '/ IT / { $5 = sprintf("%08x", 1073741824 + 32768 + 4 * (i++)) }
     / MW8 / { $4 = sprintf("%016x", 268435456 + 1048576 + 8 * (i - 1)) }
     { print }' a.tarmac |
    awk '/ IT / { c = $4; gsub(/[()]/, "", c); $6 = sprintf("%08x", 3573751839 + c * 7) } { print }' >slid.tarmac
awk '/ IT / { c = $4; gsub(/[()]/, "", c); $6 = sprintf("%08x", 3573751839 + c * 7) } { print }' a.tarmac >base.tarmac
run trod compare -n 0 base.tarmac slid.tarmac
status 1
run trod compare --slide 0x8000-0xffff:0x40000000,0x100000-0x1fffff:+0x10000000 base.tarmac slid.tarmac
status 0
run trod compare --slide B:0x40000000-0x4fffffff:-0x40000000,B:0x10000000-0x1fffffff:-0x10000000 base.tarmac slid.tarmac
status 0
run trod compare --slide auto --format json base.tarmac slid.tarmac
status 0
json '[.comparisons[0].summary.slides[].offset] | sort == ["0x10000000", "0x40000000"]'
# a library that is first called long after the beginning, and its data, elsewhere again
awk 'function run(n, code, data, pc,   k) {
        for (k = 0; k < n; k++) {
            printf "%d clk IT (%d) %s%08x %08x O EL1h_n : X\n", ++t, t, code, pc + 4 * k, \
                (pc + k * 4) * 7919 % 2000000011
            if (k % 4 == 1) printf "%d clk MW8 %s%08x 00000000_%08x\n", t, data, pc * 2 + 8 * k, k
        }
    }
    BEGIN {
        for (i = 0; i < 20; i++) run(400, "00000000", "00000000", 4194304)
        for (i = 0; i < 5; i++) {
            run(100, "00000000", "00000000", 4194304)
            run(300, "00007f00", "00007e00", 65536)
        }
    }' >lib1.tarmac
sed 's/ 00007f00/ 00007f55/; s/ 00007e00/ 00007e12/' lib1.tarmac >lib2.tarmac
check test "$(grep -c 00007f55 lib2.tarmac)" = 1500
run trod compare --slide auto --format json lib1.tarmac lib2.tarmac
status 0
json '[.comparisons[0].summary.slides[].offset] | unique == ["0x1200000000", "0x5500000000"]'
# and a wrong address in it is still seen
awk '/MW8 00007e12/ && ++n == 300 { $4 = "00007e1200020000" } { print }' lib2.tarmac >lib3.tarmac
run trod compare --slide auto --format json lib1.tarmac lib3.tarmac
status 1
list
out <<<'["changed",1,1,"addr"]'
run trod compare --slide A:12-:3 base.tarmac slid.tarmac
status 2

# Trace Matcher: the example of its wiki, its options by its names
printf '1 clk 0 IT (1) 00001000 00000001 A svc : a\n1 clk R r8 00000001\n' >w1
printf '1 clk R r8 00000001\n1 clk 0 IT (1) 00001000 00000001 A svc : a\n' >w2
run trod compare --from matcher --align none --format json w1 w2
status 1
json '.comparisons[0].summary.differences == 2'
run trod compare --from matcher --align none -w 2 w1 w2
status 0
run trod compare --from matcher --align none -w 1 --window-unit ticks w1 w2
status 0
# its option isa=a64 overrules the letter A: registers are those of A64, opcodes are decoded so
printf '%s\n' '1 clk 0 IT (1) 00001000 d2800020 A svc : mov x0,#1' '1 clk R x0 0000000000000001' \
    '2 clk 0 IT (2) 00001004 8b000003 A svc : add x3,x0,x0' '2 clk R x3 0000000000000002' >a1
sed 's/2$/3/' a1 >a2
run trod compare --from matcher:isa=a64 --format json a1 a2
status 1
json '.comparisons[0].differences[0].reads | length == 1 and .[0].register == "x0"'
run trod mix --from matcher:isa=a64 --format json a1
json '.mnemonics | map(.mnemonic) | sort == ["add", "movz"]'
printf '%s\n' '1 clk 0 IT (1) 00001000 4770 T svc : bx lr' >t1 # the letter T keeps its meaning
run trod mix --from matcher:isa=a64 --format json t1
json '.mnemonics | map(.mnemonic) == ["bx"]'
printf '1 clk R fp 0000000000000001\n' | cat t1 - >t2 # registers are those that the option says
printf '1 clk R x29 0000000000000001\n' | cat t1 - >t3
run trod compare --from matcher:isa=a64 t2 t3
status 0

run trod compare -C 13 a.tarmac less.tarmac
status 2
err_has "option '--context': at most 12 rows"
out </dev/null
run trod compare -sa 000083e8 -se -sr -w 1 a.tarmac cut.tarmac
status 0
run trod compare -bs 300 --format json a.tarmac less.tarmac
status 1
json '.comparisons[0].summary.not_compared_a > 300'
run trod compare -fds --format json alias.tarmac a.tarmac
status 1
json '.comparisons[0].summary | .differences == 1 and .stopped_early'
# Ticks are of the first unit, whatever units and decimals other lines have: times that are the same count the same. The
# second trace writes each register some instructions later; of mixed times every second one is in other words.
timed() { # LATE MIXED
    awk -v late="$1" -v mixed="$2" 'function time(t) {
            n++
            return !mixed || n % 2 ? t " ns" : n % 3 == 0 ? t "000 ps" : n % 3 == 1 ? t ".00 ns" : sprintf("%d.%03d us", t / 1000, t % 1000)
        }
        BEGIN { for (k = 1; k < 400; k++) {
            printf "%s cpu0 IT (%d) %08x d503201f O EL1h_n : NOP\n", time(3 * k), k, 4096 + 4 * k
            for (j = k - 6; j <= k; j++)
                if (j > 0 && j + (late ? j % 7 : 0) == k)
                    printf "%s cpu0 R X%d %016x\n", time(3 * k), j % 29, j
            } }'
}
for late in 0 1; do timed $late 0 >plain.$late && timed $late 1 >mixed.$late; done
wrong=
for more in '-w 4' '-w 9' '-w 17' '-w 40' '--align none -w 30'; do
    for pair in 'plain.0 plain.1' 'mixed.0 mixed.1' 'plain.0 mixed.1' 'mixed.0 plain.1'; do
        # shellcheck disable=SC2086
        run trod compare --window-unit ticks $more --format json $pair
        check test "$got" -le 1
        jq -c '[.comparisons[0] | .summary.differences, (.differences[] | [.kind, .row_a, .row_b])]' "$stdout" >"told.${pair// /.}"
        same told.plain.0.plain.1 "told.${pair// /.}"
    done
    wrong+="$(jq '.[0]' told.plain.0.plain.1) "
done
# a wider window finds more
check test "$(tr ' ' '\n' <<<"$wrong" | head -4 | uniq | sort -rn | paste -sd ' ')" = "$(cut -d ' ' -f 1-4 <<<"$wrong")"

# registers written late: none within the window
awk '/ R X/ { late = $0; next } { print } late && / IT / { print late; late = "" }
     END { if (late) print late }' a.tarmac >late.tarmac
run trod compare -n 0 a.tarmac late.tarmac
status 1
run trod compare -w 8 a.tarmac late.tarmac
status 0

# another dialect, another format, compressed, through a pipe
run trod convert -q --allow-loss --to tarmac:dialect=es a.tarmac es.tarmac
run trod compare a.tarmac es.tarmac
status 0
run trod convert -q --allow-loss --to matcher a.tarmac a.matcher
run trod compare --from-b matcher a.tarmac a.matcher
status 0
run sh -c "gzip -c more.tarmac | '$TROD' compare --format json a.tarmac -"
status 1
list
out <<<'["inserted",0,1,null]'

# a model that still runs: what differs is told before it ends
mkfifo model
(cat opcode.tarmac; cat opcode.tarmac; touch fed; sleep 20) >model &
feeder=$!
cat a.tarmac a.tarmac a.tarmac >three.tarmac
touch live
"$TROD" compare --from tarmac three.tarmac model >live 2>/dev/null &
live=$!
for ((i = 0; i < 100; i++)); do
    grep -q '^difference 1: changed: opcode' live && break
    sleep 0.1
done
check grep '^difference 1: changed: opcode of instruction at 0x863c' live
check kill -0 $feeder
check test ! -s <(grep '^summary' live)
kill $feeder $live 2>/dev/null
wait $live 2>/dev/null

# streams in another order, by other names
awk '{ print $1, $2, "cpu0", $3, $4, $5, $6, $7, $8, $9, $10 }' a.tarmac >cpu0
sed 's/ cpu0 / cpu1 /' cpu0 | sed 's/ 0000\([89a-f]\)/ 0001\1/' >cpu1
cat cpu0 cpu1 >both1.tarmac
paste -d '\n' cpu1 cpu0 >both2.tarmac
run trod compare both1.tarmac both2.tarmac
status 0
sed 's/ cpu0 / core7 /; s/ cpu1 / core3 /' both1.tarmac >core.tarmac
run trod compare both2.tarmac core.tarmac --pair cpu0=core7,cpu1=core3
status 0

# Where few records agree for long, the work is in proportion to them: no second search through
# 65,536 records for each.
for side in a b; do
    awk -v side=$side 'BEGIN {
        for (i = 0; i < 90000; i++)
            printf "1 clk 0 IT (1) %08x 00000001 A svc_s : x\n", side == "a" || i % 3 == 0 ? 4 * i : 536870912 + 4 * i
    }' >sparse.$side
done
run timeout 60 "$TROD" compare --from matcher --format json -n 0 sparse.a sparse.b
status 1
json '.comparisons[0].summary | .equal_a > 29000 and .rows_a == .equal_a + .differing_a + .not_compared_a'

# quiet
run trod compare -q a.tarmac value.tarmac
status 1
out </dev/null
check test ! -s "$stderr"

# two runs of one program: times, cpus and thread numbers are not the same, and no difference
g=$TROD_SOURCE/tests/golden/drmemtrace
run trod compare "$g/version7.canonical.trace" "$g/version7.canonical.trace"
status 0

# a process has another number in another run: compared where that is asked for
at=$(od -An -v -t x1 -w12 "$g/version7.canonical.trace" | grep -n '^ 18 00' | cut -d : -f 1) # PID: entries of type 24
cp "$g/version7.canonical.trace" other.trace
printf '\x7b\x01\0\0' | dd of=other.trace bs=1 seek=$((12 * (at - 1) + 4)) conv=notrunc 2>/dev/null # 379
run trod compare "$g/version7.canonical.trace" other.trace
status 0
for fields in pid all; do
    run trod compare -n 1 --compare $fields "$g/version7.canonical.trace" other.trace
    status 1
    out_has "^difference 1.*: changed: .*pid"
    out_has '^  pid: [0-9][0-9]* against 379$'
done
run trod compare --compare all --ignore pid "$g/version7.canonical.trace" other.trace
status 0

# wide values: the 128 bits with the highest ones that differ, and which bits they are
words() { # words N WORD: N times WORD
    local i
    for ((i = 0; i < $1; i++)); do printf '_%s' $2; done
}
echo "1 clk cpu0 R z0 00000000$(words 15 89abcdef)" >one.tarmac
echo "1 clk cpu0 R z0 00000001$(words 15 89abcdef)" >two.tarmac
run trod compare --from tarmac one.tarmac two.tarmac
status 1
out_has '^  value: 0x0000000089abcdef89abcdef89abcdef\.\.\. <511:384> against 0x0000000189abcdef89abcdef89abcdef\.\.\. <511:384>$'
echo "1 clk cpu0 R z0 00000000$(words 7 89abcdef)_00000002$(words 7 89abcdef)" >one.tarmac
echo "1 clk cpu0 R z0 00000000$(words 7 89abcdef)_00000003$(words 6 89abcdef)_00000000" >two.tarmac
run trod compare --from tarmac one.tarmac two.tarmac
out_has '^  value: 0x\.\.\.0000000289abcdef89abcdef89abcdef\.\.\. <255:128> against 0x\.\.\.0000000389abcdef89abcdef89abcdef\.\.\. <255:128>$'

# what differs in words, where the records show nothing; one cause of most differences
awk '/ IT / && ++n % 7 == 0 { sub(/EL1h_n/, "EL1h_s") } { print }' a.tarmac >sec.tarmac
run trod compare -n 1 a.tarmac sec.tarmac
status 1
out_has '^difference 1: changed: mode of instruction at 0x8018$'
out_has '^  mode: EL1h_n against EL1h_s$'
out_has 'hint: .*only mode differs in 85 of 85 differences, --ignore mode'
run trod compare --ignore mode a.tarmac sec.tarmac
status 0
grep -v 'R X12 ' a.tarmac >without.tarmac
run trod compare -n 0 a.tarmac without.tarmac
status 1
out_has 'hint: .*X12 is written by A only: .* --ignore-register X12'
run trod compare --ignore nonsense a.tarmac a.tarmac
status 2
err_has "bad value 'nonsense' for --ignore"

# trouble
run trod compare - - </dev/null
status 2
err_has "standard input .* only one of the traces"
run trod compare a.tarmac
status 2
run trod compare a.tarmac /nonexistent
status 2

# the real traces against themselves and their edited copies
# --- streams that come in another order: pairing by order is doubted where names say otherwise
sed 's/clk /clk cpu0 /' a.tarmac >one
awk '/ IT /{ n++ } n <= 500' one | sed 's/cpu0/cpu1/' >two
cat one one two two >ab.tarmac
cat two two one one >ba.tarmac
run trod compare --skip-rest ab.tarmac ba.tarmac
err_has "warning: streams were paired in the order .* both traces have 'cpu0'"
run trod compare --pair cpu0=cpu0 --pair cpu1=cpu1 ab.tarmac ba.tarmac
status 0
check test ! -s "$stderr"
run trod compare --skip-rest one two
check test ! -s "$stderr"

traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
if [[ ! -d $traces/tarmac ]]; then
    echo "no real traces: these are left out"
    finish
fi
for real in "$traces"/tarmac/*.tarmac; do
    run trod compare --format json "$real" "$real"
    status 0
    json '.comparisons[0].summary | .rows_a == .equal_a + .not_compared_a and .not_compared_a < .rows_a / 10'
    # the 1000th instruction with what belongs to it
    awk '/ I[TS] |^ES /{ n++ } n != 1000' "$real" >less.tarmac
    awk '/ I[TS] |^ES /{ n++ } n == 1000' "$real" >gone
    [[ -s gone ]] || continue
    run trod compare --format json "$real" less.tarmac
    status 1
    json ".comparisons[0].summary | .differences == 1 and .missing == 1"
    run trod compare --format json less.tarmac "$real"
    json ".comparisons[0].summary | .differences == 1 and .inserted == 1"
    # another line order in every instruction
    awk '/ I[TS] |^ES /{ for (i = n; i > 0; i--) print held[i]; n = 0; print; seen = 1; next }
         seen { held[++n] = $0; next } { print }
         END { for (i = n; i > 0; i--) print held[i] }' "$real" >order.tarmac
done
a64=$traces/tarmac/calculator-aarch64
if [[ -e $a64-fastmodel.tarmac ]]; then
    # the same run by another tracer: what only one of them reports at the beginning, nothing else
    run trod compare --format json "$a64-fastmodel.tarmac" "$a64-es-ld-st-style.tarmac"
    json '.comparisons[0] | (.differences | length) == 1 and .differences[0].type == "missing" and .differences[0].first_a == 0'
    run trod compare --format json --symbols "$a64.elf" "$a64-fastmodel.tarmac" <(sed '5000,$s/R X29 .*/R X29 0000000000000000/' "$a64-fastmodel.tarmac")
    json '.comparisons[0].differences[0] | .fields == "value" and (.reads | length) > 0'
fi
if [[ -d $traces/drmemtrace ]]; then
    run trod compare "$traces/drmemtrace/drmemtrace.threadsig.x64.tracedir" "$traces/drmemtrace/drmemtrace.threadsig.x64.tracedir"
    status 0
fi
# --- byu12: ticks are a time, which may differ, also of types that are not known; attributes are a field
requests() { # requests TICKS ATTRIBUTES: a read, one of no known type, a write
    for type in 001 100 003; do printf "\\0\\20\\0\\0\\$type\\10\\$2\\0\\$1\\0\\0\\0"; done
}
requests 5 3 >a.byu12
requests 6 3 >b.byu12
requests 5 1 >c.byu12
run trod compare --from byu12 a.byu12 b.byu12
status 0
run trod compare --from byu12 --compare time a.byu12 b.byu12
status 1
run trod compare --from byu12 a.byu12 c.byu12
status 1
out_has '^difference 1, 0: changed: attributes of READ at 0x1000'
out_has '^  attributes: 0x3 against 0x1$'
run trod compare --from byu12 --ignore attributes a.byu12 c.byu12
status 0
# byu6: what carries nothing is a field too, and the transaction is not one of the details
printf '\0\0\20\0\0\360' >a.byu6
printf '\0\0\20\3\0\361' >b.byu6
run trod compare --from byu6 a.byu6 b.byu6
status 1
out_has '^  control_low: 0 against 1$'
out_has '^  address_low: 0 against 3$'
run trod compare --from byu6 --ignore control_low,address_low a.byu6 b.byu6
status 0
# --- what a terminal would obey is visible, and so are binary records
printf '1 clk cpu0 IT (1) 00001000 d503201f O EL1h_s : NOP\nfoo \033[31m bar\n' >red.tarmac
printf '1 clk cpu0 IT (1) 00001000 d503201f O EL1h_s : NOP\nfoo \033[32m bar\n' >green.tarmac
for layout in unified side-by-side; do
    run trod compare --layout $layout red.tarmac green.tarmac
    status 1
    out_has '^  name: foo \\x1b\[31m bar against foo \\x1b\[32m bar$'
    out_not $'\033'
done

# --- a trace with nothing to compare is not equal, and is named
printf '1 clk 0 IT (1) 00001000 d503201f A svc : NOP\n2 clk 0 IT (2) 00001004 d503201f A svc : NOP\n' >long.trace
head -n 1 long.trace >short.trace
run trod compare --from matcher --boot-size 1 long.trace short.trace
status 2
out_has '^ *equal: *no$'
err_has '^trod: short.trace: nothing is compared: short.trace has no instruction'
run trod compare --from matcher --boot-size 1 --format json long.trace short.trace
status 2
json '.comparisons[0].summary.equal == false'

# --- rows of instructions that are left out, or that the files do not have, are compared in order
awk 'BEGIN {
    for (i = 0; i < 50; i++)
        for (side = 0; side < 2; side++) {
            to = side ? "down.tarmac" : "up.tarmac"
            k = side ? 49 - i : i
            printf "%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n", i, i, 4096 + 4 * i >to
            printf "%d clk MW4 %08x %08x\n", i, 32768 + 4 * k, k >to
        }
}'
run trod compare --where 'kind==WRITE' up.tarmac down.tarmac
status 1
run trod compare --where 'kind==WRITE' --window-size 50 up.tarmac down.tarmac
status 0
grep -F MW4 up.tarmac >stores-up.tarmac
grep -F MW4 down.tarmac >stores-down.tarmac
run trod compare stores-up.tarmac stores-down.tarmac
status 1
run trod compare --window-size 50 stores-up.tarmac stores-down.tarmac
status 0
# --- and so are accesses in pieces
printf 'kind,addr,size\nREAD,0x1000,16\nWRITE,0x2000,8\n' >whole.csv
printf 'kind,addr,size\nREAD,0x1000,8\nREAD,0x1008,8\nWRITE,0x2000,4\nWRITE,0x2004,4\n' >pieces.csv
for how in '' --track=mem --independent; do
    run trod compare $how whole.csv pieces.csv
    status 0
done
finish

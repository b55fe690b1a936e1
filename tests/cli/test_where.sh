# test_where.sh - --where in every command: a command has it, and a case here that shows that rows are chosen, or its
# help says why it has none. What is to come out is counted in the text of the trace, or is what the command finds
# in a trace that has nothing but the rows wanted.
. "$TROD_SOURCE/tests/cli/lib.sh"
. "$TROD_SOURCE/tests/cli/calls_model.sh"
have jq

# two cpus, and what cpu0 alone did
model 9 4 >both.tarmac
grep ' cpu0 ' both.tarmac >only.tarmac
# a third of its rows are writes to one of 16 addresses, with values that come again
rows=$(fewer 60000 24000) lines=$((3 * rows))
awk -v rows=$rows 'BEGIN {
    for (n = 1; n <= rows; n++) {
        pc = 4096 + 4 * (n * n % 23)
        printf "%d clk cpu0 IT (%d) %08x:%012x_NS d503201f O EL1h_n : NOP\n", n, n, pc, pc
        at = 32768 + 8 * (n * 7 % 16)
        printf "%d clk cpu0 MW8 %08x:%012x_NS 00000000_%08x\n", n, at, at, n * n % 1009
        printf "%d clk cpu0 R X%d %016x\n", n, n % 5, n % 211
    }
}' >writes.tarmac
declare -A shown

# alike COMMAND...: with the rows of cpu0 of both what it says of cpu0 alone; not what it says of both
alike() {
    shown[$1]=1
    run trod "$@" --format json only.tarmac
    status 0
    plain <"$stdout" >want
    run trod "$@" --format json both.tarmac
    plain <"$stdout" >whole
    run trod "$@" --format json --where 'cpu == cpu0' both.tarmac
    status 0
    plain <"$stdout" >"$tmp/.json"
    same want "$tmp/.json"
    check test "$(cmp -s want whole; echo $?)" = 1
}

# What does not depend on which file it is: names and sizes of files; streams that have no rows here, which the trace has
plain() {
    jq -S 'walk(if type == "object" then del(.file, .file_bytes, .decoded_bytes, .bits, .evidence_bits) else . end) |
        walk(if type == "array" then map(select(type != "object" or ([.cpu?, .name?, .thread?, .stream?] | index("cpu1") | not)))
             else . end)'
}

for command in count mix hot locality deps calls profile flame cache info schedule branches 'run count,mix' \
    'phases --interval 20'; do
    # shellcheck disable=SC2086 # words
    alike $command
done
shown[report]=1
for file in only both; do
    run trod report --run count,mix --where 'cpu == cpu0' --format json $file.tarmac
    status 0
    jq '[.count.total, .mix]' "$stdout" | plain >$file.json
done
same only.json both.json
check grep -q instructions only.json
check grep -q '^f 18$' <(trod run --where 'cpu == cpu0' --format json calls both.tarmac | jq -r '.tree[] | "f \(.calls)"')

# ---- what writes rows: lines of the text, chosen by grep
shown[view]=1 shown[find]=1 shown[convert]=1 shown[hide]=1 shown[export]=1 shown[waves]=1
zeros="kind == WRITE && value == 0"
n=$(grep -c 'MW8.*_00000000$' writes.tarmac)
check test "$n" -gt 20
run trod view --where "$zeros" writes.tarmac
check test "$(wc -l <"$stdout")" = "$n"
run trod find --where "$zeros" --count --format json writes.tarmac
json ".found == $n"
run trod convert --where 'cpu == cpu0' both.tarmac out.tarmac
status 0
check cmp only.tarmac out.tarmac
run trod convert --where "$zeros" writes.tarmac out.tarmac
grep 'MW8.*_00000000$' writes.tarmac >want
check cmp want out.tarmac
for command in 'export --to folded' waves; do
    for file in only both; do
        # shellcheck disable=SC2086 # words
        run trod $command --where 'cpu == cpu0' $file.tarmac
        status 0
        grep -v -e date -e "$file" "$stdout" >$file.out
    done
    [[ $command != waves ]] || sed -i -e '/cpu1/,/upscope/d' both.out only.out # a cpu without rows has its names
    same only.out both.out
done
echo key >key
run trod hide --key-file key --where 'kind == INSTR && cpu == cpu0' both.tarmac hidden.d
status 0
run trod hide --key-file key --where 'kind == INSTR' only.tarmac want.d # gaps are possible, as above
run trod hide --key-file key both.tarmac all.d
trod view want.d >want
check grep -q INSTR want
run trod view hidden.d
out_is want
check test "$(trod view all.d | wc -l)" -gt "$(wc -l <want)"

# ---- two traces: differences are those of the rows chosen
shown[compare]=1
sed '/ cpu1 MR8 00008000/s/00000001$/00000002/' both.tarmac >other.tarmac
run trod compare both.tarmac other.tarmac
status 1
run trod compare --where 'cpu == cpu0' both.tarmac other.tarmac
status 0
run trod compare --where 'cpu == cpu1' both.tarmac other.tarmac
status 1

# ---- check: findings at rows; every 7th write has a physical address of another offset
shown[check]=1
awk '/ MW8 / && ++n % 7 == 0 { sub(/:[0-9a-f]*_NS/, ":000000009abc_NS") } { print }' writes.tarmac >offset.tarmac
bad() { grep -c -e "MW8 ${1-}.*:000000009abc" offset.tarmac; }
check test "$(bad)" -gt 1000
run trod check --only tarmac.page-offset --format json offset.tarmac
status 1
json "[.rules[].findings] == [$(bad)]"
run trod check --only tarmac.page-offset --where 'addr == 0x8008' --format json offset.tarmac
status 1
json "[.rules[].findings] == [$(bad 00008008)]"

# ---- truncate: with the register, which is another one each time, it is no loop
shown[truncate]=1
awk 'BEGIN { for (n = 1; n <= 40; n++) {
    printf "%d clk cpu0 IT (%d) 0000%d:00000000%d_NS d503201f O EL1h_n : NOP\n", n, n, 1000 + 4 * (n % 2), 1000 + 4 * (n % 2)
    printf "%d clk cpu0 R X0 %016x\n", n, n } }' >counts.tarmac
run trod truncate counts.tarmac
out_is counts.tarmac
run trod truncate --where 'kind == INSTR' counts.tarmac
status 0
grep IT counts.tarmac | head -2 >want
out_is want
err_has 'begins with row 0 of those that are chosen at 0x1004: 2 steps a period, 20 whole periods'
head -80 counts.tarmac | run trod truncate --where 'kind == INSTR' - # a pipe
out_is want

# ---- system calls (functions: tests/cli/test_functions.sh)
shown[syscalls]=1 shown[functions]=1
run trod syscalls --where 'time < 0' --format json "$TROD_SOURCE/examples/hello.tarmac"
json '.instructions == 0'
run trod syscalls --where 'time > 0' --format json "$TROD_SOURCE/examples/hello.tarmac"
json '.instructions == 1'

# ---- sync: two threads, two sync points
shown[sync]=1
word() {
    local w
    for w; do
        bytes ${w:0:2} ${w:2:2} ${w:4:2} ${w:6:2}
    done
}
word 00001000 60000000 60000000 00200002 0000bee0 00000001 60000000 00200002 0000cee0 00000001 60000000 >one.tt6
word 00002000 60000000 00300002 0000bee0 00000001 60000000 00300002 0000cee0 00000001 60000000 >two.tt6
run trod sync --from tt6 --format json one.tt6 two.tt6
status 0
json '.sync_points == 2 and .signals == 2 and .waits == 2 and .contended_waits == 1 and .instructions == 7'
run trod sync --from tt6 --format json --where 'kind != SYNC || addr == 0xbee0' one.tt6 two.tt6
status 0
json '.sync_points == 1 and .signals == 1 and .waits == 1 and .contended_waits == 1 and .instructions == 7'
run trod sync --from tt6 --format json --where 'kind == SYNC' --dot order.dot one.tt6 two.tt6
json '.instructions == 0 and .waits == 2 and .contended_waits == 0'
check test "$(grep -c 'label="[sw]' order.dot)" = 4
run trod sync --from tt6 --format json --where 'kind == SYNC && addr == 0xcee0' --dot order.dot one.tt6 two.tt6
check test "$(grep -c 'label="[sw]' order.dot)" = 2

# ---- info: rows by kind
run trod info --format json --where "$zeros" writes.tarmac
status 0
json "[.files[0].kinds[] | [.kind, .rows]] == [[\"WRITE\", $n]]"
run trod info --format json --kind REG --time 1..9 writes.tarmac
json '[.files[0].kinds[] | [.kind, .rows]] == [["REG", 9]]'
run trod info --quick --where 'kind == REG' writes.tarmac
status 2
err_has "option '--quick' reads no rows"

# ---- who and state: lines of the text, with an index and without
shown[who]=1 shown[state]=1
# last PATTERN N: the last line up to N that matches; next, those behind it
last_line() { awk -v p="$1" -v n="$2" 'NR <= n && $0 ~ p { at = NR } END { print at + 0 }' writes.tarmac; }
next_line() { awk -v p="$1" -v n="$2" 'NR > n && $0 ~ p { print NR; exit }' writes.tarmac; }
for way in none index; do
    [[ $way == none ]] || { run trod index writes.tarmac; status 0; }
    for line in 120 $((3 * (rows * 5 / 9))) $lines; do
        for value in 57 1001; do
            printf -v hex 'MW8 00008010.*_%08x$' $value
            want=$(last_line "$hex" $((line - 1)))
            run trod who --memory 0x8010..0x8013 --writes --before line:$line --where "value == $value" --format json writes.tarmac
            status 0
            if [[ $want == 0 ]]; then json '.who == []'; else json "[.who[].line] == [$want]"; fi
            want=$(next_line "$hex" $line)
            run trod who --memory 0x8010 --writes --after line:$line --where "value == $value" --format json writes.tarmac
            json "[.who[].line] == [$want]"
        done
        # of the instruction that the row belongs to, which stands on the line before
        want=$(awk -v n=$((line - 1)) '/ IT / { at = index($0, " 00001010:") } NR <= n && /MW8 00008010/ && at { last = NR } END { print last + 0 }' writes.tarmac)
        run trod who --memory 0x8010 --writes --before line:$line --where 'pc == 0x1010' --format json writes.tarmac
        if [[ $want == 0 ]]; then json '.who == []'; else json "[.who[].line] == [$want]"; fi
        want=$(last_line 'R X3 0*2a$' $line)
        run trod state --at line:$line --where 'register == x3 && value == 42' --register x3 --no-calls --format json writes.tarmac
        if [[ $want == 0 ]]; then status 2; else json ".at.line == $want and .registers[0].value == \"0x000000000000002a\""; fi
        want=$(awk -v n="$line" '/ IT / { at = index($0, " 00001010:") } NR <= n && /R X3/ && at { last = NR } END { print last + 0 }' writes.tarmac)
        run trod state --at line:$line --where 'register == x3 && pc == 0x1010' --no-calls --format json writes.tarmac
        if [[ $want == 0 ]]; then status 2; else json ".at.line == $want"; fi
    done
    want=$(awk '/MW8 00008010.*_00000051$/ { print NR }' writes.tarmac | tail -5 | sort -nr | paste -sd,)
    run trod who --memory 0x8010 --writes --count 5 --where 'value == 81' --format json writes.tarmac
    json "[.who[].line] == [$want]"
    run trod state --diff 1000,end --where 'kind == WRITE && addr == 0x8020' --memory 0x8020..0x8027 --format json writes.tarmac
    json ".first.line == $(last_line 'MW8 00008020' 1000) and .second.line == $(last_line 'MW8 00008020' $lines)"
done
run trod who --memory 0x8010 --writes --where 'valu == 3' writes.tarmac
status 2
err_has "'valu'"
# a constant 0 that something is divided by is a mistake; of another one nothing follows
for by in 0 '(3 - 3)'; do
    run trod view --where "value % $by == 1" writes.tarmac
    status 2
    err_has 'this divides by zero'
    run trod view --where "value / $by == 1" writes.tarmac
    status 2
    err_has 'this divides by zero'
done
run trod count --format json --where '!(row / (row - row) == 0 || row % (row & 0) >= 0)' writes.tarmac
status 0
json ".total.rows == $lines"
run trod state --where 'value == 123456789' writes.tarmac
status 2
err_has "'--where' holds for no row up to row $((lines - 1))"
examples=$TROD_SOURCE/examples
run trod who --memory 0x6400 --where 'value == 0x2b' --chain 3 --format json "$examples/hello.tarmac"
status 0
json '.chain[0].row == 16'
run trod who --memory 0x6400 --where 'value == 0x2c' --chain 3 "$examples/hello.tarmac"
status 2
err_has "'--where' holds for no write before the place"

# ---- the browser: tests/cli/test_browse_more.sh
shown[browse]=1

# ---- nobody was forgotten: commands have it and are above, or say why not
for command in $(trod --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    last="trod $command --help"
    trod "$command" --help >help
    page=$TROD_SOURCE/docs/man/trod-$command.1
    if grep -q '^      --where EXPRESSION' help; then
        check test "${shown[$command]-}" = 1
        check grep -q 'Fl -where' "$page"
    else
        check grep -q -z -E 'There[[:space:]]+is[[:space:]]+no[[:space:]]+--where[:,]' help
        check grep -q 'Fl -where [:,]' "$page"
    fi
done
finish

# test_truncate.sh - trod truncate: loops of known length, of one and of several cpus, loops that count,
# pipes, compressed input, binary traces; --like tarmac on the outputs of Arm's tool that are kept.
. "$TROD_SOURCE/tests/cli/lib.sh"
have gzip

# insns N ADDRESS...: N instructions, the addresses over and over, from number FROM on
insns() {
    awk -v n="$1" -v from="${from:-1}" -v cpu="${cpu:-cpu0}" -v set="${*:2}" 'BEGIN { k = split(set, pc, " ")
        for (i = 0; i < n; i++)
            printf "%d clk %s IT (%d) %s:00000000%s_NS d503201f O EL1h_n : NOP\n", from + i, cpu, from + i,
                pc[i % k + 1], substr(pc[i % k + 1], 5) }'
}
{ insns 7 00001000 00001004 00001008 0000100c 00001010 00001014 00001018; from=8 insns 62 00002000 00002004 00002008 0000200c; } >hung.tarmac
head -11 hung.tarmac >want # one period
run trod truncate hung.tarmac
status 0
out_is want
err_has 'begins with row 7 at 0x2000: 4 steps a period, 15 whole periods'
run trod truncate -o short.tarmac hung.tarmac
check cmp want short.tarmac
run sh -c "cat hung.tarmac | '$TROD' truncate -" # a pipe
status 0
out_is want
run sh -c "'$TROD' truncate --quiet - <hung.tarmac"
out_is want
gzip -c hung.tarmac >hung.gz
run sh -c "cat hung.gz | '$TROD' truncate - | gzip -dc 2>/dev/null || '$TROD' truncate hung.gz"
out_is want
# damage of standard input is told as that of standard input; it is read from where it stands
{ cat hung.tarmac; printf '70 clk cpu0 IT (70) 000'; } >damaged.tarmac
run sh -c "cat damaged.tarmac | '$TROD' truncate -"
status 2
out_is want
err_has '^trod: standard input:70: line is cut off'
for n in 3 5; do # the first lines are read by another program, a byte at a time
    run bash -c "for ((i = 0; i < $n; i++)); do read -r line; done; '$TROD' truncate -" <hung.tarmac
    status 0
    tail -n +$((n + 1)) want >rest
    out_is rest
done
run trod truncate --least 20 hung.tarmac
out_is hung.tarmac
# as Arm's tool: at once, also where the pipe never ends
trod truncate --like tarmac hung.tarmac >want
check test -s want
run sh -c "while cat hung.tarmac; do :; done 2>/dev/null | timeout 60 '$TROD' truncate --like tarmac -"
status 0
out_is want

# a loop inside the loop: 2 x (a; 5 x (b c)), over and over
for ((k = 0; k < 9; k++)); do
    from=$((1 + 11 * k)) insns 1 00003000
    from=$((2 + 11 * k)) insns 10 00003004 00003008
done >nested.tarmac
run trod truncate nested.tarmac
head -11 nested.tarmac >want
out_is want

# it counts, or reads something else: no loop. Reads the same: a loop, and the accesses are kept
for what in R\ X0 MR4\ 00008000; do
    insns 40 00001000 00001004 | awk -v what="$what" '{ print; if (NR % 2) printf "%d clk cpu0 %s %08x\n", NR, what, NR }' >counts.tarmac
    run trod truncate counts.tarmac
    status 0
    out_is counts.tarmac
    err_has 'does not end in a loop'
    insns 40 00001000 00001004 | awk -v what="$what" '{ print; if (NR % 2) printf "%d clk cpu0 %s %08x\n", NR, what, 7 }' >polls.tarmac
    run trod truncate polls.tarmac
    head -3 polls.tarmac >want
    out_is want
done

# the last step may be cut off behind any of its rows; one that does something else, or more, ends no loop
insns 40 00001000 00001004 | awk '{ print; if (NR % 2) printf "%d clk cpu0 MR4 00008000 00000000\n%d clk cpu0 R X1 0\n", NR, NR }' >polls.tarmac
head -4 polls.tarmac >want # 20 periods of 4 rows
for rows in 77 78 79 80; do
    head -$rows polls.tarmac >cut.tarmac
    run trod truncate cut.tarmac
    status 0
    out_is want
    err_has " $((rows < 80 ? 19 : 20)) whole periods"
done
for last in 'MR4 00008000 00000001' 'MR4 00008004 00000000' 'MW4 00008000 00000000' 'R X2 0'; do
    { head -77 polls.tarmac; echo "39 clk cpu0 $last"; } >ends.tarmac
    run trod truncate ends.tarmac
    status 0
    out_is ends.tarmac
    err_has 'does not end in a loop'
done
for rows in 78 79 80; do # what comes last is not in the step that it would have to be like
    { head -$rows polls.tarmac; echo '40 clk cpu0 MW4 00009000 00000007'; } >ends.tarmac
    run trod truncate ends.tarmac
    status 0
    out_is ends.tarmac
    err_has 'does not end in a loop'
done
# a loop of one text, and another one behind it
{ yes '1 clk cpu0 waiting' | head -40; echo '2 clk cpu0 done'; } >texts.tarmac
run trod truncate --from tarmac texts.tarmac
out_is texts.tarmac
# steps of many rows: 20 periods of 3 steps, of which one reads 1000 words
awk 'BEGIN { for (i = 0; i < 60; i++) {
                 printf "%d clk cpu0 IT (%d) %08x d503201f O EL1h_n : NOP\n", i, i, 4096 + 4 * (i % 3)
                 for (k = 0; i % 3 == 1 && k < 1000; k++) printf "%d clk cpu0 MR4 %08x 00000000\n", i, 32768 + 4 * k } }' >rows.tarmac
head -1003 rows.tarmac >want
for rows in $((19 * 1003 + 2)) $((19 * 1003 + 700)) $((20 * 1003)); do
    head -$rows rows.tarmac >cut.tarmac
    run trod truncate cut.tarmac
    out_is want
done
{ head -$((19 * 1003 + 700)) rows.tarmac; echo '58 clk cpu0 MR4 00009000 00000000'; } >ends.tarmac
run trod truncate ends.tarmac
out_is ends.tarmac

# two cpus: each by itself
paste -d '\n' <(cpu=cpu0 insns 40 00001000 00001004) <(cpu=cpu1 insns 40 00005000 00005004 00005008 0000500c 00005010) >two.tarmac
run trod truncate two.tarmac
check test "$(grep -c cpu0 "$stdout") $(grep -c cpu1 "$stdout")" = "2 5"
err_has '^a loop to the end of cpu0 begins with row 0 at 0x1000: 2 steps a period, 20 whole periods'
err_has '^a loop to the end of cpu1 begins with row 1 at 0x5000: 5 steps a period, 8 whole periods'

# 16 steps are a loop, 15 are none
for steps in 15 16; do
    insns $steps 00001000 >few.tarmac
    run trod truncate few.tarmac
    check test "$(wc -l <"$stdout")" -eq $((steps == 15 ? 15 : 1))
done

# threads that one file does not hold: no option of truncate writes them all the same
trod gen -q --to drmemtrace sharing:count=40 threads >/dev/null
run trod truncate --without-pc 0x10010 threads -o one.trace # its last branch is not taken
status 2
err_has 'write to a directory'
check test "$(grep -c allow-loss "$stderr")" -eq 0

# a long way, then a long loop: periods of 3000 steps
awk 'BEGIN { for (i = 0; i < 200000; i++)
                 printf "%d clk cpu0 IT (%d) %08x:%012x_NS d503201f O EL1h_n : NOP\n", i, i,
                     i < 50000 ? 65536 + 4 * i : 4194304 + 4 * ((i - 50000) % 3000),
                     i < 50000 ? 65536 + 4 * i : 4194304 + 4 * ((i - 50000) % 3000) }' >long.tarmac
run trod truncate long.tarmac
err_has 'begins with row 50000 at 0x400000: 3000 steps a period, 50 whole periods'
check test "$(wc -l <"$stdout")" = 53000

# binary formats: what is left can be read
for file in sum.trace.zip sum.tt6; do
    run trod truncate -o left "$TROD_SOURCE/examples/$file"
    status 0
    run trod count left
    status 0
done
: >empty.tarmac
run trod truncate --from tarmac empty.tarmac
check test "$got" -le 2

# Arm's tool
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/tarmac
compared=0
for file in "$traces"/reference/*/truncate.txt; do
    [[ -e $file ]] || { echo "skipped: no traces in $traces"; break; }
    folder=$(dirname "$file")
    trace=$folder/trace.tarmac
    [[ -e $trace ]] || trace=$traces/$(basename "$folder")
    [[ -e $trace ]] || continue
    run trod truncate --like tarmac "$trace"
    status 0
    if grep -q '^\[output identical' "$file"; then
        sum=$(sed -n 's/.*sha256 \([0-9a-f]*\).*/\1/p' "$file")
        check test "$(sha256sum <"$stdout" | cut -d ' ' -f 1)" = "$sum"
    else
        sed -e 1d -e '/^\[standard error\]/,$d' "$file" >want
        out_is want
    fi
    compared=$((compared + 1))
done
echo "compared: $compared outputs of Arm's tool"
finish

# test_choose.sh - choosing records: first and last ones, registers, texts, functions; relative times;
# warnings where nothing is there. Expected rows are read off examples/hello.tarmac.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

hello=$TROD_SOURCE/examples/hello.tarmac
grep -v '^#' "$hello" >lines # one record a line
n=$(wc -l <lines)
check test "$n" -gt 20

# native view: the lines themselves
run trod view -N "$hello" --head 3
status 0
through tail -n 3
head -n 3 lines >want
same want "$stdout"
for option in '-n 3' '--limit 3' '--limit=3'; do
    run trod view -N $option lines
    status 0
    same want "$stdout"
done
tail -n 4 lines >want
run trod view -N --tail 4 lines
status 0
same want "$stdout"
run trod view -N --tail 1000 lines
same lines "$stdout"
grep ' R ' lines | tail -n 2 >want
run trod view -N --kind REG --tail 2 lines
same want "$stdout"
grep ' R ' lines | head -n 2 >want
run trod view -N --kind REG --head 2 lines
same want "$stdout"
run trod convert lines some.tarmac --tail 4
status 0
tail -n 4 lines >want
same want some.tarmac
run trod convert lines - --to tarmac --head 4 -q
status 0
head -n 4 lines >want
same want "$stdout"
run bash -c "'$TROD' view --tail 2 - <lines"
status 2
err_has 'reads twice'
run trod view --tail 2 --head 2 lines
status 2
err_has 'exclude each other'

# registers in any case; texts by regular expression, of a file with and one without disassembly
grep ' R X[12] ' lines >want
run trod view -N --register x1,X2 lines
status 0
same want "$stdout"
grep -E ': (BL|B\.|ADD)' lines >want
check test -s want
run trod view -N --text '^(BL|B\.|ADD)' lines
status 0
same want "$stdout"
run trod view --text '(' lines
status 2
err_has "option '--text': '\('"
# three PowerPC instructions: nop, b 0x0ffc (from 0x1004), nop
printf '\0\0\20\0\140\0\0\0\113\377\377\370\0\0\17\374\140\0\0\0' >t.tt6
run trod view --from tt6 --text '^b ' --format csv t.tt6
status 0
check test "$(grep -c INSTR "$stdout")" = 1

# functions by name
if command -v cc >/dev/null && command -v nm >/dev/null; then
    cat >p.c <<'EOC'
int twice(int x) { return 2 * x; }
int main(void) { return twice(21); }
EOC
    if cc -g -O0 -no-pie -o p p.c 2>/dev/null; then
        at=0x$(nm p | sed -n 's/^\([0-9a-f]*\) T twice$/\1/p')
        printf '1 clk IT (1) %08x 90000000 A : one\n2 clk IT (2) %08x 90000000 A : two\n' "$at" $((at - 1)) >two.tarmac
        run trod view --from tarmac -N --pc twice -S p two.tarmac
        status 0
        head -n 1 two.tarmac >want
        same want "$stdout"
        run trod view --from tarmac -N --without-pc twice --symbols p two.tarmac
        tail -n 1 two.tarmac >want
        same want "$stdout"
        run trod count --from tarmac --pc twice --symbols p two.tarmac --format json
        status 0
        check test "$(jq '.. | .rows? // empty' "$stdout" | head -n 1)" = 1
        run trod view --from tarmac --pc nowhere -S p two.tarmac
        status 2
        err_has "no symbol has that name"
    fi
fi
run trod view --pc main lines
status 2
err_has "names need --symbols"

# times since the first record shown, and since the one before: 1 and 2 clk in the first three lines
run trod view --times start --format csv --range 1..3 lines
status 0
check test "$(cut -d, -f3 "$stdout" | tr '\n' ' ')" = "time 0 1 1 "
run trod view --times previous --format csv --range 1..3 lines
check test "$(cut -d, -f3 "$stdout" | tr '\n' ' ')" = "time 0 1 0 "
printf '9 clk IT (1) 00001000 90000000 A : one\n4 clk IT (2) 00001004 90000000 A : two\n' >back.tarmac
run trod view --from tarmac --times previous --format csv back.tarmac
check test "$(cut -d, -f3 "$stdout" | tr '\n' ' ')" = "time 0 -5 "

# also where units and decimals change from row to row; what is no time counts for itself
{
	printf '%s IT (1) 00001000 90000000 A : one\n' '500 ns' '10.5 us' '7 clk' '10.75 us' '11 us' '9 clk' '10.5 us'
} >units.tarmac
run trod view --from tarmac --times start --format csv units.tarmac
check test "$(cut -d, -f3,4 "$stdout" | tr '\n' ' ')" = \
    "time,unit 0,ns 10.000,us 0,clk 10.250,us 10.500,us 2,clk 10.000,us "
run trod view --from tarmac --times previous --format csv units.tarmac
check test "$(cut -d, -f3,4 "$stdout" | tr '\n' ' ')" = \
    "time,unit 0,ns 10.000,us 0,clk 0.25,us 0.25,us 2,clk -0.5,us "

# what is not there is said, with what is
run trod view --stream nosuch lines
status 0
out </dev/null
err_has "warning: no thread or cpu is called 'nosuch'; there are cpu0"
run trod view --kind BRANCH lines
status 0
err_has 'warning: no BRANCH rows among the [0-9]+ read; there are INSTR, .*REG.*branches are INSTR'
run trod convert --kind TLB lines nothing.tarmac
err_has 'no TLB rows'
run trod count --kind TLB lines
err_has 'no TLB rows'
run trod view --register X77 lines
err_has 'none of the [0-9]+ rows read'
run trod view --register X2 lines
err </dev/null

# files that are no traces, and wrong options
run trod info "$(command -v bash)"
status 2
err_has 'this is an ELF program, not a trace'
printf '#!/bin/sh\necho\n' >script.sh
run trod info script.sh
err_has 'this is a script, not a trace'
printf 'BZh91AY&SY' >trace.champsim.bz2
run trod info trace.champsim.bz2
status 2
err_has 'compressed with bzip2'
run trod count --line-size 48 lines
status 2
out </dev/null
err_has "line size '48'"
run trod record -o x ls -l
status 125
err_has "unknown option '-l'; if it is one of 'ls', write -- before that: trod record ... -- ls -l"
: >file
run trod record -o x -- ./file
status 125
err_has "'./file' is not executable"
# rows that --instructions leaves out, whole chunks too, count in the numbers of rows, those of other files as well
trod gen -q --to drmemtrace:chunk=20 sharing:count=60 threads >/dev/null
for order in file time; do
    trod view --no-index --order $order --where 'index in 90..99' threads >want
    check test "$(wc -l <want)" -ge 20
    run trod view --no-index --order $order --instructions 90..99 threads
    out_is want
done
# numbers that no row of a format has: it is said, and little is read for it
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "2 %x\n0 %x\n", 4096 + 4 * (i % 999), 65536 + 8 * i }' >steps.din
for indexed in no yes; do
    [[ $indexed = no ]] || check trod index -q --from dinero steps.din
    for command in 'find --count' view 'view --no-index -j 1' count convert; do
        more=
        [[ $command != find* ]] || more=kind==READ
        [[ $command != convert* ]] || more=none.csv
        run trod $command --from dinero --instructions 3..4 steps.din $more
        err_has "option '--instructions': format dinero does not number instructions, and no row has a number; trod view --at insn:N"
        check test "$(grep -c 'does not number' "$stderr")" = 1
    done
done
run trod find --from dinero --count --instructions 3..4 steps.din kind==READ
out_has '^rows: +[1-9][0-9]{3}$'
finish

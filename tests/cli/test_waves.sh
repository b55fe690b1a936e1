# test_waves.sh - trod waves: a value change dump of examples/hello.tarmac, read back and compared with
# what trod view says of the rows; times, unknown bits, chosen signals; gtkwave's own tools where they
# are installed.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq awk

hello=$TROD_SOURCE/examples/hello.tarmac

# values FILE NAME: TIME VALUE of every change of a signal, by the header of the dump
values() {
    awk -v name="$2" '
        $1 == "$var" && $5 == name { id = $4 }
        /^#/ { t = substr($1, 2); next }
        /^\$/ { next }
        $2 == id && /^[bs]/ { print t, substr($1, 2); next }
        NF == 1 && substr($1, 2) == id && /^[01x]/ { print t, substr($1, 1, 1) }' "$1"
}

run trod waves "$hello" -o hello.vcd
status 0
check test ! -s "$stdout"
check grep -q '^\$timescale 1 ns \$end' hello.vcd
check grep -q '^\$comment a tick is one of the trace.s times' hello.vcd
check grep -q '^\$var reg 64 . x30 \[63:0\] \$end' hello.vcd
check grep -q '^\$scope module cpu0 \$end' hello.vcd

# the program counter and registers: what the listing says, in binary
values hello.vcd pc | tail -n +2 >got
trod view "$hello" --kind INSTR --format json | jq -r '"\(.time) \(.address)"' |
    while read -r t pc; do
        v=$((pc))
        b=
        while ((v > 0)); do b=$((v & 1))$b v=$((v >> 1)); done
        echo "$t $b"
    done >want
same want got
values hello.vcd x2 >got
printf '1 x\n5 101010\n6 101011\n' >want
same want got
# the lower word of x is known where a trace writes 32 bits of it; cpsr has 32 bits
values hello.vcd cpsr >got
printf '1 x\n9 100000000000000000000000000101\n' >want
same want got
# accesses: at 3 two writes (the last shows), at 5 a read, at 7 a write, none in between
values hello.vcd mem_write >got
printf '1 x\n3 1\n4 0\n7 1\n8 0\n' >want
same want got
values hello.vcd mem_read >got
printf '1 x\n3 0\n5 1\n6 0\n' >want
same want got
values hello.vcd mem_wdata >got
printf '1 x\n3 0\n7 101011\n' >want
same want got
values hello.vcd executed >got
printf '1 x\n1 1\n10 0\n11 1\n' >want
same want got
values hello.vcd insn >got
check grep -q '^4 BL\\040{pc}+0x14\\040;\\0400x8020$' got
values hello.vcd exception >got
check grep -q '^11 CoreEvent_CURRENT_SPx_SYNC$' got
values hello.vcd function | sed 's/^1 $/1/' >got
printf '1\n1 0x8000\n5 0x8020\n9 0x8000\n12 0x10200\n' >want
same want got

# only changes, and times that rise
awk '/^#/ { if ($1 == last) next; if (substr($1, 2) + 0 < t + 0) exit 1; t = substr($1, 2) }' hello.vcd
check test $? -eq 0
grep '^[b01]' hello.vcd | sort | uniq -d >twice
awk '/^\$enddef/ { on = 1 } on && /^[b01x]/ { id = NF == 2 ? $2 : substr($1, 2)
      v = NF == 2 ? $1 : substr($1, 1, 1); if (last[id] == v) print; last[id] = v }' hello.vcd >same
check test ! -s same

# times with decimals and units; unknown digits; an instruction a tick
cat >timed.tarmac <<'END'
0.100 ns IT (1) 00008000 e1a00000 A svc_s : MOV r0,r0
0.100 ns R r1 00??12ff
0.250 ns IT (2) 00008004 e1a00000 A svc_s : MOV r0,r0
0.250 ns IS (3) 00008008 e1a00000 A svc_s : MOVEQ r0,r0
0.250 ns R r1 000012ff
0.200 ns R r2 00000001
END
sed -i 's/00??12ff/00--12ff/' timed.tarmac
run trod waves timed.tarmac -o timed.vcd
status 0
err_has '1 instruction has the time of the one before it and hides it'
err_has '1 row lies before the time of a row before it'
check grep -q '^\$timescale 1 ps \$end' timed.vcd
{ cat timed.tarmac; echo '0.200 ns CADI E simulation_stopped'; } >note.tarmac # no signal: nothing is shown elsewhere
run trod waves note.tarmac -o note.vcd
err_has '1 row lies before'
values timed.vcd pc | tail -n +2 >got
printf '100 1000000000000000\n250 1000000000001000\n' >want
same want got
values timed.vcd r2 >got
printf '100 x\n250 1\n' >want
same want got
run trod waves timed.tarmac --cycles -o timed.vcd -q
values timed.vcd pc | tail -n +2 >got
printf '0 1000000000000000\n1 1000000000000100\n2 1000000000001000\n' >want
same want got

# chosen signals, chosen rows
run trod waves "$hello" --signals 'pc,x3?,cpu0.mem_*'
status 0
through grep -c '^\$var'
out <<<7
run trod waves "$hello" --signals pc,x99
status 2
err_has "no signal is called 'x99'; there are cpu0.pc, "
run trod waves "$hello" --where 'row in 0..7' -o part.vcd
status 0
values part.vcd pc | tail -n 1 >got
echo '3 1000000000001000' >want
same want got
run bash -c "cat '$hello' | '$TROD' waves -"
status 2
err_has 'reads* twice|reading twice'

run trod waves "$hello" -o part.fst
status 2
err_has "part.fst': waveforms are written as VCD"
check test ! -e part.fst

# other formats; a reader that is not ours
for file in sum.tt6 mips.trace sum.trace.zip sum.full.gz boot.byu12; do
    run trod waves "$TROD_SOURCE/examples/$file" --cycles -o other.vcd -q
    status 0
    check grep -q '^\$enddefinitions' other.vcd
    ! command -v vcd2fst >/dev/null || check vcd2fst other.vcd other.fst
done
if command -v vcd2fst >/dev/null && command -v fst2vcd >/dev/null; then
    check vcd2fst hello.vcd hello.fst
    fst2vcd hello.fst >back.vcd
    for signal in pc x2 mem_write insn exception mem_wdata; do
        values hello.vcd $signal | sed 's/ 0*\([01]\)/ \1/; s/ xx*$/ x/' >want
        values back.vcd $signal | sed 's/ 0*\([01]\)/ \1/; s/ xx*$/ x/' >got
        check test "$(tail -n 1 want)" = "$(tail -n 1 got)"
    done
else
    echo "note: vcd2fst and fst2vcd (package gtkwave) are not here: not read back"
fi
finish

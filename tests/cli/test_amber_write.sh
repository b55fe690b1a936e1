# test_amber_write.sh - what TT6, TT6E and FULL are written from: threads, opcodes of either byte order, streams of
# prefetches, records of FULL that do not follow each other; and other formats whose files hold one stream.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format tt6

words() {
    local w
    for w; do
        bytes ${w:0:2} ${w:2:2} ${w:4:2} ${w:6:2}
    done
}
# size_is FILE BYTES
size_is() {
    check test "$(stat -c %s "$1")" = "$2"
}

# ---- one file holds one thread: two computes each, the second thread with a wait
mkdir set
words 00001000 38600001 38800002 >set/a.tt6
words 00002000 38600003 00300002 0000bee0 00000000 38800004 >set/b.tt6
for from in set 'set/a.tt6 set/b.tt6'; do
    rm -f one.tt6
    run trod convert --from tt6 $from one.tt6
    status 2
    err_has 'row 3 of all files, of kind MARKER, .*: cpus or threads: a file holds one thread: write to a directory'
    check test ! -e one.tt6
    run trod convert --from tt6 $from one.tt6 --allow-loss
    status 0
    err_has '^lost: cpus or threads of 2 INSTR rows$'
    err_has '^lost: cpus or threads of 1 SYNC rows$'
    err_has '^lost: cpus or threads of 1 MARKER rows$'
    # a file a thread loses nothing, and comes out as it was
    rm -rf out
    run trod convert --from tt6 $from out/ --to tt6
    status 0
    check cmp out/00000.0.tt6 set/a.tt6
    check cmp out/00001.1.tt6 set/b.tt6
done
# one thread of several
run trod convert --from tt6 set --stream 1 one.tt6
status 0
check cmp one.tt6 set/b.tt6
# what is salvaged of several files is a directory
rm -rf out
run trod check --from tt6 set/a.tt6 set/b.tt6 --salvage out
status 0
check cmp out/00000.0.tt6 set/a.tt6
check cmp out/00001.1.tt6 set/b.tt6
run trod check --from tt6 set --salvage -
status 2
err_has "'-' holds one thread: give a directory"
run trod check --from tt6 set/b.tt6 --salvage one.tt6
status 0
check cmp one.tt6 set/b.tt6

# ChampSim's records are copied as they are, and lose the same: 64 bytes, the address in the first 8
for cpu in 0 1; do
    { bytes 00 10 40 00 00 00 00 00; head -c 56 /dev/zero; bytes 04 10 40 00 00 00 00 00; head -c 56 /dev/zero; } >$cpu.champsim
done
run trod convert --from champsim 0.champsim 1.champsim two.champsim
status 2
err_has 'row 2 of all files, of kind INSTR, .*: cpus or threads: a file holds one cpu: write to a directory'
run trod convert --from champsim 0.champsim 1.champsim two.champsim --allow-loss
status 0
err_has '^lost: cpus or threads of 2 INSTR rows$'
size_is two.champsim 256

# ---- opcodes are numbers: those of Trace Matcher are little-endian unless it is said
{
    echo '1 clk 0 IT (1) 00001000 80640008 A svc : '
    echo '1 clk MR4 00002008 00000001'
    echo '2 clk 0 IT (2) 00001004 38630001 A svc : '
} >p.trace
words 00001000 80640008 00002008 38630001 >want.tt6
for endian in little big; do
    run trod convert --from matcher:isa=ppc32,endian=$endian p.trace got.tt6 --allow-loss
    status 0
    check cmp want.tt6 got.tt6
    run trod compare --from tt6 --from-b matcher:isa=ppc32,endian=$endian want.tt6 p.trace
    status 0
    run trod compare --from-b tt6 --from matcher:isa=ppc32,endian=$endian p.trace want.tt6
    status 0
done
sed s/38630001/38630002/ p.trace >q.trace
run trod compare --from tt6 --from-b matcher:isa=ppc32,endian=little want.tt6 q.trace
status 1
out_has '38630001 against 38630002'

# ---- dst r3,r4,0 (7c6422ac): the size of its blocks stands in bits 3 to 7 of rB, in units of 16 bytes, 0 for 512
for size in 16 64 512; do
    printf 'kind,addr,size,pc,code\nINSTR,0x1000,4,0x1000,7c6422ac\nPREFETCH,0x3000,%s,0x1000,\n' $size >p.csv
    run trod convert --from csv p.csv p.tt6 --to tt6 --allow-loss
    status 0
    check test -z "$(grep '^lost: ' "$stderr")"
    run trod view --from tt6 --kind PREFETCH --format json p.tt6
    json ".size == $size and .details.count == 1"
    words "$(printf '%02x01%04x' $((size / 16 % 32)) $size)" >third
    tail -c 4 p.tt6 >got
    check cmp third got
done
sed s/512/100/ p.csv >q.csv # no multiple of 16
run trod convert --from csv q.csv p.tt6 --to tt6 --allow-loss
status 0
err_has '^lost: sizes of 1 PREFETCH rows$'

# ---- names of records: 0x22 to 0x2f and 0x32 to 0x3f are reserved, 0x40 and 0x3ff unknown, INITIAL_PC is no escape
words 00001000 00200002 0000bee0 00000001 00220000 003e0000 003f0000 003f0000 00400000 03ff0000 60000000 >esc.tt6
names='[["SYNC_SIGNAL",1],["reserved for thread synchronization",1],["reserved for thread synchronization",1],
    ["reserved for thread synchronization",2],["INITIAL_PC",1]]'
run trod info --from tt6 --format json esc.tt6
json "(.files[0].names | map([.name, .rows])) == $names"
run trod count --from tt6 --format json esc.tt6
json "([.. | objects | .rows_by_name? // empty][0] | map([.name, .rows])) == $names"

# ---- major opcode 58: 4 bytes where the low two bits are 2 (lwa), else 8
words 00001000 e8640000 00003000 e8640001 00003000 e8640002 00003000 e8640003 00003000 >ld.tt6
run trod view --from tt6 --kind READ --format json ld.tt6
through jq -c .size
out <<<$'8\n8\n4\n8'

# ---- FULL: what follows from two records does where both are written
needs_format full
# record OPCODE PC R3
record() {
    words $1 $2 00000000 00000000 00000000 00000000 $3
    head -c 976 /dev/zero
}
# addi r3,r3,1; b +16; nop; addi r3,r3,1; nop
{
    words a1118e17
    record 38630001 00001000 00000005
    record 48000010 00001004 00000006
    record 60000000 00001014 00000006
    record 38630001 00001018 00000006
    record 60000000 0000101c 00000007
} >t.full
run trod convert t.full u.full
status 0
check cmp t.full u.full
# rows 0 to 2 are an instruction, its state and r3; 3 and 4 the branch and its state
run trod convert t.full u.full --range 0..2
status 2
err_has 'row 2, of kind REG, .*: the next state of the output does not show it'
run trod convert t.full u.full --range 0..4
status 2
err_has 'row 3, of kind INSTR, .* branch targets: the instruction there does not follow in the output'
run trod convert t.full u.full --range 0..6
status 0
head -c $((4 + 3 * 1004)) t.full >want.full
check cmp want.full u.full
# the branch and the last instruction: a break, and where the branch leads is not what it was
run trod convert t.full u.full --pc 0x1000..0x1007,0x101c..0x101f --allow-loss
status 0
err_has 'note: the flow breaks, first at 0x101c'
err_has '^lost: branch targets of 1 INSTR rows$'
size_is u.full $((4 + 3 * 1004))
# registers without records, records without registers
run trod convert t.full u.full --kind REG --allow-loss
status 0
err_has '^lost: 2 of 2 REG rows$'
run trod convert t.full u.full --where 'kind != STATE && kind != REG' --allow-loss
status 0
err_has '^lost: 5 of 5 INSTR rows$'
run trod convert t.full u.full --kind INSTR,STATE
status 0
check cmp t.full u.full
# an access follows from its own record: lwz r4,4(r3)
{ words a1118e17; record 80830004 00001000 00002000; } >m.full
run trod convert m.full u.full
status 0
check cmp m.full u.full
run trod convert m.full u.full --kind INSTR,READ --allow-loss
status 0
err_has '^lost: 1 of 1 READ rows$'
# hidden traces have no states: no row can be written
run trod hide --keep code t.full h.full --format json
json '.rows_not_written == .rows_kept and .rows_kept == 5'
# two threads
run trod convert t.full m.full u.full
status 2
err_has 'row 12 of all files, of kind INSTR, .*: a file holds one thread: write to a directory'
# rows of other formats that have the states
run trod convert m.full m.csv --to csv:columns=all --allow-loss
status 0
run trod convert --from csv m.csv u.full --to full --allow-loss
status 0
check cmp m.full u.full
run trod convert --from tt6 want.tt6 u.full --allow-loss
status 2
err_has 'full holds all registers at each instruction: tt6 does not have them'
# a branch behind which something else is executed (a signal) leads where its opcode says, or on: what comes next is
# behind a b 0. A b, a bc that has led to neither, and branches that do not break the flow.
cat >signal.csv <<'EOF'
row,kind,pc,addr,size,code
0,INSTR,0x1000,,4,48 00 00 08
1,INSTR,0x5000,,4,38 60 00 01
2,INSTR,0x5004,,4,41 82 00 10
3,INSTR,0x6000,,4,41 82 00 10
4,INSTR,0x6010,,4,41 82 00 10
5,INSTR,0x6014,,4,48 00 00 08
6,INSTR,0x601c,,4,38 60 00 01
EOF
words 00001000 48000008 00001008 48000000 00005000 38600001 41820010 00005008 48000000 00006000 \
    41820010 00006010 41820010 00006014 48000008 0000601c 38600001 >want.tt6
run trod convert --from csv signal.csv u.tt6 --allow-loss
status 0
check cmp want.tt6 u.tt6
run trod check u.tt6
status 0
# 4 + 1004 * n bytes: 0 are none of them
: >e.full
run trod check --from full e.full
status 1
out_has 'read.damaged: e.full: byte 0: trace ends 0 bytes into a magic number of 4'

finish

# test_state_edges.sh - trod state and trod who about banks, flags, wide values, parts of registers and memory's
# last bytes: each answer follows from the few lines of the trace.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

z3=$(for i in $(seq 0 255); do printf %02x $i; done)
cat >t.tarmac <<EOF
1 clk cpu0 IT (1) 80001000 d2800140 O EL3h_s : MOV x0,#0xa
1 clk cpu0 R X0 FFFFFFFFFFFFFFFF
2 clk cpu0 IT (2) 80001004 52800140 O EL3h_s : MOV w0,#0xa
2 clk cpu0 R W0 0000000a
3 clk cpu0 R SP_EL3 0000000000003000
4 clk cpu0 R SP_EL1 0000000000001000
5 clk cpu0 R NZCV a0000000
6 clk cpu0 R cpsr 600003c5
7 clk cpu0 R SP_EL3 0000000000003008
8 clk cpu0 R V1<127:64> 1111222233334444
9 clk cpu0 R z3 $z3
10 clk cpu0 MW16 00002000 00112233_44556677_8899aabb_ccddeeff
11 clk cpu0 MW8 fffffffffffffff8 01020304_05060708
EOF
# told NAME ROW: what `trod state` says of a register
told() {
    trod state --no-calls --format json --register "$1" --at "$2" t.tarmac 2>/dev/null | jq -r '.registers[0].value'
}
# values NAME: what `trod who` says was written, the last one first
values() {
    trod who --writes --count 9 --format json --register "$1" t.tarmac | jq -r '[.who[].value] | join(" ")'
}
# some bits of a register change nothing else of what they are named by, and the rest is cleared as of all of it
cat >bits.tarmac <<EOF
1 clk cpu0 IT (1) 80001000 d503201f O EL3h_s : NOP
2 clk cpu0 R X2 1111111111111111
3 clk cpu0 R Z2 $z3
4 clk cpu0 R W2<15:0> 2222
5 clk cpu0 R Q2<63:32> 33333333
EOF
run trod state --no-calls --format json --register x2,q2,z2 bits.tarmac
json '[.registers[].value] == ["0x0000000011112222", "0xf0f1f2f3f4f5f6f733333333fcfdfeff",
    "0x" + "00" * 240 + "f0f1f2f3f4f5f6f733333333fcfdfeff"]'

# who wrote a part of a register: dashes are digits that were not written
cat >dashes.tarmac <<'EOF'
1 clk cpu0 IT (1) 00008000 d503201f O EL1h_n : NOP
1 clk cpu0 R Q1 00000001 00000002 00000003 00000004
2 clk cpu0 R Q1 -------- 11111111 22222222 --------
3 clk cpu0 R Q1 33333333 -------- -------- --------
4 clk cpu0 R X0 00000001--------
5 clk cpu0 R X1 --------00000001
6 clk cpu0 R CPSR 6-------
EOF
for index in no yes; do
    while read -r name rows; do
        last="who wrote $name, index: $index"
        trod who --writes --count 9 --format json --register "$name" dashes.tarmac 2>/dev/null |
            jq -r '[.who[].row] | join(" ")' >got
        echo "$rows" >want
        same want got
    done <<'EOF'
q1 3 2 1
v1 3 2 1
d1 2 1
s1 1
h1 1
b1 1
x0 4
w0
x1 5
w1 5
z 6
nzcv 6
EOF
    run trod who --format json --register s1 --chain 4 dashes.tarmac
    status 0
    json '.chain[0].row == 1'
    trod index -q dashes.tarmac
done

# NZCV of 32-bit Arm, too
printf '1 clk IT (1) 00001000 e1a00000 A svc : NOP\n1 clk R cpsr 680001d3\n' >a32.tarmac
run trod state --no-calls --format json --register nzcv,apsr,q a32.tarmac
err </dev/null
json '[.registers[].value] == ["0x60000000", "0x68000000", "0x01"]'

# a trace without rows
: >nothing.tarmac
for place in start end 50% 0; do
    run trod state --at $place --from tarmac nothing.tarmac
    status 2
    err_has "has no place '$place': it has 0 rows"
done

for index in no yes; do
    last="index: $index"
    # a name without a bank is that of the bank written last: what state tells is the last write that who tells
    check test "$(told sp 4)" = 0x0000000000003000
    check test "$(told sp 5)" = 0x0000000000001000
    check test "$(told sp 8)" = 0x0000000000003008
    check test "$(values sp)" = "0x3008 0x1000 0x3000"
    check test "$(values sp_el1)" = 0x1000
    # NZCV is four bits of cpsr, whichever of them was written
    check test "$(values nzcv)" = "0x60000000 0xa0000000"
    check test "$(told nzcv 6)" = 0xa0000000
    check test "$(values z)" = "0x1 0x0"
    check test "$(values n)" = "0x0 0x1"
    # what nothing is known of is unknown, in a register of which something is, too
    check test "$(told d1 end)" = unknown
    check test "$(told v1 end)" = 0x1111222233334444----------------
    # values of any width
    check test "$(values z3)" = "0x$z3"
    check test "$(values q3)" = "0x${z3: -32}"
    check test "$(trod who --memory 0x2000..0x200f --format json t.tarmac | jq -r '.who[0].value')" = \
        0x00112233445566778899aabbccddeeff
    # the last bytes that there are
    check test "$(trod who --memory 0xffffffffffffffff --format json t.tarmac | jq -r '.who[0].value')" = 0x102030405060708
    run trod state --no-calls --format json --memory 0xfffffffffffffff0..0xffffffffffffffff t.tarmac
    json '.memory[0].dump[0].bytes == "-- -- -- -- -- -- -- -- 08 07 06 05 04 03 02 01"'

    # --diff is about the registers that are named
    run trod state --format json --diff 1,3 --register w0,x1,sp,d1 t.tarmac
    status 1
    json '.registers == [{register: "w0", first: "0xffffffff", second: "0x0000000a"}]'
    run trod state --format json --diff 4,8 --register sp,w0 t.tarmac
    status 1
    json '.registers == [{register: "sp", first: "0x0000000000003000", second: "0x0000000000003008"}]'
    run trod state --format json --diff 4,5 --register w0 t.tarmac
    status 0
    json '.registers == []'

    # what is no memory is said before anything is printed
    for range in zz 5..1 0..0xffffffffffffffff; do
        for places in "--at 3" "--diff 1,3"; do
            run trod state --format json $places --memory 0x2000,$range t.tarmac
            status 2
            err_has "option '--memory': '$range' is"
            out </dev/null
        done
    done
    # a name that no register has
    run trod who --register oops t.tarmac
    status 0
    err_has "'oops' is no register or flag that every program has, and up to the place asked about the trace shows none of that name"
    run trod who --register x7 t.tarmac # it is one, and nothing tells of it
    err </dev/null
    # what is no place, and why
    while read -r place why; do
        for command in "state --at $place" "who --register x0 --before $place" "view --at $place" \
            "state --diff 0,$place"; do
            run trod $command t.tarmac
            status 2
            err_has "^trod: t.tarmac: the trace has no place '$place'$why\$"
        done
    done <<'EOF'
13 : it has 13 rows
row:99 : it has 13 rows
0x80001000:2
0x9000
time:99
line:18
kind:READ
kind:NONSENSE : there is no such kind of row
nonsense : it is no place, and no symbols are given
time:x : it is no place, and no symbols are given
101% : the whole is 100%
EOF
    trod index -q t.tarmac
done
# the kinds of `trod who` are those of `trod view`: the last rows, and the first ones behind a place
cp "$TROD_SOURCE"/examples/{boot.byu6,boot.byu12,sum.trace.zip,hello.tarmac} .
for index in no yes; do
    while read -r file kinds; do
        for kind in $kinds; do
            last="who --kind $kind $file, index: $index"
            trod view --kind "$kind" --format json "$file" 2>/dev/null | jq .record >all
            trod who --kind "$kind" --count 7 --format json "$file" | jq '.who[].row' >got
            tac all | head -7 >want
            same want got
            trod who --kind "$kind" --count 7 --after 9 --format json "$file" | jq '.who[].row' >got
            awk '$1 > 9' all | head -7 >want
            same want got
            trod who --kind "$kind" --count 3 --where 'row % 2 == 1' --format json "$file" |
                jq '.who[].row' >got
            tac all | awk '$1 % 2' | head -3 >want
            same want got
            check test -s all
        done
    done <<'EOF'
boot.byu6 FETCH MEMORY d_write INT_ACK
boot.byu12 FLUSH MEMREADINV
sum.trace.zip timestamp memory MARKER
hello.tarmac MEMORY reg
EOF
    for file in boot.byu6 boot.byu12 sum.trace.zip hello.tarmac; do
        trod index -q $file
    done
done
for kind in FETCH timestamp; do # of another format: there are none
    run trod who --kind $kind --format json hello.tarmac
    status 0
    json '.who == []'
done
# files that are not there are no pipes
for command in "state t.tarmac" "who --register x0 t.tarmac" "index --together t.tarmac" "flame --against" \
    "flame --against t.tarmac"; do
    run trod $command nowhere.tarmac
    [[ $command != "flame --against" ]] || run trod flame --against nowhere.tarmac t.tarmac
    status 2
    err_has "cannot open 'nowhere.tarmac': No such file"
    out </dev/null
done
# whose registers they are, where the row is another cpu's
{
    sed -n 1,2p t.tarmac
    echo '2 clk cpu1 IT (1) 90001000 d503201f O EL1h_n : NOP'
    echo '2 clk cpu1 R X0 00000000deadbeef'
} >two.tarmac
run trod state --format json --at 3 --stream cpu0 two.tarmac
json '.at.cpu == "cpu1" and .at.state_of == "cpu0" and .at.pc == "0x80001000"'
run trod state --format json --at 3 --stream cpu1 two.tarmac
json '(.at | has("state_of") | not) and .at.pc == "0x90001000"'
run trod state --format json --at 3 two.tarmac
json '(.at | has("state_of") | not) and .registers[0].value == "0x00000000deadbeef"'
run trod state --format json --diff 1,3 two.tarmac
json '(.first | has("state_of") | not) and .second.state_of == "cpu0" and .registers == []'
run trod state --format json --at 3 t.tarmac
json '.at | has("state_of") | not'

run trod who --register x0 --chain 3 --count 2 t.tarmac
status 2
err_has "'--count' does not go with '--chain'"
# what says nothing is told, and nothing done
while IFS='|' read -r command what; do
    # shellcheck disable=SC2086 # words
    run trod $command
    status 2
    out </dev/null
    err_has "$what"
done <<'EOF'
who --register x0 --chain 0 t.tarmac|option '--chain' takes 1 or more steps
index --info --again t.tarmac|'--again' does not go with it
index --info --upgrade t.tarmac|'--upgrade' does not go with it
state --diff 1,2 --at 3 t.tarmac|option '--diff' names its places: '--at' does not go with it
waves --no-date t.tarmac|--no-date and --use-tarmac-timestamps go with --like tarmac
waves --use-tarmac-timestamps t.tarmac|--no-date and --use-tarmac-timestamps go with --like tarmac
calls --matching t.tarmac|'--no-offsets' and '--matching' go with '--like tarmac'
profile --no-offsets t.tarmac|'--no-offsets' and '--matching' go with '--like tarmac'
calls --like tarmac --list t.tarmac|'--like' goes with none of '--list'
calls --like tarmac --depth 2 t.tarmac|'--like' goes with none of '--list'
flame --like tarmac --svg t.tarmac|option '--like' goes with none of
flame --like tarmac --reverse t.tarmac|option '--like' goes with none of
flame --title x t.tarmac|option '--title' goes with '--svg'
truncate --least 0 t.tarmac|option '--least' takes 1 or more periods
truncate --like tarmac --least 5 t.tarmac|option '--least' does not go with '--like'
view --native --format json t.tarmac|option '--format' does not go with '--native'
view --format csv --native t.tarmac|option '--format' does not go with '--native'
view --native --times start t.tarmac|option '--times' does not go with '--native'
view --native --times previous t.tarmac|option '--times' does not go with '--native'
who --kind OOPS t.tarmac|option '--kind': no records are called 'OOPS'
run count, t.tarmac|the name of an analysis is missing
run count,hto t.tarmac|no analysis is called 'hto'
merge nowhere.state|cannot open 'nowhere.state': No such file
diff nowhere.json nowhere.json|cannot open 'nowhere.json': No such file
state --symbols nowhere.elf --at 1 t.tarmac|cannot be opened: No such file
EOF
run trod find 'row == 1' t.tarmac
status 2
err_has "'t.tarmac' is a file: the expression comes last"
run trod flame --normalize t.tarmac
status 2
err_has "'--normalize' goes with '--against'"
# a name that only later rows have is the bank's before them, and after a bank is written: with an index, which has
# all names, and without
printf '%d clk cpu0 R %s 000000000000%04x\n' 1 SP_EL3 12288 2 SP_EL1 4096 3 SP 16384 4 SP_EL1 20480 >banks.tarmac
printf '5 clk cpu0 IT (1) 80001000 d2800140 O EL3h_s : MOV x0,#0xa\n' >>banks.tarmac
for index in no yes; do
    last="banks, index: $index"
    for row in 0 1 2 3 4; do
        trod state --no-calls --format json --register sp --at $row banks.tarmac | jq -r '.registers[0].value'
    done | tr '\n' ' ' >got
    echo '0x0000000000003000 0x0000000000001000 0x0000000000004000 0x0000000000005000 0x0000000000005000 ' >want
    same want <(cat got; echo)
    trod index banks.tarmac 2>made
done
# chains through pairs of registers that one access moves, stores narrower than what is asked for, and zeros
cat >pair.tarmac <<'EOF'
1 clk cpu0 IT (1) 00001000 d2800140 O EL1h_n : MOV x0,#0xa
1 clk cpu0 R X0 000000000000000a
2 clk cpu0 IT (2) 00001004 d2800161 O EL1h_n : MOV x1,#0xb
2 clk cpu0 R X1 000000000000000b
3 clk cpu0 IT (3) 00001008 d2900006 O EL1h_n : MOV x6,#0x8000
3 clk cpu0 R X6 0000000000008000
4 clk cpu0 IT (4) 0000100c a90004c0 O EL1h_n : STP x0,x1,[x6]
4 clk cpu0 MW16 00008000 00000000_0000000b_00000000_0000000a
5 clk cpu0 IT (5) 00001010 a9400cc2 O EL1h_n : LDP x2,x3,[x6]
5 clk cpu0 MR16 00008000 00000000_0000000b_00000000_0000000a
5 clk cpu0 R X2 000000000000000a
5 clk cpu0 R X3 000000000000000b
6 clk cpu0 IT (6) 00001014 290004c0 O EL1h_n : STP w0,w1,[x6]
6 clk cpu0 MW8 00008000 0000000b_0000000a
7 clk cpu0 IT (7) 00001018 b94004c4 O EL1h_n : LDR w4,[x6,#4]
7 clk cpu0 MR4 00008004 0000000b
7 clk cpu0 R X4 000000000000000b
8 clk cpu0 IT (8) 0000101c 390000c1 O EL1h_n : STRB w1,[x6]
8 clk cpu0 MW1 00008000 0b
9 clk cpu0 IT (9) 00001020 f94000c5 O EL1h_n : LDR x5,[x6]
9 clk cpu0 MR8 00008000 0000000b_0000000b
9 clk cpu0 R X5 0000000b0000000b
10 clk cpu0 IT (10) 00001024 f90000df O EL1h_n : STR xzr,[x6]
10 clk cpu0 MW8 00008000 00000000_00000000
EOF
while IFS='|' read -r asked want; do
    # shellcheck disable=SC2086 # words
    run trod who --chain 5 --format json $asked pair.tarmac
    status 0
    json "[.chain[] | .what, .value, .end] == $want"
done <<'EOF'
--register x2|["x2", "0xa", null, "0x8000..0x8007", null, null, "x0", "0xa", "constant"]
--register x3|["x3", "0xb", null, "0x8008..0x800f", null, null, "x1", "0xb", "constant"]
--register x4|["x4", "0xb", null, "0x8004..0x8007", "0xb0000000a", null, "x1", "0xb", "constant"]
--register x5|["x5", "0xb0000000b", null, "0x8000..0x8007", "0xb", null, "x1", "0xb", "constant"]
--memory 0x8003 --before 13|["0x8003..0x8003", null, null, "x0", "0xa", "constant"]
--memory 0x8000..0x8007|["0x8000..0x8007", "0x0", "constant"]
EOF
run trod who --chain 5 --memory 0..0xffffffffffffffff pair.tarmac
status 2
err_has 'a chain begins with less than 4 GiB of memory'
# an instruction whose condition failed has read its flags, and CBZ its register; nothing else, and it wrote nothing
cat >failed.tarmac <<'EOF'
1 clk IT (1) 00001000 6b01001f O EL1h_n : CMP w0,w1
1 clk R NZCV 20000000
1 clk R X2 0000000000000001
2 clk IS (2) 00001004 54000040 O EL1h_n : B.EQ 0x100c
3 clk IS (3) 00001008 b4000062 O EL1h_n : CBZ x2,0x1014
EOF
cat >failed32.tarmac <<'EOF'
1 clk IT (1) 00001000 e1500001 A svc_s : CMP r0,r1
1 clk R cpsr 200001d3
1 clk R r3 00000001
2 clk IS (2) 00001004 01a02003 A svc_s : MOVEQ r2,r3
EOF
for index in no yes; do
    last="conditions, index: $index"
    while IFS='|' read -r file register want; do
        run trod who --after start --count 9 --format json --register "$register" "$file.tarmac"
        json "[.who[] | [.what, .row]] == $want"
    done <<'EOF'
failed|z|[["writes", 1], ["reads", 3]]
failed|x2|[["writes", 2], ["reads", 4]]
failed32|z|[["writes", 1], ["reads", 3]]
failed32|r3|[["writes", 2]]
failed32|r2|[]
EOF
    trod index -q failed.tarmac
    trod index -q failed32.tarmac
done
# a store leads to a register of which the trace tells nothing rather than to those that held something else
cat >push.tarmac <<'EOF'
1 clk IT (1) 00001000 e3a0da09 A svc_s : MOV sp,#0x9000
1 clk R r13_svc 00009000
2 clk IT (2) 00001004 e92d4010 A svc_s : PUSH {r4,lr}
2 clk MW4 00008ff8 00000004
2 clk MW4 00008ffc 00001234
2 clk R r13_svc 00008ff8
EOF
run trod who --chain 5 --format json --memory 0x8ff8..0x8ffb push.tarmac
json '[.chain[] | .what, .end] == ["0x8ff8..0x8ffb", null, "r4", "not written before", "r14", "not written before"]'
# what was read is not what was written last: the write that it came from is not in the trace
cat >untraced.tarmac <<'EOF'
1 clk IT (1) 00001000 d2800020 O EL1h_n : MOV x0,#1
1 clk R X0 0000000000000001
2 clk IT (2) 00001004 f9000020 O EL1h_n : STR x0,[x1]
2 clk MW8 00005000 00000000_00000001
3 clk IT (3) 00001008 f9400022 O EL1h_n : LDR x2,[x1]
3 clk MR8 00005000 00000000_00000002
3 clk R X2 0000000000000002
4 clk IT (4) 0000100c f9000020 O EL1h_n : STR x0,[x1]
4 clk MW8 00005000 00000000_00000001
5 clk IT (5) 00001010 f9400023 O EL1h_n : LDR x3,[x1]
5 clk MR8 00005000 00000000_00000001
5 clk R X3 0000000000000001
EOF
for index in no yes; do
    last="not in the trace, index: $index"
    while IFS='|' read -r asked want; do
        # shellcheck disable=SC2086 # words
        run trod who --chain 5 --format json $asked untraced.tarmac
        json "[.chain[] | .what, .row, .end] == $want"
    done <<'EOF'
--register x2|["x2", 6, null, "0x5000..0x5007", null, "untraced"]
--register x3|["x3", 11, null, "0x5000..0x5007", 8, null, "x0", 1, "constant"]
--memory 0x5000 --before 5|["0x5000..0x5000", 3, null, "x0", 1, "constant"]
--memory 0x5000 --before 6|["0x5000..0x5000", null, "untraced"]
--memory 0x5004 --before 6|["0x5004..0x5004", 3, null, "x0", 1, "constant"]
EOF
    trod index -q untraced.tarmac
done
# of registers with banks an instruction reads the one of the mode that it runs in, and a chain goes to that one
cat >levels.tarmac <<'EOF'
1 clk IT (1) 80001000 d2820000 O EL1h_n : MOV x0,#0x1000
1 clk R SP_EL1 0000000000001000
2 clk IT (2) 80001004 d4000002 O EL1h_n : HVC #0
2 clk E 80001008 00000088 CoreEvent_LOWER_64_SYNC
3 clk IT (3) 90000400 910043ff O EL2h_n : ADD sp,sp,#16
3 clk R SP_EL2 0000000000002010
4 clk IT (4) 90000404 d69f03e0 O EL2h_n : ERET
5 clk IT (5) 80001008 910083e0 O EL1h_n : ADD x0,sp,#0x20
5 clk R X0 0000000000001020
EOF
cat >modes.tarmac <<'EOF'
1 clk IT (1) 00001000 eb00003e A svc_s : BL 0x1100
1 clk R r14_svc 00001004
1 clk R r0 00000007
2 clk IT (2) 00001100 e1a00000 A svc_s : NOP
3 clk E 00001104 irq 00000007 IRQ
3 clk R r14_irq 00001108
4 clk IT (3) 00000018 e25ef004 A irq_s : SUBS pc,lr,#4
5 clk IT (4) 00001104 e92d4001 A svc_s : PUSH {r0,lr}
5 clk MW4 00008ff8 00000007
5 clk MW4 00008ffc 00001004
6 clk IT (5) 00001108 e1a0100e A svc_s : MOV r1,lr
6 clk R r1 00001004
7 clk IT (6) 0000110c e12fff1e A svc_s : BX lr
EOF
for index in no yes; do
    last="banks in use, index: $index"
    while IFS='|' read -r asked want; do
        # shellcheck disable=SC2086 # words
        run trod who --format json $asked
        json "[(.chain // .who)[] | .row, .value] == $want"
    done <<'EOF'
--register x0 --chain 3 levels.tarmac|[8, "0x1020", 1, "0x1000"]
--register sp --reads --count 9 levels.tarmac|[7, "0x1000", 4, null]
--register sp_el1 --reads --count 9 levels.tarmac|[7, "0x1000"]
--register sp_el2 --reads --count 9 levels.tarmac|[4, null]
--memory 0x8ffc --chain 3 modes.tarmac|[9, "0x1004", 1, "0x1004"]
--register r1 --chain 3 modes.tarmac|[11, "0x1004", 1, "0x1004"]
--register r14_irq --reads --count 9 modes.tarmac|[6, "0x1108"]
--register lr --reads --count 9 modes.tarmac|[12, "0x1004", 10, "0x1004", 7, "0x1004", 6, "0x1108"]
EOF
    trod index -q levels.tarmac
    trod index -q modes.tarmac
done
# drmemtrace: what a function's arguments are is known until something writes registers that the trace does not show
# entry TYPE SIZE VALUE: a record
entry() {
    local h
    h=$(printf '%04x%04x%016x' "$1" "$2" "$3")
    bytes "${h:2:2} ${h:0:2} ${h:6:2} ${h:4:2} ${h:22:2} ${h:20:2} ${h:18:2} ${h:16:2} ${h:14:2} ${h:12:2} ${h:10:2} ${h:8:2}"
}
# instruction ADDRESS SIZE BYTES
instruction() {
    entry 47 "$2" "$3"
    entry 10 "$2" "$1"
}
# called FILETYPE: the beginning of a trace in which a function was called with four arguments
called() {
    entry 25 0 7
    entry 28 12 7
    entry 28 9 "$1"
    entry 22 4 77
    entry 24 4 77
    entry 28 2 1000
    entry 28 3 0
    instruction 0x1000 1 0x90
    entry 28 4 1
    for argument in 0x1111 0x2222 0x3333 0x4444; do
        entry 28 6 $argument
    done
    instruction 0x1001 1 0x90
}
while IFS='|' read -r filetype then want; do
    { called "$filetype"; eval "$then"; instruction 0x1002 1 0x90; entry 23 4 77; entry 26 0 0; } >called.trace
    run trod state --no-calls --format json --register rdi,rsi,rcx called.trace
    status 0
    json "[.registers[].value | if . == \"unknown\" then null else .[-4:] end] == $want"
done <<'EOF'
0x240|:|["1111", "2222", "4444"]
0x240|instruction 0x2000 3 0xff3148|[null, "2222", "4444"]
0x240|instruction 0x2000 2 0x050f|["1111", "2222", null]
0x240|entry 28 0 0x1002|[null, null, null]
0x240|entry 28 1 0x1002|[null, null, null]
0x240|entry 28 13 0x1002|[null, null, null]
0x240|entry 28 2 2000; entry 28 14 1; entry 28 3 0|[null, null, null]
0x240|entry 28 2 2000; entry 28 3 0|["1111", "2222", "4444"]
0x2c0|:|[null, null, null]
EOF
# a write of V, or Q, zeroes what Z has above it; of a part of it only what it names changes; a short write of Z is one
wide=11111111_22222222_33333333_44444444_55555555_66666666_77777777_88888888
{
    echo '1 clk IT (1) 00008000 d503201f O EL1h_ns : NOP'
    for write in "Z5 $wide" 'V5 00000000000000010000000000000002' "Z5 $wide" 'Q5 00000000000000010000000000000002' "Z5 $wide" \
        'V5<63:0> 0000000000000003' 'V5<127:64> 0000000000000004' 'Z5 00000000000000050000000000000006'; do
        echo "1 clk R $write"
    done
} >sve.tarmac
for index in no yes; do
    while read -r row high low; do
        run trod state --no-calls --format json --register z5 --at "$row" sve.tarmac
        json ".registers[0].value == \"0x$high$low\""
    done <<'EOF'
2 00000000000000000000000000000000 00000000000000010000000000000002
4 00000000000000000000000000000000 00000000000000010000000000000002
6 11111111222222223333333344444444 55555555666666660000000000000003
7 11111111222222223333333344444444 00000000000000040000000000000003
8 11111111222222223333333344444444 00000000000000050000000000000006
EOF
    trod index -q sve.tarmac
done
# the register that is always 0 is, under all its names
echo 'core   0: 0x0000000080000000 (0x00000013) addi zero, zero, 0' >zero.spike
run trod state --format json --from spike zero.spike
json '.registers[0] == {"register": "x0", "value": "0x0000000000000000", "known_from": "always", "row": null, "flags": null} or
      .registers[0] == {"register": "x0", "value": "0x0000000000000000", "known_from": "always"}'
json '.unknown | startswith("x1 ")'
run trod state --format json --register zero,x0,x1 --from spike zero.spike
json '[.registers[].value] == ["0x0000000000000000", "0x0000000000000000", "unknown"]'
printf '1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n1 clk R r8 00010000\n' >mips.trace
run trod state --format json --register zero,r0,r8,t1 --from matcher:isa=mips32 mips.trace
json '[.registers[].value] == ["0x00000000", "0x00000000", "0x00010000", "unknown"]'
# Arm's tools find no calls where registers are those of another machine
for command in calls profile flame; do
    run trod $command --like tarmac --from matcher:isa=mips32 mips.trace
    status 2
    err_has "format matcher and instruction set MIPS32 does not have"
done
# lines are those of a text trace
run trod state --at line:3 "$TROD_SOURCE/examples/sum.tt6"
status 2
err_has "no place 'line:3': only a text trace of one file has lines"
finish

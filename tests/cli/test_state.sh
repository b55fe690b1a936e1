# test_state.sh - `trod state` and `trod who`: values worked out by hand from the lines below.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

cat >t.tarmac <<'END'
1 clk IT (1) 00001000 f9400001 O EL1h_n : LDR x1,[x0]
1 clk MR8 00008000 00000000_00000011
1 clk R X1 0000000000000011
2 clk IT (2) 00001004 f9000401 O EL1h_n : STR x1,[x0,#8]
2 clk MW8 00008008 00000000_00000011
3 clk IT (3) 00001000 f9400001 O EL1h_n : LDR x1,[x0]
3 clk MR8 00008000 00000000_00000022
3 clk R X1 0000000000000022
3 clk R cpsr 600003c5
END

run trod state --format json --at 4 --memory 0x8000..0x8010 t.tarmac
status 0
json '.at.row == 4 and .at.line == 5 and .at.pc == "0x1004" and .at.instruction == "STR x1,[x0,#8]"'
json '[.registers[] | [.register, .value, .known_from, .row]] == [["x1", "0x0000000000000011", "written", 2]]'
json '.unknown | contains("x0") and contains("v31") and contains("cpsr") and (contains("x1 ") | not)'
json '.memory[0].dump[0].bytes == "11 00 00 00 00 00 00 00 11 00 00 00 00 00 00 00"'
json '.memory[0].dump[1].bytes == "--"'
json '[.memory[0].sources[] | [.bytes, .known_from, .row]] == [[8, "read", 1], [8, "written", 4], [1, "unknown", null]]'

run trod state --format json --at 0 --memory 0x8000 t.tarmac
json '[.memory[0].sources[] | [.address, .bytes, .known_from, .row]] == [["0x8000", 1, "read later", 1]]'
run trod state --register w1,x7 --at 0x1000:2 t.tarmac
status 0
out_has '^  w1 +0x00000011$'
out_has '^  x7 +unknown$'
run trod state t.tarmac
out_has '^  cpsr +0x600003c5 +written +8  nZCv DAIF EL1h$'

# what changed: with two places in the option, and with the second behind it
run trod state --format json --diff 2,end t.tarmac
status 1
json '[.registers[].register] == ["x1", "cpsr"] and .registers[0].second == "0x0000000000000022"'
json '[.memory[] | [.address, .first, .second]] == [["0x8000", "11", "22"], ["0x8008", "-- -- -- -- -- -- -- --", "11 00 00 00 00 00 00 00"]]'
cp "$stdout" one
run trod state --format json --diff 2 end t.tarmac
out_is one
# wherever the file stands, and several files; what else is no file cannot be told from a place
run trod state t.tarmac --format json --diff 2 end
out_is one
printf 'kind,addr,size,value\nWRITE,0x1000,4,1\nWRITE,0x1000,4,2\n' | tee a.csv >b.csv
for arguments in "a.csv b.csv --diff 0 1" "a.csv --diff 0 1 b.csv" "--diff 0 1 a.csv b.csv"; do
    # shellcheck disable=SC2086 # words
    run trod state --format json $arguments
    status 1
    json '[.memory[] | [.address, .first, .second]] == [["0x1000", "01", "02"]]'
done
run trod state nowhere.tarmac --diff 2 end
status 2
err_has 'several operands are no files'
run trod state - --diff 2 <t.tarmac
status 2
err_has 'needs two places'
run trod state --diff 4,4 t.tarmac
status 0
# what is known at the first place only; either way round it is the same, system registers too
sed '$a4 clk R VBAR_EL1 0000000000001000' t.tarmac >system.tarmac
run trod state --format json --diff end,2 system.tarmac
status 1
json '[.registers[] | [.register, .second]] == [["x1", "0x0000000000000011"], ["cpsr", "unknown"], ["vbar_el1", "unknown"]]'
run trod state --format json --diff 2,end system.tarmac
json '[.registers[] | [.register, .first]] == [["x1", "0x0000000000000011"], ["cpsr", "unknown"], ["vbar_el1", "unknown"]]'

run trod who --format json --register x1 --before 5 --after 5 t.tarmac
status 0
json '[.who[] | [.when, .what, .row, .value]] == [["before", "writes", 2, "0x11"], ["before", "reads", 3, "0x11"], ["after", "writes", 7, "0x22"]]'
run trod who --format json --memory 0x8008..0x800f t.tarmac
json '[.who[] | [.what, .row, .line, .time, .pc, .instruction, .address, .size, .value]] == [["writes", 4, 5, 2, "0x1004", "STR x1,[x0,#8]", "0x8008", 8, "0x11"]]'
run trod who --format json --executes 0x1000 --count 9 t.tarmac
json '[.who[].row] == [5, 0]'
run trod who --format json --memory 0x8000 --reads --count 5 t.tarmac
json '[.who[].row] == [6, 1]'

# where a value came from: loaded, stored, moved
cat >c.tarmac <<'END'
1 clk IT (1) 00001000 d2800541 O EL1h_n : MOV x1,#0x2a
1 clk R X1 000000000000002a
2 clk IT (2) 00001004 d2900002 O EL1h_n : MOV x2,#0x8000
2 clk R X2 0000000000008000
3 clk IT (3) 00001008 f9000041 O EL1h_n : STR x1,[x2]
3 clk MW8 00008000 00000000_0000002a
4 clk IT (4) 0000100c f9400043 O EL1h_n : LDR x3,[x2]
4 clk MR8 00008000 00000000_0000002a
4 clk R X3 000000000000002a
5 clk IT (5) 00001010 8b020060 O EL1h_n : ADD x0,x3,x2
5 clk R X0 000000000000802a
END
run trod who --format json --register x0 --chain 9 --dot c.dot c.tarmac
status 0
json '[.chain[] | [.of, .what, .row]] == [[null, "x0", 10], [0, "x2", 3], [0, "x3", 8], [2, "0x8000..0x8007", 5], [3, "x1", 1]] or
      [.chain[] | [.of, .what, .row]] == [[null, "x0", 10], [0, "x3", 8], [0, "x2", 3], [1, "0x8000..0x8007", 5], [3, "x1", 1]]'
json '[.chain[] | select(.end == "constant") | .what] | sort == ["x1", "x2"]'
check grep -q '^digraph chain {$' c.dot
check test "$(grep -c -- '->' c.dot)" = 4
run trod who --register x0 --chain 1 c.tarmac
out_has 'x3 .* limit$'
run trod who --register x0 --dot x.dot c.tarmac
status 2

# flags by name, NZCV without the rest of its register, the program counter; names that no register has
cat >flags.tarmac <<'END'
1 clk IT (1) 00001000 d503201f O EL1h_n : NOP
2 clk R cpsr 800003c5
3 clk IT (2) 00001004 d51b4200 O EL1h_n : MSR NZCV,x0
3 clk R NZCV 60000000
END
run trod state --format json flags.tarmac --register cpsr,nzcv,N,z,pc,x0,wsp
status 0
check test ! -s "$stderr"
json '[.registers[].value] == ["0x600003c5", "0x60000000", "0x00", "0x01", "0x00001004", "unknown", "unknown"]'
run trod state --format json flags.tarmac --at 1 --register cpsr,nzcv
json '[.registers[].value] == ["0x800003c5", "0x80000000"]'
run trod state --format json flags.tarmac --at 0 --register nzcv,v,oops
status 0
json '[.registers[].value] == ["unknown", "unknown", "unknown"]'
err_has "'oops' is no register"
check test "$(grep -c 'is no register' "$stderr")" -eq 1

# who writes and reads a flag: the status register's rows, and the bit
cat >readers.tarmac <<'END'
1 clk IT (1) 00001000 eb01001f O EL1h_n : CMP x0,x1
1 clk R cpsr 600003c5
2 clk IT (2) 00001004 54ffffe0 O EL1h_n : B.EQ 0x1000
3 clk IT (3) 00001008 eb00003f O EL1h_n : CMP x1,x0
3 clk R NZCV 80000000
END
for index in "" indexed; do
    test -z "$index" || trod index -q readers.tarmac
    for flag in 'z 1 0' 'N 0 1' 'c 1 0'; do
        set -- $flag
        run trod who --format json --register "$1" --count 2 --writes readers.tarmac
        status 0
        json "[.who[] | [.row, .size, .value]] == [[4, 1, \"0x$3\"], [1, 1, \"0x$2\"]]"
        run trod who --format json --register "$1" --reads readers.tarmac --stream '#0'
        json "[.who[] | [.row, .value]] == [[2, \"0x$2\"]]"
    done
done
run trod who --format json --register z --before 3 --chain 1 readers.tarmac
json '.chain[0].what == "cpsr" and .chain[0].value == "0x600003c5"'
cat >a32.tarmac <<'END'
1 clk IT (1) 00001000 e3500001 A svc_s : CMP r0,#1
1 clk R cpsr 200001d3
2 clk IT (2) 00001004 0afffffd A svc_s : BEQ 0x1000
3 clk IT (3) 00001008 e3a00001 A svc_s : MOV r0,#1
4 clk IT (4) 0000100c d0fd T svc_s : BEQ 0x100a
END
run trod who --format json --register Z --count 3 --reads a32.tarmac
json '[.who[].row] == [4, 2]'

# words of other status registers: bits by the manuals (DDI 0487, DDI 0403)
cat >words.tarmac <<'END'
1 clk IT (1) 00001000 3001 T thread : ADDS r0,#1
1 clk R XPSR 2100000f
2 clk R fpscr 88c0009f
3 clk IT (2) 00001002 3001 T thread : ADDS r0,#1
3 clk R APSR 68000000
END
run trod state --at 2 words.tarmac
out_has '^  cpsr +0x2100000f +written +1  nzCvq exception 15$'
out_has '^  fpscr +0x88c0009f +written +2  Nzcv QC IDC IXC UFC OFC DZC IOC RZ$'
run trod state words.tarmac --register apsr,q,xpsr
out_has '^  apsr +0x68000000$'
out_has '^  q +0x01$'
out_has '^  xpsr +0x6900000f$'
cat >control.tarmac <<'END'
1 clk IT (1) 00001000 d503201f O EL1h_n : NOP
2 clk R FPCR 03400000
3 clk R FPSR 08000091
END
run trod state control.tarmac
out_has '^  fpcr +0x03400000 +written +1  DN FZ RP$'
out_has '^  fpsr +0x08000091 +written +2  QC IDC IXC IOC$'

# a trace that names no cpu has one stream; what is said is said of the file, with an index or without
run trod state --stream '#0' control.tarmac
status 0
run trod view --stream '#0' control.tarmac
status 0
trod view control.tarmac >want
out_is want
run trod view --stream nobody control.tarmac
err_has "no thread or cpu is called 'nobody'; there are none$"
for index in "" indexed; do
    test -z "$index" || trod index -q control.tarmac
    for wrong in '--at 99' '--stream #1'; do
        run trod state $wrong control.tarmac
        status 2
        err_has '^trod: control.tarmac: '
    done
done

# what is not there
run trod state --at 9 t.tarmac
status 2
err_has "the trace has no place '9'"
run trod who t.tarmac
status 2
err_has 'give one of --register, --memory, --executes and --kind'
run trod state --memory 0x8000..0xffffffffff t.tarmac
status 2
err_has 'is more than 4194304 bytes'
run trod state --diff 1 t.tarmac
status 2
err_has 'needs two places'
: >empty
run trod state empty
status 2

# opcodes tell who writes where the format has no registers, and FULL tells all of them
needs_format drmemtrace
run trod who --format json --register rsp --count 2 "$TROD_SOURCE/examples/sum.trace.zip"
status 0
json '[.who[] | select(.what == "writes")] | length == 2'
# markers by name, number and value, as view tells them
for place in marker:page-size marker:PAGE_SIZE marker:page_size=4096 marker:page-size:1; do
    trod view --format json -k MARKER "$TROD_SOURCE/examples/sum.trace.zip" | grep '"page-size"' | head -n 1 >want
    check test -s want
    run trod view --format json --at $place --head 1 "$TROD_SOURCE/examples/sum.trace.zip"
    out_is want
done
run trod view --at marker:page-size=1 "$TROD_SOURCE/examples/sum.trace.zip"
status 2
err_has "no place 'marker:page-size=1'"
# the calls that are open: 0x1000 calls 0x1010, which calls 0x1020
{
    echo '1 clk IT (1) 00001000 94000004 O EL1h_n : BL 0x1010'
    echo '2 clk IT (2) 00001010 d503201f O EL1h_n : NOP'
    echo '3 clk IT (3) 00001014 94000003 O EL1h_n : BL 0x1020'
    echo '4 clk IT (4) 00001020 d503201f O EL1h_n : NOP'
    echo '5 clk IT (5) 00001024 d65f03c0 O EL1h_n : RET'
    echo '6 clk IT (6) 00001018 d65f03c0 O EL1h_n : RET'
    echo '7 clk IT (7) 00001004 d503201f O EL1h_n : NOP'
} >calls.tarmac
check_calls()
{
    run trod state --format json --at 3 calls.tarmac
    json '[.calls[] | [.depth, .pc, .row, .from, .from_row]] == [[2, "0x1020", 3, "0x1014", 2], [1, "0x1010", 1, "0x1000", 0], [0, "0x1000", 0, null, null]]'
    run trod state --format json --at 5 calls.tarmac
    json '[.calls[].pc] == ["0x1010", "0x1000"]'
    run trod state --format json --at 6 calls.tarmac
    json '[.calls[].pc] == ["0x1000"]'
}
check_calls
trod index -q calls.tarmac
check_calls
run trod state --format json --no-calls --at 3 calls.tarmac
json 'has("calls") | not'

# TT6 tells the condition register and, with string accesses, XER; instructions write fields of them
for index in no yes; do
    cp "$TROD_SOURCE/examples/records.tt6e" told.tt6e
    [[ $index == no ]] || trod index -q told.tt6e
    run trod state --format json --at 12 --no-calls told.tt6e
    json '[.registers[] | .register] == []'
    run trod state --format json --at 13 --no-calls told.tt6e
    json '[.registers[] | [.register, .value, .row]] == [["xer", "0x2000000d", 13]]'
    run trod state --format json --at 31 --no-calls told.tt6e
    json '[.registers[] | [.register, .value, .row]] == [["cr", "0x24000044", 31]]' # row 29 is a system call
    run trod who --format json --register cr --before 30 told.tt6e
    json '[.who[] | [.what, .row]] == [["writes", 20], ["reads", 23]]'
    run trod who --format json --register xer --before 14 told.tt6e
    json '[.who[] | [.what, .row]] == [["reads", 12]]'
done

finish

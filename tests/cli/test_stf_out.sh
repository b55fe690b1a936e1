# test_stf_out.sh - writing STF: bytes worked out by hand, a log of Spike there and back, what has no
# place in it.
. "$TROD_SOURCE/tests/cli/lib.sh"
golden=$TROD_SOURCE/tests/golden
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }

# a log of Spike with one store: the header, and the group before its opcode
cat >one.spike <<'END'
core   0: 3 0x0000000080000000 (0x00b58023) mem 0x0000000000001020 0x20
core   0: 3 0x0000000080000004 (0x00000013)
END
run trod convert --allow-loss --to stf one.spike one.stf
status 0
want=01535446                       # STF
want+=020100000006000000            # 1.6
want+=040100050200                  # RISC-V, RV64
want+=060000000004007472 want+=6f64 # by trod
want+=072c00080000000000            # operands, events, of 64 bits, RV64
want+=09000000800000000013          # the first pc; end of the header
want+=3c201000000000000001 want+=00000002
want+=3d2000000000000000f02380b500 # one byte, written: 20; sb a1, 0(a1)
want+=f013000000
check test "$(hex one.stf)" = "$want"

# there and back: instructions, registers, accesses of a whole log
run trod convert --allow-loss --to stf "$golden/spike/both.spike" out.stf
status 0
for f in "$golden/spike/both.spike" out.stf; do
    run trod view --kind INSTR,READ,WRITE,REG --format json "$f"
    status 0
    jq -c '[.kind, .address, .code, .value, .size, if .kind == "REG" then .text else null end]' \
        "$stdout" >"rows.${f##*.}"
done
last="rows of both.spike"
same rows.spike rows.stf

# from itself, byte for byte where nothing is in it that rows do not say
run trod convert "$golden/stf/model.canonical.stf" again.stf
status 0
check cmp -s again.stf "$golden/stf/model.canonical.stf"
run trod compare "$golden/stf/model.canonical.stf" again.stf
status 0
run trod convert --stream 79 "$golden/stf/model.canonical.stf" part.stf
status 0
run trod view --format json part.stf
status 0
json '(.thread | tostring) == "79"'

# other instruction sets have no place in it; nothing is left behind
run trod convert --to stf "$TROD_SOURCE/examples/hello.tarmac" arm.stf
status 2
check test ! -e arm.stf

# A trace without instructions is a header, and whole.
run trod convert --to stf --kind NOTE --allow-loss "$TROD_SOURCE/tests/golden/stf/records.stf" none.stf
status 0
run trod view none.stf
status 0
check test ! -s "$stderr"
# files that name no thread are a stream each, and one file holds one of them
cp "$TROD_SOURCE/tests/golden/stf/rv32.stf" h0.stf && cp h0.stf h1.stf
run trod convert --to stf h0.stf h1.stf two.stf
status 2
err_has 'write to a directory'
check test ! -e two.stf
for jobs in 1 3; do
    run trod count -j $jobs --by thread --format csv h0.stf h1.stf
    status 0
    cp "$stdout" by.$jobs
done
same by.1 by.3
run trod convert --to stf h0.stf h1.stf apart/
status 0
run trod view --format csv apart
check test "$(cut -d, -f5 "$stdout" | sed 1d | uniq | paste -sd ' ')" = '0 1'
run trod view --format csv h0.stf
check test -z "$(cut -d, -f5 "$stdout" | sed 1d | tr -d '\n')"
finish

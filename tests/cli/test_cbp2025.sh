# test_cbp2025.sh - writing cbp2025: records worked out by hand, what comes back, what has no place in it.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format tarmac

# from Tarmac: records of examples/hello.tarmac, by hand
run trod convert --to cbp2025 "$TROD_SOURCE/examples/hello.tarmac" out.cbp2025
status 2
err_has 'cannot keep|loses|lost'
run trod convert --allow-loss --to cbp2025 "$TROD_SOURCE/examples/hello.tarmac" out.cbp2025
status 0
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }
le64() { # NUMBER
    local i
    for ((i = 0; i < 8; i++)); do printf %02x $(($1 >> 8 * i & 255)); done
}
# MOV x0 writes x0; MOV x1; STP x29,x30,[sp,#-16]! at ffe0, 16 bytes in all, base written back: reads
# sp, x29, x30, writes sp; BL to 8020 writes x30
want=$(le64 0x8000)00$(printf 000100)$(le64 0x6400)
want+=$(le64 0x8004)00$(printf 000101)$(le64 1)
want+=$(le64 0x8008)02$(le64 0xffe0)10$(printf 0100)$(printf 031f1d1e)$(printf 011f)$(le64 0xffe0)
want+=$(le64 0x800c)0901$(le64 0x8020)
got=$(hex out.cbp2025)
check test "${got:0:${#want}}" = "$want"

# back: the same instructions, accesses and registers
for f in "$TROD_SOURCE/examples/hello.tarmac" out.cbp2025; do
    run trod view --kind INSTR,READ,REG --format json "$f"
    status 0
    jq -c 'select(.kind != "REG" or .text != "cpsr" and .text != "nzcv") | [.kind, .address, if .kind == "REG" then .value else null end]' \
        "$stdout" >"rows.${f##*.}"
done
last="rows of hello.tarmac"
same rows.tarmac rows.cbp2025
run trod branches --format json out.cbp2025
status 0

# accesses that lie next to each other, of one direction, are one of their size in all: pairs that are
# stored and loaded, pieces told from the highest one down; nothing of them is lost
pair() { # OPCODE ACCESS...: the instruction with these accesses
    echo "1 clk cpu0 IT (1) 00001000 $1 O EL1h_n : x"
    printf '1 clk cpu0 %s\n' "${@:2}"
}
accessed() { # WANT LOST TARMAC-LINES: kind, address and size of the accesses that come back; how many are lost
    local last="the accesses of $3"
    echo "$3" >pair.tarmac
    run trod convert --allow-loss --format json --from tarmac --to cbp2025 pair.tarmac pair.cbp2025
    status 0
    json "[.kinds[] | select(.kind == \"READ\" or .kind == \"WRITE\") | .lost] | add == $2"
    run trod view --from cbp2025 --kind READ,WRITE --format json pair.cbp2025
    status 0
    check test "$(jq -r '"\(.kind) \(.address) \(.size)"' "$stdout" | paste -sd' ')" = "$1"
}
eight=00000000_00000000
accessed "WRITE 0x7ff0 16" 0 "$(pair a9bf7bfd "MW8 00007ff0 $eight" "MW8 00007ff8 $eight")"
accessed "READ 0x7ff0 16" 0 "$(pair a8c17bfd "MR8 00007ff0 $eight" "MR8 00007ff8 $eight")"
accessed "READ 0x7ff0 24" 0 "$(pair a8c17bfd "MR8 00008000 $eight" "MR8 00007ff8 $eight" "MR8 00007ff0 $eight")"
accessed "READ 0x7ff0 8" 0 "$(pair f9400022 'MR4 00007ff0 00000000' 'MR4 00007ff4 00000000')"
# not those that lie elsewhere, overlap, or are of the other direction
accessed "READ 0x7ff0 8" 1 "$(pair a8c17bfd "MR8 00007ff0 $eight" "MR8 00008000 $eight")"
accessed "READ 0x7ff0 8" 1 "$(pair a8c17bfd "MR8 00007ff0 $eight" "MR8 00007ff4 $eight")"
accessed "READ 0x7ff0 8" 1 "$(pair a8c17bfd "MR8 00007ff0 $eight" "MR8 00007ff0 $eight")"
accessed "READ 0x7ff0 8" 1 "$(pair f8e00022 "MR8 00007ff0 $eight" "MW8 00007ff8 $eight")"
# 255 bytes at the most: of 32 of 8 bytes the last is lost
mapfile -t many < <(for ((i = 0; i < 32; i++)); do printf "MR8 %08x $eight\n" $((0x7000 + 8 * i)); done)
accessed "READ 0x7000 248" 1 "$(pair a8c17bfd "${many[@]}")"

# byte for byte from itself, also compressed; a stream a file
run trod convert "$TROD_SOURCE/tests/golden/cbp2025/classes.cbp2025" again.cbp2025.gz
status 0
gzip -dc again.cbp2025.gz >again
check cmp -s again "$TROD_SOURCE/tests/golden/cbp2025/classes.cbp2025"
run trod convert --kind INSTR "$TROD_SOURCE/tests/golden/cbp2025/classes.cbp2025" part.cbp2025 --allow-loss
status 0
run trod view --kind READ,WRITE,REG part.cbp2025
check test ! -s "$stdout"

# other instruction sets have no place in it
run trod convert --to cbp2025 "$TROD_SOURCE/examples/sum.trace.zip" x86.cbp2025
status 2
err_has 'cbp2025 cannot hold'
check test ! -e x86.cbp2025
run trod formats
out_has 'cbp2025'
finish

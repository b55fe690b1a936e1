# test_system_i386.sh - an i386 machine with paging on: BYU traces of 6 and 12 bytes.
. "$TROD_SOURCE/tests/record/system.sh"
have gcc qemu-system-i386
one_by_one=$(one_by_one qemu-system-i386)
echo 'int main(void) { return 0; }' | gcc -m32 -x c -c -o /dev/null - 2>/dev/null ||
    { echo "skipped: gcc knows no -m32"; exit 77; }

multiboot_i386
run trod record --system --start _start --stop done -o part.byu6 -- boot $boot_exit
status 7
err_has '^part.byu6: [0-9,]* instructions and [0-9,]* accesses of 1 processor, i386, as byu6'
run trod check part.byu6
status 0

# What the program does, in physical addresses: no instruction fetches.
run trod view --native part.byu6
grep -v FETCH "$stdout" >got
same - got <<'EOS'
00110000 f0 D_WRITE
00110c00 f0 D_WRITE
00110fe8 0f D_WRITE
00111000 f0 D_WRITE
00111000 0f D_WRITE
00111008 f0 D_WRITE
00111008 0f D_WRITE
00100300 fe D_READ
00202ff8 df D_WRITE
00100300 fd D_READ
00202ff8 bf D_WRITE
00100300 fb D_READ
00202ff8 7f D_WRITE
00100300 87 D_READ
00201000 f0 D_WRITE
00100300 7f D_READ
00100308 f8 D_READ
00201000 0f D_WRITE
00100308 f7 D_READ
00201008 fe D_WRITE
00202010 f0 D_WRITE
00201020 f0 D_READ
00204ff8 3f D_WRITE
00203000 fc D_WRITE
00202020 f0 D_READ
00202020 f0 D_WRITE
00201020 01 D_READ
00201028 fe D_READ
00000080 fe IO_WRITE
00000070 fd IO_READ
00000cf8 f0 IO_WRITE
00000cf8 cf IO_READ
00100400 fe D_READ
00000080 fe IO_WRITE
00100400 fd D_READ
00000080 fe IO_WRITE
00100400 fb D_READ
00000080 fe IO_WRITE
00000cf8 f0 IO_READ
00202040 f0 D_WRITE
00000070 fd IO_READ
00202040 ef D_WRITE
00000070 fd IO_READ
00202040 df D_WRITE
fee00020 f0 NC_D_READ
fee00020 f0 D_WRITE
0017fff8 0f D_WRITE
00201040 f0 D_READ
00201040 f0 D_WRITE
0017fff8 0f D_READ
000000f0 0f IO_WRITE
EOS

# Fetches: QEMU's own log of what is executed, with the sizes that objdump says. The log has one
# beginning more than there are iterations of a string operation.
machine="-display none -monitor none -serial none -no-reboot -nic none $boot_exit -kernel boot"
qemu-system-i386 $one_by_one -d nochain,exec -D log -dfilter 0x100000+0x1000,0xc0000000+0x2000 $machine
sed -n 's/^Trace 0: [^[]*\[[0-9a-f]*\/0*\([0-9a-f]*\)\/.*/\1/p' log |
    sed -n '/^10000c$/,$p' | sed "/^$(nm boot | sed -n 's/^0*\([0-9a-f]*\) . done$/\1/p')$/,\$d" |
    uniq >pcs
rm log
objdump -d -w boot | awk -F'\t' '/^ / { gsub(/[ :]/, "", $1); print $1, split($2, x, " ") }' >sizes
awk 'function hex(s,    i, v) {
         for (i = 1; i <= length(s); i++) v = 16 * v + index("123456789abcdef", substr(s, i, 1))
         return v
     }
     function put(at, n,    i, e) {
         while (n > 0) {
             e = 255
             for (i = at % 8; i < 8 && n > 0; i++) { e -= 2 ^ i; n--; at++ }
             printf "%08x %02x I_FETCH\n", at - 1 - (at - 1) % 8, e
         }
     }
     FILENAME == "sizes" { size[$1] = $2; next }
     $1 == "c0000ffd" { put(hex("202ffd"), 3); put(hex("201000"), 2); next }
     $1 == "c0001002" { put(hex("201002"), 6); next }
     $1 == "c0001008" { put(hex("201008"), 1); next }
     { put(hex($1), size[$1]) }' sizes pcs >want
run trod view --native part.byu6
grep FETCH "$stdout" | uniq >got
check test "$(wc -l <want)" -gt 60
same want got

# The other format and the other way to call it, from the first instruction of the firmware on.
run trod record --native qemu-system-i386 -o all.byu12 -- $machine
status 7
run trod check all.byu12
status 0
run trod view --native --range 0 all.byu12
out_has '^fffffff0 05 03 00 .* FETCH$'
run trod record --system --start _start --stop done -o part.byu12 -- boot $boot_exit
status 7
run trod check part.byu12
status 0
# the same references, the bytes of a word one by one
run trod view --native part.byu6
awk 'function hex(s,    i, v) {
         for (i = 1; i <= length(s); i++) v = 16 * v + index("123456789abcdef", substr(s, i, 1))
         return v
     }
     { n = 0; e = hex($2)
       for (i = 0; i < 8; i++) if (int(e / 2 ^ i) % 2 == 0) { if (n == 0) first = i; n++ }
       sub(/^NC_/, "", $3)
       printf "%s%x %02x %s\n", substr($1, 1, 7), hex(substr($1, 8)) + first, n, $3 }' "$stdout" |
    sed 's/I_FETCH/FETCH/; s/D_READ/MEMREAD/; s/D_WRITE/MEMWRITE/; s/IO_/IO/' >want
run trod view --native part.byu12
awk '{ print $1, $2, $6 }' "$stdout" >got
same want got
finish

# test_i386.sh - i386 programs.
. "$TROD_SOURCE/tests/record/isa.sh"
have gcc qemu-i386
echo 'int main(void) { return 0; }' | gcc -m32 -x c -c -o /dev/null - 2>/dev/null ||
    { echo "skipped: gcc knows no -m32"; exit 77; }

cross_program 'gcc -m32' '__asm__ volatile("int $0x80" : : "a"(1), "b"(total));'
logged qemu-i386
run trod record -o work.d -- ./work
status $want
err_has "^work.d: $(grouped $(wc -l <want_pcs)) instructions and .* of 1 thread of 1 process, i386, as drmemtrace"
run trod check work.d
status 0
pcs work.d >got
same want_pcs got
finish

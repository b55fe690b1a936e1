# test_a64.sh - aarch64 programs: drmemtrace and Tarmac.
. "$TROD_SOURCE/tests/record/isa.sh"
have aarch64-linux-gnu-gcc qemu-aarch64

cross_program aarch64-linux-gnu-gcc \
    '__asm__ volatile("mov x0, %0; mov x8, #93; svc #0" : : "r"((long)total) : "x0", "x8");'
logged qemu-aarch64
run trod record -o work.d -- ./work
status $want
err_has "^work.d: $(grouped $(wc -l <want_pcs)) instructions and .* of 1 thread of 1 process, aarch64, as drmemtrace"
run trod check work.d
status 0
pcs work.d >got
same want_pcs got
run trod record -o work.tarmac -- ./work
status $want
run trod check work.tarmac
status 0
pcs work.tarmac >got
same want_pcs got
accesses work.d >want_accesses
accesses work.tarmac >got
same want_accesses got
# 19 calls store 64 words and 64 bytes
last='stores of fill'
check test "$(grep -c '^WRITE .* 1$' got)" = $((19 * 64))

cat >hello.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int n, char **v)
{
    char text[300];
    double d = atof("1.5") * n;
    memset(text, n, sizeof text);
    printf("%s %g %d\n", strrchr(v[0], '/'), d, text[7]);
    return 3;
}
EOS
if aarch64-linux-gnu-gcc -O1 -o hello hello.c 2>/dev/null; then
    run trod record -q -o hello.d -- ./hello
    status 3
    out <<<'/hello 1.5 1'
    run trod check hello.d
    status 0
else
    echo "no C library for aarch64: dynamic programs are not tested"
fi
finish

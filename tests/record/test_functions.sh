# test_functions.sh - `trod record --function` and --heap: calls with arguments and results as the
# program itself logs them; the list of functions; copies of the trace keep it.
. "$TROD_SOURCE/tests/record/isa.sh"

cat >work.c <<'EOS'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf back;
#define NEVER __attribute__((noinline, noclone))
NEVER long fib(long n)
{
    long r;
    fprintf(stderr, "call fib %lx\n", (unsigned long)n);
    r = n < 2 ? n : fib(n - 1) + fib(n - 2);
    fprintf(stderr, "return fib %lx\n", (unsigned long)r);
    return r;
}
NEVER long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    long r = a - b + c - d + e - f + g - h;
    fprintf(stderr, "call many %lx %lx %lx %lx %lx %lx %lx %lx\nreturn many %lx\n", a, b, c, d, e, f, g, h,
            (unsigned long)r);
    return r;
}
NEVER long leaps(long n)
{
    fprintf(stderr, "call leaps %lx\n", (unsigned long)n);
    longjmp(back, 1);
}
int main(void)
{
    setvbuf(stderr, NULL, _IONBF, 0);
    if (!setjmp(back))
        leaps(7);
    fib(5);
    many(100, 2, 3, 4, 5, 6, 7, 8);
    leaps(setjmp(back) ? exit(0), 0 : 9);
}
EOS

# functions TRACE: calls and returns of it as the program logs them
functions() {
    trod view --kind MARKER --format json "$@" | jq -r '
        if (.text // "" | test("^func-id")) then "id " + (.text | sub("^.*!"; ""))
        elif (.text // "" | test("^func-retaddr")) then "call"
        elif (.text // "" | test("^func-arg")) then "arg " + (.value | tostring)
        elif (.text // "" | test("^func-retval")) then "return " + (.value | tostring) else empty end' |
        awk 'function hex(v) { sub(/^0x0*/, "", v); return v == "" ? "0" : v }
             $1 == "id" { if (line) print line; line = ""; name = $2 }
             $1 == "call" { line = "call " name }
             $1 == "arg" { line = line " " hex($2) }
             $1 == "return" { print "return " name " " hex($2) }
             END { if (line) print line }'
}

tried=0
while read -r compiler qemu options; do
    command -v "${compiler%% *}" "$qemu" >/dev/null || continue
    # shellcheck disable=SC2086
    $compiler -O1 ${options:-} -o work work.c 2>/dev/null || continue
    tried=$((tried + 1))
    last="$compiler"
    rm -rf work.d copy.d
    run trod record -q -o work.d --function fib:1,many:8,leaps:1 -- ./work
    status 0
    grep -E '^(call|return) ' "$stderr" >want
    check test -s want
    functions work.d >got
    same want got
    run trod check work.d
    status 0
    check grep -q '^[0-9]*,8,0x[0-9a-f]*,work!many$' work.d/trace/funclist.log
    run trod convert -q --to drmemtrace work.d copy.d
    status 0
    same work.d/trace/funclist.log copy.d/trace/funclist.log
done <<'EOS'
cc qemu-x86_64
i686-linux-gnu-gcc qemu-i386
aarch64-linux-gnu-gcc qemu-aarch64
arm-linux-gnueabihf-gcc qemu-arm -marm
EOS
[[ $tried -gt 0 ]] || { echo "no compiler with a C library and a QEMU"; exit 77; }

command -v qemu-x86_64 >/dev/null || { finish; exit; }
# The heap: each block that the program asks for, freed and not.
cat >heap.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    void *a = malloc(1000), *b = calloc(3, 500), *c;
    c = realloc(a, 70000);
    printf("malloc 3e8 %lx\ncalloc 3 1f4 %lx\nrealloc %lx 11170 %lx\nfree %lx\n", (long)a, (long)b, (long)a,
           (long)c, (long)b);
    fflush(stdout);
    free(b);
    return 0;
}
EOS
check cc -O0 -fno-builtin -o heap heap.c
rm -rf heap.d
run trod record -q -o heap.d --heap -- ./heap
status 0
cp "$stdout" want
functions heap.d | awk '$1 == "call" { call = $0; sub(/^call /, "", call); if ($2 == "free") print call }
                        $1 == "return" { print call " " $3 }' |
    grep -E '^(malloc 3e8|calloc 3 1f4|realloc .* 11170|free) ' >got
check test "$(grep -c . want)" -eq 4
while read -r line; do
    check grep -qx "$line" got
done <want

run trod record -o no.d --function nosuch:1 -- ./heap
err_has "has a function 'nosuch'"
run trod record -o no.d --function malloc:9 -- ./heap
status 125
err_has "with N arguments"
run trod record --to byu12 --allow-loss -o no.byu12 --heap -- ./heap
status 125
err_has "no place for calls of functions"
finish

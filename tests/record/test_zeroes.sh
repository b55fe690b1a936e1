# test_zeroes.sh - aarch64: DC ZVA, of which QEMU tells nothing; SVE, of which it tells little; atomic
# operations of threads, which it tells as one access.
. "$TROD_SOURCE/tests/record/isa.sh"
have aarch64-linux-gnu-gcc qemu-aarch64

cat >zero.S <<'EOS'
        .globl _start
_start: mrs x9, dczid_el0
        add x3, x9, #2
        mov x4, #1
        lsl x4, x4, x3
        ldr x1, =buf
        mov x2, #5
1:      add x5, x1, #7
        dc zva, x5
        add x1, x1, x4
        mov x5, #0
        subs x2, x2, #1
        b.ne 1b
        b page
        .balign 4096
        .space 4084
page:   mov x6, x1
        add x6, x6, #1
        dc zva, x6
        mov x6, #0
        ldr x1, =buf
        mov x7, #0x5a
        lsl x7, x7, #56
        orr x1, x1, x7
        dc zva, x1
        mov x0, x9
        mov x8, #93
        svc #0
        .bss
        .balign 4096
buf:    .space 16384
EOS
check aarch64-linux-gnu-gcc -nostdlib -static -o zero zero.S
buf=$(aarch64-linux-gnu-nm zero | awk '$3 == "buf" { print $1 }')

# zeroes: what ./zero must have written: DCZID_EL0.BS, its exit status, is log 2 of the words of a block
zeroes() {
    local block=$((4 << $1))
    for i in 0 1 2 3 4 5 0; do
        printf 'WRITE %x %d\n' $((16#$buf + i * block)) $block
    done
}

unset QEMU_CPU
for cpu in '' max cortex-a57 a64fx; do
    (
        [[ -z $cpu ]] || export QEMU_CPU=$cpu
        qemu-aarch64 ./zero
        echo $? >size
        rm -rf zero.d
        run trod record -o zero.d -- ./zero
        status "$(cat size)"
        zeroes "$(cat size)" >want
        run trod check zero.d
        status 0
        accesses zero.d | grep WRITE >got
        same want got
        run trod record --registers -o zero.tarmac -- ./zero
        status "$(cat size)"
        accesses zero.tarmac | grep WRITE >got
        same want got
    )
    checks=$((checks + 1))
done

# One that fails is no part of the trace, whether a block of QEMU's begins with it (2 of 3) or not.
cat >fault.c <<'EOS'
#include <signal.h>
#include <sys/mman.h>
static char *p;
static void handler(int s)
{
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
}
int main(void)
{
    char *end;
    p = mmap(0, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, handler);
    for (end = p + 3 * 4096; p < end; p += 4096)
        __asm__ volatile("dc zva, %0" : : "r"(p) : "memory");
    return 0;
}
EOS
if aarch64-linux-gnu-gcc -O1 -static -o fault fault.c 2>/dev/null; then
    run trod record -o fault.d -- ./fault
    status 0
    trod view fault.d >rows
    check test "$(grep -c uncompleted-instruction rows)" = 3
    check test "$(grep -c 'kernel-event' rows)" = 3
    check test "$(grep -c 'dc zva' rows)" = "$(accesses fault.d | grep -c 'WRITE .* 512$')"
else
    echo "no C library for aarch64: instructions that fail are not tested"
fi

# A processor has no SVE unless the user says so; then what is missing is said.
cat >sve.S <<'EOS'
        .globl _start
_start: mrs x0, id_aa64pfr0_el1
        ubfx x0, x0, #32, #4
        cbz x0, 1f
        ldr x1, =buf
        ptrue p0.b
        ldr z0, [x1]
        ld1rw {z0.s}, p0/z, [x1]
        ld1w {z0.s}, p0/z, [x1]
        st1d {z0.d}, p0, [x1]
1:      mov x8, #93
        svc #0
        .bss
        .balign 64
buf:    .space 4096
EOS
if aarch64-linux-gnu-gcc -march=armv8.2-a+sve -nostdlib -static -o sve sve.S 2>/dev/null; then
    run trod record -o sve.d -- ./sve
    status 0
    check test "$(grep -c 'SVE' "$stderr")" = 0
    QEMU_CPU=max run trod record -o with.d -- ./sve
    status 1
    err_has '^2 SVE loads and stores without accesses: '
fi

cat >mt.c <<'EOS'
#include <pthread.h>
static char b[64] __attribute__((aligned(64)));
static void *f(void *p)
{
    __asm__ volatile("mov x2, #1\n mov x3, #1\n mov x4, #0\n mov x5, #0\n"
                     ".globl first\nfirst: ldadd w3, w2, [%0]\n swp x3, x2, [%0]\n stclr w3, [%0]\n"
                     "ldumaxh w3, w2, [%0]\n casal w3, w2, [%0]\n casp x4, x5, x2, x3, [%0]\n"
                     ".globl last\nlast: nop"
                     : : "r"(b) : "x2", "x3", "x4", "x5", "memory");
    return p;
}
int main(void)
{
    pthread_t t;
    return pthread_create(&t, 0, f, 0) || pthread_join(t, 0);
}
EOS
if aarch64-linux-gnu-gcc -march=armv8.1-a -O1 -static -pthread -o mt mt.c 2>/dev/null; then
    for n in 4 8 4 2 4 16; do
        printf 'READ %d\nWRITE %d\n' $n $n
    done >want
    run trod record -o mt.d --start first --stop last -- ./mt
    status 0
    run trod check mt.d
    status 0
    accesses mt.d | cut -d' ' -f1,3 >got
    same want got
else
    echo "no C library for aarch64: threads are not tested"
fi
finish

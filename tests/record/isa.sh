# isa.sh - programs of one instruction set recorded, against QEMU's own log of the same program.
#
#   cross_program COMPILER EXIT   compiles ./work, which ends by the system call that the assembler
#                                 text EXIT makes (total: a variable of which it returns the low bits)
#   logged QEMU                   runs ./work one instruction at a time: its status in $want, the
#                                 addresses of its instructions in ./want_pcs
#   pcs, accesses TRACE           of a trace: addresses of instructions; kind, address, size
. "$TROD_SOURCE/tests/cli/lib.sh"

cross_program() {
    cat >work.c <<EOS
static int a[64];
static unsigned char bytes[64];
unsigned total;

__attribute__((noinline)) static unsigned fill(unsigned n)
{
    for (unsigned i = 0; i < 64; i++) {
        a[i] = (int)(i * n ^ 5);
        bytes[63 - i] = (unsigned char)(i + n);
    }
    return (unsigned)a[n & 63] + bytes[n & 31];
}

__attribute__((noreturn)) void _start(void)
{
    for (unsigned i = 1; i < 20; i++)
        total += fill(i);
    total &= 63;
    $2
    __builtin_unreachable();
}
EOS
    check $1 -O1 -nostdlib -static -fno-stack-protector -fno-pie -no-pie -Wl,-e,_start \
        -o work work.c
}

logged() {
    "$1" -singlestep -d nochain,exec -D log ./work
    want=$?
    sed -n 's/^Trace 0: [^[]*\[[0-9a-f]*\/0*\([0-9a-f]*\)\/.*/\1/p' log >want_pcs
    check test -s want_pcs
    rm log
}

pcs() {
    trod view --kind INSTR --format csv "$@" | awk -F, 'NR > 1 { print $6 }' | sed 's/^0x0*//'
}

accesses() {
    trod view --kind READ,WRITE,PREFETCH,FLUSH --format csv "$@" |
        awk -F, 'NR > 1 { print $2, $6, $8 }' | sed 's/ 0x0*/ /'
}

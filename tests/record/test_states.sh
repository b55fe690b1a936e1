# test_registers.sh - registers and values: at each instruction of a program what QEMU's own log says.
. "$TROD_SOURCE/tests/record/states.sh"

# Conditions, multiplication and division, carries, blocks of registers, floating point.
cat >work.c <<'EOS'
static unsigned long long wide[16];
unsigned a[64];
unsigned total;
double sum = 1.5;
struct block { unsigned w[9]; } from, to;

void *memcpy(void *to, const void *from, __SIZE_TYPE__ n)
{
    for (__SIZE_TYPE__ i = 0; i < n; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

int raise(int number) /* of divisions by 0, which there are none of */
{
    return number;
}

__attribute__((noinline)) static unsigned fill(unsigned n)
{
    for (unsigned i = 0; i < 64; i++)
        a[i] = i * n ^ 5;
    for (unsigned i = 0; i < 16; i++) {
        wide[i] = wide[15 - i] * 6364136223846793005ull + n;
        wide[i] -= (unsigned)wide[i] / (n + i);
        wide[i] ^= wide[i] >> (n & 31);
        sum = sum * 0.75 + (int)(a[i] % 7);
    }
    for (unsigned i = 0; i < 9; i++)
        from.w[i] = (unsigned)wide[i] > n * 77777777u ? n : i;
    to = from;
    return a[n & 63] + to.w[n % 9] + (unsigned)(int)sum;
}

__attribute__((noreturn)) void _start(void)
{
    for (unsigned i = 1; i < 12; i++)
        total += fill(i);
    total &= 63;
#ifdef __powerpc__
    __asm__ volatile("mr 3, %0; li 0, 1; sc" : : "r"(total) : "0", "3");
#elif defined __aarch64__
    __asm__ volatile("mov x0, %0; mov x8, #93; svc #0" : : "r"((long)total) : "x0", "x8");
#elif defined __arm__
    __asm__ volatile("mov r0, %0; mov r7, #1; svc #0" : : "r"(total) : "r0");
#else
    __asm__ volatile("move $4, %0; li $2, 4001; syscall" : : "r"(total) : "$4", "$2");
#endif
    __builtin_unreachable();
}
EOS

# compile COMPILER OPTION...: false where there is no such compiler
compile() {
    command -v "$1" >/dev/null || return 1
    last="compile with $1"
    check "$@" -O1 -nostdlib -static -fno-stack-protector -fno-pie -no-pie -Wl,-e,_start -o work \
        work.c -lgcc
}

# check_values FILE NM: the words that fill stores in the array a, in FILE, a text
check_values() {
    local at
    at=$((0x$("$2" work | awk '$3 == "a" { print $1 }')))
    for ((n = 1; n < 12; n++)); do
        for ((i = 0; i < 64; i++)); do
            printf '%x %08x\n' $((at + 4 * i)) $(((i * n & 0xffffffff) ^ 5))
        done
    done >want_stores
    grep -o ' MW4 .*' "$1" | awk -v from=$at '{ sub(/^0*/, "", $2); print $2, $3 }' |
        while read -r where value; do
            ((0x$where < at || 0x$where >= at + 256)) || echo "$where $value"
        done >got
    same want_stores got
    # what is read is what was written there
    grep -o ' M[RW]4 .*' "$1" | awk '
        $1 == "MW4" { value[$2] = $3 }
        $1 == "MR4" && $2 in value && value[$2] != $3 { print }' >got
    same /dev/null got
}

# compared QEMU ISA FORMAT NM: records ./work and compares
compared() {
    logged_states "$1" "$2"
    run recorded "$1" --registers --to "$3" -o work.trace -- ./work
    status $want
    err_has "^work.trace: $(grouped $(wc -l <want_states)) instructions and .*, as ${3%%:*}"
    err_has "$1 \(plugin interface [0-9]+\): instructions, opcodes, accesses, registers.*, values"
    tarmac_states "$2" work.trace >got
    same want_states got
    run trod check --from "$3" work.trace
    status 0
    check_values work.trace "$4"
}

# compared_full QEMU: the states of a FULL trace; what follows from them is what TT6E has
compared_full() {
    logged_states "$1" ppc
    run recorded "$1" --to full -o work.full -- ./work
    status $want
    full_states work.full >got
    same want_states got
    run trod check work.full
    status 0
    rm -f converted.tt6e
    run trod convert --to tt6e work.full converted.tt6e --allow-loss
    status 0
    run recorded "$1" --to tt6e -o work.tt6e -- ./work
    status $want
    check cmp work.tt6e converted.tt6e
}

# vectors QEMU: the vector registers of FULL, where QEMU has them
vectors() {
    cat >vectors.s <<'EOS'
        .globl _start
_start: mfspr 4, 256
        vspltisw 1, 5
        vspltisw 2, 3
        vadduwm 3, 1, 2
        vspltisb 31, -1
        li 0, 1
        li 3, 7
        sc
EOS
    check powerpc-linux-gnu-gcc -maltivec -nostdlib -static -o vectors vectors.s
    run plainly QEMU_CPU=7450 "$TROD" record --native "$1" --plugin "$TROD_QEMU_PLUGIN" --to full \
        -o vectors.full -- ./vectors
    status 7
    grep -q ', registers, values' "$stderr" || return 0
    # words of v1, v2, v3, v31 and of the mask of those that are valid
    trod view --native --from full vectors.full | awk 'END {
        for (i = 0; i < 4; i++) print $(112 + i), $(116 + i), $(120 + i), $(232 + i)
        print $244
    }' >got
    {
        yes '00000005 00000003 00000008 ffffffff' | head -n 4
        echo ffffffff
    } >want_vectors
    same want_vectors got
}

# QEMU's of the machine, and that of scripts/build-qemu where it has been built
for dir in "" "${TROD_QEMU_DIR:-$TROD_SOURCE/build/qemu/bin}/"; do
    [[ -z $dir || -d $dir ]] || continue
    if command -v "${dir}qemu-aarch64" >/dev/null && compile aarch64-linux-gnu-gcc; then
        compared "${dir}qemu-aarch64" a64 tarmac aarch64-linux-gnu-nm
        # a branch that is not taken is one whose condition fails
        check grep -q ' IS (.* 54[0-9a-f]* O ' work.trace
    else
        echo "no compiler or QEMU for aarch64: not tested"
    fi
    for set in -marm -mthumb; do
        if command -v "${dir}qemu-arm" >/dev/null &&
            compile arm-linux-gnueabihf-gcc $set -fomit-frame-pointer; then
            compared "${dir}qemu-arm" arm tarmac arm-linux-gnueabihf-nm
            check grep -q ' IS (' work.trace
        else
            echo "no compiler or QEMU for arm: not tested"
        fi
    done
    if command -v "${dir}qemu-mips" >/dev/null && compile mips-linux-gnu-gcc -mno-abicalls -G0; then
        compared "${dir}qemu-mips" mips matcher:isa=mips32,endian=big mips-linux-gnu-nm
    else
        echo "no compiler or QEMU for mips: not tested"
    fi
    if command -v "${dir}qemu-ppc" >/dev/null && compile powerpc-linux-gnu-gcc; then
        compared_full "${dir}qemu-ppc"
        vectors "${dir}qemu-ppc"
    else
        echo "no compiler or QEMU for powerpc: not tested"
    fi
done

# Signals (aarch64): a fault whose handler changes a register and goes on behind it, and a signal that
# the program sends to its group, which nothing else of it minds.
cat >work.c <<'EOS'
unsigned total;
static long call(long n, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c, x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
static void on_fault(int n, void *info, char *context)
{
    *(unsigned long *)(context + 440) += 4;              /* pc */
    *(unsigned long *)(context + 184 + 8 * 7) = 1234567; /* x7 */
    total += n;
}
static void on_urgent(int n)
{
    total += n * 3;
}
struct {
    void *handler;
    long flags, restorer, mask;
} action;
__attribute__((noreturn)) void _start(void)
{
    action.handler = on_fault;
    action.flags = 4; /* SA_SIGINFO */
    call(134, 11, (long)&action, 0, 8);
    action.handler = on_urgent;
    action.flags = 0;
    call(134, 23, (long)&action, 0, 8);
    for (int i = 0; i < 20; i++) {
        register long x7 __asm__("x7") = i;
        __asm__ volatile("mov x9, #16; ldr x10, [x9]; add x11, x7, #1"
                         : "+r"(x7)
                         :
                         : "x9", "x10", "x11", "memory");
        total += x7;
        call(129, 0, 23, 0, 0);
    }
    call(93, total & 63, 0, 0, 0);
    __builtin_unreachable();
}
EOS
if command -v qemu-aarch64 >/dev/null && compile aarch64-linux-gnu-gcc; then
    logged_states qemu-aarch64 a64
    run recorded qemu-aarch64 --registers --to tarmac -o signals.trace -- ./work
    status $want
    tarmac_states a64 signals.trace >got
    same want_states got
fi

# what cannot be
if command -v qemu-x86_64 >/dev/null; then
    run trod record --registers -o x.trace -- /bin/true
    status 125
    err_has 'registers of x86-64 programs are not recorded'
fi
if [[ -e signals.trace ]]; then
    run trod record --registers -o x.d -- ./work
    status 125
    err_has 'drmemtrace has no place for registers: tarmac, matcher and full have'
fi
finish

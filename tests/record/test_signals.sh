# test_signals.sh - recorded programs that signals interrupt: where what they interrupt goes on, instructions that fail,
# branches behind which a signal comes.
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

# An access at the label `faults` fails until its handler has allowed it. A timer's signals come anywhere in loops of
# branches.
cat >signals.c <<'EOC'
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#if defined __x86_64__ || defined __i386__
#define ACCESS(p) __asm__ volatile(".globl faults\nfaults: incl (%0)" ::"r"(p) : "memory")
#elif defined __powerpc__
#define ACCESS(p) __asm__ volatile(".globl faults\nfaults: stw 0,0(%0)" ::"b"(p) : "memory")
#else
#define ACCESS(p) __asm__ volatile(".globl faults\nfaults: str %0, [%0]" ::"r"(p) : "memory")
#endif

enum { TICKS = 10, FAULTS = 6 };

static volatile int ticks, faults_seen, sink;
static char *page;

static void on_tick(int number)
{
    ticks += number == SIGALRM;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    faults_seen += number == SIGSEGV;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
    struct itimerval often = {{0, 1000}, {0, 1000}};
    struct sigaction fault = {.sa_flags = SA_SIGINFO};

    fault.sa_sigaction = on_fault;
    page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &fault, 0);
    for (int i = 0; i < FAULTS; i++) {
        mprotect(page, 4096, PROT_NONE);
        ACCESS(page + 64);
    }
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, 0);
    while (ticks < TICKS)
        for (int i = 0; i < 3 && ticks < TICKS; i++)
            sink += i & 1 ? 3 : 5;
    return faults_seen != FAULTS || ticks < TICKS;
}
EOC

# built COMPILER...: ./signals, and $at, the address of the access
built() {
    if ! "$@" -O1 -static -o signals signals.c 2>/dev/null; then
        echo "not tested: no $* with a C library"
        return 1
    fi
    at=0x$(nm signals | awk '$3 == "faults" { sub(/^0*/, "", $1); print $1 }')
}

# counted N TEXT VALUE: so many markers are called TEXT and have VALUE
counted() {
    check test "$(jq -n --arg text "$2" --arg value "$3" \
        '[inputs | select(.text == $text and .value == $value)] | length' markers)" = "$1"
}

for compiler in gcc 'gcc -m32' aarch64-linux-gnu-gcc 'arm-linux-gnueabihf-gcc -marm'; do
    built $compiler || continue
    rm -rf s.d
    run trod record --allow-loss -o s.d -- ./signals
    status 0
    trod view --kind MARKER --format json s.d >markers
    counted 6 signal-number 11
    check test "$(grep -c '"value": "14", "text": "signal-number"' markers)" -ge 10
    counted 6 kernel-event $at
    # what failed is no instruction of the trace: its first bytes are told before the event
    check test "$(grep -c '"text": "uncompleted-instruction"' markers)" = 6
    run trod view --kind INSTR --where "pc == $at" --format csv s.d
    check test "$(wc -l <"$stdout")" = 7
    # Arm: the C library has T32 code, whose branches drmemtrace has no place for
    [[ $compiler = arm* ]] && continue
    run trod check s.d
    status 0
done

# x86-64: QEMU tells what it writes while it makes the frame as accesses of the instruction before; a conditional
# branch has none
if built gcc; then
    run trod record -q -o s.csv --to csv:columns=all -- ./signals
    status 0
    check test "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["kind"] == "INSTR" { jump = $at["code"] ~ /^7[0-9a-f] / }
        jump && $at["kind"] != "INSTR" { n++ } END { print n + 0 }' s.csv)" = 0
fi

# PowerPC: where a branch leads is told, and the handler is behind a break of the flow
if built powerpc-linux-gnu-gcc; then
    run trod record -q -o s.tt6 -- ./signals
    status 0
    run trod check s.tt6
    status 0
fi

finish

# test_ppc.sh - PowerPC programs: TT6 and TT6E, with the accesses that QEMU tells nothing of.
. "$TROD_SOURCE/tests/record/isa.sh"
have powerpc-linux-gnu-gcc qemu-ppc

cross_program powerpc-linux-gnu-gcc \
    '__asm__ volatile("mr 3, %0; li 0, 1; sc" : : "r"(total) : "0", "3");'
logged qemu-ppc
for format in tt6 tt6e; do
    run trod record --to $format -o work.$format -- ./work
    status $want
    err_has "^work.$format: $(grouped $(wc -l <want_pcs)) instructions and .*, powerpc, as $format"
    run trod check --from $format work.$format
    status 0
    pcs --from $format work.$format >got
    same want_pcs got
done

# A file of one thread is compressed as its name says.
for suffix in gz zst lz4 xz sz zip; do
    run trod record -o packed.tt6.$suffix -- ./work
    status $want
    pcs packed.tt6.$suffix >got
    same want_pcs got
    check test "$(stat -c %s packed.tt6.$suffix)" -lt "$(stat -c %s work.tt6)"
done

# Addresses and sizes by the manual: buf lies at a multiple of 64. XER says 7 bytes; the second
# stwcx. finds no reservation.
cat >all.s <<'EOS'
        .globl _start
_start: lis 31, buf@ha
        addi 31, 31, buf@l
        li 4, 7
        mtxer 4
        li 5, 8
        lswx 6, 31, 5
        stswx 6, 31, 5
        lswi 6, 31, 11
        stswi 6, 31, 32
        mr 10, 31
        lmw 28, 16(10)
        stmw 28, -4(10)
        lis 31, buf@ha
        addi 31, 31, buf@l
        dcbz 5, 31
        dcbf 0, 31
        dcbt 0, 31
        icbi 5, 31
        lwarx 6, 0, 31
        stwcx. 6, 0, 31
        stwcx. 6, 0, 31
        lwzu 6, 4(31)
        stfd 1, 8(31)
        lhbrx 6, 0, 31
        stb 6, 1(31)
        li 0, 1
        li 3, 5
        sc
        .data
        .balign 64
        .space 64
buf:    .space 128
EOS
check powerpc-linux-gnu-gcc -nostdlib -static -o all all.s
at=$((0x$(powerpc-linux-gnu-nm all | awk '$3 == "buf" { print $1 }')))
expect() {
    while read -r kind offset size; do
        printf '%s %x %d\n' "$kind" $((at + offset)) "$size"
    done
}
expect >want <<'EOS'
READ 8 7
WRITE 8 7
READ 0 11
WRITE 0 32
READ 16 16
WRITE -4 16
WRITE 0 32
FLUSH 0 32
PREFETCH 0 32
FLUSH 0 32
READ 0 4
WRITE 0 4
WRITE 0 4
READ 4 4
WRITE 12 8
READ 4 2
WRITE 5 1
EOS
run trod record --to tt6e -o all.tt6e -- ./all
status 5
err_has '^all.tt6e: 28 instructions and 17 accesses'
run trod check --from tt6e all.tt6e
status 0
accesses --from tt6e all.tt6e >got
same want got
# in TT6 the cache operations are COMPUTE, without an address: escapes have it
run trod record --to tt6 -o all.tt6 -- ./all
status 5
run trod check --from tt6 all.tt6
status 0
accesses --from tt6 all.tt6 >got
same want got
# the third words: XER of lswx and stswx
last='XER words'
check test "$(trod view --native --from tt6e all.tt6e | grep -c ' 00000007 MEMORY_EXTENDED')" = 2

# Synchronization records: each thread logs what it does to a mutex and a condition variable in the
# order in which it has done so; the records are the same, and have a legal order.
cat >sync.c <<'EOS'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready, tries[3];
static void *work(void *p)
{
    pthread_mutex_lock(&mutex);
    while (!ready) {
        pthread_cond_wait(&cond, &mutex);
        tries[(long)p] += 1000;
    }
    pthread_mutex_unlock(&mutex);
    if (pthread_mutex_trylock(&mutex) == 0) {
        tries[(long)p]++;
        pthread_mutex_unlock(&mutex);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    int waits = 0, tried = 0;
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    pthread_mutex_lock(&mutex);
    if (pthread_mutex_trylock(&mutex) == 0) /* never */
        return 1;
    ready = 1;
    pthread_cond_broadcast(&cond);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 3; i++) {
        waits += tries[i] / 1000;
        tried += tries[i] % 1000;
    }
    printf("%p %p %d %d\n", (void *)&mutex, (void *)&cond, waits, tried);
    return 0;
}
EOS
# statically linked, and with the functions in a library
synchronizes() {
    rm -rf sync.d
    run trod record -p --to tt6e -o sync.d/ -- ./sync
    status 0
    read -r mutex cond waits tried <"$stdout"
    # kind (sub) and address of every record of the two
    for file in sync.d/*; do
        trod view --from tt6e --kind SYNC --format csv "$file" | awk -F, 'NR > 1 { print $15, $6 }' |
            sed 's/ 0x0*/ 0x/'
        run trod check --from tt6e "$file"
        status 0
    done | sort | uniq -c | awk '{ print $1, $2, $3 }' | grep -e "$mutex" -e "$cond" >got
    {
        echo "$((4 + tried)) 32 $mutex"             # unlock
        echo "4 48 $mutex"                          # lock: what cond_wait does itself is no record
        [[ $tried -eq 0 ]] || echo "$tried 49 $mutex" # trylock that succeeded
        echo "1 32 $cond"
        echo "1 33 $cond"
        [[ $waits -eq 0 ]] || echo "$waits 48 $cond"
    } | sort >want
    sort got >sorted
    same want sorted
    run trod sync --from tt6e sync.d/*
    status 0
    # on each point the counts of the signals are 1, 2, 3, ...
    for file in sync.d/*; do
        trod view --from tt6e --kind SYNC --format csv "$file" |
            awk -F, -v p="$mutex" '$15 == 32 && $6 ~ substr(p, 3) "$" { print $10 }'
    done | sort -n >got
    seq "$((4 + tried))" >want
    same want got
}
if powerpc-linux-gnu-gcc -O1 -static -pthread -o sync sync.c 2>/dev/null; then
    synchronizes
    check powerpc-linux-gnu-gcc -O1 -pthread -o sync sync.c
    synchronizes
    run trod record -p -o x.matcher -- ./sync
    status 125
    err_has 'are for tt6 and tt6e'
    check powerpc-linux-gnu-gcc -O1 -static -pthread -s -o sync sync.c
    run trod record -p --to tt6e -o x.d/ -- ./sync
    status 125
    err_has "'./sync' has no pthread functions: .* must have symbols"
else
    echo "no C library for powerpc: synchronization is not tested"
fi

# twi: behind each of them what TT6E has for the return from a trap, to where the program goes on:
# the handler of the fifth, what follows all others.
cat >trap.c <<'EOS'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf env;
static volatile int hits;
__attribute__((noinline)) void handler(int number)
{
    hits += number == SIGTRAP;
    siglongjmp(env, 1);
}
int main(void)
{
    volatile int i;
    signal(SIGTRAP, handler);
    for (i = 0; i < 10; i++)
        if (sigsetjmp(env, 1) == 0)
            __asm__ volatile(".globl traps\n.type traps,@function\ntraps: twi 4,%0,5" : : "r"(i));
    printf("%d\n", hits);
    return 6;
}
EOS
if powerpc-linux-gnu-gcc -O1 -static -o trap trap.c 2>/dev/null; then
    symbol() { powerpc-linux-gnu-nm trap | awk -v s="$1" '$3 == s { sub(/^0*/, "", $1); print $1 }'; }
    run trod record --to tt6e -o trap.tt6e -- ./trap
    status 6
    out <<<1
    run trod check --from tt6e trap.tt6e
    status 0
    # address, opcode, target and flags of the two instructions behind each twi
    trod view --from tt6e --kind INSTR --format csv trap.tt6e |
        awk -F, -v at="$(symbol traps)" '
            left-- > 0 { print $6, $9, $(NF - 9), $(NF - 3) }
            $6 ~ "0x0*" at "$" { left = 2 }' | sed 's/0x0*/0x/g' >got
    next=$(printf '0x%x' $((0x$(symbol traps) + 4)))
    for i in 0 1 2 3 4 5 6 7 8 9; do
        back=$next
        [[ $i -ne 5 ]] || back=0x$(symbol handler)
        echo "$next 48000702 0x700 synthetic"
        echo "0x700 4c000064 $back synthetic"
    done >want
    same want got
    # tt6 has none
    run trod record --to tt6 -o trap.tt6 -- ./trap
    status 6
    run trod check --from tt6 trap.tt6
    status 0
    check test "$(trod view --from tt6 --kind INSTR trap.tt6 | grep -c 48000702)" = 0
fi

# Threads: a file each.
cat >threads.c <<'EOS'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n;
static char room[4096];
static void *work(void *p)
{
    memset(room, 0, sizeof room);
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        n++;
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", n);
    return 0;
}
EOS
if powerpc-linux-gnu-gcc -O1 -static -pthread -o threads threads.c 2>/dev/null; then
    run trod record --to tt6e -o threads.d/ -- ./threads
    status 0
    out <<<300
    err_has 'of 4 threads of 1 process, powerpc, as tt6e'
    last='a file a thread'
    check test "$(ls threads.d/*.tt6e | wc -l)" = 4
    for file in threads.d/*; do
        run trod check --from tt6e "$file"
        status 0
    done
    # one file holds one thread: a program with several makes a folder of that name, and that is said
    echo old >one.tt6e
    run trod record -o one.tt6e -- ./threads
    status 0
    err_has '^one.tt6e is a folder with a file for each thread'
    last='a folder in place of a file'
    check test "$(ls one.tt6e/*.tt6e | wc -l)" = 4
    check sh -c '! ls -d one.tt6e.* 2>/dev/null | grep .'
    for file in one.tt6e/*; do
        run trod check --from tt6e "$file"
        status 0
    done
    # where there can be no folder the others are missed, and that is said
    run sh -c "'$TROD' record --to tt6e -o - -- ./threads >/dev/null | cat"
    err_has "^trod: '-' holds one thread: all other threads are left out"
else
    echo "no C library for powerpc: threads are not tested"
fi
finish

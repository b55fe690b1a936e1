# test_process.sh - what happens around the program: exit status, signals, threads, children, a full
# disk, what is missing.
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
have gcc qemu-x86_64

# 1. Killed in mid-run: everything up to the last instruction is there.
cat >kill.s <<'EOS'
        .globl _start
_start: mov $100000, %ecx
1:      push %rcx
        pop %rcx
        dec %ecx
        jnz 1b
        mov $39, %eax
        syscall
        mov %eax, %edi
        mov $9, %esi
        mov $62, %eax
        syscall
EOS
check gcc -nostdlib -static -o kill kill.s
run trod record -o kill.d -- ./kill
status 137
err_has '^kill.d: 400,007 instructions and 200,000 accesses of 1 thread'
err_has 'ended by signal 9: the trace ends there'
run trod check kill.d
status 0

# The same from outside, in the middle of anything.
cat >forever.s <<'EOS'
        .globl _start
_start: push %rax
        pop %rax
        jmp _start
EOS
check gcc -nostdlib -static -o forever forever.s
"$TROD" record -o forever.d -- ./forever 2>message &
recorder=$!
sleep 1
child=$(cat /proc/$recorder/task/$recorder/children)
check kill -KILL $child
wait $recorder
got=$?
last='kill -KILL'
status 137
has message 'ended by signal 9'
run trod check forever.d
status 0

# A signal for the recorder is meant for the program.
"$TROD" record -o term.d -- ./forever 2>message &
recorder=$!
sleep 0.5
kill -TERM $recorder
wait $recorder
got=$?
last='kill -TERM of the recorder'
status 143
run trod check term.d
status 0

# A program that aborts.
cat >abort.c <<'EOS'
#include <stdlib.h>
int main(void) { abort(); }
EOS
check gcc -o abort abort.c
run trod record -o abort.d -- ./abort
status 134
run trod check abort.d
status 0

# A store that is not allowed: the trace ends before it.
check gcc -O1 -nostdlib -static -o fault -x c - <<'EOS'
static const int fixed[4] = {1, 2, 3, 4};
void _start(void)
{
    for (volatile int i = 0; i < 5; i++) {}
    *(volatile int *)(unsigned long)&fixed[1] = 5;
    __builtin_trap();
}
EOS
rm -rf fault.d
run trod record -o fault.d -- ./fault
status 139
run trod check fault.d
status 0

# 2. Threads, a signal handler, children with and without exec; standard input and output are the
# program's own.
cat >many.c <<'EOS'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n;
static volatile int hits;

static void *work(void *add)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        n += (long)add;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void handler(int number)
{
    hits += number == SIGUSR1;
}

int main(void)
{
    pthread_t t[6];
    char line[100] = "";
    int status;

    signal(SIGUSR1, handler);
    for (long i = 0; i < 6; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 6; i++)
        pthread_join(t[i], NULL);
    raise(SIGUSR1);
    if (fork() == 0)
        _exit(fgets(line, sizeof line, stdin) && line[0] == 'x' ? 3 : 4);
    wait(&status);
    printf("%ld %d %d\n", n, WEXITSTATUS(status), hits);
    fflush(stdout);
    if (fork() == 0)
        execl("/bin/true", "true", (char *)NULL);
    wait(&status);
    return 5 + WEXITSTATUS(status);
}
EOS
check gcc -pthread -o many many.c
run sh -c "echo x | '$TROD' record -o many.d -- ./many"
status 5
out <<<'30000 3 1'
err_has 'of 9 threads of 3 processes'
run trod check many.d
status 0
last='files of threads'
check test "$(ls many.d/trace/drmemtrace.* | wc -l)" = 9

# Threads that live all at once, more than there are blocks at first.
cat >crowd.c <<'EOS'
#include <pthread.h>
static pthread_barrier_t all;
static void *work(void *p)
{
    pthread_barrier_wait(&all);
    return p;
}
int main(void)
{
    static pthread_t t[300];
    pthread_barrier_init(&all, NULL, 300);
    for (int i = 0; i < 300; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 300; i++)
        pthread_join(t[i], NULL);
    return 0;
}
EOS
check gcc -pthread -o crowd crowd.c
run trod record -o crowd.d -- ./crowd
status 0
err_has 'of 301 threads of 1 process'
run trod check crowd.d
status 0
# a file of drmemtrace holds one of them: that is said, and what to do
run trod record -o crowd.trace -- ./crowd
status 125
err_has 'drmemtrace has no place for [0-9]* INSTR rows'
err_has ' rows \(the first, row [0-9]*: it is of another thread, and a file holds one: write to a directory\)$'
run trod record --allow-loss -o crowd.trace -- ./crowd
status 0

# 3. No room for the trace: told, no file, and the program runs to its end. The limit comes when
# the program waits for its input.
cat >wait.s <<'EOS'
        .globl _start
_start: xor %eax, %eax
        xor %edi, %edi
        lea buf(%rip), %rsi
        mov $1, %edx
        syscall
        mov $1000000, %ecx
1:      push %rcx
        pop %rcx
        dec %ecx
        jnz 1b
        mov $1, %eax
        mov $1, %edi
        lea buf(%rip), %rsi
        mov $1, %edx
        syscall
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
buf:    .space 1
EOS
check gcc -nostdlib -static -o wait wait.s
if command -v prlimit >/dev/null; then
    mkfifo gate
    (trap '' XFSZ; exec "$TROD" record -z none -o full.trace -- ./wait <gate >said 2>message) &
    recorder=$!
    exec 3>gate
    sleep 0.5
    prlimit --pid $recorder --fsize=100000
    echo y >&3
    exec 3>&-
    wait $recorder
    got=$?
    last='trod record onto a full disk'
    status 125
    has message 'full.trace'
    check grep -q '^y$' <(cat said; echo)
    check sh -c '! ls full.trace* 2>/dev/null | grep .'
else
    echo "no prlimit: recording onto a full disk is not tested"
fi

# The recorder is killed: the program runs on. Its 500 million instructions take less than a second
# in QEMU alone and seconds where QEMU keeps the plugin (before 8.2), but an hour where each block of
# events waits for a while.
check gcc -O1 -nostdlib -static -o long -x c - <<'EOS'
void _start(void)
{
    for (volatile unsigned long i = 0; i < 100000000; i++) {}
    __asm__ volatile("syscall" : : "a"(231L), "D"(0L));
    __builtin_trap();
}
EOS
"$TROD" record -o orphan.d -- ./long 2>/dev/null &
recorder=$!
sleep 1
child=$(cat /proc/$recorder/task/$recorder/children)
child=${child// /}
kill -KILL $recorder
wait $recorder 2>/dev/null
last="kill -KILL of the recorder, program $child"
SECONDS=0
while [[ -e /proc/$child && $SECONDS -lt 60 ]]; do
    sleep 0.1
done
check test ! -e "/proc/$child"
[[ ! -e /proc/$child ]] || kill -KILL "$child"

# 4. What is missing is said.
run trod record -o x.d -- ./kill.s
status 125
err_has "'./kill.s' is not executable"
run trod record -o x.d -- ./
status 125
err_has "'./' is a folder, no program"
run trod record -o x.d -- ./no-such-program
status 125
err_has "'./no-such-program' is no program that can be found"
run trod record -- ./kill
status 125
err_has 'not said: --output OUT'
run trod record -o x.d --native /bin/true -- ./kill
status 125
err_has "'/bin/true' did not load the plugin"
run env PATH=/nowhere "$TROD" record -o x.d -- ./kill
status 125
err_has "'qemu-x86_64' is missing, which runs x86-64 programs: install the package qemu-user"
run trod record -o x.d --plugin nowhere.so -- ./kill
status 125
err_has "plugin 'nowhere.so' cannot be read"
run trod record -o x.d
status 125
check test ! -e x.d
# Formats that have no word for the instruction set, and suffixes of none: told before the program runs.
for to in tarmac byu6 byu12 tt6 tt6e full; do
    run trod record -o "x.$to" -- sh -c 'touch ran'
    status 125
    err_has "^trod: $to has no word for x86-64 instructions: use --to with one of .*drmemtrace"
done
run trod record --to drmemtrace -o x -- sh -c 'touch ran; exit 3'
status 3
rm -rf x ran
for name in p.xyz p.json x/p.d.txt; do
    run trod record -o "$name" -- sh -c 'touch ran'
    status 125
    err_has "is no suffix of a format: use one of .tarmac, .*, or name the format with --to"
done
check test ! -e ran -a ! -e p.xyz -a ! -e x.tarmac
run trod record --allow-loss -o x.tarmac -- ./fault
status 139
check test -s x.tarmac
rm -f x.tarmac
# what it then cannot hold is listed: BYU addresses have 32 bits
check gcc -O1 -o high -pie -fPIE -x c - <<'EOS'
int main(void) { return 0; }
EOS
run trod record --allow-loss -o high.byu12 -- ./high
status 0
err_has '^lost: virtual addresses of [0-9,]+ INSTR rows'
run trod record --to drmemtrace -o p.xyz -- ./fault # told otherwise
status 139
check test -d p.xyz
# 5. Progress on a terminal: instructions, rate, size; none elsewhere.
check gcc -O0 -o busy -x c - <<'EOS'
int main(void)
{
    for (volatile int i = 0; i < 8000000; i++) {}
    return 3;
}
EOS
script -qec "'$TROD' record -o busy.d -- ./busy >/dev/null" typescript </dev/null >/dev/null
check grep -q 'M instructions, .* M/s, .* MB' typescript
rm -rf busy.d
run trod record -o busy.d -- ./busy
status 3
check test "$(grep -c 'M/s' "$stderr")" = 0
finish

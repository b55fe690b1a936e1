# test_exec.sh - programs that the program executes: recorded too, by whatever way they are executed;
# what cannot be recorded is said.
. "$TROD_SOURCE/tests/cli/lib.sh"
unset TROD_TEST_FEWER # programs here print what of their environment begins so
have gcc qemu-x86_64 nm

# A program that is told apart by its code: so many calls of a function, each with a store.
cat >work.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile long stored;
__attribute__((noinline, noclone)) void stamp(long i) { stored = i; }
extern char **environ;
int main(int argc, char **argv)
{
    for (long i = 0; i < atol(argv[1]); i++)
        stamp(i);
    for (int i = 0; i < argc; i++)
        printf("%s%c", argv[i], i + 1 < argc ? '|' : '\n');
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "TROD_TEST", 9) == 0 || strncmp(*e, "LD_LIBRARY", 10) == 0)
            puts(*e);
    return 7;
}
EOF
check gcc -O1 -static -no-pie -o work work.c
at=$(nm work | sed -n 's/^0*\([0-9a-f]*\) . stamp$/\1/p')

# calls FOLDER: how often the function of work was executed
calls() {
    "$TROD" view --kind INSTR --pc "0x$at..0x$at" --format csv "$1" | grep -v -c '^stream\|^#\|kind'
}

# recorded CALLS COMMAND...: its trace has so many calls, is valid, and nothing is said to be missing
recorded() {
    local want=$1
    shift
    rm -rf out.d
    run trod record -o out.d -- "$@"
    cp "$stdout" said
    cp "$stderr" message
    last="record $*"
    check test "$(calls out.d)" = "$want"
    check sh -c '! grep -E "incomplete|not in the trace" message'
    run trod check out.d
    status 0
}

recorded 5 ./work 5
recorded 5 env TROD_TEST=a,b ./work 5 'an argument' ''
out() { cat >want; same want said; }
out <<<$'./work|5|an argument|\nTROD_TEST=a,b'
has message 'of 1 thread of 1 process, x86-64'
has message 'with 1 program that was executed'

# The exit status is that of what was executed last.
run trod record -o x.d -- env ./work 1
status 7

# A shell: children with and without exec, a loop, variables of the loader, which are not QEMU's.
cat >script <<'EOF'
#!/bin/sh
./work 3 >/dev/null
for i in 1 2 3; do ./work $i >/dev/null; done
LD_LIBRARY_PATH=/nowhere ./work 4
./nothing 2>/dev/null
exec ./work 2 "$@"
EOF
chmod +x script
recorded 15 ./script x 'y z'
out <<<$'./work|4\nLD_LIBRARY_PATH=/nowhere\n./work|2|x|y z'
has message 'of 7 processes' # one of them looked for nothing

# The environment may be empty, the folder another one, the name relative to it.
mkdir inside
cp work inside/there
recorded 5 sh -c 'cd inside && exec env -i ./there 5'

# Scripts whose interpreters are scripts, with an argument; -- before a name that begins with a dash.
printf '#!%s/inner one\n' "$tmp" >outer
printf '#!%s/work 2\n' "$tmp" >inner
chmod +x outer inner
cp work ./-dash
recorded 2 env ./outer three
out <<<"$tmp/work|2|$tmp/inner|one|./outer|three"
recorded 1 env PATH= "$(command -v env)" -- -dash 1

# The ways to execute: execve from a thread that is not the first, vfork, posix_spawn, fexecve,
# execve of an open file, /proc/self/exe, no arguments; calls that fail.
cat >ways.c <<'EOF'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char *args[] = {"work", "3", NULL};
static void *other(void *p)
{
    execve("./work", args, environ);
    return p;
}
int main(int argc, char **argv)
{
    const char *way = argv[1];
    pthread_t t;
    pid_t pid;
    int status = 0;

    if (strcmp(way, "thread") == 0) {
        pthread_create(&t, NULL, other, NULL);
        pthread_join(t, NULL);
    } else if (strcmp(way, "vfork") == 0) {
        if (vfork() == 0)
            execve("./work", args, environ);
    } else if (strcmp(way, "spawn") == 0) {
        posix_spawn(&pid, "./work", NULL, NULL, args, environ);
    } else if (strcmp(way, "fexecve") == 0) {
        fexecve(open("./work", O_RDONLY | O_CLOEXEC), args, environ);
    } else if (strcmp(way, "self") == 0) {
        char *again[] = {argv[0], "thread", NULL};
        execve("/proc/self/exe", again, environ);
    } else if (strcmp(way, "fails") == 0) {
        if (execve("./no-such", args, environ) == 0 || errno != ENOENT)
            return 1;
        if (execve("./ways.c", args, environ) == 0 || errno != EACCES)
            return 2;
        if (execve("./empty", args, environ) == 0 || errno != ENOEXEC)
            return 3;
        if (execve((char *)8, args, environ) == 0 || errno != EFAULT)
            return 4;
        execve("./work", args, environ);
    }
    while (wait(&status) > 0) {}
    return 0;
}
EOF
check gcc -O1 -pthread -o ways ways.c
: >empty
chmod +x empty
for way in thread vfork spawn fexecve self fails; do
    recorded 3 ./ways $way
    check grep -q '^work|3$' said
done
# a process that forks goes on beside what it executes
recorded 3 sh -c './work 1 >&2 & ./work 2; wait'

# A window that begins in a function of what is executed.
rm -rf out.d
run trod record --start stamp --take 2 --windows 1 -o out.d -- env ./work 9
status 7
check test "$(calls out.d)" = 1

# Without children: what they execute is not recorded, which is as wanted.
rm -rf out.d
run trod record --no-children -o out.d -- sh -c './work 4; exec ./work 2'
status 7
check test "$(calls out.d)" = 2
check sh -c "! grep incomplete '$stderr'"

# What cannot be recorded runs all the same, and is said. A kernel that runs no 32-bit programs refuses it: then nothing
# is missing.
cat >small.s <<'EOF'
        .globl _start
_start: mov $1, %eax
        mov $0, %ebx
        int $0x80
EOF
check gcc -m32 -nostdlib -static -o small small.s
rm -rf out.d
run trod record -o out.d -- sh -c './work 1; ./small; ./work 1; ./small; exit 9'
cp "$stderr" message
if sh -c ./small 2>native; then
    status 125
    has message "'./small' was executed and is not in the trace: it is of another instruction set"
    has message 'incomplete: 2 programs ran unrecorded'
    check test "$(calls out.d)" = 2
    run trod record --allow-loss -o out2.d -- sh -c './small; exit 9'
    status 9
    err_has 'incomplete: 1 program ran unrecorded'
    # Not even names are kept of more programs than there is room for, but all are counted.
    run trod record -o out3.d -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 a b c d e f g h i; do ./small; done'
    status 125
    err_has '2 more programs were executed and are not in the trace'
    err_has 'incomplete: 18 programs'
else
    has native 'Exec format error'
    status 9
    check sh -c '! grep -E "incomplete|not in the trace" message'
    check test "$(calls out.d)" = 2
fi

# Another machine's programs: QEMU is started for them where the system knows no way to run them.
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
    cat >a64.c <<'EOF'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc > 1)
        execl(argv[0], argv[0], (char *)NULL);
    puts("executed");
    return argc > 1 ? 1 : 6;
}
EOF
    check aarch64-linux-gnu-gcc -o a64 a64.c
    run trod record -o a64.d -- ./a64 again
    status 6
    out_has '^executed$'
    err_has 'with 1 program that was executed'
    run trod check a64.d
    status 0
    run trod record --registers -o a64.tarmac -- ./a64 again
    status 6
    run trod check a64.tarmac
    status 0
fi
finish

# test_control.sh - what part of a program is recorded: places, counts, windows, threads, children,
# size. What must be recorded follows from the whole trace of the same program.
. "$TROD_SOURCE/tests/record/isa.sh"
have gcc qemu-x86_64

cat >work.c <<'EOS'
static volatile int a[32];
__attribute__((noinline)) void trod_start(void) { __asm__ volatile(""); }
__attribute__((noinline)) void trod_stop(void) { __asm__ volatile(""); }
__attribute__((noinline)) void roi(int n)
{
    for (int i = 0; i < n; i++) a[i & 31] += i;
}
__attribute__((noreturn)) void _start(void)
{
    for (int i = 1; i < 6; i++) {
        roi(10 * i);
        trod_start();
        roi(7);
        trod_stop();
    }
    __asm__ volatile("syscall" : : "a"(60), "D"(4));
    __builtin_unreachable();
}
EOS
flags='-O1 -nostdlib -fno-stack-protector -fcf-protection=none'

# windows START STOP SKIP TAKE N: of the addresses in ./all those that are recorded
windows() {
    awk -v start="$1" -v stop="$2" -v skip="$3" -v take="$4" -v most="$5" '
        BEGIN { waiting = start != "" }
        {
            if (recording && ($1 == stop || (take && count >= take))) {
                recording = count = 0; waiting = start != ""
                if (++done == most) exit
            }
            if (waiting && $1 == start) { waiting = 0; count = 0 }
            if (!waiting && !recording && count >= skip) { recording = 1; count = 0 }
            if (recording) print
            if (!waiting) count++
        }' all
}

address() { # SYMBOL BASE: where it lies at run time
    printf '%x' $((0x$(nm work | awk -v s="$1" '$3 == s { print $1 }') + $2))
}

for how in '-static -fno-pie -no-pie' '-pie -fPIE -Wl,--no-dynamic-linker'; do
    rm -rf all.d part.d
    check gcc $flags $how -o work work.c
    run trod record -o all.d -- ./work
    status 4
    pcs all.d >all
    base=$((0x$(head -n 1 all) - 0x$(nm work | awk '$3 == "_start" { print $1 }')))
    start=$(address trod_start $base) stop=$(address trod_stop $base) roi=$(address roi $base)

    windows "$roi" "" 0 0 0 >want
    run trod record -o part.d --start roi -- ./work
    status 4
    pcs part.d >got
    same want got
    windows "$start" "$stop" 0 0 0 >want
    check test "$(wc -l <want)" -gt 100
    rm -rf part.d
    run trod record -o part.d --markers -- ./work
    run trod check part.d
    status 0
    pcs part.d >got
    same want got
    windows "$start" "$stop" 3 20 2 >want
    for at in trod_start "0x$start"; do
        rm -rf part.d
        run trod record -o part.d --start $at --stop trod_stop --skip 3 --take 20 --windows 2 --no-memory -- ./work
        status 4
        pcs part.d >got
        # a window does not end behind a branch: up to the next instruction that is none
        last="windows at $at"
        check test "$(head -n 20 got)" = "$(head -n 20 want)"
        check test "$(wc -l <got)" -ge 40
        check test "$(wc -l <got)" -le 60
    done
    rm -rf part.d
    windows "" "" 50 30 4 >want
    run trod record -o part.d --skip 50 --take 30 --windows 4 -- ./work
    run trod check part.d
    status 0
    run trod view --kind MARKER --native part.d
    through grep -c 'window' 
    check test "$(cat "$stdout")" -ge 4
done
run trod record -o x.d --start nowhere -- ./work
status 125
err_has "'./work' has no symbol 'nowhere': give an address as 0x"
run trod record -o never.d --start 0x10 -- ./work
status 4
err_has "the program never came to '0x10': nothing is recorded"
run trod record -o x.d --start 0xzz -- ./work
status 125
err_has "'0xzz' is no address"
check test ! -e x.d

# --- functions of libraries: from the first call of trod_test on all that the program does
cat >lib.c <<'EOS'
int trod_test(int n) { return n + 1; }
int trod_end(int n) { return n + 2; }
EOS
cat >uses.c <<'EOS'
int trod_test(int), trod_end(int);
int main(void)
{
    volatile int n = 1;
    for (int i = 0; i < 3; i++) {
        n = trod_test(n);
        n += 5;
        n = trod_end(n);
    }
    return n;
}
EOS
check gcc -O1 -shared -fPIC -o libuses.so lib.c
check gcc -O1 -o uses uses.c -L. -luses -Wl,-rpath,"$tmp"
rm -rf all.d part.d x.d
run trod record -o all.d -- ./uses
status 25
run trod record -o part.d --start trod_test --stop trod_end -- ./uses
status 25
run trod check part.d
status 0
bytes() {
    trod view --kind INSTR --format csv "$1" | awk -F, 'NR > 1 { print $6, $9 }'
}
# the functions are told from the rest by what objdump says of their first instructions
objdump -d libuses.so >code
first() {
    awk -v f="<$1>:" '$2 == f { getline; sub(/^[^\t]*\t/, ""); sub(/\t.*/, ""); gsub(/ /, ""); print }' code
}
offset() { printf '%s' "$(nm -D libuses.so | awk -v s="$1" '$3 == s { print substr($1, 14) }')"; }
bytes all.d | awk -v a="$(offset trod_test) $(first trod_test)" -v z="$(offset trod_end) $(first trod_end)" '
    function at(what) { return substr($1, length($1) - 2) " " $2 == what }
    { if (at(z)) on = 0; if (at(a)) on = 1; if (on) print $2 }' >want
bytes part.d | awk '{ print $2 }' >got
same want got
check test "$(wc -l <got)" -gt 20
run trod record -o x.d --start trod_nowhere -- ./uses
status 125
err_has "neither './uses' nor a library that it loaded has a function 'trod_nowhere'"
rm -rf all.d part.d x.d

# --- threads and children
cat >threads.c <<'EOS'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int n[4];
static void *run(void *arg)
{
    for (int i = 0; i < 1000; i++) n[(long)arg]++;
    return NULL;
}
int main(void)
{
    pthread_t t[3];
    pid_t child;
    for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    if ((child = fork()) == 0) { run((void *)3L); _exit(0); }
    waitpid(child, NULL, 0);
    return n[0] == 1000 && n[2] == 1000 ? 7 : 1;
}
EOS
check gcc -O0 -o threads threads.c -pthread
run trod record -o t.d -- ./threads
status 7
err_has 'of 5 threads of 2 processes'
check test "$(find t.d -name 'drmemtrace.*' | wc -l)" = 5
rm -rf t.d
run trod record -o t.d --no-children -- ./threads
status 7
check test "$(find t.d -name 'drmemtrace.*' | wc -l)" = 4
run trod check t.d
status 0
rm -rf t.d
run trod record -o t.d --threads 1,3 -- ./threads
status 7
check test "$(find t.d -name 'drmemtrace.*' | wc -l)" = 2
run trod check t.d
status 0
run trod count --from drmemtrace t.d --format json
through jq '.total.data_stores > 2000'
out <<<true
run trod record -o x.d --threads one -- ./threads
status 125
err_has "'one' is no number of a thread"

# --- the size: the trace ends, whole, and the program goes on
check gcc -O1 -o big -x c - <<'EOS'
#include <stdio.h>
static volatile int a[1000];
int main(void)
{
    for (int i = 0; i < 3000000; i++) a[i % 1000] += i;
    puts("done");
    return 5;
}
EOS
run trod record -o big.d --size-limit 1M -- ./big
status 5
out <<<done
err_has 'recording ended at the size limit: the program ran on'
run trod check big.d
status 0
trod info --format json big.d >info
check test "$(jq '[.. | .decoded_bytes? // empty] | add' info)" -lt 3000000
check test "$(jq '[.. | .decoded_bytes? // empty] | add' info)" -gt 900000
finish

# test_calls.sh - calls of recorded programs: recursion, tail calls, longjmp, signals, threads and C++
# exceptions, as often as the programs say that they did it, in every format that holds them.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

# The program counts the calls of each function and prints them at the end.
cat >program.c <<'EOS'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#define FN(f) __attribute__((noinline, noclone)) f
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))
static jmp_buf where;
static volatile int sink;
static volatile int n_fib, n_leaf, n_tailed, n_deep, n_jumper, n_handler, n_work;
PLAIN int FN(fib)(int n) { n_fib++; return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int FN(leaf)(int n) { __atomic_fetch_add(&n_leaf, 1, __ATOMIC_SEQ_CST); return n * 3; }
int FN(tailed)(int n) { n_tailed++; return leaf(n + 1); }
PLAIN void FN(deep)(int n)
{
    n_deep++;
    if (n == 0)
        longjmp(where, 1);
    deep(n - 1);
    sink--;
}
int FN(jumper)(int n)
{
    n_jumper++;
    if (setjmp(where) == 0)
        deep(n);
    return leaf(n);
}
void FN(handler)(int s) { n_handler++; sink += s; leaf(s); sink--; }
void FN(work)(int n) { __atomic_fetch_add(&n_work, 1, __ATOMIC_SEQ_CST); leaf(n); sink++; }
static void *thread(void *p) { for (int i = 0; i < 10; i++) work(i); return p; }
int main(void)
{
    pthread_t t[3];
    fib(10);
    for (int i = 0; i < 6; i++)
        tailed(i);
    for (int i = 0; i < 3; i++)
        jumper(5);
    signal(SIGUSR1, handler);
    for (int i = 0; i < 4; i++)
        raise(SIGUSR1);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, thread, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    printf("deep %d\nfib %d\nhandler %d\njumper %d\nleaf %d\ntailed %d\nwork %d\n", n_deep, n_fib, n_handler,
           n_jumper, n_leaf, n_tailed, n_work);
    return 0;
}
EOS

# counted TRACE PROGRAM: the calls that the profile shows are those that the program counted
counted() {
    run trod profile --top 0 --symbols "$2" --format json "$1"
    status 0
    jq -r '.functions[] | select(.function | test("^(fib|leaf|tailed|deep|jumper|handler|work)$")) |
        "\(.function) \(.calls)"' "$stdout" | sort >got
    same want got
    json '([.functions[].exclusive] | add) == .instructions'
    json '.exceptions == 4 and .unmatched_returns == 0'
    # who called whom
    json '[.callers[] | select(.function == "leaf") | [.caller, .calls]] | sort ==
        [["handler", 4], ["jumper", 3], ["tailed", 6], ["work", 30]]'
    json '[.callers[] | select(.function == "handler") | .caller] == [""]'
    # all of deep are left by longjmp, all of the others return
    run trod calls --function deep --symbols "$2" --format json "$1"
    json '[.list[].end] | unique == ["unwound"]'
    run trod calls --function jumper,fib,work,handler --symbols "$2" --format json "$1"
    json '[.list[].end] | unique == ["returned"]'
    json '[.list[] | select(.function == "handler") | .kind] | unique == ["exception"]'
}

tried=0
for spec in gcc:drmemtrace aarch64-linux-gnu-gcc:drmemtrace aarch64-linux-gnu-gcc:tarmac \
    aarch64-linux-gnu-gcc:tarmac:--registers aarch64-linux-gnu-gcc:matcher powerpc-linux-gnu-gcc:tt6e; do
    IFS=: read -r compiler format more <<<"$spec"
    if ! $compiler -O2 -static -pthread -o "program.$compiler" program.c 2>/dev/null; then
        echo "not tested: no $compiler with a C library and threads"
        continue
    fi
    out=out.$format
    [[ $format != tt6e ]] || out=out.tt6e/ # a file for each thread
    rm -rf out.*
    # shellcheck disable=SC2086 # may be no word
    "$TROD" record -q $more --to "$format" -o "$out" -- "./program.$compiler" >want 2>record.err ||
        { echo "not tested: $spec cannot be recorded: $(head -1 record.err)"; continue; }
    last="recorded: $spec"
    counted "$out" "program.$compiler"
    tried=$((tried + 1))
done
[[ $tried -gt 0 ]] || { echo "skipped: no compiler and emulator"; exit 77; }

# C++: an exception through four frames, twice
cat >throws.cc <<'EOS'
#define FN(f) __attribute__((noinline, noclone)) f
static volatile int sink;
int FN(thrower)(int n)
{
    if (n == 0)
        throw 7;
    int r = thrower(n - 1);
    sink = sink + 1;
    return r + 1;
}
int FN(catcher)(int n)
{
    try {
        return thrower(n);
    } catch (int e) {
        sink = sink + e;
        return e;
    }
}
int main() { return catcher(3) + catcher(3) - 14; }
EOS
if g++ -O1 -static -o throws throws.cc 2>/dev/null && "$TROD" record -q -o throws.d -- ./throws; then
    run trod calls --function _Z7throweri,_Z7catcheri --symbols throws --format json throws.d
    status 0
    json '[.list[] | select(.function == "_Z7throweri") | .end] == ["unwound", "unwound", "unwound", "unwound",
        "unwound", "unwound", "unwound", "unwound"]'
    json '[.list[] | select(.function == "_Z7catcheri") | .end] == ["returned", "returned"]'
else
    echo "not tested: no static C++ programs here"
fi
finish

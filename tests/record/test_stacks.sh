# test_stacks.sh - stacks of recorded programs whose shape the text of the program says: how deep recursion goes and how
# often, mutual tail calls that stay at one depth, longjmp over frames that could have caught it, C++ exceptions through
# cleanups and rethrown, two threads that take turns at every call; in calls, profile and folded stacks.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

cat >shapes.c <<'EOS'
#include <pthread.h>
#include <setjmp.h>
#define FN(f) __attribute__((noinline, noclone)) f
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))
static volatile int sink, turn;
static jmp_buf outer_buf, inner_buf;
PLAIN int FN(fib)(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int FN(odd)(int n) __attribute__((aligned(64))); /* not the one right behind the other */
int FN(even)(int n) __attribute__((aligned(64)));
int FN(even)(int n) { sink++; return n ? odd(n - 1) : 1; }
int FN(odd)(int n) { sink++; return n ? even(n - 1) : 0; }
void FN(after)(int n) { sink += n; }
PLAIN void FN(down)(int n, int far)
{
    if (n == 0 && far)
        longjmp(outer_buf, 1);
    if (n == 0)
        longjmp(inner_buf, 1);
    down(n - 1, far);
    sink--;
}
PLAIN void FN(inner)(int far)
{
    if (setjmp(inner_buf) == 0)
        down(4, far);
    else
        after(1);
    sink--;
}
PLAIN void FN(outer)(int far)
{
    if (setjmp(outer_buf) == 0)
        inner(far);
    after(2);
    sink--;
}
/* each thread goes one step only when the other has gone its own */
static void wait_for(int me) { while (turn % 2 != me) ; }
PLAIN void FN(a2)(int n) { wait_for(0); sink += n; turn++; sink--; }
PLAIN void FN(a1)(int n) { a2(n); sink--; }
PLAIN void FN(b3)(int n) { wait_for(1); sink += n; turn++; sink--; }
PLAIN void FN(b2)(int n) { b3(n); sink--; }
PLAIN void FN(b1)(int n) { b2(n); sink--; }
static void *other(void *p) { for (int i = 0; i < 20; i++) b1(i); return p; }
int main(void)
{
    pthread_t t;
    fib(10);
    even(50);
    outer(0);
    outer(1);
    pthread_create(&t, 0, other, 0);
    for (int i = 0; i < 20; i++)
        a1(i);
    pthread_join(t, 0);
    return 0;
}
EOS

# calls of fib(10) at each depth below it, by its definition
awk 'function go(n, d) { at[d]++; if (n >= 2) { go(n - 1, d + 1); go(n - 2, d + 1) } }
    BEGIN { go(10, 0); for (d = 0; d in at; d++) { print d, at[d]; all += at[d] } if (all != 177) exit 1 }' >fib.want ||
    echo "fib(10) calls 177 times" | wrong

# calls_of FUNCTION,...: single calls of TRACE, to standard output of the test
calls_of() { run trod calls --function "$1" --symbols "$program" --format json "$out"; status 0; }

shapes() {
    calls_of fib
    jq -r '(.list | min_by(.depth).depth) as $base | .list[] | .depth - $base' "$stdout" | sort -n | uniq -c |
        awk '{ print $2, $1 }' >got
    same fib.want got
    json '[.list[].end] | unique == ["returned"]'
    json '[.list[] | select(.caller == "main")] | length == 1'
    calls_of even,odd
    json '[.list[].function | ltrimstr(" ") | gsub(" "; "")] | [length, (map(select(. == "even")) | length)] == [51, 26]'
    json '[.list[].depth] | max - min <= 2' # a chain of tail calls holds a function once, however long it is
    json '[.list[] | .end] | [(map(select(. == "tailed")) | length), (map(select(. == "returned")) | length)] == [50, 1]'
    # the near longjmp comes back to inner, the far one passes it over
    calls_of outer,inner,down,after
    jq -r '(.list | min_by(.depth).depth) as $base |
        .list[] | "\(.depth - $base) \(.function | gsub(" "; "")) \(.caller) \(.end)"' "$stdout" >got
    sed 's/^ *//' >want <<'T'
        0 outer main returned
        1 inner outer returned
        2 down inner unwound
        3 down down unwound
        4 down down unwound
        5 down down unwound
        6 down down unwound
        2 after inner returned
        1 after outer returned
        0 outer main returned
        1 inner outer unwound
        2 down inner unwound
        3 down down unwound
        4 down down unwound
        5 down down unwound
        6 down down unwound
        1 after outer returned
T
    same want got
    run trod profile --top 0 --symbols "$program" --format json "$out"
    json '[.functions[] | select(.function | test("^(fib|even|odd|a1|a2|b1|b2|b3)$")) | [.function, .calls]] | sort ==
        [["a1", 20], ["a2", 20], ["b1", 20], ["b2", 20], ["b3", 20], ["even", 26], ["fib", 177], ["odd", 25]]'
    json '[.callers[] | select(.function | test("^(a2|b2|b3)$")) | [.function, .caller, .calls]] | sort ==
        [["a2", "a1", 20], ["b2", "b1", 20], ["b3", "b2", 20]]'
    json '([.functions[].exclusive] | add) == .instructions'
    # folded: what is below main or the second thread, and nothing of one thread in the other
    run trod flame --symbols "$program" "$out"
    status 0
    grep -o -E '(^|;)(fib|even|odd|outer|inner|down|after|a[12]|b[123])[a-z0-9;]* ' "$stdout" |
        sed -E 's/^;//; s/ $//' | grep -v ';[^;]*_' | sort -u >stacks
    awk 'BEGIN { s = "fib"; for (i = 0; i < 10; i++) { print s; s = s ";fib" } }' >want
    grep -E '^fib' stacks | sort >got
    same want got
    grep -E '^(a|b)[12]' stacks | sort >got
    printf '%s\n' a1 'a1;a2' b1 'b1;b2' 'b1;b2;b3' >want
    grep -v -e wait_for got | sort -u >got.plain
    same want got.plain
    check test "$(grep -c -E 'a[12].*;b[123]|b[123].*;a[12]' "$stdout")" = 0
}

tried=0
for spec in gcc:drmemtrace aarch64-linux-gnu-gcc:drmemtrace aarch64-linux-gnu-gcc:tarmac aarch64-linux-gnu-gcc:tarmac:--registers; do
    IFS=: read -r compiler format more <<<"$spec"
    program=shapes.$compiler
    if ! $compiler -O2 -static -pthread -o "$program" shapes.c 2>/dev/null; then
        echo "not tested: no $compiler with a C library and threads"
        continue
    fi
    out=out.$format
    rm -rf out.*
    # shellcheck disable=SC2086 # may be no word
    "$TROD" record -q $more --to "$format" -o "$out" -- "./$program" >printed 2>record.err ||
        { echo "not tested: $spec cannot be recorded: $(head -1 record.err)"; continue; }
    last="recorded: $spec"
    shapes
    tried=$((tried + 1))
done
[[ $tried -gt 0 ]] || { echo "skipped: no compiler and emulator"; exit 77; }

# C++: through cleanups, caught, thrown again, caught further out; what is called next is called by who caught
cat >throws.cc <<'EOS'
#define FN(f) __attribute__((noinline, noclone)) f
static volatile int sink;
struct guard { ~guard(); };
FN(guard::~guard)() { sink = sink + 1; }
void FN(after)(int n) { sink = sink + n; }
int FN(deep)(int n)
{
    guard g;
    if (n == 0)
        throw 7;
    int r = deep(n - 1);
    sink = sink + 1;
    return r;
}
int FN(middle)(int n)
{
    try {
        return deep(n) + 1;
    } catch (int e) {
        after(1);
        throw;
    }
}
int FN(top)(int n)
{
    try {
        return middle(n) + 1;
    } catch (int e) {
        after(2);
        return e;
    }
}
int main() { return top(5) - 7; }
EOS
if g++ -O1 -static -o throws throws.cc 2>/dev/null && "$TROD" record -q -o throws.d -- ./throws; then
    program=throws out=throws.d
    calls_of _Z3topi,_Z6middlei,_Z4deepi,_Z5afteri
    jq -r '(.list | min_by(.depth).depth) as $base |
        .list[] | "\(.depth - $base) \(.function | gsub(" "; "")) \(.caller) \(.end)"' "$stdout" >got
    sed 's/^ *//' >want <<'T'
        0 _Z3topi main returned
        1 _Z6middlei _Z3topi unwound
        2 _Z4deepi _Z6middlei unwound
        3 _Z4deepi _Z4deepi unwound
        4 _Z4deepi _Z4deepi unwound
        5 _Z4deepi _Z4deepi unwound
        6 _Z4deepi _Z4deepi unwound
        7 _Z4deepi _Z4deepi unwound
        2 _Z5afteri _Z6middlei returned
        1 _Z5afteri _Z3topi returned
T
    same want got
    calls_of _ZN5guardD1Ev,_ZN5guardD2Ev
    json '[.list[] | [.caller, .end]] | unique == [["_Z4deepi", "returned"]]'
    json '.calls_found == 6'
else
    echo "not tested: no static C++ programs here"
fi
finish

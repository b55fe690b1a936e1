# test_escapes.sh - recorded programs that leave a signal handler and what it interrupted by siglongjmp, and that take
# turns as coroutines on stacks of their own: each function is called as often as the program counts; what was
# left for good is unwound, and the function that it came back to returns.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

cat >escapes.c <<'EOF'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#define FN(f) __attribute__((noinline, noclone)) f
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))
static volatile int sink, n_step, n_below, n_yields, n_body, n_escape, n_sunk, n_guarded;
static ucontext_t whole, part[3];
static char stack[3][65536];
static sigjmp_buf out;
void FN(step)(int n) { n_step++; sink += n; }
PLAIN void FN(yields)(int me) { n_yields++; step(me); swapcontext(&part[me], &whole); sink++; }
PLAIN void FN(below)(int me, int n) { n_below++; if (n) below(me, n - 1); else yields(me); sink++; }
PLAIN void FN(body)(int me) { n_body++; for (int i = 0; i < 4; i++) below(me, i); step(me); sink++; }
void FN(escape)(int s) { n_escape++; sink += s; siglongjmp(out, 1); }
PLAIN void FN(sunk)(int n) { n_sunk++; if (n) sunk(n - 1); else raise(SIGUSR2); sink++; }
PLAIN void FN(guarded)(int n) { n_guarded++; if (sigsetjmp(out, 1) == 0) sunk(n); step(n); sink++; }
int main(void)
{
    signal(SIGUSR2, escape);
    for (int i = 0; i < 3; i++)
        guarded(6);
    for (int k = 0; k < 3; k++) {
        getcontext(&part[k]);
        part[k].uc_stack.ss_sp = stack[k];
        part[k].uc_stack.ss_size = sizeof stack[k];
        part[k].uc_link = &whole;
        makecontext(&part[k], (void (*)(void))body, 1, k);
    }
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            swapcontext(&whole, &part[k]);
    printf("below %d\nbody %d\nescape %d\nguarded %d\nstep %d\nsunk %d\nyields %d\n", n_below, n_body, n_escape,
           n_guarded, n_step, n_sunk, n_yields);
    return 0;
}
EOF

# ends FUNCTION: lists its calls
ends() {
    run trod calls --function "$1" --symbols "$program" --format json "$out"
    status 0
}

tried=0
for spec in gcc:drmemtrace aarch64-linux-gnu-gcc:drmemtrace aarch64-linux-gnu-gcc:tarmac:--registers \
    powerpc-linux-gnu-gcc:tt6e; do
    IFS=: read -r compiler format more <<<"$spec"
    program=escapes.$compiler out=out.$format
    if ! $compiler -O2 -static -o "$program" escapes.c 2>/dev/null; then
        echo "not tested: no $compiler with a C library that has contexts"
        continue
    fi
    rm -rf out.*
    # shellcheck disable=SC2086 # may be no word
    "$TROD" record -q $more --to "$format" -o "$out" -- "./$program" >want 2>record.err ||
        { echo "not tested: $spec cannot be recorded: $(head -1 record.err)"; continue; }
    last="recorded: $spec"
    for index in "" index; do
        [[ ! $index ]] || run trod index -q --symbols "$program" "$out"
        run trod profile --top 0 --symbols "$program" --format json "$out"
        status 0
        jq -r '.functions[] | select(.function | test("^(step|below|yields|body|escape|sunk|guarded)$")) |
            "\(.function) \(.calls)"' "$stdout" | sort >got
        same want got
        json '([.functions[].exclusive] | add) == .instructions'
        ends sunk
        json '[.list[].end] == [range(21) | "unwound"]'
        ends escape
        json '[.list[] | [.kind, .end]] == [range(3) | ["exception", "unwound"]]'
        ends guarded
        json '[.list[] | .end] == ["returned", "returned", "returned"]'
        json '[.list[].depth] | unique | length == 1' # nothing of what was left stays below
        ends yields
        json '.list | length == 12'
    done
    tried=$((tried + 1))
done
[[ $tried -gt 0 ]] || { echo "skipped: no compiler and emulator"; exit 77; }
finish

# test_deeds.sh - recorded programs that jump, throw, recurse and take turns: the calls that are open at chosen
# executions, arguments, memory and who wrote it are those that the text of the program says, with symbols and
# without, with an index and without.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

cat >deeds.cc <<'EOS'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#define FN(f) __attribute__((noinline, noclone)) f
#define PLAIN __attribute__((optimize("no-optimize-sibling-calls")))
#ifdef __cplusplus
extern "C" {
#endif
volatile int n_step, n_deep, n_thrower, n_catcher, n_ping, n_pong, n_hop, n_skip, n_turn, n_jumper, sink;
void FN(step)(long n) { sink = (int)n; n_step = n_step + 1; }
PLAIN long FN(deep)(long n) { n_deep = n_deep + 1; long r = n ? deep(n - 1) + 1 : 0; sink = sink + 1; return r; }
PLAIN long ping(long n) __attribute__((noinline));
PLAIN long FN(pong)(long n) { n_pong = n_pong + 1; long r = n ? ping(n - 1) : 7; sink = sink + 1; return r; }
PLAIN long FN(ping)(long n) { n_ping = n_ping + 1; long r = n ? pong(n - 1) : 5; sink = sink + 1; return r; }
void FN(hop)(long n) { n_hop = n_hop + 1; sink = sink + 1; step(n); } /* a tail call */
static jmp_buf back;
PLAIN void FN(skip)(long n)
{
    n_skip = n_skip + 1;
    if (n == 0)
        longjmp(back, 1);
    skip(n - 1);
    sink = sink + 1;
}
PLAIN void FN(jumper)(long n)
{
    n_jumper = n_jumper + 1;
    if (setjmp(back) == 0)
        skip(n);
    step(50 + n);
    sink = sink + 1;
}
#ifdef __cplusplus
PLAIN void FN(thrower)(long n)
{
    n_thrower = n_thrower + 1;
    if (n == 0)
        throw 7L;
    thrower(n - 1);
    sink = sink + 1;
}
PLAIN void FN(catcher)(long n)
{
    n_catcher = n_catcher + 1;
    try {
        thrower(n);
    } catch (long e) {
        step(100 + e);
    }
    sink = sink + 1;
}
#endif
static volatile int whose;
PLAIN void FN(turn)(long me)
{
    while (whose != me)
        ;
    n_turn = n_turn + 1;
    step(200 + me);
    whose = 1 - (int)me;
}
#ifdef __cplusplus
}
#endif
void *other(void *p) { for (int i = 0; i < 9; i++) turn(1); return p; }
int main(void)
{
    step(99);
    for (long i = 0; i < 6; i++)
        hop(i);
    deep(300);
    ping(41);
    jumper(11);
    jumper(0);
#ifdef __cplusplus
    catcher(13);
    catcher(0);
#endif
#ifndef ALONE
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    for (int i = 0; i < 9; i++)
        turn(0);
    pthread_join(t, 0);
#endif
    printf("catcher %d\ndeep %d\nhop %d\njumper %d\nping %d\npong %d\nskip %d\nstep %d\nthrower %d\nturn %d\n",
        n_catcher, n_deep, n_hop, n_jumper, n_ping, n_pong, n_skip, n_step, n_thrower, n_turn);
    return 0;
}
EOS
cp deeds.cc deeds.c

address() { nm "$program" | awk -v name="$1" '$3 == name { print "0x" $1 }'; }

# counted: the calls that the program counted, by name and, from the index too, by address alone
counted() {
    local name n functions=
    run trod profile --top 0 --symbols "$program" --format json "$out"
    status 0
    awk '$2 { print $1 }' printed >names
    jq -r --rawfile names names '($names | split("\n")) as $of |
        .functions[] | select(.function | IN($of[])) | "\(.function) \(.calls)"' "$stdout" | sort >got
    grep -v ' 0$' printed >want
    same want got
    json '([.functions[].exclusive] | add) == .instructions'
    while read -r name n; do
        functions+=,$(address "$name")
    done <want
    run trod calls $no_index --function "${functions#,}" --format json "$out"
    status 0
    while read -r name n; do
        jq -r --arg name "$name" --arg at "$(address "$name" | sed 's/0x0*/0x/')" '[.list[] |
            select(.function | gsub(" "; "") | IN($name, $at))] | "\($name) \(length)"' "$stdout"
    done <want >got
    same want got
}

# open_at PLACE NAME...: the innermost calls at PLACE, the last of them one that main or the thread made
open_at() {
    run trod state $no_index --at "$1" --symbols "$program" --format json "$out"
    status 0
    shift

    printf '%s\n' "$@" >want
    jq -r '.calls[].function' "$stdout" | head -$# >got
    same want got
    jq -r ".calls[$#].function" "$stdout" | grep -qE '^(main|_start.*|.*other.*)$' || echo "$out: called by nobody" | wrong
}

times() { for ((i = 0; i < $2; i++)); do echo "$1"; done; }

stacks() {
    local turn=10
    open_at step:1 step
    for k in 3 7; do open_at "step:$k" step hop; done
    open_at deep:301 $(times deep 301)
    open_at deep:100 $(times deep 100)
    open_at pong:21 $(times 'pong ping' 21)
    open_at skip:12 $(times skip 12) jumper
    open_at skip:13 skip jumper
    for k in 8 9; do open_at "step:$k" step jumper; done
    if [[ $1 == c++ ]]; then
        turn=12
        open_at thrower:14 $(times thrower 14) catcher
        open_at thrower:15 thrower catcher
        for k in 10 11; do open_at "step:$k" step catcher; done
    fi
    [[ $alone ]] || open_at turn:5 turn
    [[ $alone ]] || open_at "step:$turn" step turn
}

# values: arguments and memory at the Kth execution of step, who wrote them
values() {
    local args=(99 0 1 2 3 4 5 61 50 107 107) k
    for k in 1 2 7 8 9 10 11; do
        run trod state $no_index --at "step:$k" --symbols "$program" --register x0 --memory "$counter" --format json "$out"
        status 0
        json ".registers == [{\"register\": \"x0\", \"value\": \"0x$(printf %016x "${args[k - 1]}")\"}]"
        json ".memory[0].dump | length == 1 and (.[0].bytes | gsub(\"^ +| +$\"; \"\")) ==
            \"$(printf '%02x 00 00 00' $((k - 1)))\""
        [[ $k -gt 1 ]] || continue
        run trod who $no_index --memory "$counter" --before "step:$k" --symbols "$program" --format json "$out"
        json "[.who[] | select(.what == \"writes\")] | length == 1 and (.[0] |
            .value == \"0x$(printf %x $((k - 1)))\" and (.symbol | startswith(\"step+\")))"
        run trod who $no_index --register x0 --before "step:$k" --symbols "$program" --format json "$out"
        json "[.who[] | select(.what == \"writes\")] | length == 1 and .[0].value == \"0x$(printf %x "${args[k - 1]}")\""
    done
    run trod who $no_index --executes step --before end --count 99 --symbols "$program" --format json "$out"
    json '.who | length == 11'
}

tried=0
for spec in g++:drmemtrace aarch64-linux-gnu-g++:drmemtrace aarch64-linux-gnu-g++:tarmac:--registers \
    powerpc-linux-gnu-gcc:tt6e; do
    IFS=: read -r compiler format more <<<"$spec"
    language=c++
    [[ $compiler != *gcc ]] || language=c
    program=deeds.$compiler out=out.$format
    # rows of threads in one text are not exactly in the order in which things happened
    alone=
    [[ $format != tarmac ]] || alone=-DALONE
    if ! $compiler $alone -x $language -O1 -static -pthread -o "$program" deeds.cc 2>/dev/null; then
        echo "not tested: no $compiler with a C library and threads"
        continue
    fi
    [[ $format != tt6e ]] || out=out.tt6e/ # a file for each thread
    rm -rf out.*
    # shellcheck disable=SC2086 # may be no word
    "$TROD" record -q $more --to "$format" -o "$out" -- "./$program" >printed 2>record.err ||
        { echo "not tested: $spec cannot be recorded: $(head -1 record.err)"; continue; }
    last="recorded: $spec"
    counter=$(address n_step)..$(printf '0x%x' $(($(address n_step) + 3)))
    no_index=--no-index
    counted
    [[ $compiler != g++ ]] || stacks $language
    run trod index -q "$out"
    status 0
    no_index=
    counted
    stacks $language
    [[ $format != tarmac ]] || values
    # all calls, without symbols: from the index, and from the rows
    for command in 'calls --top 0' 'calls --list --most 500' 'calls --final-stack' 'profile --top 0' flame; do
        trod $command --no-index "$out" >want
        run trod $command "$out"
        status 0
        out_is want
    done
    tried=$((tried + 1))
done
[[ $tried -gt 0 ]] || { echo "skipped: no compiler and emulator"; exit 77; }
finish

# test_ranks.sh - a run shared out by mpirun prints what one process prints, with 1, 2 and 4 ranks and
# more ranks than files; damage, what cannot be parted, ranks that die.
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
command -v mpirun >/dev/null || { echo "skipped: no mpirun"; exit 77; }
[[ -e $(dirname "$TROD")/../ranks/libtrod-mpi.so ]] ||
    { echo "skipped: this build has no libtrod-mpi.so (libopenmpi-dev)"; exit 77; }
# what the libraries of MPI leave behind is not ours to free
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# ranks N ARGUMENT...: trod with N ranks; what mpirun itself says of a status that is not 0 is left out.
# Rank 0 gets $patience seconds for its last words where mpirun ends all: 1 is little on a busy machine.
patience=1
ranks() {
    local n=$1 got_status
    shift
    mpirun --mca odls_base_sigkill_timeout $patience --allow-run-as-root --oversubscribe -n "$n" "$TROD" "$@" 2>"$tmp/.mpirun"
    got_status=$?
    awk '/^-+$/ { inside = !inside; next } !inside' "$tmp/.mpirun" | grep -v '^$' >&2
    return $got_status
}

. "$TROD_SOURCE/tests/cli/shared_out.sh"
{ head -c 3000000 t.tarmac; echo; echo "5 clk cpu0 IT (5) 0000zz00 d503201f O EL1h_n : X"; lines 100000 3
    echo "6 clk cpu0 IT (6) 00001000 d50320zz O EL1h_n : X"; lines 100 3; } >bad.tarmac

# equal TROD-ARGUMENTS: the same bytes and status with 1, 2 and 4 ranks, and with 9
equal() {
    local n
    run trod "$@"
    cp "$stdout" one
    cp "$stderr" one.err
    local was=$got
    for n in $counts; do
        [[ $counts == *9 ]] || drawn || continue
        run ranks $n "$@"
        status "$was"
        out_is one
        err <one.err
    done
}
counts='1 2 4 9'
equal run count,mix dir
counts='1 2 4'
equal run count,mix --format json dir
equal count --format csv t.zip
equal hot --format json t.zip
equal run count,mix t.tarmac
equal mix -j 3 dir t.tarmac
equal count dir/t1.tarmac
trod gen zipf:lines=3000,count=250000 plain.trace >/dev/null
equal count --format json plain.trace

# a file that cannot be read, of another format or of a version to come, is no reason to lose what was read
trod gen cyclic:lines=9,laps=2 other.trace >/dev/null
cp other.trace next.trace
for at in 4 16; do # the header, and the marker of the version
    printf '\x63' | dd of=next.trace bs=1 seek=$at conv=notrunc status=none
done
for files in 'dir/t1.tarmac dir/t2.tarmac other.trace' 'other.trace dir/t1.tarmac dir/t2.tarmac' \
    'other.trace next.trace' 'next.trace other.trace'; do
    # shellcheck disable=SC2086
    equal run count,mix $files
    # shellcheck disable=SC2086
    run trod run count,mix $files
    cp "$stdout" one
    for i in 0 1 2; do
        # shellcheck disable=SC2086
        run trod run count,mix --part $i/3 --save state.$i $files
    done
    run trod merge state.0 state.1 state.2
    status 2
    out_is one
done

equal run count next.trace next.trace # nothing was

# damage: the same results; the record's number is not known where another rank counts the records
run trod count bad.tarmac
status 2
cp "$stdout" one
# file, line and what is wrong, of each message
said() {
    sed -n 's/ (record .*//; s/ (byte .*//; /bad.tarmac:/p' "$1"
}
said "$stderr" >one.err
check test "$(wc -l <one.err)" = 2
for n in 2 4; do
    run ranks $n count bad.tarmac
    status 2
    out_is one
    said "$stderr" >err
    same one.err err
done

# what fails for all is told once, and nothing is printed
run ranks 3 count nosuch
status 2
out </dev/null
check test "$(grep -c 'cannot open' "$stderr")" = 1
for option in '--interval 100' '--limit 10' '--order time' '--kind READ' '--by core'; do
    run ranks 2 count $option t.tarmac
    status 2
    out </dev/null
    check test "$(grep -c 'cannot be parted' "$stderr")" = 1
done

# so are commands that cannot be shared out, and --save of all without its part
for command in "check dir" "info dir" "cache dir" "sync dir" "report -o page.html dir" \
    "run count dir --save all.state" "flame --against t.tarmac t.tarmac"; do
    # shellcheck disable=SC2086 # a command and its arguments
    run ranks 3 $command
    status 2
    out </dev/null
    check test "$(grep -c 'started as one of 3 processes: ' "$stderr")" = 1
done
check test ! -e page.html
check test ! -e all.state
for what in check info; do # the same analyses as parts of a run
    equal run $what --format json dir
done
# other commands take no notice
run ranks 2 view --format csv -n 1 t.tarmac
status 0
check test "$(wc -l <"$stdout")" = 4 # heads and rows

# a rank that dies: first the process that reads, then the rank with all it has
if command -v cc >/dev/null; then
    cat >dies.c <<'C'
#define _POSIX_C_SOURCE 200809L
#include "trod/analysis.h"
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int init(void *st, const void *opt, const struct trod_context *c)
{
    (void)st, (void)opt, (void)c;
    return 0;
}
static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *who = getenv("DIES");
    (void)st, (void)b, (void)from, (void)to;
    if (rank && rank[0] == '2') {
        const struct timespec a_while = {2, 0}; /* the rank has told which files are its own */

        nanosleep(&a_while, NULL);
        if (who && who[0] == 'r')
            kill(getppid(), SIGKILL);
        raise(SIGKILL);
    }
    return 0;
}
static int merge(void *a, const void *b) { (void)a, (void)b; return 0; }
static int save(const void *st, struct trod_buf *out) { (void)st, (void)out; return 0; }
static int load(void *st, struct trod_span in, const uint32_t *sites)
{
    (void)st, (void)in, (void)sites;
    return 0;
}
static int result(const void *st, struct trod_result *r) { (void)st, (void)r; return 0; }
static const struct trod_analysis dies = {
    .name = "dies", .title = "dies", .state_size = 1, .init = init, .feed = feed,
    .merge = merge, .save = save, .load = load, .result = result, .uses = TROD_COL_KIND};
const unsigned trod_plugin_interface = TROD_PLUGIN_INTERFACE;
const struct trod_analysis *const trod_plugin_analyses[] = {&dies, NULL};
C
    check cc -std=c11 -fPIC -shared -I "$TROD_SOURCE/include" -o dies.so dies.c
    run ranks 4 run --plugin ./dies.so count,dies dir
    status 2
    out </dev/null
    err_has "rank 2 died of signal 9 before it had read its part: file(s '[^']*' to)? 'dir/t[0-9].tarmac'"
    patience=5
    DIES=rank run ranks 4 run --plugin ./dies.so count,dies dir
    check test "$got" != 0
    out </dev/null
    err_has "before rank 2 had found anything: file(s '[^']*' to)? 'dir/t[0-9].tarmac'"
    check test "$(grep -c 'had not chosen' "$stderr")" = 0

    # what cannot be saved cannot be shared out: nothing is read
    sed '/^static int save/d; s/\.save = save, \.load = load, //; /^static int load/,/^}/d; s/"dies"/"keeps"/g' \
        dies.c >keeps.c
    check cc -std=c11 -fPIC -shared -I "$TROD_SOURCE/include" -o keeps.so keeps.c
    run ranks 2 run --plugin ./keeps.so count,keeps dir
    status 2
    out </dev/null
    err_has "cannot be parted: it has an analysis that cannot save what it finds: 'keeps'"
fi

# a command without the library says what is missing instead of doing everything N times
mkdir -p alone/bin
cp "$TROD" alone/bin/trod
OMPI_COMM_WORLD_SIZE=2 run alone/bin/trod count t.tarmac
status 2
out </dev/null
err_has 'started as one of 2 processes, but libtrod-mpi.so'
finish

# test_many_threads.sh - 2,100 threads that take turns all the time, merged by time, by a scheduler or
# by their sync points: in less than 256 MiB, with 256 open files, with the numbers of the threads
# one after the other.
# label: slow
. "$TROD_SOURCE/tests/cli/lib.sh"
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
[[ -x $gen ]] || { echo "skipped: no trod-gen"; exit 77; }
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
threads=2100 limit=$((256 * 1024))
mkdir plain gz
for ((t = 0; t < threads; t++)); do
    "$gen" drm-small --records 200 --thread $t >plain/drmemtrace.app.$t.trace
done
cp plain/* gz
gzip gz/*
ulimit -n 256

# memory COMMAND...: what it printed is in got; its largest resident memory in KiB in rss
memory() {
    rss=
    "$@" >got 2>err &
    local pid=$! now
    while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null) && [[ $now ]]; do
        rss=$now
        sleep 0.01
    done
    wait $pid || { echo "$*: status $?"; cat err; } | wrong
}

# by thread number: the order of threads of equal weight is not the same in both orders
threadwise() {
    jq -S '.threads_counts |= sort_by(.tid)' "$1"
}

# memory under a sanitizer or in an emulator is another matter
more_memory() {
    elsewhere || nm "$TROD" 2>/dev/null | grep -q -m1 -E '__asan_init|__tsan_init'
}

for dir in plain gz; do
    run trod count --format json $dir
    status 0
    json ".total.rows > 100 * $threads and (.threads_counts | length) == $threads"
    threadwise "$stdout" >want
    for jobs in 1 2; do
        # all four here, or the two of them that have least in common
        [[ ${TROD_TEST_FEWER:-1} = 1 || $dir$jobs = plain2 || $dir$jobs = gz1 ]] || continue
        last="count --order time -j $jobs $dir"
        memory "$TROD" count --order time --format json -j $jobs $dir
        threadwise got >time
        same want time
        more_memory || check test "$rss" -lt $limit
        echo "$last: $rss KiB"
    done
done

# each thread has predictors of its own: those of threads that wait are at rest
run trod branches --format json plain
status 0
jq -S '[.branches, .kinds, .predictors]' "$stdout" >want
check test "$(jq '.[0]' want)" -gt $threads
for jobs in 1 2; do
    memory "$TROD" branches --order time --format json -j $jobs plain
    jq -S '[.branches, .kinds, .predictors]' got >time
    same want time
    more_memory || check test "$rss" -lt $limit
    echo "branches -j $jobs: $rss KiB"
done

# many different instructions in each thread: decoders rest while it is not their turn (half as many
# threads in half the memory)
mkdir rich
for ((t = 0; t < threads / 2; t++)); do
    "$gen" drm-small --records 4000 --thread $t >rich/drmemtrace.app.$t.trace
done
run trod mix --format json rich
status 0
jq -S . "$stdout" >want
for order in time dynamic:all,quantum=700; do
    memory "$TROD" mix --order $order --format json -j 1 rich
    jq -S . got >ordered
    same want ordered
    more_memory || check test "$rss" -lt $((limit / 2))
    echo "mix --order $order rich: $rss KiB"
done
# what they touch lies far apart: a hundred pages and more in each
run trod count --format json rich
threadwise "$stdout" >want
memory "$TROD" count --order time --format json rich
threadwise got >time
same want time
more_memory || check test "$rss" -lt $limit
echo "count --order time rich: $rss KiB"
rm -r rich

# each thread has predictors of its own, and its branches are those that it had
numbers='del(.static_branches, .worst)' # lists of the first ones
run trod branches --format json plain
jq -S "$numbers" "$stdout" >want
memory "$TROD" branches --order time --format json -j 1 plain
check jq -e '.predictors | length > 4 and any(.branches > 20000)' got
same want <(jq -S "$numbers" got)

# registers, stores and the last instructions of each
run trod deps --format json plain
cp "$stdout" want
memory "$TROD" deps --order time --format json plain
same want got
more_memory || check test "$rss" -lt $limit
echo "deps --order time: $rss KiB"

# stacks of lines of all threads, which take turns with few blocks of references
run trod locality --format json plain
cp "$stdout" want
memory "$TROD" locality --order time --format json plain
check jq -e "(.streams | length) == $threads" want
check cmp <(jq -S '.streams |= sort_by(.tid)' want) <(jq -S '.streams |= sort_by(.tid)' got)
more_memory || check test "$rss" -lt $limit
echo "locality --order time: $rss KiB"

# a state between turns: rows are read twice, memory is not taken twice
memory "$TROD" state --no-index --order time --at 100000 --format json plain
more_memory || check test "$rss" -lt $limit
echo "state --order time: $rss KiB"

# threads that wait for each other, two and two
mkdir sync
for ((t = 0; t < threads; t++)); do
    "$gen" tt6 --records 300 --thread $t >sync/thread.$t.tt6
done
run trod count --format json sync
status 0
jq -S '.total' "$stdout" >want
memory "$TROD" count --order sync --format json sync
jq -S '.total' got >ordered
same want ordered
more_memory || check test "$rss" -lt $limit
echo "count --order sync: $rss KiB"
memory "$TROD" sync --format json sync
check jq -e ".threads | length == $threads" got
more_memory || check test "$rss" -lt $limit
echo "sync: $rss KiB"

# the turns themselves: every thread once before any comes a second time
memory "$TROD" view --order time --kind MARKER --text '^timestamp$' --format json plain
more_memory || check test "$rss" -lt $limit
jq '.time' got >times
check sort -nc times
check test "$(head -n $threads got | jq .tid | sort -n | uniq | wc -l)" = $threads
finish

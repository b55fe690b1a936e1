# test_hot_reference.sh - what DynamoRIO's histogram printed for the shared traces is what trod hot
# --like histogram prints: every line. Lines of memory with equal counts come in any order there, and
# which of those that share the last count is printed is open: each must have that count here.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# lines of memory and counts of each cache, with the head of their table
rows() {
    awk '/^[id]cache top/ { cache = $1 } /0x/ { sub(":", "", $1); print cache, $1, $2 }'
}
compared=0
for file in "$traces"/reference/*/histogram.txt "$traces"/fresh/reference/*/histogram.txt; do
    grep -q 'unique cache lines' "$file" 2>/dev/null || continue # it could not read the trace
    name=$(basename "$(dirname "$file")")
    trace=$(dirname "$(dirname "$(dirname "$file")")")/$name
    [[ -e $trace ]] || continue
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    grep -v '^#' "$file" >want
    for jobs in 1 3; do
        [[ $jobs == 1 ]] || drawn || continue
        run trod hot -j $jobs --like histogram "$trace"
        cp "$stdout" got
        run trod hot -j $jobs --like histogram --top 0 "$trace"
        rows <"$stdout" >all
        last="trod hot --like histogram -j $jobs $name"
        # without which line it is: the same text, line by line
        sed 's/^ *0x[0-9a-f]*/        LINE/' want >want.counts
        sed 's/^ *0x[0-9a-f]*/        LINE/' got >got.counts
        same want.counts got.counts
        grep 0x want | sed 's/:.*//' | awk '{ print length($0) }' >want.width
        grep 0x got | sed 's/:.*//' | awk '{ print length($0) }' >got.width
        same want.width got.width
        # and each line printed has here the count that it has there
        rows <want >want.rows
        grep -F -x -f all want.rows >got.rows
        same want.rows got.rows
    done
    compared=$((compared + $(wc -l <want)))
done

# files by turns (--order time): the same instructions ran, with the same opcodes and outcomes
have jq
for name in drmemtrace.threadsig.x64.tracedir pthread-5-threads; do
    [[ -e $traces/$name ]] || continue
    for jobs in 1 3; do
        [[ $jobs == 1 ]] || drawn || continue
        for order in file time; do
            trod run -j $jobs --order $order --format json mix,hot:top=0,branches:top=0 "$traces/$name" >$order
            jq -S '[.mix.mnemonics, .mix.categories, .hot.hot_instructions, .hot.hot_blocks, .hot.hot_data_lines,
                .branches.kinds, .branches.predictors]' $order >$order.$jobs
        done
        last="--order time -j $jobs $name"
        same file.$jobs time.$jobs
        same file.1 file.$jobs
    done
done
echo "$compared lines of tables"
check test "$compared" -gt 0
finish

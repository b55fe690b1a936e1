# test_functions_reference.sh - what DynamoRIO's func_view printed for the shared traces is what
# trod functions prints: every call, and the counts.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

tables=0 lines=0
for file in "$traces"/reference/*/func_view.txt "$traces"/fresh/reference/*/func_view.txt; do
    grep -q 'tool results' "$file" || continue # it said that it cannot read the trace
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    [[ -e $dir/$name ]] || continue
    grep -v '^#' "$file" >want
    for options in "-j 1" "-j 3"; do
        # shellcheck disable=SC2086 # several words
        run trod functions --like func_view $options "$dir/$name"
        status 0
        last="trod functions $options $name"
        same want "$stdout"
    done
    tables=$((tables + 1)) lines=$((lines + $(wc -l <want)))
done
echo "$tables tables, $lines lines"
check test "$tables" -gt 0
finish

# test_syscalls_reference.sh - what DynamoRIO's syscall_mix printed for the shared traces is what
# trod syscalls prints, every line of every table, for any number of threads.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

tables=0 lines=0
for file in "$traces"/reference/*/syscall_mix.txt "$traces"/fresh/reference/*/syscall_mix.txt; do
    grep -q 'tool results' "$file" || continue # it said that it cannot read the trace
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    trace=$dir/${name//.trace-//trace-} # forked.trace-1 is forked/trace-1
    [[ -e $dir/$name ]] && trace=$dir/$name
    [[ -e $trace ]] || continue
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    grep -v '^#' "$file" >want
    for options in "-j 1" "-j 3" "--order time" "--by thread"; do
        # shellcheck disable=SC2086 # several words
        run trod syscalls --like syscall_mix $options "$trace"
        status 0
        last="trod syscalls $options $name"
        same want "$stdout"
    done
    tables=$((tables + 1)) lines=$((lines + $(wc -l <want)))
done
echo "$tables tables, $lines lines"
check test "$tables" -gt 0
finish

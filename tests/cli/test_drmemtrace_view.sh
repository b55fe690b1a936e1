# test_drmemtrace_view.sh - the native listing of the shared traces is what DynamoRIO's view tool
# printed, line by line, the disassembled text left out; threads merged by time where there are many.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# a line up to the encoding, and what is said of the branch behind the text
bare() {
    local line='^( *[0-9]+ +[0-9]+: +W0\.T-?[0-9]+ (ifetch|non-fetched) +[0-9]+ byte\(s\) @ 0x[0-9a-f]+( [0-9a-f]{2})+) '
    sed -E -e '/^# /d' -e "s/$line.*( \\((taken|untaken|target 0x[0-9a-f]+)\\))\$/\\1\\4/; t" \
        -e "s/$line.*\$/\\1/" "$1"
}

seen=0
for reference in "$traces"/reference/*/view_2000.txt; do
    name=$(basename "$(dirname "$reference")")
    [[ -e $traces/$name ]] || continue
    seen=$((seen + 1))
    run trod view --native --disassemble never --order time --range 0..1999 "$traces/$name"
    status 0
    bare "$stdout" >"$tmp/got"
    bare "$reference" >"$tmp/want"
    same "$tmp/want" "$tmp/got"
done
check test $seen -ge 8

# a whole trace
run trod view --native --disassemble never "$traces/drmemtrace.small.x64.trace"
bare "$stdout" >"$tmp/got"
bare "$traces/reference/drmemtrace.small.x64.trace/view_full.txt" >"$tmp/want"
same "$tmp/want" "$tmp/got"

# the threads take turns as the schedule file has them
run trod view --native --disassemble never --order recorded "$traces/drmemtrace.threadsig.x64.tracedir"
status 0
sed -nE 's/^ *[0-9]+ +[0-9]+: +W0\.T([0-9]+).*/\1/p' "$stdout" | uniq >"$tmp/got"
gzip -dc "$traces/drmemtrace.threadsig.x64.tracedir/serial_schedule.bin.gz" |
    od -An -v -w32 -t u8 | awk '{print $1}' | uniq >"$tmp/want"
same "$tmp/want" "$tmp/got"

# far into an archive: the numbers are those of the whole
zip=$traces/pthread-5-threads/trace/drmemtrace.pt.02148.7495.trace.zip
if [[ -e $zip ]]; then
    run trod view --instructions 10000001..10000003 --format csv "$zip"
    through sed 1d
    check test "$(cut -d, -f1 "$stdout" | head -1)" = 11275263
fi
finish

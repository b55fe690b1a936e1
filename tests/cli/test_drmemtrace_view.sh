# test_drmemtrace_view.sh - the native listing of the shared traces is what DynamoRIO's view tool
# printed, line by line, the disassembled text left out; threads merged by time where there are many.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# a line up to the encoding, and what is said of the branch behind the text
bare() {
    local line='^( *[0-9]+ +[0-9]+: +W0\.T-?[0-9]+ (ifetch|non-fetched) +[0-9]+ byte\(s\) @ 0x[0-9a-f]+(( [0-9a-f]{2})+|( [0-9a-f]{8}){1,2})) '
    sed -E -e '/^# /d' -e "s/$line.*( \\((taken|untaken|target 0x[0-9a-f]+)\\))\$/\\1\\6/; t" \
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

# Where CPU_ID does not follow TIMESTAMP at once (WINDOW_ID between them, or no CPU_ID at all), the view tool prints the
# TIMESTAMP, which it holds back, late, without its prefix or not at all, and a prefix twice: left out on both sides.
without_times() {
    sed -E -e '/<marker: timestamp/d' -e '/^-+$/d' \
        -e 's/^ *[0-9]+ +[0-9]+: +W0\.T[0-9]+ ( +[0-9]+ +[0-9]+: )/\1/' "$1"
}

# traces of the tracer's and record_filter's many options; of `trimmed` the tool reads nothing
fresh=0
for reference in "$traces"/fresh/reference/*/view_2000.txt; do
    name=$(basename "$(dirname "$reference")")
    dir=$traces/fresh/${name/./\/}
    [[ -e $dir ]] && ! grep -q '^ERROR' "$reference" || continue
    fresh=$((fresh + 1))
    run trod view --native --disassemble never --order time --range 0..1999 "$dir"
    status 0
    bare "$stdout" >"$tmp/got"
    bare "$reference" >"$tmp/want"
    case $name in
    windows-* | types-filtered)
        without_times "$tmp/got" >"$tmp/got2"
        without_times "$tmp/want" >"$tmp/want2"
        same "$tmp/want2" "$tmp/got2"
        ;;
    *) same "$tmp/want" "$tmp/got" ;;
    esac
done
[[ ! -d $traces/fresh/reference ]] || check test $fresh -ge 18

# whole traces
for name in drmemtrace.small.x64.trace drmemtrace.allasm_x86_64.trace.zip; do
    run trod view --native --disassemble never "$traces/$name"
    status 0
    bare "$stdout" >"$tmp/got"
    bare "$traces/reference/$name/view_full.txt" >"$tmp/want"
    same "$tmp/want" "$tmp/got"
done

# A copy to plain files has the entries of the original and nothing else: what a checker says of the copy (a time stamp
# between a branch and its target, say) it says of the original.
if command -v unzip >/dev/null; then
    run trod convert -q "$traces/drmemtrace.threadsig.x64.tracedir" plain.dir --to drmemtrace:container=none
    status 0
    for zip in "$traces"/drmemtrace.threadsig.x64.tracedir/drmemtrace.*.zip; do
        name=$(basename "$zip" .zip)
        unzip -p "$zip" >want
        check cmp want "plain.dir/trace/${name%.trace}.trace"
    done
fi

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

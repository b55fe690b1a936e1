# test_schedule_reference.sh - what DynamoRIO's schedule_stats printed for the shared traces is what
# trod schedule prints, and what its post-processor wrote as schedule files is what --like writes.
# Where the cores took turns (-core_serial), and as traced, that is every line
# but those of wall-clock time. Where its cores ran in parallel, it is every line that does not depend
# on which thread of the host was faster: not how long cores were idle.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

wall='microseconds$|microseconds at last instr$|cpu busy by time'
tables=0 lines=0
for file in "$traces"/reference/*/schedule_stats_core_serial.txt; do
    grep -q 'tool results' "$file" || continue # it said that it cannot read the trace
    trace=$traces/$(basename "$(dirname "$file")")
    [[ -e $trace ]] || continue
    grep -vE "^#|$wall" "$file" >want
    for options in "-j 1" "-j 3"; do
        # shellcheck disable=SC2086 # several words
        run trod schedule --order dynamic --like schedule_stats $options "$trace"
        status 0
        grep -vE "$wall" "$stdout" >got
        last="trod schedule $options $(basename "$trace")"
        same want got
    done
    tables=$((tables + 1)) lines=$((lines + $(wc -l <want)))
done
echo "$tables tables, $lines lines"
check test "$tables" -gt 0

# as traced: the cores take turns there too, and wait for each other
file=$traces/reference/pthread-5-threads/schedule_stats_as_traced.txt
if [[ -e $file && -e $traces/pthread-5-threads ]]; then
    grep -vE "^#|$wall" "$file" >want
    run trod schedule --order recorded --like schedule_stats "$traces/pthread-5-threads"
    status 0
    grep -vE "$wall" "$stdout" >got
    last="trod schedule --order recorded pthread-5-threads"
    same want got
    echo "$(wc -l <want) lines as traced"
fi

# In parallel. How long a core was idle depends on the host; so does, with many threads, in which
# order cores came to the tool, and with them the threads of its lists (listed), or who stole from
# whom (raced: sums only). A table of one core: that was done before the others began.
idle=" idles$|busy by record|activity ratio|$wall"
parallel=0
for file in "$traces"/reference/*/schedule_stats.txt "$traces"/fresh/reference/*/schedule_stats.txt; do
    grep -q 'tool results' "$file" || continue
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    trace=$dir/${name//.trace-//trace-} # forked.trace-1 is forked/trace-1
    [[ -e $dir/$name ]] && trace=$dir/$name
    [[ -e $trace ]] || continue
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    cores=$(awk '/ cores$/ { print $1; exit }' "$file")
    run trod schedule --order dynamic:parallel --like schedule_stats "$trace"
    status 0
    for f in "$file" "$stdout"; do
        grep -vE "^#|$idle" "$f" | sed '/ schedule:/s/_\+/_/g' >"${f##*/}.lines"
    done
    mv schedule_stats.txt.lines want
    mv .stdout.lines got
    if [[ $cores -eq 1 ]]; then
        for f in want got; do
            sed '/^Core #1 counts/,/^Core #0 schedule/{/^Core #0 schedule/!d}' "$f" |
                sed -n '/^Core #0 counts/,/^Core #0 schedule/p' >part
            mv part $f
        done
    elif [[ $name == l0-filtered-threads ]]; then
        for f in want got; do
            sed '/^Core #0 counts/,$d' "$f" | awk '
                / threads: / { n = split($0, w, /[:,] */); for (i = 2; i <= n; i++) t[w[i]] }
                / (cores|instructions|system calls|maybe-blocking system calls|direct switch requests)$/ { print }
                /Latencies/ { in_calls = 1; next }
                in_calls && /#/ { call = $1; next }
                in_calls && /\.\./ { latency[call] += $NF }
                END { for (i in t) print i; for (c in latency) print c, latency[c] }' | sort >part
            mv part $f
        done
    elif [[ $name == threads || $name == size-limit ]]; then
        for f in want got; do
            sed 's/threads: .*/threads/' $f | sort >part
            mv part $f
        done
    fi
    last="trod schedule, $name in parallel"
    same want got
    parallel=$((parallel + 1))
done
echo "$parallel tables of parallel cores"

# Schedule files beside a trace, byte for byte. Those of traces that are no archives have no entries;
# those of cores take all of a core's file for one thread.
files=0
while read -r serial; do
    dir=$(dirname "$serial")
    gzip -dc "$serial" >want
    [[ -s want && ! -e $dir/drmemtrace.core.000000.trace.zip ]] || continue
    run trod schedule --like serial_schedule -o serial.bin "$dir"
    status 0
    same want serial.bin
    run trod schedule --like cpu_schedule -o cpus.zip "$dir"
    status 0
    unzip -Z1 "$dir/cpu_schedule.bin.zip" | sort >want
    unzip -Z1 cpus.zip | sort >got
    same want got
    while read -r cpu; do
        unzip -p "$dir/cpu_schedule.bin.zip" "$cpu" >one
        unzip -p cpus.zip "$cpu" >other
        same one other
    done <want
    files=$((files + 1))
done < <(find "$traces"/ -name serial_schedule.bin.gz | sort)
[[ $files -gt 0 ]] || echo "no schedule files in $traces: not compared"
echo "$files traces with schedule files"

# of files that are cores: the threads of each in the order of its rows
cores=0
for file in "$traces"/fresh/*/trace/drmemtrace.core.*.trace.zip; do
    [[ -e $file ]] || continue
    core=${file##*.core.}
    core=$((10#${core%%.*}))
    run trod schedule --like cpu_schedule -o cores.zip "$(dirname "$file")"
    status 0
    unzip -p cores.zip $core | od -An -v -t u8 -w32 | awk '{ print $1 }' | uniq >got
    trod view --format csv "$file" | awk -F, 'NR > 1 && $5 != "idle" { print $5 }' | uniq >want
    last="cpu_schedule of $file"
    same want got
    cores=$((cores + 1))
done
echo "$cores cores"
finish

# test_count_reference.sh - every number that DynamoRIO's basic_counts printed for the shared traces,
# in all and by thread, is the number of trod count. Names of fields are DynamoRIO's labels with "_"
# for blanks and dashes, without "()" and "+".
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq awk
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# "SECTION field number", SECTION being total or a thread
reference() {
    awk '/^Total counts/ { section = "total" }
        /^(Thread|Core) [0-9]+ counts/ { section = $2 }
        /^ +[0-9]+ / {
            n = $1
            sub(/^ +[0-9]+ +/, "")
            sub(/^total /, "")
            gsub(/[()]/, "")
            gsub(/ \+ /, " ")
            gsub(/[ -]/, "_")
            print section, $0, n
        }' "$1" | sort
}

# The same of a JSON report. A single file of several threads is one of DynamoRIO's threads: TID.
counted() {
    jq -r --arg tid "$2" '
        def fields($section): to_entries[] | select(.value | type == "number")
            | "\($section) \(.key) \(.value)";
        (.total | fields("total")),
        (if .files_counts then .files_counts[] | fields($tid)
         else .threads_counts[] | fields(.tid | tostring) end)' "$1" | sort
}

# Instructions of each thread, in the order in which the threads are shown.
order() {
    awk '/^Thread/ { t = 1 } t && /\(fetched\)/ && !/unique/ { print $1 }' "$1"
}

compared=0
for file in "$traces"/{,fresh/}reference/*/basic_counts*.txt; do
    name=$(basename "$(dirname "$file")") dir=$(dirname "$(dirname "$(dirname "$file")")")
    trace=$dir/${name//.trace-//trace-} # forked.trace-1 is forked/trace-1
    [[ -e $dir/$name ]] && trace=$dir/$name
    [[ -e $trace ]] || continue
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    if grep -q '^Core [0-9]' "$file"; then # its shards are cores: see below
        continue
    fi
    reference "$file" >want
    tid=$(awk '/^Thread/ { print $2; exit }' "$file")
    for jobs in 1 2 5; do
        [[ $dir != */fresh || $jobs == 2 ]] || continue
        [[ $dir == */fresh || $jobs == 1 ]] || drawn || continue
        run trod count --format json -j "$jobs" "$trace"
        status 0
        last="trod count -j $jobs $name"
        counted "$stdout" "$tid" >got
        comm -23 want got >missing
        : >nothing
        same nothing missing
        compared=$((compared + $(wc -l <want)))
        order "$file" >want_order
        jq -r '(.files_counts // .threads_counts)[] | .fetched_instructions' "$stdout" >got_order
        same want_order got_order
        [[ $dir != */fresh ]] || continue
        [[ $jobs == 1 ]] && cp "$stdout" one.json
        same one.json "$stdout"
    done
done
check test "$compared" -gt 3000

# By intervals of instructions, each thread by itself: every number of every interval of each thread, and the time
# stamp it ends at. DynamoRIO's intervals count fetched instructions, ours those that were executed: iterations of string
# instructions are left out.
intervals=0
for file in "$traces"/reference/*/interval_basic_counts.txt; do
    name=$(basename "$(dirname "$file")")
    [[ -e $traces/$name ]] || continue
    every=$(sed -n '1s/.*-interval_instr_count \([0-9]*\).*/\1/p' "$file")
    for tid in $(sed -n 's/^Counts per trace interval for TID \([0-9]*\):/\1/p' "$file"); do
        thread=$traces/$name
        [[ ! -d $thread ]] || thread=$(find "$thread" -name "*.$tid.*" ! -name '*.log')
        awk -v tid="$tid" '
            /^Counts per trace interval/ { on = $NF == tid ":" }
            on && /^Interval #/ { i = substr($2, 2) - 1; sub(/:$/, "", $NF); ends[i] = $NF }
            on && / interval delta / && !/non-fetched/ {
                n = $1
                sub(/^ +[0-9]+ interval delta /, "")
                gsub(/[()]/, "")
                gsub(/ \+ /, " ")
                gsub(/[ -]/, "_")
                sum[i " " $0] += n # an interval may be printed in pieces
            }
            END {
                for (i in ends) print i, "ends", ends[i]
                for (k in sum) print k, sum[k]
            }' "$file" | sort >want
        run trod count --interval "$every" --where '!(kind == INSTR && nofetch)' --format json -j 2 "$thread"
        status 0
        last="trod count --interval $every, thread $tid of $name"
        { # times are numbers that jq rounds
            awk '/^ *"interval":/ { i = $2 + 0 } /"time_end":/ { sub(",", "", $2); print i, "ends", $2 }' "$stdout"
            jq -r '.intervals[] | .interval as $i | .total | to_entries[] | select(.value | type == "number")
                | "\($i) \(.key) \(.value)"' "$stdout"
        } | sort >got
        comm -23 want got >missing
        same nothing missing
        intervals=$((intervals + $(grep -c ends want)))
    done
done
echo "$intervals intervals"
check test "$intervals" -gt 300

# sharded by core: each core has the rows of its file, those in which it was idle among them
sharded=$traces/fresh/cores-2
for core in 0 1; do
    trod count --format json "$sharded/trace/drmemtrace.core.00000$core.trace.zip" | jq '[.total.rows, .total.idle_markers]'
done >want
for jobs in 1 2 3; do
    run trod run count --by core -j $jobs --format json "$sharded"
    status 0
    jq '.cores[].total | [.rows, .idle_markers]' "$stdout" >got
    same want got
    run trod run info --interval 100000:rows -j $jobs --format json "$sharded"
    [[ $jobs == 1 ]] && cp "$stdout" one.json
    same one.json "$stdout"
done
run trod run count --by core --order time --format json "$sharded"
status 0
jq '.cores[].total | [.rows, .idle_markers]' "$stdout" >got
same want got
if [[ -e $traces/fresh/reference/cores-2 ]]; then
    reference "$traces/fresh/reference/cores-2/basic_counts.txt" | grep '^[01] ' >want
    run trod run count --by core --format json "$sharded"
    jq -r '.cores[] | .core as $core | .total | to_entries[] | select(.value | type == "number")
        | "\($core) \(.key) \(.value)"' "$stdout" | sort >got
    comm -23 want got >missing
    : >nothing
    same nothing missing
    check test "$(wc -l <want)" -ge 40
fi
finish

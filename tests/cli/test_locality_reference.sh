# test_locality_reference.sh - everything that DynamoRIO's reuse_distance and reuse_time printed for
# the shared traces, histograms included, is what trod locality --like prints, for every -j.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
[[ -d $traces/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

compared=0
for file in "$traces"/reference/*/reuse_*.txt; do
    name=$(basename "$(dirname "$file")")
    [[ -e $traces/$name ]] || continue
    case $(basename "$file") in
    reuse_time*) like=(--like reuse_time) ;;
    *_hist.txt) like=(--like reuse_distance --histogram) ;;
    *) like=(--like reuse_distance) ;;
    esac
    grep -v '^# ' "$file" >want
    for jobs in 1 2 5; do
        run trod locality "${like[@]}" -j "$jobs" "$traces/$name"
        status 0
        out_is want
        compared=$((compared + $(wc -l <want)))
    done
done
check test "$compared" -gt 20000

# our own words for the same numbers; threads by themselves, summed, whatever -j
name=drmemtrace.threadsig.x64.tracedir
if [[ -e $traces/$name ]]; then
    for jobs in 1 2 7; do
        run trod locality --format json -j $jobs "$traces/$name"
        status 0
        json '.references == 922934 and .instruction_references == 650576 and .lines == 1847'
        json '.references - .miss_ratio_curve[0].misses == 922934 - 580025'
        json '[.streams[].references] | add == 922934'
        json '.top_lines[0] == {line: "0x7f87dae8fa00", references: 43069, distant: 3}'
        cp "$stdout" got.$jobs
        same got.1 got.$jobs
    done
    # merged by time no record is lost, and what a record says does not depend on the order
    for order in time recorded dynamic; do
        run trod locality --shared --order $order --format json "$traces/$name"
        status 0
        json '.references == 922934 and .lines == 1847 and .cold == 1847'
        run trod count --order $order --format json "$traces/$name"
        status 0
        json '.total.unique_fetched_instructions == 6360'
    done
fi
finish

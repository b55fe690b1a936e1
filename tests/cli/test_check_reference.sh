#!/usr/bin/env bash
# `trod check` against DynamoRIO's invariant checker on the shared drmemtrace traces: the same
# findings, of the same kind, at the same records. And what the other shared traces are known to have.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq awk
needs_format drmemtrace
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
[[ -d $traces/drmemtrace/reference ]] || { echo "skipped: no traces in $traces"; exit 77; }

# Its messages as our rules, each with the record's number (from 0); sorted.
reference() {
    awk -v q="'" '
        BEGIN {
            rule["Branch target not immediately after branch"] = "drm.branch-timestamp"
            rule["Kernel event marker value missing"] = "drm.event-address"
            rule["Missing cache line marker"] = "drm.header"
            rule["Missing page size marker"] = "drm.header"
            rule["Non-explicit control flow has no marker @ kernel_event marker"] = "drm.event-pc"
            rule["Shard tid != memref tid"] = "drm.thread-id"
            rule["Syscall marker not preceded by timestamp + cpuid"] = "drm.syscall-timestamp"
            # what is no rule here (docs/checking.md): the scheduler it reads through, empty schedule files,
            # and elements of gathers and accesses of instructions that were left out
            none["Stream instr ordinal inaccurate"] = none["Too many read records"] = none["Missing write records"] = 1
            none["Serial schedule entry count does not match trace"] = 1
        }
        /^Trace invariant failure/ {
            message = $0
            sub(/.*timestamp [0-9]+\): /, "", message)
            sub(/.*ref # /, "")
            if (!(message in none)) print (message in rule ? rule[message] : "unknown: " message), $1 - 1
        }' "$1" | sort
}

compared=0
for dir in "$traces"/drmemtrace/{,fresh/}reference/*/; do
    name=$(basename "$dir") beside=$(dirname "$(dirname "$dir")")
    trace=$beside/${name//.trace-//trace-} # forked.trace-1 is forked/trace-1
    [[ -e $beside/$name ]] && trace=$beside/$name
    [[ $name != windows-* ]] || trace=$trace/trace/window.0000 # of several it reads the first
    said=$dir/invariant_checker_noabort.txt
    [[ -f $said ]] || said=$dir/invariant_checker.txt
    [[ -f $said && -e $trace ]] || continue
    grep -q 'Trace invariant\|invariant errors\|invariant checks' "$said" || continue
    compared=$((compared + 1))
    last="trod check $name"
    reference "$said" >want
    run trod check "$trace" -n 1000000 --format json
    status $(($(wc -l <want) > 0))
    jq -r '.findings[] | "\(.rule) \(.record)"' "$stdout" | sort >got
    same want got
    # the rules' counts are those of all findings
    check test "$(jq '[.rules[].findings] | add // 0' "$stdout")" = "$(wc -l <want)"
done
check test "$compared" -ge 8
[[ ! -d $traces/drmemtrace/fresh/reference ]] || check test "$compared" -ge 30

# The time of pthread-5-threads is too long to run it with every number of threads.
for name in drmemtrace.legacy-for-record-filter.x64.tracedir offline-func-trace; do
    [[ -e $traces/drmemtrace/$name ]] || continue
    trod check "$traces/drmemtrace/$name" -n 3 -j1 --format json >want
    for jobs in 2 3 8; do
        run trod check "$traces/drmemtrace/$name" -n 3 -j$jobs --format json
        out_is want
    done
done

# Tarmac: Fast Models traces end with a line of the debugger (CADI) whose time is one tick back, which
# no rule holds against them; those of gem5 have loads of 16 bytes as MW (the LDP of two X registers and LDR of a Q register).
tarmac=$traces/tarmac
if [[ -d $tarmac ]]; then
    for f in "$tarmac"/*-fastmodel.tarmac; do
        run trod check "$f" --format json
        status 0
        json '.findings == []'
        check grep -q 'CADI E simulation_stopped' "$f"
    done
    for f in "$tarmac"/*-es-ld-st-style.tarmac; do
        run trod check "$f"
        status 0
    done
    f=$tarmac/calculator-aarch64-gem5.tarmac
    run trod check "$f" -n 1000 --format json
    status 1
    json '[.findings[] | .rule] | unique == ["tarmac.access-kind"]'
    json 'all(.findings[]; .message | contains("writes memory"))'
    json "[.findings[] | .text | select(contains(\" MW16 \"))] | length == $(grep -c " MW16 " "$f")"
fi

# BYU: the course's trace has uncached requests of 8 bytes at odd addresses; nothing else is odd.
if [[ -f $traces/byu12/course.tr ]]; then
    run trod check --from byu12 "$traces/byu12/course.tr" -n 1000 --format json
    status 0
    json '[.findings[] | .rule] | unique == ["byu.crossing"]'
    run trod check --from byu12 "$traces/byu12/course.tr" --severity note
    status 1
fi
finish

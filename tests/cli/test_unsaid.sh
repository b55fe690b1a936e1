# test_unsaid.sh - rows that say no cpu are of no cpu: counted by themselves, wherever reading began
# and however many threads or processes read, whichever cpu the trace or a part of it named first.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

# lines FROM TO CPUS: an instruction each, on the CPUS by turns (-: none is said), whose accesses say theirs
lines() {
    awk -v from="$1" -v to="$2" -v cpus="$3" 'BEGIN {
        srand(from)
        n = split(cpus, cpu, ",")
        for (i = from; i <= to; i++) {
            who = cpu[i % n + 1]
            who = who == "-" ? "" : who " "
            printf "%d clk %sIT (%d) %08x %s O EL1h_n : X\n", i, who, i, 4096 + 4 * int(rand() * 900),
                   rand() < .2 ? "54ffffe1" : "d503201f"
            if (who != "" && rand() < .4)
                printf "%d clk %sMR8 %08x 00000000_00000001\n", i, who, 8388608 + 8 * int(rand() * 9000)
        }
    }'
}

# rows of CPU in FILES, as their lines have it
rows_of() {
    local cpu=$1
    shift
    awk -v cpu="$cpu" '{ of = $3 ~ /^cpu/ ? $3 : "-"; n += of == cpu } END { print n + 0 }' "$@"
}

lines 1 40 cpu0 >first.tarmac
lines 41 90 -,cpu1 >second.tarmac
lines 91 120 - >none.tarmac
# files of several parts; the cpu that is named first differs among the parts
{ lines 1 50000 cpu0; lines 50001 140000 -,cpu1; lines 140001 150000 cpu0; } >long.tarmac

# same_everywhere ANALYSIS[,...] OPTION... FILE...: the same for all threads, and for processes
same_everywhere() {
    local plan=$1 part jobs
    shift
    run trod run "$plan" -j 1 --format json "$@"
    status 0
    cp "$stdout" want
    for jobs in 2 3; do
        run trod run "$plan" -j $jobs --format json "$@"
        status 0
        out_is want
    done
    for part in 0 1; do # some analyses cannot be saved
        trod run "$plan" --part $part/2 --save state.$part "$@" >/dev/null 2>&1 || return
    done
    run trod merge --format json state.0 state.1
    status 0
    out_is want
}

# traces: as many rows as their lines say
for files in "first.tarmac second.tarmac" "second.tarmac first.tarmac" "none.tarmac first.tarmac" \
    "first.tarmac none.tarmac" none.tarmac long.tarmac; do
    for jobs in 1 2; do
        run trod count --by thread --format json -j $jobs $files
        status 0
        for cpu in - cpu0 cpu1; do
            rows=$(rows_of $cpu $files)
            json "[.streams[] | select((.stream // \"-\") == \"$cpu\") | .total.rows] | (add // 0) == $rows"
        done
        run trod count --by core --format json -j $jobs $files
        status 0
        for cpu in unknown cpu0 cpu1; do
            rows=$(rows_of ${cpu/unknown/-} $files)
            json "[.cores[] | select(.core == \"$cpu\") | .total.rows] | (add // 0) == $rows"
        done
        run trod sync --format json -j $jobs $files
        status 0
        for cpu in - cpu0 cpu1; do
            rows=$(grep ' IT ' $files | sed 's/^[^:]*tarmac://' | rows_of $cpu)
            json "[.threads[] | select((.thread // \"-\") == \"$cpu\") | .instructions] | (add // 0) == $rows"
        done
    done
    # text names them as trod view does
    [[ $files != *none* ]] || { run trod count --by thread $files; out_has '^ *-( |$)'; }
done
# an instruction and its line of the data: who made the accesses
for jobs in 1 2; do
    run trod cache --by thread --format json -j $jobs long.tarmac
    status 0
    for cpu in - cpu0 cpu1; do
        rows=$(rows_of $cpu long.tarmac)
        json "[.by[] | select((.thread // \"-\") == \"$cpu\") | .references] | (add // 0) == $rows"
    done
done

for plan in count mix info hot branches locality deps check calls profile syscalls phases; do
    same_everywhere $plan first.tarmac second.tarmac
    drawn || continue
    same_everywhere $plan long.tarmac
    same_everywhere $plan none.tarmac first.tarmac
done
for plan in count mix info hot branches locality deps; do
    same_everywhere $plan --by thread first.tarmac second.tarmac
    drawn || continue
    same_everywhere $plan --by thread long.tarmac
done
for plan in count mix hot branches; do
    same_everywhere $plan --by core first.tarmac second.tarmac
done
finish

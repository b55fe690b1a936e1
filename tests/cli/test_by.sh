# test_by.sh - results by core, module, function and line (--by): against records counted one by one,
# against runs of the rows of one owner, and against the whole, for every analysis that has them.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# ---- what a list beside the trace calls code: two modules of one trace, a gap between them
mkdir -p list/raw
cp "$examples/sum.trace.zip" list/
cat >list/raw/modules.log <<'T'
Module Table: version 5, count 3
Columns: id, containing_id, start, end, entry, offset, preferred_base, (custom fields), path
 0, 0, 0x400000, 0x401000, 0x401000, 0, 0x400000, v#1,0, /opt/app/sum
 1, 0, 0x401000, 0x401017, 0x401000, 0x1000, 0x401000, v#1,0, /opt/app/sum
 2, 2, 0x401018, 0x402000, 0, 0, 0, v#1,0, /opt/lib/rest.so
T
trod view --format json list/sum.trace.zip >rows
# count FROM TO: instructions at these addresses
count() {
    jq -r 'select(.kind == "INSTR") | .address' rows | while read -r a; do
        ((a >= $1 && a < $2)) && echo
    done | wc -l
}
sum=$(count 0x401000 0x401017) rest=$(count 0x401018 0x402000) lost=$(count 0x401017 0x401018)
all=$(count 0 0xffffffff)
check test $((sum + rest + lost)) = "$all"
run trod mix --by module --format json list
status 0
json "[.owners[] | {key: .module, value: .instructions}] | from_entries |
    .[\"/opt/app/sum\"] == $sum and (.[\"/opt/lib/rest.so\"] // 0) == $rest and (.[\"(no symbol)\"] // 0) == $lost"
run trod hot --top 0 --format json list
json "[.hot_modules[] | {key: .module, value: .executed}] | from_entries |
    .[\"/opt/app/sum\"] == $sum and .[\"/opt/lib/rest.so\"] == $rest"
# names of instructions count from the beginning of their module
json 'any(.hot_instructions[]; .address == "0x401013" and .function == "sum+0x1013")'
json 'all(.hot_instructions[] | select(.address >= "0x401018"); .function | startswith("rest.so+0x"))'
run trod hot --by function --format json list
json 'any(.owners[]; .function == "(no symbol in sum)")'
# another list, a damaged one, none
sed 's|/opt/app/sum|/elsewhere|' list/raw/modules.log >other.log
run trod hot --modules other.log --format json list
json "any(.hot_modules[]; .module == \"/elsewhere\" and .executed == $sum)"
sed '4s/.*/x/' list/raw/modules.log >damaged.log
run trod hot --modules damaged.log --format json list
err_has 'list of modules is damaged'
json 'any(.hot_modules[]; .module == "/opt/lib/rest.so")'
echo nothing >damaged.log
run trod hot --modules damaged.log --format json list
err_has "does not begin with 'Module Table"
run trod hot --format json "$examples/sum.trace.zip"
json '(has("hot_modules") | not) and ([.hot_instructions[].function] | unique) == [null]'

# ---- cores: those of an order, of CPU_ID markers, the cpus of the other families
trod mix --order dynamic:cores=2 --by core --format json list "$examples/sum.trace.zip" >cores 2>/dev/null
if jq -e '.cores' cores >/dev/null; then
    for core in 0 1; do
        run trod mix --order dynamic:cores=2 --where "core==$core" --format json list "$examples/sum.trace.zip"
        jq '[.instructions, .categories]' "$stdout" >want
        jq "[.cores[] | select(.core == $core)][0] | [.instructions // 0, .categories // []]" cores >got
        same want got
    done
fi
awk 'BEGIN { srand(3)
    for (n = 1; n <= 600; n++) {
        cpu = int(rand() * 3); pc = 32768 + 4 * int(rand() * 40)
        printf "%d clk cpu%d IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, cpu, n, pc, pc, rand() < .3 ? "54ffffe1" : "d503201f"
        if (rand() < .4) printf "%d clk cpu%d MR4 %08x:%012x_NS 00000000\n", n, cpu, 4 * int(rand() * 4096), 0 } }' >cpus.tarmac
for a in count mix hot branches syscalls; do
    run trod $a --by thread --top 0 --format json cpus.tarmac
    jq -S '[.streams[] | del(.stream, .tid, .pid)]' "$stdout" >want
    jq -S 'del(.streams)' "$stdout" >whole
    run trod $a --by core --top 0 --format json cpus.tarmac
    status 0
    json '[.cores[].core] == ["cpu0", "cpu1", "cpu2"] or [.cores[].core] == ["cpu1", "cpu0", "cpu2"] or
        ([.cores[].core] | sort) == ["cpu0", "cpu1", "cpu2"]'
    jq -S '[.cores[] | del(.core)]' "$stdout" >got
    same want got
    jq -S 'del(.cores)' "$stdout" >got
    same whole got
    cp "$stdout" one
    run trod $a --by core --top 0 --format json -j 3 cpus.tarmac
    out_is one
done
run trod deps --by core cpus.tarmac
status 2
err_has "analysis 'deps' has no results by core"
for by in thread core; do
    run trod schedule --by $by cpus.tarmac
    status 2
    err_has "analysis 'schedule' has no results by $by: it follows all threads together"
done
for a in functions schedule; do
    run trod $a --by function cpus.tarmac
    status 2
    err_has "analysis '$a' has no results by function: it counts nothing by instruction"
done

# ---- code without opcodes that changes, and threads that change cores: each row is what it says
# entry TYPE SIZE VALUE: 12 bytes of a trace of DynamoRIO
entry() {
    printf '%b' "$(printf '\\x%02x\\0\\x%02x\\0\\x%02x\\x%02x\\0\\0\\0\\0\\0\\0' "$1" "$2" $(($3 & 255)) $(($3 >> 8)))"
}
# thread TID ENTRIES: TYPE:SIZE:VALUE each
thread() {
    local e
    entry 25 0 2
    entry 22 4 "$1"
    entry 24 4 9
    for e in "${@:2}"; do
        IFS=: read -r type size value <<<"$e"
        entry "$type" "$size" "$value"
    done
    entry 23 4 "$1"
    entry 26 0 0
}
mkdir changes
# plain (10) on core 0, then a jump (13) on core 2, at the same place; another thread: plain on core 2
thread 1 28:3:0 10:4:4096 10:4:4100 28:3:2 13:4:4096 10:4:4104 10:4:4096 10:4:4100 >changes/t.1.trace
thread 2 28:3:2 10:4:4096 10:4:4100 10:4:4096 13:4:4100 10:4:4096 >changes/t.2.trace
run trod count --format json changes
jumps=$(jq .total.branches "$stdout")
check test "$jumps" = 2
for jobs in 1 2 3; do
    run trod branches --by core --format json -j $jobs changes
    status 0
    json ".branches == $jumps and ([.cores[].branches] | add) == $jumps and
        ([.cores[] | select(.core == 2)][0] | .branches == 2 and .kinds[0].static == 2)"
done

# ---- parts of a run put together: what one process prints; cores are those of the whole order
run trod gen -q sharing:count=300 --to drmemtrace threads/
mkdir apart
cp "$examples/sum.trace.zip" apart/drmemtrace.sum.1.0.dir.trace.zip
cp threads/trace/*.trace.zip apart/
# parts TRACE ANALYSES OPTION...
parts() {
    local trace=$1 plan=$2 i
    shift 2
    trod run "$plan" "$@" --format json "$trace" >want 2>/dev/null
    for i in 0 1 2; do
        run trod run "$plan" "$@" --part $i/3 --save state.$i "$trace"
        status 0
    done
    run trod merge --format json state.2 state.0 state.1
    status 0
    last="parts: $plan $* of $trace"
    same want "$stdout"
}
for plan in count mix hot branches deps syscalls mix,count; do
    for by in thread module function line; do
        drawn || continue
        parts apart $plan --by $by
    done
    parts list $plan --by module
    parts list $plan --by module --modules other.log
done
# of a bus, whose accesses belong to no instruction
mkdir bus
cp "$examples/boot.byu12" bus/a.byu12
cp "$examples/boot.byu12" bus/b.byu12
for plan in count mix mix,count; do
    parts bus $plan --by function
    [[ $plan != mix ]] || json '.owners[0].reads > 0 and .owners[0].writes > 0'
done
parts apart phases --by thread
parts apart locality --by thread
parts cpus.tarmac count,mix,hot --by thread
# cores that a thread was on before its first marker, and behind it: threads are counted on each
run trod count --by core --format json "$examples/sum.trace.zip"
status 0
json '[.cores[].total.fetched_instructions] | add == 50'
run trod run --by core --part 0/2 --save state mix cpus.tarmac
check test "$got" -ne 0

# ---- functions and lines of a program
command -v cc >/dev/null && command -v readelf >/dev/null || finish
cat >prog.c <<'C'
static int twice(int n)
{
    return n + n;
}
int walk(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += twice(i);
    return s;
}
int main(void)
{
    return walk(3);
}
C
cc -g -O0 -fno-pie -no-pie -o prog prog.c 2>/dev/null || cc -g -O0 -o prog prog.c
readelf -sW prog | awk '$4 == "FUNC" && ($8 == "twice" || $8 == "walk" || $8 == "main") { print $2, $3, $8 }' >functions
check test "$(wc -l <functions)" = 3

# a position-independent file: its addresses are said or warned of, and those at which it lies by
# itself are as good as any
cc -g -O0 -fpie -pie -o pie prog.c
check test "$(readelf -h pie | awk '$1 == "Type:" { print $2 }')" = DYN
twice=$((16#$(readelf -sW pie | awk '$8 == "twice" { print $2 }')))
for at in 0 $((0x555555554000)); do
    printf '1 clk cpu0 IT (1) %08x:%012x_NS d503201f O EL1h_n : NOP\n' $((twice + at)) 0 >pie.$at.tarmac
done
moved=pie.$((0x555555554000)).tarmac
for jobs in 1 4; do
    run trod run --from tarmac -j $jobs --symbols pie --format json mix,hot,branches "$moved" "$moved"
    status 0
    err_has "^trod: pie: warning: nothing has a name from this position-independent file: .* --symbols pie@ADDRESS$"
    check test "$(wc -l <"$stderr")" = 1
done
for ask in calls flame functions 'cache --by function' 'export --to folded -o pie.folded'; do
    # shellcheck disable=SC2086 # words
    run trod $ask --from tarmac --symbols pie "$moved"
    status 0
    err_has "^trod: pie: warning: nothing has a name from this position-independent file: .* --symbols pie@ADDRESS$"
    # shellcheck disable=SC2086
    run trod $ask --from tarmac --symbols pie@0x555555554000 "$moved"
    check test -z "$(grep position-independent "$stderr")"
    # shellcheck disable=SC2086
    run trod $ask --from tarmac --symbols pie pie.0.tarmac
    check test -z "$(grep position-independent "$stderr")"
done
run trod hot --from tarmac --symbols pie --by function --format json pie.0.tarmac
check test ! -s "$stderr"
json '[.owners[].function] == ["twice"]'
run trod hot --from tarmac --symbols pie@0x555555554000 --by function --format json "$moved"
check test ! -s "$stderr"
json '[.owners[].function] == ["twice"]'
run trod hot --from tarmac --symbols prog,pie@0x10000 --format json "$moved"
check test ! -s "$stderr"
cp pie sum # whose place the list knows
run trod hot --symbols sum --by function --format json list
err_has '--symbols sum@0x400000 .from the list of modules beside the trace.$'
check test "$(wc -l <"$stderr")" = 1
json 'any(.owners[]; .function == "(no symbol in sum)")'
run trod hot --symbols sum@0x400000 --format json list
check test ! -s "$stderr"

# instructions at random places of these functions and of none, on two cpus, with accesses and calls
# of the system; what each function has is counted while they are written
awk 'function hex(s,   i, v) { v = 0
         for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
         return v }
     { at[NR] = hex($1); size[NR] = $2; name[NR] = $3 }
     END { srand(11); at[4] = 65536; size[4] = 64; name[4] = "(no symbol)"
         split("d503201f f9400020 54ffffe1 d4000001 94000004 d65f03c0 f8410c20 9b017c00", op, " ")
         for (n = 1; n <= 4000; n++) {
             f = 1 + int(rand() * 4); pc = at[f] + int(rand() * size[f]); o = 1 + int(rand() * 8); cpu = int(rand() * 2)
             printf "%d clk cpu%d IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, cpu, n, pc, pc, op[o]
             i[f]++; r = 0
             if (o == 2 || o == 7) { printf "%d clk cpu%d MR8 %08x:%012x_NS 00000000_00000000\n", n, cpu, 8 * int(rand() * 64), 0; l[f]++ }
             else if (rand() < .2) { printf "%d clk cpu%d MW4 %08x:%012x_NS 00000000\n", n, cpu, 4 * int(rand() * 999) + 2, 0; w[f]++ }
         }
         for (f = 1; f <= 4; f++) print name[f], i[f], l[f] + 0, w[f] + 0 >"want.functions" }' functions >prog.tarmac
sort want.functions >want
by() {
    run trod "$1" --from tarmac --symbols prog --top 0 --by "$2" --format json "${@:3}" prog.tarmac
}
by mix function
status 0
jq -r '.owners[] | "\(.function) \(.instructions) \(.reads) \(.writes)"' "$stdout" | sort >got
same want got
json '.owner_count == 4 and ([.owners[].instructions] | add) == .instructions'
json '(reduce .owner_categories[] as $c ({}; .[$c.category] += $c.instructions)) ==
    ([.categories[] | {key: .category, value: .instructions}] | from_entries)'
jq -S '[.owner_categories[] | select(.function == "walk") | {(.category): .instructions}] | add' "$stdout" >got
run trod mix --from tarmac --symbols prog --where 'function == "walk"' --format json prog.tarmac
jq -S '[.categories[] | {(.category): .instructions}] | add' "$stdout" >want
same want got
# accesses of 8 bytes are read, of 4 bytes written
awk '{ print $0, 8 * $(NF - 1), 4 * $NF }' want.functions | sort >want
by count function
jq -r '.owners[] | "\(.function) \(.instructions) \(.loads) \(.stores) \(.bytes_read) \(.bytes_written)"' "$stdout" |
    sort >got
same want got
json '([.owners[].instructions] | add) == .total.fetched_instructions and ([.owners[].loads] | add) == .total.data_loads and
    ([.owners[].bytes_written] | add) == .total.bytes_written and .owner_count == 4'
jq -S 'del(.owners, .owner_count)' "$stdout" >got
run trod count --from tarmac --format json prog.tarmac
jq -S . "$stdout" >want
same want got
by hot function
jq -r '.owners[] | "\(.function) \(.executed)"' "$stdout" | sort >got
sed -E 's/ [0-9]+ [0-9]+$//' want.functions | sort >want
same want got

# lines: each against a run of its own
by mix line
jq -r '.owners[] | select(.source | startswith("(") | not) | "\(.source | split(":") | .[-1]) \(.instructions)"' \
    "$stdout" | sort >got
cut -d' ' -f1 got | while read -r line; do
    n=$(trod mix --from tarmac --symbols prog --where "line == $line" --format json prog.tarmac | jq .instructions)
    echo "$line $n"
done | sort >want
check test -s want
same want got

# what single instructions have, put together by hand, is what their functions have
# of LIST KEYS...: by function, from rows with addresses
of() {
    jq -r --arg list "$1" --arg key "$2" --arg more "${3:-}" --arg is "${4:-}" '.[$list][] |
        select($more == "" or .[$more] == $is) | "\(.address // .pc) \(.[$key])"' "$stdout" |
        awk 'function hex(s,   i, v) { v = 0
                 for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
                 return v }
             NR == FNR { at[NR] = hex($1); size[NR] = $2; name[NR] = $3; k = NR; next }
             { a = hex(substr($1, 3)); w = "(no symbol)"
               for (f = 1; f <= k; f++) if (a >= at[f] && a < at[f] + size[f]) w = name[f]
               n[w] += $2 }
             END { for (w in n) if (n[w]) print w, n[w] }' functions - | sort
}
# owned LIST KEY [COLUMN VALUE]
owned() {
    jq -r --arg list "$1" --arg key "$2" --arg more "${3:-}" --arg is "${4:-}" '.[$list][] |
        select(($more == "" or .[$more] == $is) and .[$key] > 0) | "\(.function) \(.[$key])"' "$stdout" | sort
}
by branches function --predictors gshare,btb
of static_branches executions >want
owned owners executions >got
check test -s want
same want got
for p in gshare:log=14:history=14 btb:log=10:ways=4; do
    of worst wrong predictor $p >want
    owned owner_predictors wrong predictor $p >got
    same want got
done
json '([.owners[].executions] | add) == .branches and ([.owners[].taken] | add) == ([.kinds[].taken] | add) and
    ([.owners[].conditional] | add) == (.kinds[] | select(.kind == "conditional") | .executions)'
by deps function
of critical_instructions cycles >want
owned owners cycles >got
check test -s want
same want got
for what in load_use in_group misaligned split; do
    of bad_instructions $what >want
    owned owners $what >got
    same want got
done
json '([.owners[].instructions] | add) == .instructions and
    [[.owners[].load_use, .owners[].in_group, .owners[].store_in_group, .owners[].split, .owners[].misaligned] | add] ==
    [[.bad_sequences[].count] | add]'
 sed -E 's/ [0-9]+ [0-9]+$//' want.functions | sort >want
owned owners instructions >got
same want got
by syscalls function
of places executions >want
owned owners instructions >got
check test -s want
same want got

# markers: who made the calls; failures, times
run trod syscalls --by module --format json list
json '([.owners[].calls] | add) == .total_calls and ([.owners[].instructions] | add) == .instructions and
    ([.owners[].failed] | add) == .failed and ([.owners[].time] | add) == .total_time and
    all(.owners[]; .module | startswith("/opt/"))'

# every number of threads, several files, intervals of each measure, CSV
cp prog.tarmac prog2.tarmac
for a in count mix hot branches deps syscalls; do
    for by in module function line; do
        drawn || continue
        by $a $by -j 1 prog2.tarmac
        cp "$stdout" one
        by $a $by -j 3 prog2.tarmac
        out_is one
        check jq -e '(.owners | length) > 0 and .owner_count == (.owners | length)' one
    done
    run trod $a --from tarmac --symbols prog --by module --format csv prog.tarmac
    status 0
    out_has '^module,'
done
by mix function
jq -S '[.owners[] | {(.function): [.instructions, .reads, .writes]}] | add' "$stdout" >whole
for interval in 100 170:rows 900:time; do
    by mix function --interval $interval
    jq -S '[.owners[] | {(.function): [.instructions, .reads, .writes]}] | add' "$stdout" >got
    same whole got
    jq -S 'reduce .intervals[].owners[] as $o ({}; .[$o.function] |= [[. // [0, 0, 0],
        [$o.instructions, $o.reads, $o.writes]] | transpose[] | add])' "$stdout" >got
    same whole got
done
run trod mix --interval 5:time "$examples/sum.tt6"
status 2
err_has "format 'tt6' has no times"
for a in branches syscalls functions schedule; do # the last interval ends with the rows
    run trod $a --interval 30 --format json "$examples/sum.trace.zip"
    json '[(.intervals // .interval_predictors)[].instructions_end] | unique == [30, 50]'
done
# one plain file, which several threads read in parts: accesses belong to the same instructions
trod gen zipf:lines=3000,count=250000 large.trace >/dev/null
trod gen zipf:lines=3000,count=45000 large.tarmac --to tarmac >/dev/null
for f in large.trace large.tarmac; do
    from=${f#large.} from=${from/trace/drmemtrace}
    check test "$(stat -c %s $f)" -gt $((9 << 20))
    { head -c 6000000 $f; printf 'damaged\n\1\377\n'; tail -c +6000001 $f; } >"damaged.$f"
    for trace in $f damaged.$f; do
        for a in mix count; do
            for by in function module; do
                drawn || continue
                run trod run $a --from "$from" --by $by --format json -j 1 $trace
                was=$got
                cp "$stdout" one
                cp "$stderr" one.err
                for jobs in 2 3; do
                    run trod run $a --from "$from" --by $by --format json -j $jobs $trace
                    status "$was"
                    same one "$stdout"
                    same one.err "$stderr"
                done
            done
        done
    done
done
run trod mix --interval 100 --by thread --format json prog.tarmac
json '[.intervals[].streams[].instructions] | add == 4000'
json '[.streams[].instructions] | add == 4000'
json '[.intervals[] | .instructions == ([.streams[].instructions] | add)] | all'
finish

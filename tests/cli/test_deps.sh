# test_deps.sh - trod deps: a program worked out by hand, machines and latencies that are asked for,
# the same numbers for every number of threads and for parts that are merged, damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# a store to the stack, loaded again two instructions later, and a chain behind it
cat >spill.tarmac <<'T'
1 clk cpu0 IT (1) 00008000:000000008000_NS f90007e0 O EL1h_n : STR      x0,[sp,#8]
1 clk cpu0 MW8 00001008:000000001008_NS 00000000_00000001
2 clk cpu0 IT (2) 00008004:000000008004_NS d503201f O EL1h_n : NOP
3 clk cpu0 IT (3) 00008008:000000008008_NS f94007e1 O EL1h_n : LDR      x1,[sp,#8]
3 clk cpu0 MR8 00001008:000000001008_NS 00000000_00000001
4 clk cpu0 IT (4) 0000800c:00000000800c_NS 91000421 O EL1h_n : ADD      x1,x1,#1
5 clk cpu0 IT (5) 00008010:000000008010_NS 9b017c21 O EL1h_n : MUL      x1,x1,x1
6 clk cpu0 IT (6) 00008014:000000008014_NS 9ac10c21 O EL1h_n : SDIV     x1,x1,x1
T
run trod deps --format json spill.tarmac
status 0
json '.instructions == 6 and .unknown == 0 and .loads == 1 and .stores == 1'
json '.parallelism == [{window: "unlimited", width: "unlimited", cycles: 29, ilp: 0.207}]'
json '[.classes[] | [.class, .latency, .instructions]] ==
    [["int", 1, 2], ["mul", 3, 1], ["div", 20, 1], ["load", 4, 1], ["store", 1, 1]]'
json '.spills == 1 and .reloads == 1 and [.reload_distance[] | [.distance, .count]] == [[2, 1]]'
json '[.forwarding[] | .count] == [1, 0, 0, 0] and .forwarding_bytes[0].distance == 0'
json '[.load_use[] | [.distance, .count]] == [[1, 1]] and .load_use_stalls == 3'
json '[.register_distance[] | [.distance, .count]] == [[1, 3]]'
json '[.bad_sequences[] | .count] == [1, 2, 1, 0, 0]'
json '[.critical_instructions[] | [.address, .cycles]] == [["0x8014", 20], ["0x8008", 4],
    ["0x8010", 3], ["0x8000", 1], ["0x800c", 1]]'
json '.bad_instructions[0].address == "0x800c" and (.bad_instructions[0] | .load_use == 1 and .in_group == 1)'

run trod deps --latency all=1 --window 1,2,unlimited --width 1,2 --format json spill.tarmac
status 0
json '[.parallelism[] | [.window, .width, .cycles]] == [["1", "1", 6], ["1", "2", 6], ["2", "1", 6],
    ["2", "2", 5], ["unlimited", "1", 6], ["unlimited", "2", 5], ["unlimited", "unlimited", 5]]'
run trod deps --latency load=10,div=1 --format json spill.tarmac
json '.parallelism[0].cycles == 16'
run trod deps --group 2 --format json spill.tarmac
json '[.bad_sequences[] | .count][:3] == [1, 0, 0]'
run trod run --format json deps:window=2,window=4 spill.tarmac
status 0
json '.deps.parallelism // .parallelism | length == 3'
run trod deps --by thread --format json spill.tarmac
json '[.streams[] | .instructions] == [6]'
run trod deps --interval 3 --format json spill.tarmac
json '[.intervals[:2][] | .instructions] == [3, 3] and .instructions == 6 and .loads == 1'

# of a store of two halves the load behind it gets both: nothing was stored behind the younger one, which is not the
# first; with one more store of 4 bytes elsewhere in between that is 4 bytes
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 WRITE,0x1000,0x8000,8 WRITE,0x1000,0x8008,8 >pair.csv
load=(INSTR,0x1004,0x1004,4 READ,0x1004,0x8000,16)
run trod deps --format json <(printf '%s\n' "$(<pair.csv)" "${load[@]}")
status 0
json '[.forwarding_bytes[] | [.distance, .count]] == [[0, 1]]'
run trod deps --format json <(printf '%s\n' "$(<pair.csv)" WRITE,0x1000,0x9000,4 "${load[@]}")
json '.forwarding_bytes | length == 1 and (.[0] | .distance <= 4 and .to >= 4 and .count == 1)'

# the same opcodes at many addresses: a chain of MUL X0,X0,X0; ADD X0,X0,#1 a hundred times, with a store
# and a jump of equal opcodes between them, whose places are decoded once but count by themselves
awk 'BEGIN { for (i = 0; i < 100; i++) {
         pc = 32768 + 16 * i
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS 9b007c00 O EL1h_n : X\n", i, 4 * i + 1, pc, pc
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS 91000400 O EL1h_n : X\n", i, 4 * i + 2, pc + 4, pc + 4
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS f90007e2 O EL1h_n : X\n", i, 4 * i + 3, pc + 8, pc + 8
         printf "%d clk cpu0 MW8 00001008:000000001008_NS 00000000_00000001\n", i
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS 14000001 O EL1h_n : X\n", i, 4 * i + 4, pc + 12, pc + 12 } }' \
    >same.tarmac
run trod deps --top 0 --format json same.tarmac
status 0
json '.instructions == 400 and .unknown == 0 and .stores == 100 and .spills == 0'
json '[.classes[] | [.class, .instructions]] == [["int", 100], ["mul", 100], ["store", 100], ["branch", 100]]'
json '.parallelism[0].cycles == 400' # a multiplication takes 3
json '[.register_distance[] | [.distance, .count]] == [[1, 100], [3, 99]]'
json '[.critical_instructions[].cycles] | length == 200 and .[:100] == [range(100) | 3] and .[100:] == [range(100) | 1]'
# a group ends with its jump: in each the addition uses what the multiplication wrote
json '[.bad_instructions[] | [.in_group, .address[-1:]]] == [range(100) | [1, "4"]]'

for wrong in '--window 0' '--window 65537' '--width x' '--latency load=0' '--latency cake=1' \
    '--latency load' '--group 0' '--most-lines 0' '--window 1,2,3,4,5 --width 1,2,3,4'; do
    # shellcheck disable=SC2086 # options and their values
    run trod deps $wrong spill.tarmac
    status 2
    check test ! -s "$stdout"
done

# memory is bounded: what was stored is forgotten where there is more of it than asked for
awk 'BEGIN { for (i = 1; i <= 200; i++) {
         printf "%d clk cpu0 IT (%d) 00008000:000000008000_NS f90007e0 O EL1h_n : X\n", i, i
         printf "%d clk cpu0 MW8 %08x:%012x_NS 00000000_00000001\n", i, i * 64, i * 64 } }' >wide.tarmac
run trod deps --most-lines 10 --format json wide.tarmac
json '.stores == 200 and .stores_forgotten >= 10'
run trod deps --format json wide.tarmac
json '.stores == 200 and (has("stores_forgotten") | not)'

# more data than the nearest caches hold is loaded ahead: the same as rows one by one, as machines need them
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
if [[ -x $gen ]]; then
    "$gen" drm-small --records 100000 >random.trace
    for most in 65536 1000; do
        run trod deps -j 1 --top 0 --most-lines $most --format json random.trace
        json 'has("stores_forgotten") == ('$most' == 1000)'
        jq 'del(.streams)' "$stdout" >streaks
        run trod deps -j 1 --top 0 --most-lines $most --window 8,unlimited --format json random.trace
        jq 'del(.streams) | .parallelism |= [.[] | select(.window == "unlimited")]' "$stdout" >rows
        last="streaks and rows, $most lines"
        same streaks rows
    done
else
    echo "loading ahead not tested: no trod-gen"
fi

# every family, every number of threads
for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.full.gz sum.trace.zip boot.byu6; do
    for jobs in 1 2 5; do
        run trod deps -j $jobs --window 8,64 --format json "$examples/$file"
        status 0
        cp "$stdout" deps.$jobs
    done
    same deps.1 deps.2
    same deps.1 deps.5
done
# what makes a value is before what uses it: the two recordings of one program agree
run trod deps --format json "$examples/sum.tt6"
jq 'del(.format, .streams, .files)' "$stdout" >tt6
run trod deps --format json "$examples/sum.full.gz"
jq 'del(.format, .streams, .files)' "$stdout" >full
last="sum.tt6 and sum.full.gz"
same tt6 full

# several files, parts that are merged
mkdir two
cp spill.tarmac two/a.tarmac
cp "$examples/hello.tarmac" two/b.tarmac
for jobs in 1 4; do
    run trod deps -j $jobs --top 0 --format json two/a.tarmac two/b.tarmac two/a.tarmac
    status 0
    jq 'del(.streams)' "$stdout" >two.$jobs
done
same two.1 two.4
check jq -e '.instructions == 24 and .spills == 2 and .parallelism[0].cycles == 29 + 29 + 7' two.1

# functions, where the recorded programs are there
elf=${TROD_TRACES:-}/tarmac/calculator-aarch64.elf
if [[ -e $elf ]]; then
    run trod deps --top 0 --symbols "$elf" --format json "${elf%.elf}-fastmodel.tarmac"
    status 0
    json '(.critical_functions | length) > 2 and ([.critical_functions[] | .cycles] == ([.critical_functions[] | .cycles] | sort | reverse))'
    json '([.critical_functions[] | .cycles] | add) <= ([.critical_instructions[] | .cycles] | add)'
    json '.parallelism[0].cycles == ([.critical_instructions[] | .cycles] | add)'
else
    echo "functions not tested: no $elf"
fi

: >empty.tarmac
run trod deps --from tarmac --format json empty.tarmac
json '.instructions == 0 and .parallelism[0].ilp == 0'
head -c 300 "$examples/sum.trace.zip" >cut.trace.zip
run trod deps cut.trace.zip
status 2
{
    head -4 spill.tarmac
    echo '4 clk cpu0 IT (4) zzz'
    tail -4 spill.tarmac
} >damaged.tarmac
run trod deps --format json damaged.tarmac
check test "$got" -le 2
json '.instructions >= 5'

# threads are followed by themselves, in whatever order their rows come and whatever else is asked for
needs_format drmemtrace
run trod gen --quiet producer:items=300,lines=8 turns.d/
status 0
run trod deps --format json turns.d
status 0
jq 'del(.format, .files)' "$stdout" >want
for order in file time; do
    run trod deps --order $order --format json turns.d
    status 0
    jq 'del(.format, .files)' "$stdout" >got
    same want got
done
run trod run deps,schedule --format json turns.d
status 0
jq '.deps' "$stdout" >got
same want got
finish

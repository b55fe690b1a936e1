# test_branches.sh - trod branches: loops counted by hand, outcomes of every family, what the rows
# say of branches, predictors of several sizes, intervals, saved parts, threads, damaged traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# Two loops, one in the other: 30 x (nop; 4 x (subs; b.ne); subs; b.ne); nop
awk 'function i(pc, op) { n++
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, n, pc, pc, op }
     BEGIN { for (o = 0; o < 30; o++) {
                 i(32772, "d503201f")
                 for (k = 0; k < 4; k++) { i(32776, "f1000400"); i(32780, "54ffffe1") }
                 i(32784, "f1000421"); i(32788, "54ffff81") }
             i(32792, "d503201f") }' >loops.tarmac
run trod branches --predictors taken,btfn,bimodal,local --format json loops.tarmac
status 0
json '.instructions == 331 and .branches == 150 and .unresolved == 0'
json '.kinds == [{kind: "conditional", executions: 150, share: 100, taken: 119, taken_share: 79.33, static: 2}]'
# inner: 30 x (3 taken, 1 not), an outcome that differs 59 times; outer: 29 taken, 1 not
json '[.static_branches[] | [.address, .executions, .taken, .turns]] ==
    [["0x800c", 120, 75, 49.17], ["0x8014", 30, 96.67, 3.33]]'
json '[.predictors[] | [.predictor, .branches, .wrong]][:3] ==
    [["taken", 150, 31], ["btfn", 150, 31], ["bimodal:log=12", 150, 31]]'
json '.predictors[0].mpki == 93.656 and .predictors[0].accuracy == 79.33'
json '.predictors[3].wrong < 20' # the history of the inner loop is long enough
json '[.worst[] | select(.predictor == "taken") | [.address, .wrong, .share]] ==
    [["0x800c", 30, 96.77], ["0x8014", 1, 3.23]]'

# the same predictor in several sizes
run trod branches --predictors 'bimodal:log=1,bimodal:log=12+gshare:log=10:history=4' --format json loops.tarmac
json '[.predictors[].predictor] == ["bimodal:log=1", "bimodal:log=12", "gshare:log=10:history=4"]'
json '[.predictors[].bits] == [4, 8192, 2048]'
run trod branches --predictors gshared loops.tarmac
status 2
err_has "did you mean 'gshare'"
run trod branches --predictors bimodal:log=77 loops.tarmac
status 2
err_has 'no number from 1 to 24'
run trod branches --predictors bimodal:size=77 loops.tarmac
status 2

# sum.c on other machines: the loop goes back seven times of eight, and the functions return
for file in sum.trace.zip sum.tt6 sum.full.gz; do
    run trod branches --format json "$examples/$file"
    status 0
    json '[.static_branches[] | select(.kind == "conditional" and .executions == 8)] | length == 1 and .[0].taken == 87.50'
    json '[.kinds[] | select(.kind == "call" or .kind == "return") | .taken == .executions] | length > 0 and all'
    json '[.predictors[] | select(.of == "returns") | .wrong] == [0]'
done

# what the rows say of directions and kinds
trod mix --format json "$examples/sum.trace.zip" | jq -c '[.branches[] | select(.branch | test("taken|cond")) | .instructions] | add' >want
trod branches --format json "$examples/sum.trace.zip" | jq -c '[.kinds[] | select(.kind == "conditional") | .executions] | add' >got
last="kinds of sum.trace.zip"
same want got

# An instruction set that is named late: the opcodes before are of it, for every number of threads and
# predictors. One that is named behind more rows than are looked at is not known before; the outcome is
# the same for all.
late() { # ROWS: branches to the next instruction, then moves that say A64, then branches again
    awk -v n="$1" 'BEGIN { for (i = 1; i <= n + 11000; i++)
        printf("%d clk cpu0 IT (%d) %08x %s\n", i, i, 32768 + 4 * (i % 50),
               i > n && i <= n + 1000 ? "d2800021 O EL1h_n : MOV x1,#1" : "54000020") }'
}
late 30000 >late.tarmac
trod mix --format json late.tarmac | jq '[.categories[] | select(.category == "conditional branch") | .instructions] | add' >want
check test "$(cat want)" = 40000
for options in '--predictors taken' '--predictors bimodal,local,tage' '--order time' '--interval 1000'; do
    for jobs in 1 2 3; do
        # shellcheck disable=SC2086 # several words
        run trod branches -j $jobs $options --format json late.tarmac
        status 0
        jq ".branches + .unresolved" "$stdout" >got
        same want got
    done
done
run trod phases -j 1 --format json late.tarmac
cp "$stdout" one
run trod phases -j 3 --format json late.tarmac
out_is one
late 1050000 >later.tarmac
run trod branches -j 1 --predictors taken,local --format json later.tarmac
status 0
cp "$stdout" one
json '.branches >= 10000 and .branches < 1060000'
for jobs in 2 3; do
    run trod branches -j $jobs --predictors taken,local --format json later.tarmac
    out_is one
done
rm later.tarmac

# program flow without instructions: direct and indirect branches,
cat >flow.tarmac <<'T'
1 clk cpu0 FD (1) 00008000 00009000 O
2 clk cpu0 FI (2) 00009010 00008004 O
3 clk cpu0 FD (3) 00008000 00009000 O
T
run trod branches --from tarmac --format json flow.tarmac
status 0
json '[.kinds[] | [.kind, .executions, .taken]] == [["jump", 2, 2], ["indirect", 1, 1]]'

# Arm: a return that depends on a condition may not be taken
awk 'function i(pc, op) { n++; printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s A svc_ns : X\n", n, n, pc, pc, op }
     BEGIN { i(32768, "e12fff1e"); i(36864, "012fff1e"); i(36868, "e1a00000") }' >cond.tarmac # bx lr; bxeq lr; nop
run trod branches --format json cond.tarmac
status 0
json '[.kinds[] | [.kind, .executions, .taken]] == [["return", 2, 1]]'

# threads, files, parts
mkdir two
cp loops.tarmac two/a.tarmac
cp "$examples/hello.tarmac" two/b.tarmac
for jobs in 1 2 4; do
    run trod branches -j $jobs --format json two/a.tarmac two/b.tarmac
    status 0
    cp "$stdout" two.$jobs
    run trod branches -j $jobs --interval 100 --format json loops.tarmac
    cp "$stdout" cut.$jobs
done
same two.1 two.2
same two.1 two.4
same cut.1 cut.2
same cut.1 cut.4
check jq -e '[.interval_predictors[] | select(.predictor == "btfn") | .instructions_end] == [100, 200, 300, 331]' cut.1
check jq -e '([.interval_predictors[].wrong] | add) == ([.predictors[].wrong] | add)' cut.1
check jq -e '([.interval_predictors[] | select(.predictor == "btfn") | .branches] | add) == 150' cut.1
# a thread that begins later has intervals from then on; those of all are those without --by
run trod branches --interval 20 --format json "$examples/sum.trace.zip" "$examples/sum.trace.zip"
jq -c '.interval_predictors' "$stdout" >want
run trod branches --interval 20 --by thread --format json "$examples/sum.trace.zip" "$examples/sum.trace.zip"
jq -c '.interval_predictors' "$stdout" >got
same want got
json '[.streams[].interval_predictors | [.[0].interval, .[-1].interval]] == [[0, 4], [2, 4]]'
json '([.streams[].interval_predictors[].branches] | add) == ([.predictors[].branches] | add)'
for part in 0 1; do
    run trod run --part $part/2 --save part.$part branches two/a.tarmac two/b.tarmac
    status 0
done
run trod run --format json branches two/a.tarmac two/b.tarmac
jq -S . "$stdout" >want
run trod merge --format json part.0 part.1
status 0
jq -S . "$stdout" >got
last="trod merge"
same want got
run trod branches --by thread --format json loops.tarmac
json '[.streams[].branches] == [150]'
# predictors stay warm: behind the first 100 instructions the outer loop ends once
run trod branches --warmup 100 --predictors bimodal --format json loops.tarmac
json '.instructions == 231 and .predictors[0].wrong == 22'

# damaged and empty
head -c 700 "$examples/hello.tarmac" >cut.tarmac
run trod branches cut.tarmac
check test "$got" -le 2
: >empty.tarmac
run trod branches --from tarmac empty.tarmac
check test "$got" -le 2
head -c 500 "$examples/sum.trace.zip" >cut.zip
run trod branches cut.zip
status 2
run trod branches "$examples/boot.byu6"
check test "$got" -le 2
# nothing says what is a branch: of a trace without opcodes and of a table without the columns
printf 'I  1000,4\nI  1004,4\nI  1000,4\nI  1004,4\n' >unsaid.lackey
printf 'kind,addr,size\nINSTR,0x1000,4\nINSTR,0x1004,4\nINSTR,0x1000,4\n' >unsaid.csv
for file in unsaid.lackey unsaid.csv; do
    run trod branches --format json $file
    status 0
    json '.branches == 0 and (.note | test("does not say which instructions are branches"))'
done
run trod branches --format json "$TROD_SOURCE/examples/sum.trace.zip"
json '.note == null'
finish

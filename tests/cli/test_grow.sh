# test_grow.sh - a trace that a model is still writing: indexes are made and continued of what is there, questions are
# answered as of all that is there, with an index of less as well, and the browser goes on.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
. "$TROD_SOURCE/tests/cli/browser.sh"

# lines FROM TO: what the model writes; calls, registers and memory
lines() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i <= to; i++) {
        k = i % 7; pc = 32768 + 4 * k + (k > 2 && k < 5 ? 4096 : 0)
        printf "%d clk IT (%d) %08x %s A svc_s : X\n", i, i, pc,
            k == 2 ? "eb0003fe" : k == 4 ? "e12fff1e" : k == 6 ? "eafffff8" : "e1a00000"
        if (k == 2) printf "%d clk R r14_svc %08x\n", i, pc + 4
        printf "%d clk R r%d %08x\n", i, i % 5, i * 37
        if (i % 3 == 0) printf "%d clk MW4 %08x %08x\n", i, 65536 + 4 * (i * 7919 % 3000), i } }'
}

# questions OPTION: what is asked, of the trace as it is
questions() {
    local rows
    rows=$(trod info --format json g.tarmac | jq '.. | .rows? // empty' | head -1)
    for at in 100 $((rows / 3)) $((rows / 2)) $((rows - 5)) end 0x9010:5000; do
        trod state $1 --at $at --memory 0x10000..0x1003f g.tarmac
        trod who $1 --register r3 --before $at --count 3 g.tarmac
        trod who $1 --memory 0x10100..0x10103 --after $at g.tarmac
    done
    trod find $1 --format csv g.tarmac 'value == 37037 || value == 1850000'
    trod calls $1 g.tarmac
    trod view $1 --range $((rows - 20)).. g.tarmac
    trod count $1 --region $((rows - 3000))..$((rows - 10)):rows --interval 500 g.tarmac
    trod cache $1 --skip 30000 g.tarmac
}

lines 1 40000 >g.tarmac
run trod index -q g.tarmac
status 0
from=40001
for to in 40001 60000 60010 110000; do
    lines $from $to >>g.tarmac
    from=$((to + 1))
    questions --no-index >want 2>want.err
    check test ! -s want.err
    questions '' >got 2>got.err # the index is of less: it is said, and all is read
    check cmp want got
    check grep -q "is not used: the trace has grown since" got.err
    run trod index g.tarmac
    status 0
    questions '' >got 2>got.err
    check cmp want got
    check test ! -s got.err
done
cp g.tarmac fresh.tarmac
trod index -q fresh.tarmac
same <(trod index --info --format json fresh.tarmac | jq '.traces[0] | [.rows, .instructions, .blocks, .activations]') \
    <(trod index --info --format json g.tarmac | jq '.traces[0] | [.rows, .instructions, .blocks, .activations]')

# while it is written: a line may be there in part
(for ((n = 0; n < 60; n++)); do
    lines $((110001 + n * 500)) $((110500 + n * 500)) | dd bs=777 status=none
    sleep 0.02
done >>g.tarmac) &
writer=$!
while kill -0 $writer 2>/dev/null; do
    run trod index -q g.tarmac
    status 0
    run trod state --at end -q g.tarmac
    [[ $got == 0 ]] || err_has 'cut off' # where the last line is not whole yet
    run trod find --count g.tarmac 'kind == INSTR'
    check test "$(awk '/^found/ { print $2 }' "$stdout")" -ge 110000
done
wait $writer
run trod index -q g.tarmac
questions --no-index >want
questions '' >got
check cmp want got

# the browser, with no index, while the trace grows: what it shows is there, and it ends in order
rm g.tarmac.trodx
lines 1 50000 >g.tarmac
browser 110 20 g.tarmac
shows '0 .* INSTR  0x00008004'
lines 50001 90000 >>g.tarmac
keys End
shows '(row [0-9]+ of [0-9]+  100%|the trace has grown since)' # what is told of the index may take the line
ask g 0x9010:11000 # behind what was there at first
shows '(>.*INSTR  0x00009010|no place)'
keys q
over 0
browser 110 20 g.tarmac
shows '0 .* INSTR  0x00008004'
shows indexed
ask g 0x9010:11000
shows '>.*INSTR  0x00009010'
keys q
over 0
finish

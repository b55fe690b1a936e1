# test_nothing.sh - options that leave nothing to count say so, once, with what to do; in JSON too.
. "$TROD_SOURCE/tests/cli/lib.sh"
examples=$TROD_SOURCE/examples

# nothing KEY REGEX ARGUMENT...: all counts are zero, one line says why, and so does KEY of the result
nothing() {
    run trod "${@:3}" --format json
    status 0
    err_has "^trod: warning: $2"
    check test "$(wc -l <"$stderr")" = 1
    json "[.. | objects | .$1 // empty | strings] | unique | length == 1 and (.[0] | test(\"$2\"))"
    json '[(.references, .instructions, .total?.rows) | numbers] | add == 0'
}
for file in "$examples"/{sum.trace.zip,hello.tarmac,hello.din,boot.byu12,mips.trace}; do
    cp "$file" .
    file=${file##*/}
    none=false
    case $file in boot*) none=true ;; esac
    for jobs in 1 4; do
        nothing note 'nothing is counted: .*--warmup$' cache -j $jobs --warmup rows:5000 "$file"
        nothing measure_note 'none of the rows .* begins with row 5000' count -j $jobs --region 5000..:rows "$file"
        nothing measure_note '.* ended within the warm-up .* 5000 rows' count -j $jobs --warmup 5000:rows "$file"
        if $none; then
            nothing note '.*--skip.* instructions, of which the trace has none; --range' cache -j $jobs --skip 1 "$file"
            nothing note '.*--windows.* instructions, of which the trace has none' cache -j $jobs --windows 9,1,1 "$file"
            nothing note '.*--warmup rows:N counts rows' cache -j $jobs --warmup 1 "$file"
            nothing measure_note '.* no instructions .*--region FROM..TO:rows' count -j $jobs --region 1..5 "$file"
            nothing measure_note '.* no instructions .*--warmup N:rows' count -j $jobs --warmup 1 "$file"
        else
            nothing note '.* ended within --skip' cache -j $jobs --skip 5000 "$file"
            nothing note '.* ended before the first of --windows' cache -j $jobs --windows 5000,1,1 "$file"
            nothing note '.* ended within --warmup' cache -j $jobs --warmup 5000 "$file"
            nothing measure_note 'none of the rows .* instruction 5000' count -j $jobs --region 5000.. "$file"
            nothing measure_note '.* ended within the warm-up .* 5000 instructions' count -j $jobs --warmup 5000 "$file"
        fi
    done
    run trod cache --where 'addr == 1' "$file"
    status 0
    err_has 'warning: none of the [0-9,]* rows read matches'
    run trod cache --sweep size=1K,ways=1,line=64 --warmup 5000 --format json "$file"
    json '.note | test("nothing is counted")'
    err_has 'warning: nothing is counted'
    # what is not longer than the trace says nothing
    run trod cache --warmup rows:5 --format json "$file"
    err </dev/null
    json 'has("note") | not'
    run trod count --region 2..3:rows --format json "$file"
    err </dev/null
    json '.total.rows == 2 and (has("measure_note") | not)'
done

# With an index, too, nothing is counted behind the end, where there are instructions enough to skip some.
run trod gen cyclic:lines=1000,laps=20 big.trace
run trod index big.trace
check test -s big.trace.trodx
n=$(trod count --format json big.trace | jq .total.fetched_instructions)
nothing measure_note "none of the rows .* instruction $((n + 1))" count --region $((n + 1)).. big.trace
nothing measure_note "none of the rows .* instruction $((9 * n))" count --region $((9 * n))..$((10 * n)) big.trace
nothing measure_note '(none of the rows|the trace has no rows).* region' count --region 900000..:rows big.trace
nothing note '.* ended within --skip' cache --skip "$n" big.trace
run trod count --region "$n".. --format json big.trace
err </dev/null
json '.total.fetched_instructions == 1'
run trod index hello.tarmac
run trod view --range 5000.. hello.tarmac
status 0
err <<<'trod: hello.tarmac: warning: none of the rows that were read matches the options that choose rows'

# An empty trace is empty without an option.
: >empty.tarmac
run trod count --from tarmac --warmup 5 empty.tarmac
err </dev/null
finish

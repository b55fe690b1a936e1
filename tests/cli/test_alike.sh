# test_alike.sh - what is printed of traces with files that cannot be read, and of runs without rows,
# does not depend on the number of threads: results, messages and the exit status.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# alike STATUS ARGUMENT...: trod run with these ends with STATUS for every number of threads
alike() {
    local want=$1 jobs
    shift
    run trod run -j 1 "$@"
    status "$want"
    cp "$stdout" one
    cp "$stderr" one.err
    for jobs in 2 3; do
        run trod run -j $jobs "$@"
        status "$want"
        out_is one
        same one.err "$stderr"
    done
}

# ---- --strict ends with the first file that cannot be read, wherever it stands
awk 'BEGIN { for (i = 0; i < 6000; i++) printf "%c", 33 + i * i % 90 }' >junk.byu6
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d clk cpu0 IT (%d) %08x d503201f O EL1h_n : NOP\n", i, i + 1, 4096 + 4 * i }' >good.tarmac
cp good.tarmac more.tarmac
alike 2 count --format json junk.byu6 good.tarmac more.tarmac
jq -e '.total.rows == 600' one >/dev/null || echo "without --strict: all that can be read" | wrong
for files in "junk.byu6 good.tarmac more.tarmac" "good.tarmac junk.byu6 more.tarmac"; do
    rows=0
    for file in $files; do
        [[ $file != junk* ]] || break
        rows=$((rows + $(wc -l <$file)))
    done
    alike 2 count --strict --format json $files
    check jq -e ".total.rows == $rows" one
    check grep -q '^trod: junk.byu6: format not recognised' one.err
    run trod view --strict $files
    status 2
    check test "$(wc -l <"$stdout")" = $rows
done
run trod view --strict --order time junk.byu6 good.tarmac more.tarmac
status 2
out </dev/null

# ---- an analysis that refuses the format: the file that could not be read is named all the same
cp "$examples/boot.byu12" bus.byu12
for plan in flame calls; do
    alike 2 $plan junk.byu6 bus.byu12
    check grep -q '^trod: junk.byu6: format not recognised' one.err
    check grep -q 'traces of format byu12 have no instructions' one.err
done

# ---- no row at all: streams that have none are in no table, however far threads have read
alike 0 info,flame --interval 10:rows --where 'value==123456789012' --format json "$examples/hello.tarmac"
check jq -e '.info | has("streams") | not' one

# ---- a saved state knows the cpus of its streams
run trod run -j 1 --format json info,locality bus.byu12
cp "$stdout" want
json '[.info.streams[].cpu] | length > 0 and all(. != null)'
run trod run info,locality --part 0/1 --save state bus.byu12
status 0
run trod merge --format json state
status 0
out_is want
finish

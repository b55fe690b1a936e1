# test_interrupt.sh - Ctrl-C and SIGTERM end the reading: results are those of what was read and say so, the exit
# status is 2, and what else was to be written is not there.
. "$TROD_SOURCE/tests/cli/lib.sh"

awk 'BEGIN { for (n = 1; n <= 30000; n++) {
    printf "%d clk cpu0 IT (%d) %08x:%012x_NS b9400000 O EL1h_n : LDR\n", n, n, 4096 + n * 4, 4096 + n * 4
    printf "%d clk cpu0 MR4 %08x 00000000\n", n, 65536 + n * 4 } }' >part.tarmac
mkfifo pipe

# interrupted SIGNAL ARGUMENT...: the trace comes through a pipe that stays open
interrupted() {
    local ended=false signal=$1
    shift
    env --default-signal=INT "$TROD" "$@" pipe >"$stdout" 2>"$stderr" &
    local pid=$!
    exec 3>pipe
    cat part.tarmac >&3
    sleep 0.5
    kill -"$signal" $pid
    for _ in {1..300}; do
        kill -0 $pid 2>/dev/null || { ended=true && break; }
        sleep 0.1
    done
    exec 3>&-
    last="trod $*, SIG$signal"
    $ended || kill -KILL $pid
    got=0
    wait $pid || got=$?
    err_has '^trod: warning: interrupted: results are those of what was read'
}
for jobs in 1 2; do
    interrupted INT cache -j $jobs --format json
    status 2
    json '.partial and .instructions > 1000 and .references > .instructions'
    interrupted TERM count -j $jobs --format json
    status 2
    json '.partial and .total.rows > 1000'
    interrupted INT check -j $jobs --format json
    status 2
    json '.partial and .total == 0'
    interrupted INT info -j $jobs --format json
    status 2
    json '.files[0] | .partial and .rows > 1000'
done
interrupted TERM check
status 2
out_has '0 findings in what was read$'
interrupted INT check --format junit
status 2
out_has 'errors="1"'
out_has '<error message="interrupted'
interrupted INT cache --misses misses.csv
status 2
err_has "interrupted: 'misses.csv' was not written"
check test ! -e misses.csv
interrupted INT cache --like dinero --with '-l1-usize 8K -l1-ubsize 32'
status 2
interrupted INT mix -o result.json --format json
status 2
cp result.json "$stdout"
json '.partial and .instructions > 1000'
interrupted INT info hello.tarmac pipe
status 2
err_has 'interrupted: what comes behind it was not read: 1 file'
# shellcheck disable=SC2012 # names of our own
check test "$(ls | tr '\n' ' ')" = 'part.tarmac pipe result.json '
finish

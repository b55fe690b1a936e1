# test_terminal.sh - what happens on a terminal: progress and its erasure, the pager, Ctrl-C in it.
. "$TROD_SOURCE/tests/cli/lib.sh"
have script jq

# script(1) may miss the end of its child: it is not waited for without end, and gets a second chance
raw_terminal() {
    local i
    for i in 1 2; do
        TERM=xterm timeout 5 script -qec "stty cols 80 rows 20; $*" /dev/null </dev/null >raw
        [[ $? == 124 ]] || break
    done
    cat raw
}
on_terminal() {
    raw_terminal "$@" | tr -d '\r'
}
[ "$(on_terminal 'test -t 1 && echo yes')" = yes ] || { echo "skipped: no terminals here"; exit 77; }
hello=$TROD_SOURCE/examples/hello.tarmac
erase=$(printf '\r\033[K')

# rows that come slowly: the first half second is silent, then there is progress, which goes away
slow="{ cat '$hello'; yes '20 clk R X0 0000000000000001' | head -n 20000; sleep 1; cat '$hello';
    yes '20 clk R X0 0000000000000001' | head -n 20000; }"
run raw_terminal "$slow | '$TROD' info --no-color --no-pager --from tarmac -"
out_has ' M rows, .* M rows/s, .* MB/s'
shown=$(cat "$stdout")
check test "$shown" != "${shown%"$erase"*}" # it was erased,
rest=${shown##*"$erase"} # and behind that is the whole result
check grep -q 'format: *tarmac' <<<"$rest"
check bash -c "! grep -q 'M rows/s' <<<\"\$1\"" sh "$rest"
out_has 'format: *tarmac'
# long reports go through the pager, short ones do not
for command in "count --detail list" info "compare $hello"; do
    run on_terminal "TROD_PAGER='sed s/^/paged:/' '$TROD' $command '$hello'"
    case $command in
    compare*) out_not '^paged:' ;;
    *) out_has '^paged:' ;;
    esac
    run on_terminal "TROD_PAGER='sed s/^/paged:/' '$TROD' $command --no-pager '$hello'"
    out_not '^paged:'
done
sed 's/ R X\([0-9]*\) 0000/ R X\1 0001/' "$hello" >other.tarmac
run on_terminal "TROD_PAGER='sed s/^/paged:/' '$TROD' compare '$hello' other.tarmac"
out_has '^paged:.*difference'
run on_terminal "TROD_PAGER='sed s/^/paged:/' '$TROD' formats byu6 --format json"
out_has 'byu6'

# Ctrl-C is the pager's: more rows than a pipe holds still come after it
{ cat "$hello"; yes '20 clk R X0 0000000000000001' | head -n 20000; echo '99 clk R X30 0000000000000099'; } >long.tarmac
cat >pager <<'EOP'
#!/bin/sh
trap '' INT
kill -INT "$1"
sleep 0.3
tail -n 1
EOP
chmod +x pager
run on_terminal "TROD_PAGER='./pager \$PPID' '$TROD' view --no-color long.tarmac"
out_has 'X30'
finish

#!/usr/bin/env bash
# What goes wrong outside: damaged containers, closed descriptors, interrupted and failing runs, few descriptors, pipes and
# changing files beside a trace.
. "$TROD_SOURCE/tests/cli/lib.sh"
hello=$TROD_SOURCE/examples/hello.tarmac

# --- an error of a container reaches the user in every command, with the name of the filter
for ((i = 0; i < 300; i++)); do cat "$hello"; done >many.tarmac
declare -A word=([gz]=gzip [zst]=zstd [lz4]=lz4 [xz]=xz [sz]=snappy)
for suffix in "${!word[@]}"; do
    run trod convert -q many.tarmac whole.tarmac."$suffix"
    status 0
    size=$(stat -c %s whole.tarmac."$suffix")
    # damage that a checksum or the structure shows: the end is cut off; for snappy, a frame of which nothing is known
    head -c $((size * 2 / 3)) whole.tarmac."$suffix" >cut.tarmac."$suffix"
    bad=(cut.tarmac."$suffix")
    if [[ $suffix == sz ]]; then
        { cat whole.tarmac.sz && printf '\x44\x04\0\0abcd'; } >frame.tarmac.sz
        bad+=(frame.tarmac.sz)
        # the last line is cut by the damage, too
        { head -c $((size / 2)) whole.tarmac.sz && printf '\x44\x04\0\0abcd'; } >inside.tarmac.sz
        bad+=(inside.tarmac.sz)
    fi
    for f in "${bad[@]}"; do
        for command in info view count sync; do
            run trod $command -f tarmac "$f"
            status 2
            err_has "${word[$suffix]} data is"
        done
        run trod compare -f tarmac "$f" "$f"
        status 2
        err_has "${word[$suffix]} data is"
        run trod convert -f tarmac "$f" out.tarmac
        status 2
        err_has "${word[$suffix]} data is"
        run trod check -f tarmac "$f"
        check test "$got" != 0
        cat "$stdout" "$stderr" >both
        has both "${word[$suffix]} data is"
    done
done

# --- standard descriptors that are closed do not become files
run trod convert "$hello" want.tarmac
(trod convert "$hello" closed.tarmac <&- >&- 2>&-)
check test $? = 0
check cmp want.tarmac closed.tarmac
(trod convert "$hello" closed.tarmac --format json <&- >&-) 2>/dev/null
check cmp want.tarmac closed.tarmac

# --- folders appear whole or not at all
mkdir many
# thread TID: a small trace
entry() { printf '%b' "$(printf '\\x%02x\\x00\\x%02x\\x00\\x%02x\\x%02x\\x00\\x00\\x00\\x00\\x00\\x00' "$1" "$2" \
    $(($3 & 255)) $(($3 >> 8)))"; }
thread() {
    entry 25 0 7
    entry 28 12 7
    entry 28 9 $((0x440))
    entry 22 4 "$1"
    entry 24 4 7
    entry 28 10 64
    entry 28 20 1000
    entry 28 18 4096
    entry 28 2 $((1000 + $1))
    entry 28 3 1
    entry 10 2 $((0x1000))
    entry 23 4 "$1"
    entry 26 0 0
}
for ((i = 1; i <= 40; i++)); do thread $i >"many/drmemtrace.x.$(printf %05d $i).0001.trace"; done
run trod convert many all
status 0
check test "$(find all -name 'drmemtrace.*' | wc -l)" = 40
# few descriptors are enough
(ulimit -n 12 && trod convert many few -q -j 1) 2>few.err
check test $? = 0
check diff -r all few
(ulimit -n 12 && trod convert --order time many few2 -q -j 1) 2>few.err
check test $? = 0
check test "$(find few2 -name 'drmemtrace.*' | wc -l)" = 40
# a folder that is there and empty keeps its place, one that is not empty is refused
mkdir there
run trod convert many there
status 0
check diff -r all there
run trod convert many there
status 2
err_has 'is not empty'
# a run that fails leaves nothing, and the next one works
printf 'cut' >>many/drmemtrace.x.00030.0001.trace
run trod convert --strict many failed
status 2
check test ! -e failed
check test -z "$(find . -name '.trod-*')"
thread 30 >many/drmemtrace.x.00030.0001.trace
run trod convert --strict many failed
status 0
check diff -r all failed
# so does one that is interrupted: it waits for more of a pipe
for signal in INT TERM HUP; do
    mkfifo pipe
    { cat many/drmemtrace.x.00001.0001.trace; exec sleep 60; } >pipe &
    feeder=$!
    env --default-signal=INT "$TROD" convert -f drmemtrace many/drmemtrace.x.0000[2-9]* pipe stopped -q \
        2>/dev/null &
    job=$!
    for ((i = 0; i < 100; i++)); do
        [[ -n $(find . -path './.trod-*/trace' -print -quit) ]] && break
        sleep 0.05
    done
    check test -n "$(find . -name '.trod-*' -print -quit)"
    kill -"$signal" $job
    wait $job
    check test $? -gt 128
    kill $feeder 2>/dev/null
    wait $feeder 2>/dev/null
    rm pipe
    check test ! -e stopped
    check test -z "$(find . -name '.trod-*')"
done

# --- a name that means no format, or several, is not guessed at
for name in x.xyz x.json.gz x.abc; do
    run trod convert "$hello" $name
    status 2
    err_has "is no suffix of a format.*tarmac.*--to"
    run trod record -o $name -- /bin/true
    status 125
    err_has "is no suffix of a format"
    check test ! -e $name
done
run trod convert "$hello" x.trace
status 2
err_has "several formats.*matcher, drmemtrace"
run trod convert "$hello" x.csv --to tarmac
status 0

# --- files beside a trace must be files: nothing waits for a pipe
mkdir -p beside/trace
cp all/trace/drmemtrace.* beside/trace
for name in modules.log funclist.log v2p.textproto encodings.bin serial_schedule.bin; do
    mkfifo beside/trace/$name
    run timeout 30 "$TROD" view beside
    check test "$got" -lt 3
    run timeout 30 "$TROD" check beside
    check test "$got" -lt 3
    run timeout 30 "$TROD" view --order recorded beside
    check test "$got" -lt 3
    rm beside/trace/$name
done
mkfifo beside/trace/modules.log
run timeout 30 "$TROD" view beside
err_has "cannot read list of modules.*no regular file"
finish

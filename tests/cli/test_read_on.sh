# test_read_on.sh - a text trace in a damaged archive, or in damaged frames: what is good before and behind the damage is
# read, from files and from pipes, on any number of threads, and half a line is no record.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format tarmac

lines=$(fewer 20000 6000) # instructions in each of three parts, with a register each
for part in 0 1 2; do
    awk -v lines="$lines" -v part=$part 'BEGIN {
        for (i = part * lines; i < (part + 1) * lines; i++) {
            printf "%d clk cpu0 IT (%d) %06d00 d503201f O EL1h_n : NOP\n", i + 1, i + 1, i
            printf "%d clk cpu0 R X1 %08d%08d\n", i + 1, 7919 * i % 99999989, i
        }
    }' >part.$part
done
cat part.? >t.tarmac
"$TROD" view --format csv t.tarmac | sed 's/^[^,]*,//' | sort >good.rows

# no_others FILE: the rows of FILE are among those of the good trace
no_others() {
    "$TROD" view --format csv "$1" 2>/dev/null | sed 's/^[^,]*,//' | sort >rows
    comm -23 rows good.rows >others
    check test ! -s others
}

# ---- cut anywhere in the last line: it is no other one
if command -v zip >/dev/null; then
    zip -q good.zip part.0 part.1 part.2
    size=$(wc -c <good.zip)
    for ((at = size / 2; at < size / 2 + 60; at += 3)); do
        head -c $at good.zip >cut.zip
        no_others cut.zip
    done
fi
if command -v gzip >/dev/null; then
    gzip -c t.tarmac >good.tarmac.gz
    size=$(wc -c <good.tarmac.gz)
    for ((at = size / 2; at < size / 2 + 60; at += 3)); do
        head -c $at good.tarmac.gz >cut.tarmac.gz
        no_others cut.tarmac.gz
    done
fi

# rows OF: how many a count gave
rows() {
    jq .total.rows "$1"
}

# ---- damage where the second of three begins, so that nothing wrong is decoded of it
least=$((4 * lines - 2)) most=$((4 * lines))
for tool in 'zip .zip' 'gzip .gz' 'zstd .zst' 'lz4 .lz4' 'xz .xz'; do
    set -- $tool
    command -v $1 >/dev/null || continue
    if [[ $1 == zip ]]; then
        zip -q -X bad.tarmac.zip part.0 part.1 part.2 # -X: no extra fields between the name and the data
        at=$(grep -abo -m 1 part.1 bad.tarmac.zip | head -1)
        at=$((${at%%:*} + 6))
    else
        for part in part.?; do
            $1 -q -c <$part
        done >bad.tarmac$2
        at=$(($($1 -q -c <part.0 | wc -c) + 10)) # behind the least of a header
    fi
    size=$(wc -c <bad.tarmac$2)
    bytes $(printf 'ff %.0s' {1..40}) | dd of=bad.tarmac$2 bs=1 seek=$at conv=notrunc 2>/dev/null
    run trod count -j 1 --footprint none --format json bad.tarmac$2
    status 2
    n=$(rows "$stdout")
    check test "$n" -ge $least -a "$n" -le $most
    check grep -q 'is read on at compressed offset\|zip member' "$stderr"
    cp "$stdout" want
    cp "$stderr" want.err
    for jobs in 2 3; do
        run trod count -j $jobs --footprint none --format json bad.tarmac$2
        status 2
        out_is want
        err <want.err
    done
    { head -c $((size / 3)) bad.tarmac$2; sleep 0.1; tail -c +$((size / 3 + 1)) bad.tarmac$2; } |
        "$TROD" count --footprint none --format json - >out 2>pipe.err
    check test "$(rows out)" = "$n"
    check grep -q 'is read on at compressed offset\|zip member' pipe.err
done
finish

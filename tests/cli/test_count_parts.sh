# test_count_parts.sh - one archive, parted among threads by its chunks, counts as it does in one go.
. "$TROD_SOURCE/tests/cli/lib.sh"

# 200,000 instructions and some accesses; chunks of 80,000 are larger than a window
awk 'BEGIN {
    for (i = 0; i < 200000; i++) {
        printf "%d clk IT (%d) %08x %s O EL1h_n : X\n", i, i + 1, 65536 + 4 * i,
               i % 3 ? "d503201f" : "f9400001"
        if (i % 3 == 0)
            printf "%d clk MR8 %08x 00000000_00000001\n", i, 8388608 + i * 8 % 65536
    }
}' >t.tarmac
run trod convert t.tarmac t.trace.zip --to drmemtrace:chunk=80000 --allow-loss
status 0
run trod check t.trace.zip
status 0
run trod count -j 1 --format json t.trace.zip
status 0
cp "$stdout" one
check test "$(jq .total.fetched_instructions one)" = 200000
check test "$(jq .total.data_loads one)" = 66667
for jobs in 2 3 5 16; do
    run trod count -j $jobs --format json t.trace.zip
    status 0
    same one "$stdout"
done

# text, parted at lines: the same numbers, and problems with the lines and records of the whole file
{
    head -n 100000 t.tarmac
    echo '12 clk IT (x) zz'
    tail -n +100001 t.tarmac
    echo '13 clk IT (y) zz'
} >bad.tarmac
check test "$(wc -c <bad.tarmac)" -gt 8388608 # two pieces or more
run trod count -j 1 --format json bad.tarmac
status 2
cp "$stdout" one
cp "$stderr" one.err
err_has '^trod: bad.tarmac:100001: '
err_has '^trod: bad.tarmac:266669: '
for jobs in 2 3 16; do
    run trod count -j $jobs --format json bad.tarmac
    status 2
    same one "$stdout"
    same one.err "$stderr"
done
finish

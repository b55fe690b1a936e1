# test_order_columns.sh - records merged by time say what they say in their files, the first ones too.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format tarmac
for f in 0 1 2; do
    awk -v f=$f 'BEGIN {
        for (i = 0; i < 3000; i++)
            printf "%d clk cpu%d IT (%d) %08x d503201f O EL1h_n : NOP\n", 3 * i + f, f, i + 1,
                   4096 + f * 65536 + 4 * i
    }' >t$f.tarmac
done
for order in file time; do
    run trod count --order $order --format json t0.tarmac t1.tarmac t2.tarmac
    status 0
    json '.total.fetched_instructions == 9000 and .total.unique_fetched_instructions == 9000'
done

# records that say no cpu
for f in 0 1; do
    awk -v f=$f 'BEGIN {
        for (i = 0; i < 3000; i++)
            printf "%d clk MR8 %08x 00000000_00000000\n", 2 * i + f, 4096 + f * 65536 + 8 * i
    }' >n$f.tarmac
done
for order in file time; do
    run trod count --order $order --format json n0.tarmac n1.tarmac
    status 0
    json '.total.data_loads == 6000'
done
finish

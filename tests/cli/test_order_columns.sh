# test_order_columns.sh - records merged by time say what they say in their files, the first ones too, and their numbers.
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

# times have units and decimals; the numbers that instructions are stated to have stay theirs
nop() {
    printf '%s IT (%s) %s d503201f O EL1h_n : NOP\n' "$@"
}
nop '1 us cpu0' 1 00008000 '2 us cpu0' 2 00008004 >u0.tarmac
nop '500 ns cpu1' 501 00009000 '1500.0 ns cpu1' 502 00009004 >u1.tarmac
paste -d '\n' u1.tarmac u0.tarmac >merged
run trod view --order time --format json u0.tarmac u1.tarmac
status 0
check jq -se '[.[].index] == [501, 1, 502, 2]' "$stdout"
run trod view --order time --format json --instructions 2..501 u0.tarmac u1.tarmac
check jq -se '[.[].index] == [501, 2]' "$stdout"
run trod find --order time --format json u0.tarmac u1.tarmac 'index == 502'
status 0
json '.index == 502 and .record == 2'
run trod convert -q --order time --to tarmac u0.tarmac u1.tarmac -
status 0
out_is merged
# each record is written anew
run trod convert -q --order time --to tarmac --allow-loss --where 'kind == INSTR' u0.tarmac u1.tarmac -
status 0
through sed -n 's/.*IT (\([0-9]*\)).*/\1/p'
out <<'EOF'
501
1
502
2
EOF
run trod waves -q u0.tarmac u1.tarmac -o x.vcd
status 0
err </dev/null
for at in 501,0 502,2; do
    run trod state --order time --format json --at "insn:${at%,*}" u0.tarmac u1.tarmac
    status 0
    json ".at.row == ${at#*,}"
done
finish

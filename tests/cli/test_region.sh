# test_region.sh - --region between places, and regions at the edges: what is counted are the rows that awk finds.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

# A loop of ten instructions on two cpus; every third one writes, every seventh sets a register, times go back once.
awk 'BEGIN { for (i = 1; i <= 100; i++) {
    t += i == 60 ? -47 : 3; cpu = "cpu" i % 2
    printf "%d clk %s IT (%d) %08x d503201f O EL1h_n : NOP\n", t, cpu, (i + 1) / 2, 32768 + 4 * (i % 10)
    if (i % 3 == 0) printf "%d clk %s MW4 %08x %08x\n", t, cpu, 4096 + 4 * i, i
    if (i % 7 == 0) printf "%d clk %s R X1 %016x\n", t, cpu, i
} }' >t.tarmac
total=$(wc -l <t.tarmac)

# region FROM TO REGION ARG...: lines FROM to TO (from 1) are counted
region() {
    local from=$1 to=$2 kinds
    kinds=$(sed -n "$from,${to}p" t.tarmac | awk '{ n[$4 == "IT" ? "INSTR" : $4 == "R" ? "REG" : "WRITE"]++ }
        END { printf "%d %d %d", n["INSTR"], n["WRITE"], n["REG"] }')
    run trod run count --format json --region "${@:3}" t.tarmac
    status 0
    check test "$(jq -r '.total.rows_by_kind | map({(.kind): .rows}) | add // {} |
        [.INSTR // 0, .WRITE // 0, .REG // 0] | join(" ")' "$stdout")" = "$kinds"
}
# visit ADDRESS K: the line of the Kth execution; the end of what belongs to it: the line before the next instruction
visit() {
    awk -v a="$1" -v k="$2" '$4 == "IT" && $6 == a && --k == 0 { print NR; exit }' t.tarmac
}
behind() {
    awk -v from="$1" 'NR > from && $4 == "IT" { print NR - 1; found = 1; exit } END { if (!found) print NR }' t.tarmac
}
for index in no yes; do
    region "$(visit 00008004 2)" "$(behind "$(visit 00008010 3)")" 0x8004:2..0x8010:3
    region "$(visit 00008004 1)" "$(behind "$(visit 00008010 1)")" 0x8004..0x8010
    region 1 "$(behind "$(visit 00008000 10)")" ..0x8000:10
    region "$(visit 0000800c 9)" $total 0x800c:9..
    region 5 "$(behind 9)" line:5..line:9
    region "$(awk '$4 == "MW4" && ++n == 2 { print NR }' t.tarmac)" "$(awk '$4 == "MW4" && ++n == 4 { print NR }' t.tarmac)" \
        kind:WRITE:2..kind:write:4
    region "$(awk '$1 >= 50 { print NR; exit }' t.tarmac)" "$(behind "$(awk '$1 >= 90 { print NR; exit }' t.tarmac)")" \
        time:50..time:90
    region "$(visit 0000800c 9)" $total 0x800c:9..end
    region 1 1 0..0:rows
    region 1 1 0:rows
    region 1 2 0..1:rows
    # with other choices places are still those of the whole trace
    from=$(visit 00008004 2) to=$(behind "$(visit 00008010 3)")
    run trod count --format json --region 0x8004:2..0x8010:3 --kind WRITE t.tarmac
    check test "$(jq .total.rows "$stdout")" = "$(sed -n "$from,${to}p" t.tarmac | grep -c MW4)"
    trod index -q t.tarmac
done
# markers and names: real traces, where they are
shared=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
f=$shared/tarmac/calculator-aarch64-fastmodel.tarmac
if [[ -r $f ]]; then
    elf=${f%-fastmodel.tarmac}.elf
    first=$(trod view --format json "$f" | jq -s --arg a "$(trod find --first --format json "$f" \
        'function == sys_open' -S "$elf" | jq -r .address)" 'map(select(.kind == "INSTR" and .address == $a))[0].record')
    run trod count --format json -S "$elf" --region sys_open..end "$f"
    status 0
    json ".total.rows == $(trod view "$f" | wc -l) - $first"
else
    echo "no real trace: names are not tried"
fi
trod gen producer:items=30,lines=3 gen.d >/dev/null
trod view --format json gen.d | jq -c 'select(.kind == "MARKER" or .kind == "SYNC")' >markers
name=$(jq -r '.type // .text' markers | sort | uniq -c | awk '$1 > 3 { print $2; exit }')
mapfile -t at < <(jq -r --arg n "$name" 'select((.type // .text) == $n) | .record' markers)
check test "${#at[@]}" -gt 3
run trod count --format json --region "marker:$name:2..marker:$name:3" gen.d
status 0
json ".total.rows == ${at[2]:-0} - ${at[1]:-0} + 1"

# accesses that come before their instruction and say its address go with it, that of the first one, too; others before
# the first instruction are of none
cat >before.csv <<'END'
kind,pc,addr,size
READ,0x1000,0x80,4
INSTR,0x1000,,4
READ,0x1004,0x90,4
READ,0x1004,0x94,4
INSTR,0x1004,,4
READ,0x1008,0x90,4
INSTR,0x1008,,4
END
counted() { # REGION READS: so many reads are counted
    for jobs in 1 2; do
        run trod run count -j $jobs --region "$1" --format json "${3:-before.csv}"
        status 0
        json "([.total.rows_by_kind[] | select(.kind == \"READ\") | .rows] | add) == $2"
    done
}
counted 1..1 1
counted 1..2 3
counted 2..2 2
counted 2..3 3
counted ..3 4
sed '2s/0x1000/0x0ffc/' before.csv >other.csv # of another one, which is not known: it is the next all the same
counted 1..1 1 other.csv
sed '2s/0x1000//' before.csv >none.csv
counted 1..1 null none.csv
run trod run count --limit 2 --format json before.csv
cp "$stdout" limited
run trod run count --region 1..2 --format json before.csv
out_is limited

# between places that are instructions it is what it is between their numbers, whatever stands before or behind them
examples=$TROD_SOURCE/examples
cp "$examples"/{sum.tt6,records.tt6e,sum.full.gz,hello.tarmac,hello.din,sum.trace.zip,hello.ptrc} . 2>"$tmp/.missing" || true
compared=0
for file in before.csv sum.tt6 records.tt6e sum.full.gz hello.tarmac hello.din sum.trace.zip hello.ptrc; do
    [[ -e $file ]] || continue
    # those that the tracer put in have a place, and no number
    n=$(trod view --format json "$file" |
        jq -s '[.[] | select(.kind == "INSTR") | (.flags // []) | index("synthetic") != null] | index(true) // length')
    for index in no yes; do
        for ends in "1 1" "1 2" "2 2" "2 3" "3 3" "$((n / 2)) $((n / 2))" "$((n / 2)) $((n - 1))" "$((n - 1)) $n" "$n $n"; do
            from=${ends% *} to=${ends#* }
            trod run count --format json --region "$from..$to" "$file" >want 2>/dev/null
            run trod run count --format json --region "insn:$from..insn:$to" "$file"
            out_is want
        done
        trod index -q "$file" 2>/dev/null || break
    done
    compared=$((compared + 1))
done
check test $compared -gt 4
run trod run count --region row:61..0x10000160:1 --format json sum.tt6 # a store is its last row
json '.total.rows_by_kind | map({(.kind): .rows}) | add == {INSTR: 3, READ: 1, WRITE: 1}'

# what lies behind the end of a region is not read: its problems are none of the run, whatever the number of threads
for i in $(seq 100); do
    printf '%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n' $((i - 1)) "$i" $((65536 + 4 * (i - 1)))
done >good.tarmac
sed '52i 12 clk IT (x) zz' good.tarmac >bad.tarmac
for analysis in branches cache mix,hot count,profile; do
    for region in '--limit 50' '--region 1..50' '--region 0..40:rows' '--region 20..99'; do
        for jobs in 1 2 3 4; do
            # shellcheck disable=SC2086 # an option and its value
            run trod run $analysis $region -j $jobs good.tarmac bad.tarmac
            status 0
            err </dev/null
            [[ $jobs -gt 1 ]] || cp "$stdout" one
            out_is one
        done
    done
    for jobs in 1 2 3; do
        run trod run $analysis --region 1..120 -j $jobs good.tarmac bad.tarmac
        status 2
        err_has '^trod: bad.tarmac:52: '
    done
done
# a file that is cut off behind the region, of more than a window
awk 'BEGIN { print "kind,pc,addr,size"; for (i = 0; i < 40000; i++) printf "INSTR,%d,,4\n", 4096 + i % 9 * 4 }' >long.csv
trod convert -q --allow-loss --to dinerob long.csv long.dinb
printf abc >>long.dinb
for limit in 33000 36000 39000; do
    for jobs in 1 2 3 4; do
        run trod run mix,hot --limit $limit -j $jobs long.dinb
        [[ $jobs -gt 1 ]] || { cp "$stderr" want && cp "$stdout" one && was=$got; }
        status "$was"
        check cmp "$stderr" want
        out_is one
    done
done

# nothing there: it is said
for r in 200..300 200..300:rows 9999..:time; do
    run trod count --region $r t.tarmac
    status 0
    err_has 'none of the rows read is in the region, which begins with (instruction|row|time) [29]'
done
# and of a warm-up
rows=$(trod count --format json t.tarmac | jq .total.rows)
for jobs in 1 2; do
    for w in 100000 100000:rows "$rows:rows"; do
        run trod locality -j $jobs --warmup $w t.tarmac
        status 0
        err_has "^trod: warning: .* ended within the warm-up .* ${w%%:*} (instructions|rows)"
    done
    run trod locality -j $jobs --warmup $((rows - 1)):rows t.tarmac
    status 0
    err </dev/null
done
# and what is no region
for r in 5..1 .. main x..9:rows 5..1:rows; do
    run trod count --region $r t.tarmac
    status 2
    err_has "option '--region': '$r' is not FROM..TO"
done
for r in 0 0..0; do
    run trod count --region $r t.tarmac
    status 2
    err_has 'they count from 1'
done
run trod count --region 0x8010..0x8004 t.tarmac
status 2
err_has "ends with row 0, before row 4 that it begins with"
run trod count --region main..end t.tarmac
status 2
err_has "'main'"
run trod count --region main..end nowhere.tarmac
status 2
err_has "cannot open 'nowhere.tarmac'"
run sh -c 'cat t.tarmac | "$TROD" count --region 0x8004..end -'
status 2
err_has 'read only once'
finish

# test_hot.sh - trod hot: loops of known trip counts, every example by the records that trod view
# shows, lines in larger blocks, saved parts, threads, functions, damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples

# Two loops, one in the other: nop; 3 x (nop; 4 x (subs; b.ne); subs; b.ne); nop
awk 'function i(pc, op) { n++
         printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, n, pc, pc, op }
     BEGIN { i(32768, "d503201f")
             for (o = 0; o < 3; o++) {
                 i(32772, "d503201f")
                 for (k = 0; k < 4; k++) { i(32776, "f1000400"); i(32780, "54ffffe1") }
                 i(32784, "f1000421"); i(32788, "54ffff81") }
             i(32792, "d503201f") }' >loops.tarmac
run trod hot --format json loops.tarmac
status 0
json '.instructions == 35 and .static_instructions == 7 and .blocks == 5 and .loops == 2'
json '[.hot_loops[] | [.head, .back, .entries, .iterations, .trips, .executed]] ==
    [["0x8004", "0x8014", 1, 3, 3, 33], ["0x8008", "0x800c", 3, 12, 4, 24]]'
json '[.hot_loops[] | [.least_trips, .most_trips]] == [[3, 3], [4, 4]]'
json '[.hot_blocks[] | [.address, .length, .executions, .executed]] ==
    [["0x8008", 2, 12, 24], ["0x8010", 2, 3, 6], ["0x8004", 1, 3, 3], ["0x8000", 1, 1, 1], ["0x8018", 1, 1, 1]]'
json '[.hot_code[:2][] | .text | split(" ")[0]] == ["subs", "b.ne"]'
json '.hot_blocks[0].share == 68.57 and .hot_blocks[-1].cumulated == 100'
json '.hot_code_lines == [{address: "0x8000", accesses: 35, share: 100, cumulated: 100}]'
run trod hot --top 1 --format json loops.tarmac
json '[.hot_loops, .hot_blocks, .hot_instructions, .hot_code_lines] | map(length) == [1, 1, 1, 1]'

# nothing says what is a branch: the same loops by their jumps back, of a trace without opcodes and of a table without the columns;
# for any number of threads and from saved parts
awk '$3 == "cpu0" { print "I  " substr($6, 5, 4) ",4" }' loops.tarmac >plain.lackey
awk 'BEGIN { print "kind,addr,size" } { split(substr($2, 1), a, ","); print "INSTR,0x" a[1] ",4" }' plain.lackey >plain.csv
for file in plain.lackey plain.csv; do
    for jobs in 1 3; do
        run trod hot --format json -j $jobs $file
        status 0
        json '.loops == 2 and (.note | test("does not say which instructions are branches"))'
        json '[.hot_loops[] | [.head, .back, .entries, .iterations, .trips, .executed, .least_trips, .most_trips]] ==
            [["0x8004", "0x8014", 1, 3, 3, 33, 3, 3], ["0x8008", "0x800c", 3, 12, 4, 24, 4, 4]]'
        jq -S . "$stdout" >want
    done
    for part in 0 1; do
        run trod run hot --part $part/2 --save plain.$part $file $file
        status 0
    done
    run trod merge --format json plain.0 plain.1
    status 0
    json '[.hot_loops[] | [.head, .entries, .iterations, .most_trips]] == [["0x8004", 2, 6, 3], ["0x8008", 6, 24, 4]]'
done
# a table that has a column of kinds says what is no branch: a jump back from there is none of a loop
awk -F, -v OFS=, 'NR == 1 { print $0, "branch"; next } { print $0, $2 == "0x800c" ? "taken" : "" }' plain.csv >kinds.csv
run trod hot --format json kinds.csv
status 0
json '.note == null and [.hot_loops[] | [.head, .entries, .iterations]] == [["0x8008", 3, 12]]'

# entries of different length: 1 to 5 trips of a loop that ends at its bottom, two of a loop that is
# left in its middle (3 and 2 trips), in two threads of which one begins inside the first loop
awk 'function i(pc, op) { n++
         printf "%d clk cpu%d IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", n, cpu, n, pc, pc, op }
     function odd(trips, k) {
         for (k = 1; k <= trips; k++) {
             i(36864, "d503201f"); i(36868, "54000080")
             if (k < trips) i(36872, "17fffffe") } }
     BEGIN { for (o = 1; o <= 5; o++) {
                 i(32772, "d503201f")
                 for (k = 0; k < o; k++) { i(32776, "f1000400"); i(32780, "54ffffe1") }
                 i(32784, "f1000421"); i(32788, "54ffff81") }
             odd(3); i(36884, "d503201f"); odd(2); i(36884, "d503201f")
             cpu = 1
             i(32780, "54ffffe1") # the last trip but nine of an entry that is not in the trace
             for (k = 0; k < 9; k++) { i(32776, "f1000400"); i(32780, "54ffffe1") } }' >trips.tarmac
for jobs in 1 2 5; do
    run trod hot -j $jobs --format json trips.tarmac
    json '[.hot_loops[] | [.head, .entries, .iterations, .least_trips, .most_trips]] | sort ==
        [["0x8004", 1, 5, 5, 5], ["0x8008", 5, 24, 1, 5], ["0x9000", 2, 5, 2, 3]]'
done
run trod hot --by thread --format json trips.tarmac
json '[.streams[] | .hot_loops[] | select(.head == "0x8008") | [.entries, .least_trips, .most_trips]] ==
    [[5, 1, 5], [0, null, null]]'

# accesses of two lines and of two pages: each counts in both, and once where the two are one
cat >cross.tarmac <<'T'
1 clk cpu0 IT (1) 00008000:000000008000_NS d503201f O EL1h_n : NOP
1 clk cpu0 MR8 0000103c:00000000103c_NS 00000000_00000000
1 clk cpu0 MW4 00001ffe:000000001ffe_NS 00000000
1 clk cpu0 MW1 00001fff:000000001fff_NS 00
T
run trod hot --format json cross.tarmac
json '[.hot_data_lines[] | [.address, .accesses]] ==
    [["0x1fc0", 2], ["0x1000", 1], ["0x1040", 1], ["0x2000", 1]]'
json '[.hot_data_pages[] | [.address, .accesses]] == [["0x1000", 3], ["0x2000", 1]]'
run trod hot --most-lines 2 --format json cross.tarmac
json '.data_line_bytes == 4096 and [.hot_data_lines[] | .accesses] == [3, 1]'
run trod hot --line-size 48 cross.tarmac
status 2
err_has 'powers of two'

# accesses of very many lines are not counted line by line: 4 GiB less a byte from 1 MiB on, and from 0
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 READ,0x1000,0x100000,4294967295 WRITE,0x1000,0,4294967295 >huge.csv
run trod hot --top 1 --format json huge.csv
status 0
json ".data_lines == $(((1 << 26) + (1 << 14))) and .data_pages == $(((1 << 20) + (1 << 8)))"
json '.hot_data_lines == [{address: "0x100000", accesses: 2, share: 0, cumulated: 0}]'
json '.hot_data_pages[0] | .address == "0x100000" and .accesses == 2'

# they are what they are line by line (which --most-lines makes of them), among others and on their edges, in parts too
for seed in 1 2 3; do
    awk -v seed=$seed 'BEGIN { srand(seed); split("0 1 4 64 262143 262144 262145 300000 1000000", size)
        split("0 1 63 64 262080 524288", at)
        print "kind,pc,addr,size"
        for (i = 0; i < 30; i++) {
            printf "INSTR,%d,%d,4\n", 4096 + 4 * (i % 7), 4096 + 4 * (i % 7)
            printf "READ,4096,%d,%s\n", 1048576 + at[1 + int(6 * rand())], size[1 + int(9 * rand())]
            printf "WRITE,4096,%d,%s\n", 1048576 + int(2000000 * rand()), size[1 + int(9 * rand())] } }' >wide.csv
    for top in 0 7; do
        trod hot --top $top --most-lines 10000000 wide.csv >want
        run trod hot --top $top wide.csv
        out_is want
    done
    trod run hot wide.csv huge.csv >want
    for part in 0 1; do run trod run hot --part $part/2 --save wide.$part wide.csv huge.csv; done
    run trod merge wide.1 wide.0
    out_is want
done

# however few blocks there may be, an access of no bytes counts where it lies inside of a line, not at its beginning:
# so it is on every number of threads, whose blocks become larger at other times
awk 'BEGIN { srand(4); print "kind,pc,addr,size"
    for (i = 0; i < 3000; i++) { at = 65536 + 32 * int(rand() * 2048); size = int(rand() * 3) * 4
        printf "INSTR,0x1000,0x1000,4\nREAD,0x1000,%d,%d\n", at, size
        n[int(at / 4096)] += size || at % 64 }
    for (page in n) printf "0x%x %d\n", page * 4096, n[page] >"want" }' >none.csv
sort -o want want
for jobs in 1 2 3; do
    for most in 0 1 2 9 100; do
        run trod hot --most-lines $most --page-size 4K --top 0 -j $jobs --format json none.csv none.csv
        check test "$(jq '[.hot_data_pages[].accesses] | add' "$stdout")" = "$(awk '{ n += 2 * $2 } END { print n }' want)"
    done
done
run trod hot --top 0 --format json none.csv
through jq -r '.hot_data_pages[] | "\(.address) \(.accesses)"'
through sort
out_is want

# the slow way: every record, as trod view says it
for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.full.gz sum.trace.zip boot.byu6; do
    trod view --format json "$examples/$file" 2>/dev/null >rows
    jq -r 'select(.kind == "INSTR" and .address and ((.flags // []) | index("synthetic") | not)) | .address' rows |
        sort | uniq -c | awk '{ print $2, $1 }' | sort >want
    jq -r 'select((.kind | . == "READ" or . == "WRITE" or . == "ATOMIC" or . == "PREFETCH") and .address and
            ((.flags // []) | index("fetch") | not)) | "\(.address) \(.size // 1)"' rows |
        while read -r address size; do
            for ((line = address >> 6; line <= (address + size - 1) >> 6; line++)); do
                printf '0x%x\n' $((line << 6))
            done
        done | sort | uniq -c | awk '{ print $2, $1 }' | sort >want.lines
    for jobs in 1 2 5; do
        trod hot -j $jobs --top 0 --format json "$examples/$file" >hot.$jobs
        last="hot of $file"
        jq -r '.hot_instructions[] | "\(.address) \(.executions)"' hot.$jobs | sort >got
        same want got
        jq -r '.hot_data_lines[] | "\(.address) \(.accesses)"' hot.$jobs | sort >got
        same want.lines got
        same hot.1 hot.$jobs
    done
    check jq -e '.instructions as $n | [.hot_blocks, .hot_instructions] |
        (map(map(.executed // .executions) | add // 0) == [$n, $n])' hot.1
    # as few lines as it may be: the same accesses, in blocks of a larger size
    trod hot --most-lines 1 --top 0 --format json "$examples/$file" >few
    bytes=$(jq .data_line_bytes few)
    if [[ -s want.lines && $bytes -lt 1000000000000 ]]; then
        check jq -e '.data_lines == 1' few
        n=$(jq -r 'select((.kind | . == "READ" or . == "WRITE" or . == "ATOMIC" or . == "PREFETCH") and .address and
            ((.flags // []) | index("fetch") | not)) | .address' rows | wc -l)
        check jq -e ".hot_data_lines[0].accesses == $n" few
    fi
done

# several files, parts of a run that are merged, intervals
mkdir two
cp loops.tarmac two/a.tarmac
cp "$examples/hello.tarmac" two/b.tarmac
for jobs in 1 4; do
    run trod hot -j $jobs --top 0 --format json two/a.tarmac two/b.tarmac two/a.tarmac
    status 0
    cp "$stdout" two.$jobs
done
same two.1 two.4
check jq -e '.hot_loops[1].entries == 6 and .hot_loops[1].trips == 4' two.1
for part in 0 1; do
    run trod run --part $part/2 --save part.$part hot:top=0 two/a.tarmac two/b.tarmac
    status 0
done
run trod run --format json hot:top=0 two/a.tarmac two/b.tarmac
jq -S . "$stdout" >want
run trod merge --format json part.0 part.1
status 0
jq -S . "$stdout" >got
last="trod merge"
same want got
# parts of one file: its chunks, as threads, processes and ranks share them out, begin anywhere in loops
awk 'BEGIN { srand(7)
             for (i = 0; i < 60000; i++) {
                 branch = at % 3 == 2
                 printf "%d clk cpu0 IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", i, i + 1, 32768 + 4 * at,
                     32768 + 4 * at, branch ? "54ffffe1" : "d503201f"
                 if (i % 4 == 0)
                     printf "%d clk cpu0 MR8 %08x:%012x_NS 00000000_00000000\n", i, i * 40, i * 40
                 at = at == 29 || (branch && rand() < 0.7) ? int(rand() * (at + 1)) : at + 1 } }' >walk.tarmac
run trod convert walk.tarmac walk.zip --to drmemtrace:chunk=7000 --allow-loss
status 0
for by in all thread; do
    for paths in walk.zip 'walk.zip walk.zip'; do
        run trod run -j 1 --by $by --format json hot:top=0 $paths
        jq -S . "$stdout" >want
        for jobs in 2 5; do
            run trod run -j $jobs --by $by --format json hot:top=0 $paths
            jq -S . "$stdout" >got
            last="hot -j $jobs --by $by $paths"
            same want got
        done
        for parts in 2 3 7; do
            drawn || continue
            for ((part = 0; part < parts; part++)); do
                run trod run -j $((1 + part % 2)) --by $by --part $part/$parts --save part.$part hot:top=0 $paths
                status 0
            done
            run trod merge --format json $(seq -f part.%g 0 $((parts - 1)))
            jq -S . "$stdout" >got
            last="hot in $parts parts --by $by $paths"
            same want got
        done
    done
done
run trod hot -j 1 --top 0 --format json walk.tarmac
cp "$stdout" want
run trod hot -j 1 --top 0 --format json walk.zip
check test "$(jq -c '[.hot_loops[] | [.head, .entries, .least_trips, .most_trips]] | sort' want)" = \
    "$(jq -c '[.hot_loops[] | [.head, .entries, .least_trips, .most_trips]] | sort' "$stdout")"
run trod hot --interval 10 --format json loops.tarmac
json '[.intervals[].instructions] == [10, 10, 10, 5] and .instructions == 35'
run trod hot --by thread --format json loops.tarmac
json '[.streams[].instructions] == [35]'

# functions, files and lines of source
if command -v cc >/dev/null && command -v readelf >/dev/null; then
    cat >prog.c <<'C'
int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
int main(void)
{
    return sum(3);
}
C
    cc -g -O0 -fno-pie -no-pie -o prog prog.c 2>/dev/null || cc -g -O0 -o prog prog.c
    at=$(readelf -sW prog | awk '$8 == "sum" { print $2 }')
    cat >prog.trace <<T
1 clk cpu0 IT (1) $at:00000000_NS d503201f O EL1h_n : NOP
T
    sed -i "s/:00000000_NS/:${at:4}_NS/" prog.trace
    run trod hot --from tarmac --symbols prog --format json prog.trace
    status 0
    json '.hot_functions == [{function: "sum", executed: 1, share: 100, cumulated: 100, static_instructions: 1}]'
    json '.hot_modules[0].module == "prog"'
    json '.hot_sources[0].source | endswith("prog.c:2")'
fi

# damaged and empty
head -c 700 "$examples/hello.tarmac" >cut.tarmac
run trod hot cut.tarmac
check test "$got" -le 2
: >empty.tarmac
run trod hot --from tarmac empty.tarmac
check test "$got" -le 2
head -c 500 "$examples/sum.trace.zip" >cut.zip
run trod hot cut.zip
status 2
finish

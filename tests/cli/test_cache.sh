# test_cache.sh - trod cache: what it refuses, and small traces whose numbers are plain.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format tarmac

# four reads of two lines that share the only line of a cache, twice; one instruction each
for i in 0 1 2 3 4 5 6 7; do
    printf '%d clk IT (%d) %08x e5910000 A svc_s : LDR r0,[r1]\n' $((i + 1)) $((i + 1)) 32768
    printf '%d clk MR4 %08x 00000000\n' $((i + 1)) $((4096 + i % 2 * 64))
done >ping.tarmac

run trod cache --like dinero --with '-l1-usize 64 -l1-ubsize 64' ping.tarmac
status 0
out_has '^l1-ucache$'
out_has '^ Demand Fetches.* 16.* 8.* 8.* 8.* 0.* 0$'
out_has '^ Demand Misses.* 16.* 8.* 8'

run trod cache --like dinero --with '-l1-usize 256 -l1-ubsize 64 -l1-uassoc 4' ping.tarmac
status 0
out_has '^ Demand Misses.* 3.* 1.* 2.* 2.* 0.* 0$'

run trod cache --like cachegrind --with '--I1=64,1,64 --D1=128,2,64 --LL=1024,2,64' ping.tarmac
status 0
out_has '^I   refs: *8$'
out_has '^I1  misses: *1$'
out_has '^D   refs: *8  \(8 rd   \+ 0 wr\)$'
out_has '^D1  misses: *2  \(2 rd '

run trod cache --like drcachesim --order file --with '-no_core_sharded -cores 1 -data_prefetcher none' ping.tarmac
status 0
out_has '^Cache simulation results:$'
out_has '^    Misses: *2$'

run trod cache -o result.txt --like callgrind ping.tarmac
status 0
out </dev/null
check grep -q '^Collected : 8 8 0 1 2 0 1 2 0$' result.txt

# its own rules
cat >one.conf <<'X'
classify on
cache L1 size=64 ways=1
X
run trod cache --config one.conf --format json --by instruction --interval 4 ping.tarmac
status 0
json '.instructions == 8 and .references == 16'
json '.caches[0] | .misses == 16 and .compulsory == 3 and .capacity == 13 and .conflict == 0'
json '.kinds | length == 2 and .[1].kind == "read" and .[1].misses == 8'
json '.by == [{"instruction": "0x8000", "references": 16, "L1": 16}]'
json '[.intervals[].L1] | add == 16'
run trod cache --config one.conf --warmup 2 --format json ping.tarmac
status 0
json '.instructions == 6 and .references == 12 and .caches[0].misses == 12'
run trod cache --sweep size=64..256,ways=1..4 --format csv ping.tarmac
status 0
out_has '^data,lru,64,64,1,1,8,8,100.000$'
out_has '^data,lru,64,128,2,1,8,2,25.000$'
out_has '^data,lru,64,256,4,1,8,2,25.000$'
# what nothing came to has no share of misses, as a cache by itself
run trod cache --sweep size=64,ways=1 --kind read --format json ping.tarmac
status 0
json '[.sweep[] | [.stream, .references, .percent]] == [["code", 0, null], ["data", 8, 100]]'
run trod cache --presets
status 0
out_has '^  i7-6700 '
run trod cache --preset 386 ping.tarmac
status 2
err_has "no preset is called '386'"
echo 'cache L1 size=100' >>one.conf
run trod cache --config one.conf ping.tarmac
status 2
err_has 'one.conf.*3'

# TLBs: one page of code, one of data
cat >tlb.conf <<'X'
cache L1 size=128 ways=2
tlb T entries=2 ways=full
tlb U entries=8 ways=2 pages=4K,2M
walk L1
X
run trod cache --config tlb.conf --format json ping.tarmac
status 0
json '.tlbs[0] | .references == 16 and .misses == 2 and .code_misses == 1 and .read_misses == 1'
json '.walks | .walks == 2 and .reads == 8 and .into == "L1"'
# a level of one line, filled with what is pushed out: a stays there when it is read, and code comes at once
printf 'kind,addr,size\n' >evicted.csv
for at in 0 40 0 40; do echo "READ,0x$at,8"; done >>evicted.csv
printf 'cache D data size=64\ncache L2 size=64 inclusion=evicted\n' >evicted.conf
run trod cache --config evicted.conf --format json evicted.csv
json '.caches | [.[].misses] == [4, 2] and .[0].bytes_out == 192 and .[1].evictions == 2'
echo 'INSTR,0x80,4' >>evicted.csv
echo 'READ,0x0,8' >>evicted.csv # a is nowhere: the code took its place, and b takes that of the code
echo 'INSTR,0x80,4' >>evicted.csv
sed -i '1i cache I code size=64' evicted.conf
run trod cache --config evicted.conf --format json evicted.csv
json '.caches | [.[].misses] == [1, 5, 4]'
# three lines in turn, three times, where there is room for two: lru has none when it is needed, the
# optimal policy keeps the one that comes first: a b c hit-a b hit-c a hit-b c
for i in 0 1 2 3 4 5 6 7 8; do
    printf '%d clk IT (%d) %08x e5910000 A svc_s : LDR r0,[r1]\n' $((i + 1)) $((i + 1)) 32768
    printf '%d clk MR4 %08x 00000000\n' $((i + 1)) $((4096 + i % 3 * 64))
done >three.tarmac
echo 'cache D data size=128 ways=2 policy=opt' >opt.conf
run trod cache --config opt.conf --format json three.tarmac
status 0
json '.caches[0] | .references == 9 and .misses == 6'
sed s/opt/lru/ opt.conf >lru.conf
run trod cache --config lru.conf --format json three.tarmac
status 0
json '.caches[0].misses == 9'
cat ping.tarmac >copy
run trod cache --config opt.conf - <copy
status 2
err_has 'reads the trace twice'
run trod cache --physical --format json ping.tarmac
status 0
json '.without_physical == 16'
run trod cache --sweep size=4K --physical ping.tarmac
status 2
err_has 'virtual addresses'

# phases: eight instructions with a read each
head -2 one.conf >two.conf
run trod cache --config two.conf --skip 3 --warmup 2 --format json ping.tarmac
status 0
json '.instructions == 3 and .references == 6'
run trod cache --config two.conf --warmup 8 --format json ping.tarmac
status 0
json '.instructions == 0 and .references == 0'
run trod cache --like dinero --warmup 3 ping.tarmac
status 2
err_has "the tool's own options only"
run trod cache --config two.conf --warmup rows:4 --format json ping.tarmac
status 0
json '.instructions == 6 and .references == 12'
run trod cache --config two.conf --warmup full --format json ping.tarmac
status 0
json '.full_after == 1 and .references == 15'
run trod cache --config two.conf --windows 4,1,2 --format json ping.tarmac
status 0
json '.windows == 2 and .instructions == 4 and (.intervals | length) == 2'
# without instructions all rows are in the first window, if all of each count
printf 'kind,addr,size\nREAD,0x1000,4\nWRITE,0x2000,4\n' >data.csv
run trod cache --config two.conf --windows 3,0,3 --format json data.csv
status 0
json '.windows == 1 and .references == 2 and .caches[0].misses == 2 and (has("note") | not)'
json '.intervals == [{"instructions": 0, "L1": 2}]'
head -1 data.csv >none.csv
run trod cache --config two.conf --windows 3,0,3 --format json none.csv
status 0
json '.windows == 0 and .references == 0 and .intervals == []'
run trod cache --windows 4,1 ping.tarmac
status 2
err_has 'is not EVERY,WARM,COUNT'
run trod cache --windows 4,3,2 ping.tarmac
status 2
err_has 'are more than EVERY'
run trod cache --warmup soon ping.tarmac
status 2
err_has 'neither a number'

# sweeps of several policies, and their chart in 80 columns
run trod cache --sweep size=64..256,ways=1..2,policy=fifo+lru --warmup 2 --format csv ping.tarmac
status 0
out_has '^data,fifo,64,64,1,1,6,6,100.000$'
out_has '^data,lru,64,128,2,1,6,0,0.000$'
run trod cache --sweep size=64..1K,ways=1..2 --plot ping.tarmac
status 0
out_has '^miss ratio of lru caches for data, lines of 64 bytes, by their size$'
out_has ' 2 ways$'
check test "$(LC_ALL=C.UTF-8 wc -L <"$stdout")" -le 80
run trod cache --plot ping.tarmac
status 2
err_has 'needs --sweep'
run trod cache --sweep size=4K,policy=opt ping.tarmac
status 2
err_has 'different policies but opt'

# any number of threads, any way of sharing out: the same
same_jobs() {
    run trod cache -j 1 --format json "$@" ping.tarmac
    status 0
    cp "$stdout" jobs1
    for j in 2 3 8; do
        drawn || continue
        run trod cache -j $j --format json "$@" ping.tarmac
        status 0
        check cmp "$stdout" jobs1
    done
}
same_jobs --by instruction --sharing --interval 3
same_jobs --preset i7-6700 --warmup 2 --by page
same_jobs --config two.conf
same_jobs --sweep size=4K..64K,policy=lru+fifo,line=32..64
same_jobs --sweep size=64..1K,policy=random+drrip
same_jobs --sweep size=256..4K,ways=1..4,line=16..64
# Who misses: rows by instruction and by line, summed up here by the symbols that nm has.
if command -v cc >/dev/null && command -v nm >/dev/null; then
    cat >prog.c <<'C'
int table[64] __attribute__((aligned(64))) = {1}, other[64] __attribute__((aligned(64))) = {1};
int walk(const int *p)
{
    int s = 0;
    for (int i = 0; i < 64; i++) s += p[i];
    return s;
}
int main(void) { return walk(table) + walk(other); }
C
    cc -g -O0 -fno-pie -no-pie -o prog prog.c
    addr() { nm prog | awk -v n="$1" '$3 == n { print $1 }'; }
    walk=$((16#$(addr walk))) main=$((16#$(addr main)))
    t=0
    {
        for at in table other; do
            from=$((16#$(addr $at)))
            for ((i = 0; i < 64; i++)); do
                for pc in $main $walk $((walk + 64)); do
                    t=$((t + 1))
                    printf '%d clk cpu0 IT (%d) %016x d503201f O EL1h_n : NOP\n' $t $t "$pc"
                    printf '%d clk cpu0 MR4 %016x 00000001\n' $t $((from + 4 * i))
                done
            done
        done
    } >who.tarmac
    echo 'cache L1D size=128 ways=1 line=64 data' >small.conf
    echo 'cache L1I size=128 ways=1 line=64 code' >>small.conf
    run trod cache --config small.conf --top 0 --by instruction --format json who.tarmac
    status 0
    # key, misses; an address belongs to the last symbol at or before it
    summed() {
        jq -r '.by[] | "\(.instruction) \(.L1D + .L1I)"' "$stdout" | awk -v walk="$walk" -v main="$main" '
            function number(h,   i, n) {
                sub(/^0x/, "", h)
                for (i = 1; i <= length(h); i++) n = 16 * n + index("0123456789abcdef", substr(h, i, 1)) - 1
                return n
            }
            {
                at = number($1)
                name = (walk < main ? (at >= main ? "main" : "walk") : (at >= walk ? "walk" : "main"))
                sum[name] += $2
            }
            END { for (n in sum) print n, sum[n] }' | sort
    }
    summed >want
    check test -s want
    run trod cache --config small.conf --top 0 --by function --symbols prog --format json who.tarmac
    status 0
    jq -r '.by[] | "\(.function) \(.L1D + .L1I)"' "$stdout" | sort >got
    same want got
    total=$(awk '{ n += $2 } END { print n }' want)
    run trod cache --config small.conf --by module --symbols prog --format json who.tarmac
    json "[.by[] | .module] == [\"prog\"] and ([.by[] | .L1D + .L1I] | add) == $total"
    run trod cache --config small.conf --top 0 --by source --symbols prog --format json who.tarmac
    json "([.by[] | .L1D + .L1I] | add) == $total and ([.by[].source] | all(test(\"prog.c:[0-9]+$\")))"
    # each object has 256 bytes, 4 lines that are missed once each: the walks are one after the other
    run trod cache --config small.conf --top 0 --by data --symbols prog --format json who.tarmac
    json '[.by[] | select(.L1D > 0) | {data, refs: .references, n: .L1D}] | sort_by(.data) ==
          [{data: "other", refs: 192, n: 4}, {data: "table", refs: 192, n: 4}]'
    json "([.by[].references] | add) == .references and ([.by[] | .L1D + .L1I] | add) == $total"
    run trod cache --config small.conf --by region --symbols prog --format json who.tarmac
    json '[.by[] | [.region, .references]] | sort == [["(code) of prog", 384], ["(data) of prog", 384]]'
    run trod cache --config small.conf --by data --format json who.tarmac
    json '[.by[] | select(.L1D > 0)] | length == 1 and (.[0].data | test("^0x[0-9a-f]+000[.][.]0x[0-9a-f]+fff$"))'
    for by in function module source; do
        run trod cache --by $by who.tarmac
        status 2
        err_has 'say --symbols'
    done
fi

run trod cache --with '-cores 2' ping.tarmac
status 2
err_has 'say --like'
run trod cache --like dinero --classify ping.tarmac
status 2
run trod cache --sweep size=3K ping.tarmac
status 2
err_has 'powers of two'
run trod cache
status 2
err_has 'FILE is missing'

# what is refused, and where it stands
refused() { # PATTERN WITH
    run trod cache --like drcachesim --with "$2" ping.tarmac
    status 2
    err_has "$1"
    out </dev/null
}
refused "unknown option 'L1X'" '-L1X 3'
refused "not a number: option 'cores': 'two'" '-cores two'
refused 'power of two' '-L1D_size 33K'
refused 'unknown replacement policy' '-replace_policy MRU'
refused 'exclude each other' '-warmup_refs 3 -warmup_fraction 0.5'

cat >bad.conf <<'X'
// a comment
num_cores 1
L1 {
  type unified
  core 0
  size 8X
}
X
refused "bad.conf.*6.*'8X'" '-config_file bad.conf'
sed -i 's/8X/8K/; s/num_cores 1/num_cores 2/' bad.conf
refused 'no number of ways' '-config_file bad.conf'
sed -i 's/core 0/core 0 assoc 2/' bad.conf
refused 'bad.conf:2: core 1 has no instruction and no data cache: each core below num_cores' '-config_file bad.conf'
echo 'x y' >>bad.conf
refused "bad.conf.*8.*unknown parameter 'x'" '-config_file bad.conf'

run trod cache --like dinero ping.tarmac
status 2
err_has 'no cache is given'
run trod cache --like dinero --with '-l1-usize 100 -l1-ubsize 32' ping.tarmac
status 2
err_has 'powers of two'
run trod cache --like cachegrind --with '--D1=100,3,7' ping.tarmac
status 2
err_has 'SIZE,WAYS,LINE'
# files that are cores: thread 77 reads lines 64, 65, 64 on core 0, then 64 and 66 on core 1
entry() { # TYPE SIZE ADDRESS
    local text= i
    for i in 0 8; do printf -v text '%s\\x%02x' "$text" $((($1 >> i) & 255)); done
    for i in 0 8; do printf -v text '%s\\x%02x' "$text" $((($2 >> i) & 255)); done
    for i in 0 8 16 24 32 40 48 56; do printf -v text '%s\\x%02x' "$text" $((($3 >> i) & 255)); done
    printf '%b' "$text"
}
mkdir cores.dir
core_file() { # NUMBER LINE...
    local line
    entry 25 0 7 && entry 28 12 7 && entry 28 9 $((0x10040)) && entry 22 4 77 && entry 24 4 70
    entry 28 2 $((1000 + $1)) && entry 28 3 0
    for line in "${@:2}"; do entry 10 4 1048576 && entry 0 8 $((64 * line)); done
    entry 26 0 0
}
core_file 0 64 65 64 >cores.dir/drmemtrace.core.000000.trace
core_file 1 64 66 >cores.dir/drmemtrace.core.000001.trace
run trod cache --like drcachesim --with '-no_core_sharded -cores 2 -data_prefetcher none' cores.dir
status 0
awk '/^Core|L1|^LL/ { print $1, $2, $3, $4 } / (Hits|Misses):/ { print $1, $2 }' "$stdout" >got
sed 's/ (size=.*//' got >got.names
cat >want <<'X'
Core #0 (traced CPU(s):
L1I0
Hits: 2
Misses: 1
L1D0
Hits: 1
Misses: 2
Core #1 (traced CPU(s):
L1I1
Hits: 1
Misses: 1
L1D1
Hits: 0
Misses: 2
LL
Hits: 2
Misses: 4
X
same want got.names
run trod cache --like drcachesim --with '-no_core_sharded -cores 1' cores.dir
status 2
err_has 'core 1 of the trace has no core'
# a thread moves to the core of its cpu, and stays where the cpu is not known: 3 instructions of one page, then 2
{
    entry 25 0 7 && entry 28 12 7 && entry 28 9 64 && entry 22 4 77 && entry 24 4 70
    entry 28 2 1000 && entry 28 3 0
    for pc in 0 1 2; do entry 10 1 $((1048576 + pc)); done
    entry 28 2 1001 && entry 28 3 5 && entry 10 1 1048579
    entry 28 2 1002 && entry 28 3 -1 && entry 10 1 1048580
    entry 23 4 77 && entry 26 0 0
} >moves.trace
for tool in TLB_simulator cache_simulator; do
    run trod cache --like drcachesim --with "-tool $tool -no_core_sharded -cpu_scheduling -cores 2" moves.trace
    status 0
    awk '/^Core/ { core = $2 } / L1I/ { code = 1 } / L(1D|2|L)/ { code = 0 } code && /  (Hits|Misses):/ { print core, $1, $2 }' \
        "$stdout" >got
    printf '#%s %s: %s\n' 0 Hits 2 0 Misses 1 1 Hits 1 1 Misses 1 >want
    same want got
done

# what a bus fetches of code is code; ports are no memory, nor is what failed or what the tracer put in
printf 'cache I code size=256 ways=2\ncache D data size=256 ways=2\n' >split.conf
for type in 00 00 01 03 10 11; do bytes 00 10 00 00 $type 08 03 00 01 00 00 00; done >bus.byu12
for more in '' --classify -j1 '--by page'; do
    run trod cache --from byu12 --config split.conf --format json $more bus.byu12
    status 0
    json '.instructions == 0 and .references == 4 and [.caches[] | .references, .misses] == [2, 1, 2, 1] and .caches[0].mpki == null'
done
run trod cache --from byu12 --sweep size=256,ways=2 --format csv bus.byu12
out_has '^code,lru,64,256,2,2,2,1,50.000$'
out_has '^data,lru,64,256,2,2,2,1,50.000$'
for sizes in '' --crossing; do
    run trod locality --from byu12 --format json $sizes bus.byu12
    status 0
    json '.references == 4 and .instruction_references == 2 and .read_references == 1 and .write_references == 1'
done
run trod cache --from byu12 --by data --format json bus.byu12
json '[.by[] | select(.data == "(code)") | .references] == [2]'
{
    echo 'kind,addr,size,flags'
    for flag in 0 17 22 24; do # none, SYNTHETIC, ABORTED, IO
        for kind in INSTR READ WRITE ATOMIC; do printf '%s,4096,4,%#x\n' $kind $((flag ? 1 << flag : 0)); done
    done
} >never.csv
for more in '--config split.conf' '--config split.conf --classify' '--sweep size=256,ways=2'; do
    run trod cache --format json $more never.csv
    status 0
    json '[(.caches // .sweep)[] | .references] == [1, 4] and (.sweep or (.instructions == 3 and .references == 5))'
done

# references of no known instruction are nobody's: they are none of the instruction at 0
printf '%s\n' kind,stream,pc,addr,size INSTR,a,0x0,0x0,4 READ,a,0,0x1000,8 READ,b,,0x4000,8 READ,a,,0x8000,8 >none.csv
for more in '' --classify '--config split.conf -j 4'; do
    run trod cache --by instruction --format json $more none.csv
    json '[.by[] | [.instruction, .references]] == [["0x0", 3], ["(none)", 1]] and .missing == 2'
done
run trod cache --misses pc.csv none.csv # the pc of what is read for an instruction at 0, and none where it is not known
through awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["kind"] == "READ" { print $at["addr"], $at["pc"] }' pc.csv
printf '%s\n' '0x1000 0x0' '0x4000 ' '0x8000 0x0' | out
run trod cache --by instruction --warmup rows:3 --format json none.csv
json '[.by[] | [.instruction, .references]] == [["0x0", 1]]'
run trod cache --by instruction --from byu12 --format json bus.byu12
json '[.by[] | [.instruction, .references]] | sort == [["(none)", 2], ["0x1000", 2]]'
printf '%s\n' '0 1000' '1 2000' '0 1000' >none.din
run trod cache --by instruction --from dinero --format json none.din
json '[.by[] | [.instruction, .references]] == [["(none)", 3]]'
printf '%s\n' kind,addr,size READ,0x1000,8 INSTR,0x40,4 READ,0x2000,8 >late.csv # what comes before the first instruction
run trod cache --by instruction --format json late.csv
json '[.by[] | [.instruction, .references]] == [["0x40", 2], ["(none)", 1]]'

# by core: three threads on two cores, the third on the first one
printf 'cores 2\ncache L1 size=128 ways=2\ncache L2 shared size=4K ways=4\n' >cores.conf
printf 'kind,stream,addr,size\nREAD,7,0,4\nREAD,8,0,4\nREAD,9,64,4\nREAD,9,128,4\nREAD,8,0,4\n' >cores.csv
for jobs in 1 5; do
    run trod cache -j $jobs --config cores.conf --order file --by core --format json cores.csv
    status 0
    json '.by == [{"core": 0, "references": 3, "L1": 3, "L2": 3}, {"core": 1, "references": 2, "L1": 1, "L2": 0}]'
done
run trod cache --config cores.conf --order file --by core cores.csv
out_has '^  core  references  L1  L2$'
run trod cache --config cores.conf --order file --by core --format csv cores.csv
out_has '^1,2,1,0$'
sed 's/cache L1/cache core/' cores.conf >taken.conf
run trod cache --config taken.conf --by core cores.csv
status 2
err_has "has a column 'core' already"

finish

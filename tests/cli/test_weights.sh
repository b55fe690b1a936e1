# test_weights.sh - calls, profile and flame by weights: a program on two cpus whose generator follows the stack,
# caches, pages and branches by itself; its sums by function, with recursion, are what trod has to say.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

# main at 0x5000 calls 0x1000 again and again. Function K at 0x1000 (K + 1): nop; ldr; b.ne back to the ldr; b.eq over the call; bl; str; ret. The
# cache has 1 KiB, 2 ways, lines of 64 bytes, least recently used, for both cpus in the order of the
# trace; a page is missed once; btfn predicts backward branches as taken, forward ones as not.
cat >program.awk <<'A'
function random(n) { seed = (seed * 1103 + 12345) % 1048573; return seed % n }
function event(c, what, pc, op, at) { ev[c, n_ev[c]++] = stack " " what " " pc " " op " " at " " wrong; wrong = 0 }
function call(c, k, deep,    pc, i, turns, was, calls, next_k) {
    was = stack; stack = stack (stack == "" ? "" : ",") k; pc = 4096 * (k + 1)
    activations[k]++
    event(c, "I", pc, "d503201f")
    turns = 1 + random(4)
    for (i = 1; i <= turns; i++) {
        event(c, "I", pc + 4, "f9400041")
        event(c, "R", 8, "", 65536 + 64 * random(24) + 4096 * k)
        wrong = i == turns
        event(c, "I", pc + 8, "54ffffe1")
    }
    calls = deep < 6 && random(3) > 0
    wrong = !calls
    event(c, "I", pc + 12, "54000040")
    if (calls) {
        next_k = (k + 1) % 4
        event(c, "I", pc + 16, sprintf("%08x", (next_k >= k) ? 2483027968 + 1024 * (next_k - k) - 4 : 2550136832 - 1024 * (k - next_k) - 4))
        call(c, next_k, deep + 1)
    }
    event(c, "I", pc + 20, "f9000041")
    event(c, "W", 4, "", 131072 + 64 * random(200))
    event(c, "I", pc + 24, "d65f03c0")
    stack = was
}
function missed(at,    line, set, way) {
    line = int(at / 64); set = line % 8
    if (cache[set, 0] == line + 1) return 0
    way = cache[set, 1] != line + 1
    cache[set, 1] = cache[set, 0]; cache[set, 0] = line + 1
    return way
}
function add(what, n,    m, i, f, done) {
    if (n == 0) return
    m = split(path, f, ",")
    own[f[m], what] += n
    split("", done)
    for (i = 1; i <= m; i++) if (!(f[i] in done)) { done[f[i]]; all[f[i], what] += n }
}
function emit(c, e,    x, at, page) {
    split(e, x, " "); path = x[1]
    add("rows", 1)
    if (x[2] == "I") {
        insn++
        printf "%d clk cpu%d IT (%d) %08x:%012x_NS %s O EL1h_n : X\n", insn, c, insn, x[3], x[3], x[4] >trace
        add("branches_btfn", x[6] == "" ? x[5] : x[6])
        return
    }
    at = x[4]
    printf "%d clk cpu%d M%s%d %08x:%012x_NS %s\n", insn, c, x[2], x[3], at, at, x[3] == 8 ? "00000000_00000000" : "00000007" >trace
    add(x[2] == "R" ? "loads" : "stores", 1)
    add("bytes", x[3]); add(x[2] == "R" ? "bytes_read" : "bytes_written", x[3])
    add("accesses", 1); add("write_rows", x[2] == "W"); add("write_value", x[2] == "W" ? 7 : 0)
    add("cache_l1d", missed(at))
    page = int(at / 4096); add("cache_dtlb", !(page in pages)); pages[page]
}
BEGIN {
    seed = 7
    for (c = 0; c < 2; c++)
        for (r = 0; r < rounds; r++) {
            stack = 4; activations[4] = 2
            event(c, "I", 20480, "97fff000")
            call(c, 0, 0)
            stack = 4; event(c, "I", 20484, "17ffffff")
        }
    while (at[0] < n_ev[0] || at[1] < n_ev[1]) { # some of one cpu, some of the other
        c = (c + 1) % 2
        for (k = 1 + random(300); k > 0 && at[c] < n_ev[c]; k--) emit(c, ev[c, at[c]++])
    }
    for (k = 0; k < 5; k++) {
        line = ""
        m = split("rows loads stores accesses bytes bytes_read bytes_written write_rows write_value cache_l1d cache_dtlb branches_btfn", name, " ")
        for (i = 1; i <= m; i++) line = line " " own[k, name[i]] + 0 " " all[k, name[i]] + 0
        printf "0x%x %d%s\n", 4096 * (k + 1), activations[k], line
    }
}
A

awk -v trace=program.tarmac -v rounds=1200 -f program.awk >want
check test "$(wc -l <program.tarmac)" -gt 20000
cat >small.conf <<'C'
cache L1D data size=1K ways=2 line=64
tlb DTLB data entries=4096 ways=full
C
conf=:config=small.conf
all=rows,loads,stores,accesses,bytes,bytes_read,bytes_written,write.rows,write.value,cache.l1d$conf,cache.dtlb$conf,branches.btfn

# A line a function: address, calls, and for each of the weights what it cost by itself and in all.
weigh() {
    trod profile --top 0 --sort address --format json --weight "$@" |
        jq -r '.functions[] | [.address, .calls] + [to_entries[] | select(.key | test("clusive_")) |
            select(.key | test("_time$") | not) | .value] | join(" ")'
}

# Six at once are the most.
part() {
    cut -d' ' -f"1-2,$1-$2" want >part
}
run weigh "$(cut -d, -f1-6 <<<"$all")" program.tarmac
part 3 14
out_is part
run weigh "$(cut -d, -f7-12 <<<"$all")" program.tarmac
part 15 26
out_is part
cp part last
for j in 1 2 4; do
    run weigh "$(cut -d, -f7-12 <<<"$all")" -j $j program.tarmac
    out_is last
    run weigh "$(cut -d, -f7-12 <<<"$all")" -j $j - <program.tarmac
    out_is last
done
run trod profile --weight "$all" program.tarmac
status 2
err_has 'more than 6 weights'

# The same numbers from the analyses, by address (of one cpu: trod cache does not know whose an access is behind
# a change of cpus).
by_page() {
    awk '{ page = substr($1, 1, length($1) - 3) "000"; n[page] += $2 } END { for (k in n) print k, n[k] }' | sort
}
run trod profile --top 0 -s cpu0 --format json --weight "cache.L1D$conf,branches.gshare:log=10:history=8,branches.tage" program.tarmac
jq -r '.functions[] | "\(.address) \(.exclusive_cache_l1d)"' "$stdout" | grep -v ' 0$' | sort >l1d
jq -r '.functions[] | "\(.address) \(.exclusive_branches_gshare)"' "$stdout" | grep -v ' 0$' | sort >gshare
jq -r '.functions[] | "\(.address) \(.exclusive_branches_tage)"' "$stdout" | grep -v ' 0$' | sort >tage
json '.cache_l1d == ([.functions[].exclusive_cache_l1d] | add) and
    .cache_l1d == ([.callers[] | select(.caller == "") | .inclusive_cache_l1d] | add)'
run trod cache -s cpu0 --config small.conf --by instruction --top 0 --format json program.tarmac
jq -r '.by[] | "\(.instruction) \(.L1D)"' "$stdout" | by_page >want
same want l1d
run trod branches -s cpu0 --top 0 --predictors gshare:log=10:history=8,tage --format json program.tarmac
wrong=$(jq -c '[.predictors[].wrong]' "$stdout")
check test "$wrong" = "[$(awk '{ n += $2 } END { print n }' gshare),$(awk '{ n += $2 } END { print n }' tage)]"

# calls: each call has what lies between its first and its last row
run trod calls --list --most 0 --format json --weight rows,cache.L1D$conf program.tarmac
json '[.list[] | select(.depth == 0)] | length == 2'
json '.rows == ([.list[] | select(.depth == 0) | .inclusive_rows] | add) and
    .cache_l1d == ([.list[] | select(.depth == 0) | .inclusive_cache_l1d] | add)'
run trod calls --format json --weight cache.L1D$conf,loads --top 0 program.tarmac
json '.cache_l1d == ([.tree[].exclusive_cache_l1d] | add) and .loads == ([.tree[] | select(.depth == 0) | .inclusive_loads] | add)'
json '[.tree[] | select(.depth <= 1) | .share] == ([.tree[] | select(.depth <= 1) | .share] | sort | reverse)'

# flame: one
run trod flame -s cpu0 --weight cache.L1D$conf program.tarmac
check test "$(awk '{ n += $NF } END { print n }' "$stdout")" = "$(awk '{ n += $2 } END { print n }' l1d)"
run trod flame --weight cache.L1D$conf --svg --title misses program.tarmac
status 0
out_has 'cache.L1D'
run trod flame --weight rows,loads program.tarmac
status 2
err_has 'shows one weight, not 2'
run trod run "profile:weight=rows,weight=write.value" --format json program.tarmac
json '.rows > 0 and .write_value > 0'

# several cores: the threads run in the order of time, as in trod cache
run trod profile --top 0 --format json --weight cache.L1D:preset=i7-6700,cache.l3:preset=i7-6700 program.tarmac
status 0
misses=$(jq -c '[.cache_l1d, .cache_l3]' "$stdout")
run trod cache --preset i7-6700 --format json program.tarmac
check test "$misses" = "$(jq -c '[.caches[] | select(.cache == "L1D" or .cache == "L3") | .misses]' "$stdout")"

# misses: of accesses that were made, and to memory, up to the end of the address space
cat >made.csv <<'C'
row,kind,pc,addr,size,flags
0,INSTR,0x8000,,4,0
1,READ,,0x10000,8,0
2,READ,,0x20000,8,0x400000
3,WRITE,,0x30000,8,0x1000000
4,READ,,0xfffffffffffffffc,64,0
5,READ,,0xfffffffffffffff8,8,0
C
run trod profile --weight misses,accesses --format json made.csv
json '.misses == 2 and .accesses == 5'

# what comes before a thread's first instruction belongs to no function; nothing is left out
cat >before.csv <<'C'
row,kind,stream,pc,addr,size
0,READ,a,,0x10000,8
1,WRITE,b,,0x10000,8
2,INSTR,a,0x1000,,4
3,READ,a,,0x10000,8
4,READ,b,,0x20000,8
5,READ,a,,0x20000,8
C
for what in profile calls; do
    run trod $what --weight loads,misses,rows --format json before.csv
    json '[.loads, .misses, .rows] == [4, 4, 6]'
    json '[.functions // .tree | .[] | [.function, .address, .exclusive_loads, .exclusive_misses, .exclusive_rows]] ==
        [["0x1000", "0x1000", 2, 1, 3], ["(no function)", null, 2, 3, 3]]'
done
run trod flame --weight misses before.csv
out_has '^.no function. 3'

# what there is not
run trod profile --weight cahce.l1d program.tarmac
status 2
err_has "'cahce.l1d' is no weight"
run trod profile --weight lods program.tarmac
status 2
err_has "did you mean 'loads'"
run trod profile --weight cache.l4 program.tarmac
status 2
err_has "weight 'cache.l4': the hierarchy has L1I, L1D, LL"
run trod profile --weight cache.l1d:ways=8 program.tarmac
status 2
err_has 'preset=NAME or config=FILE'
run trod profile --weight cache.l1d:config=missing program.tarmac
status 2
err_has 'missing'
echo 'cache L1D data size=1K ways=2 line=64 policy=opt' >opt.conf
run trod profile --weight cache.l1d:config=opt.conf program.tarmac
status 2
err_has 'two passes'
run trod profile --weight branches.oracle program.tarmac
status 2
err_has 'oracle'
run trod profile --weight branches.gshare:tage program.tarmac
status 2
err_has 'one predictor each'
finish

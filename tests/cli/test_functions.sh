# test_functions.sh - trod functions: a trace written here and counted by hand, its list of functions,
# single calls, intervals, traces that record none, damaged and empty ones.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format drmemtrace
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
examples=$TROD_SOURCE/examples

# an entry of 12 bytes: type, size, address, lowest byte first
e() {
    local a=$3 i text
    printf -v text '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8)) $(($2 & 255)) $(($2 >> 8))
    for ((i = 0; i < 8; i++)); do printf -v text '%s\\x%02x' "$text" $(((a >> (8 * i)) & 255)); done
    printf '%b' "$text"
}
mark() { e 28 "$1" "$2"; }
call() { # ID RETURN-ADDRESS ARGUMENT...
    mark 4 "$1" && mark 5 "$2" && shift 2
    for argument; do mark 6 "$argument"; done
    e 10 4 0x401000
}
result() { mark 4 "$1" && mark 7 "$2"; }

mkdir made
{
    e 25 0 4 && mark 12 4 && mark 9 0x40 && e 22 4 77 && e 24 4 76 && mark 10 64
    mark 2 1000 && mark 3 0
    call 0 0x401100 100 && result 0 0x8000 # malloc
    call 0 0x401200 50 && result 0 0x9000
    e 1 8 0x8010
    call 1 0x401300 0x8000 # free, whose return is not recorded
    e 1 8 0x8000           # its own business
    e 10 4 0x401300
    e 0 8 0x8020 # after free
    mark 2 1500 && mark 3 0
    call 2 0x401400 5 6 && result 2 0x30
    e 23 4 77 && e 26 0 0
} >made/a.trace
printf '0,1,0x1,libc.so.6!malloc\n1,1,0x2,noret,libc.so.6!free\n2,2,0x3,app!work\n3,0,0x4,app!unused\n' >made/funclist.log

run trod functions --format json made/a.trace
status 0
json '.calls == 4 and .returns == 3 and .failed == 0 and (.functions | length) == 4'
json '[.functions[] | [.id, .name, .calls, .returns]] == [[0, "libc.so.6!malloc", 2, 2], [1, "libc.so.6!free", 1, 0],
    [2, "app!work", 1, 1], [3, "app!unused", 0, 0]]'
json '.heap.allocations == 2 and .heap.frees == 1 and .heap.live_bytes == 50 and .heap.most_bytes == 150'
json '.heap.accesses_after_free == 1 and .heap.accesses_by_allocators == 1'
json '.live == [{caller: "0x401200", function: "libc.so.6!malloc", blocks: 1, bytes: 50}]'
json '.after_free[0].accesses == 1 and .after_free[0].pc == "0x401300" and .after_free[0].block == "0x8000"'
json '.sizes == [{from: 32, to: 63, allocations: 1}, {from: 64, to: 127, allocations: 1}]'

# --where: the first call only, whose argument, return address and result stand before the second one's
row=$(trod view --format json made/a.trace | jq -s '[.[] | select(.value == "0x32")][0].record')
check test "$row" -gt 5
run trod functions --where "row < $row - 2" --format json made/a.trace
status 0
json '.calls == 1 and [.functions[] | [.id, .calls]] == [[0, 1], [1, 0], [2, 0], [3, 0]]'

# by thread and core: two threads in turn, the second on two cores, where it frees what the first one has allocated
mkdir turns
begin() { e 25 0 4 && mark 12 4 && mark 9 0x40 && e 22 4 "$1" && e 24 4 76 && mark 10 64; }
{
    begin 77 && mark 2 1000 && mark 3 0
    call 0 0x401100 100 && result 0 0x8000
    call 0 0x401200 50 && result 0 0x9000
    call 2 0x401400 5 6 && result 2 0x30
    e 23 4 77 && e 26 0 0
} >turns/a.trace
{
    begin 78 && mark 2 2000 && mark 3 0
    call 0 0x401100 8 && result 0 0xa000
    mark 2 2100 && mark 3 1
    call 2 0x401400 1 2 && result 2 0x30
    call 1 0x401300 0x8000 && result 1 0
    call 1 0x401300 0xa000 && result 1 0
    e 23 4 78 && e 26 0 0
} >turns/b.trace
cp made/funclist.log turns/
run trod functions --format json turns
jq -S . "$stdout" >all
check jq -e '.calls == 7 and .heap.frees == 2 and .heap.unknown_frees == 0 and .heap.live_bytes == 50' all
run trod functions --by thread --format json turns
status 0
jq -S 'del(.streams)' "$stdout" >got
same all got
json '[.streams[] | [.tid, .calls, .heap.allocations, .heap.frees, .heap.unknown_frees, .heap.live_bytes]] ==
    [[77, 3, 2, 0, 0, 150], [78, 4, 1, 1, 1, 0]]'
cp "$stdout" one
run trod functions --by thread --format json -j 3 turns
out_is one
for i in 0 1; do # what a thread has is what a trace of it alone has
    f=(a b)
    mkdir "alone$i" && cp "turns/${f[i]}.trace" turns/funclist.log "alone$i/"
    run trod functions --format json "alone$i"
    jq -S 'del(.format, .files, .most_nest) | [.functions, .heap, .live, .sizes]' "$stdout" >want
    jq -S ".streams[$i] | [.functions, .heap, .live, .sizes]" one >got
    same want got
done
run trod functions --by core --format json turns
status 0
jq -S 'del(.cores)' "$stdout" >got
same all got
json '[.cores[] | select(.calls) | [.calls, ([.functions[] | select(.name == "app!work") | .calls] | add),
    .heap.allocations, .heap.frees, .heap.unknown_frees]] == [[4, 1, 3, 0, 0], [3, 1, 0, 0, 2]]'
run trod functions --by thread --interval 3 --format json turns
status 0
jq -S 'del(.streams)' "$stdout" >want
run trod functions --interval 3 --format json turns
jq -S . "$stdout" >got
same want got

# every allocation function, and what can go wrong with each
mkdir edges
{
    e 25 0 4 && mark 12 4 && mark 9 0x40 && e 22 4 77 && e 24 4 76 && mark 10 64
    mark 2 1000 && mark 3 0
    call 0 0x401100 100 && result 0 0x8000                 # malloc
    call 2 0x401110 4 25 && result 2 0x9000                # calloc
    call 3 0x401120 0x8000 300 && result 3 0xa000          # realloc: the block moves
    call 3 0x401130 0 40 && result 3 0xb000                # realloc(NULL) is malloc
    call 3 0x401140 0xb000 0 && result 3 0                 # realloc to 0 is free
    call 3 0x401150 0x9000 0x10000000000 && result 3 0     # fails: the block stays
    call 1 0x401000 0                                      # free(NULL)
    call 5 0x401160 64 128 && result 5 0xc000              # aligned_alloc
    call 4 0x401170 0x7ff0 64 256 && result 4 0            # posix_memalign: where is not said
    call 4 0x401180 0x7ff0 3 256 && result 4 22            # fails: EINVAL
    call 1 0x401000 0x9000 && e 10 4 0x401000
    call 1 0x401000 0x9000 && e 10 4 0x401000              # freed twice
    call 0 0x401190 0 && result 0 0xd000                   # malloc(0): a block of one byte
    call 1 0x401000 0xe000 && e 10 4 0x401000              # freed, of unknown origin
    call 0 0x4011a0 0x4000000000000000 && result 0 0       # fails
    call 3 0x4011b0 0x9000 10 && result 3 0xf000           # resized behind its free
    call 3 0x4011c0 0xe100 20 && result 3 0xf100           # resized, of unknown origin
    e 0 8 0x8020 && e 0 8 0xb000 && e 0 8 0xc000 && e 0 8 0xf004
    e 23 4 77 && e 26 0 0
} >edges/a.trace
printf '0,1,0x1,libc.so.6!malloc\n1,1,0x2,noret,libc.so.6!free\n2,2,0x3,libc.so.6!calloc\n3,2,0x4,libc.so.6!realloc\n4,3,0x5,libc.so.6!posix_memalign\n5,2,0x6,libc.so.6!aligned_alloc\n' >edges/funclist.log
run trod functions --format json edges/a.trace
status 0
json '.heap | [.allocations, .frees, .resized, .failed] == [9, 3, 4, 3]'
json '.heap | [.live_blocks, .live_bytes, .double_frees, .unknown_frees, .replaced] == [5, 459, 2, 2, 0]'
json '.heap | .accesses_after_free == 2 and .accesses_by_allocators == 0'
json '[.functions[] | select(.failed > 0) | [.id, .failed]] | sort == [[0, 1], [3, 1], [4, 1]]'
json '[.live[] | [.caller, .blocks, .bytes]] | sort == [["0x401120", 1, 300], ["0x401160", 1, 128],
    ["0x401190", 1, 1], ["0x4011b0", 1, 10], ["0x4011c0", 1, 20]]'
json '.heap.most_bytes == 528'
json '.sizes == [{from: 1, to: 1, allocations: 1}, {from: 8, to: 15, allocations: 1}, {from: 16, to: 31, allocations: 1},
    {from: 32, to: 63, allocations: 1}, {from: 64, to: 127, allocations: 2}, {from: 128, to: 255, allocations: 1},
    {from: 256, to: 511, allocations: 2}]'

# delete jumps to another delete and that to free; at the end of the thread the library of free frees again what is freed
mkdir own
{
    begin 77 && mark 2 1000 && mark 3 0
    call 0 0x401100 100 && result 0 0x8000
    for id in 2 3 1; do call $id 0x401200 0x8000; done
    e 10 4 0x401200
    e 0 8 0x8020 # after free
    call 0 0x401100 50 && result 0 0x9000
    call 1 0x401300 0x9000 && e 10 4 0x401300
    call 1 0x7a0500 0x9000 && e 10 4 0x7a0500
    call 1 0x7a0500 0xa000 && e 10 4 0x7a0500
    e 23 4 77 && e 26 0 0
} >own/a.trace
cat >own/funclist.log <<'LIST'
0,1,0x0000000000701000,libc.so.6!malloc
1,1,0x0000000000701400,noret,libc.so.6!free
2,2,0x0000000000900200,noret,libstdc++.so.6!_ZdlPvm
3,1,0x0000000000900100,noret,libstdc++.so.6!_ZdlPv
LIST
run trod functions --format json own/a.trace
status 0
json '.deepest == 3 and .unreturned == 0 and .heap.frees == 2 and .heap.accesses_after_free == 1'
json '.heap | [.double_frees, .unknown_frees, .frees_by_allocators] == [1, 1, 0]'
cat >own/modules.log <<'LIST'
Module Table: version 5, count 2
Columns: id, containing_id, start, end, entry, offset, preferred_base, path
  0,   0, 0x0000000000400000, 0x0000000000402000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,  /bin/app
  1,   1, 0x0000000000700000, 0x0000000000800000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,  /lib/libc.so.6
LIST
run trod functions --format json own/a.trace
status 0
json '.heap | [.double_frees, .unknown_frees, .frees_by_allocators] == [0, 0, 2]'
sed -i 's/libc.so.6/app/' own/*.log # a program that has the allocator in it: calls of free are its own
run trod functions --format json own/a.trace
status 0
json '.heap | [.double_frees, .unknown_frees, .frees_by_allocators] == [1, 1, 0]'

run trod functions --list 3 --interval 2 --format json made/a.trace
status 0
json '[.list[] | .arguments] == ["0x64", "0x32", "0x8000"] and .list[0].result == "0x8000" and .list[2].result == null'
# what is told between two instructions is of the first: both blocks, and that one is freed
json '[.intervals[] | .live_bytes] == [50, 50, 50]'
run trod functions --warmup 2 --format json made/a.trace
status 0
json '.calls == 1 and .heap == null'
run trod functions --warmup $row:rows --format json made/a.trace
status 0
# the second malloc has been called, and returns behind the warm-up
json '.calls == 2 and .heap.allocations == 1 and .heap.frees == 1 and .heap.live_bytes == 50'
# as func_view prints threads that take turns (each ends its own lines only), further names of a function, and a thread that
# ends inside a call
mkdir turns
thread() { # TID
    e 25 0 4 && mark 12 4 && mark 9 0x40 && e 22 4 "$1" && e 24 4 76 && mark 10 64
}
{ thread 77 && mark 2 1000 && mark 3 0 && call 0 0x401100 100 && mark 2 1002 && mark 3 0 && result 0 0x8000 && e 23 4 77 && e 26 0 0; } >turns/a.trace
{ thread 78 && mark 2 1001 && mark 3 0 && call 2 0x401400 5 6 && result 2 0x30 && mark 2 1003 && mark 3 0 && call 0 0x401500 7 && e 23 4 78 && e 26 0 0; } >turns/b.trace
printf '0,1,0x1,libc.so.6!malloc\n2,2,0x3,app!work\n2,2,0x3,app!job\n2,2,0x3,app!job\n2,2,0x3,app!worker\n' >turns/funclist.log
run trod functions --like func_view turns
status 0
cat >want <<'END'
T77      0x401100 => libc.so.6!malloc(0x64)T78      0x401400 => app!job(0x5, 0x6) => 0x30
 => 0x8000
T78      0x401500 => libc.so.6!malloc(0x7)) <no return>
Function view tool results:
Function id=0: libc.so.6!malloc
        2 calls
        1 returns
Function id=2: app!job, app!work, app!worker
        1 calls
        1 returns
END
out_is want

run trod functions --like func_view made/a.trace
status 0
out <<'T'
T77      0x401100 => libc.so.6!malloc(0x64) => 0x8000
T77      0x401200 => libc.so.6!malloc(0x32) => 0x9000
T77      0x401300 => libc.so.6!free(0x8000)
T77      0x401400 => app!work(0x5, 0x6) => 0x30
Function view tool results:
Function id=0: libc.so.6!malloc
        2 calls
        2 returns
Function id=2: app!work
        1 calls
        1 returns
Function id=1: libc.so.6!free
        1 calls
        0 returns
Function id=3: app!unused
        0 calls
        0 returns
T
# without the list: numbers only, and nothing is known to allocate
cp made/a.trace alone.trace
run trod functions --format json alone.trace
status 0
json '[.functions[] | .name] == [null, null, null] and .heap == null'
run trod functions --format csv made/a.trace
status 0
run trod functions --list 99999999 made/a.trace
status 2
err_has 'at most'

# traces that record none
for file in sum.trace.zip hello.tarmac sum.tt6 boot.byu6; do
    run trod functions --format json "$examples/$file"
    status 0
    json '.calls == 0 and (.note | test("no calls"))'
done

# damaged and empty
for ((n = 0; n < 700; n += 41)); do
    head -c $n made/a.trace >made/cut.trace
    for options in "" "--like func_view"; do
        # shellcheck disable=SC2086 # several words
        run trod functions --from drmemtrace $options made/cut.trace
        check test "$got" -le 2
    done
done
printf 'x\n,,,\n99999999999999999999,x,y\n5,1,0x1,\n' >made/funclist.log
run trod functions --format json made/a.trace
status 0
json '.calls == 4'
finish

# test_cache_physical.sh - references that have a physical address and no virtual one: trod cache, locality
# and profile.
. "$TROD_SOURCE/tests/cli/lib.sh"

# rows ADDR,PADDR: instructions, and accesses whose address is that which awk's VIRTUAL and PHYSICAL say
rows() {
    awk -v virtual="$1" -v physical="$2" 'BEGIN {
        print "kind,stream,pc,addr,paddr,size"
        for (x = 1; i < 4000; i++) {
            x = x * 16807 % 2147483647
            if (i % 3 == 0) {
                pc = 65536 + 4 * (x % 300)
                print "INSTR," x % 2 "," pc "," pc ",,4"
                continue
            }
            at = int(x / 64) % 30000 * 4
            kind = x % 7 < 3 ? "READ" : x % 7 < 5 ? "WRITE" : x % 7 < 6 ? "ATOMIC" : "PREFETCH"
            print kind "," i % 2 "," pc "," (virtual ? at : "") "," (physical ? at : "") "," 1 + x % 80
        }
    }'
}
mkdir virtual physical
rows 1 0 >virtual/t.csv
rows 0 1 >physical/t.csv

# all that is counted is the same, by whatever way the rows are simulated
small=$'cache I code size=1K ways=2\ncache D data size=2K ways=4'
printf '%s\ncache L2 size=8K ways=4\n' "$small" | tee virtual/plain.conf >physical/plain.conf
printf '%s prefetch=next victims=2\ncache L2 size=8K ways=4 policy=srrip\n' "$small" | tee virtual/rich.conf >physical/rich.conf
equal() {
    last="trod $*"
    (cd virtual && trod "$@" t.csv >../expected 2>&1) || echo "status $?" >>expected
    (cd physical && trod "$@" t.csv >../got 2>&1) || echo "status $?" >>got
    same expected got
}
equal cache
equal cache -j 3 --config plain.conf
for more in '' '--by instruction' '--by page --top 0' '--by line' '--by thread' '--sharing' '--classify' '--interval 100' \
    '--windows 200,50,100' '--warmup rows:100'; do
    # shellcheck disable=SC2086 # an option and its value
    equal cache --format json --config rich.conf $more
done
equal cache --sweep size=1K..16K,ways=1..4,policy=lru+fifo
equal cache --sweep size=1K..16K,ways=2..4,policy=srrip
equal cache --like dinero --with '-l1-isize 1K -l1-ibsize 32 -l1-dsize 2K -l1-dbsize 32 -l1-dassoc 2'
equal cache --like cachegrind --with '--I1=1024,2,64 --D1=2048,2,64 --LL=16384,4,64'
equal cache --like callgrind
equal cache --like drcachesim --order file --with '-no_core_sharded -cores 2 -L1D_size 2K -L1D_assoc 2 -LL_size 16K'
equal cache --config plain.conf --misses /dev/stderr --to csv
for more in '' '--refs data' '--crossing' '--strides' '--per page --size 4K' '--shared --window 500' '--ways 2' '--touched 1K' \
    '--like reuse_distance' '--like reuse_time'; do
    # shellcheck disable=SC2086
    equal locality $more
done
for command in calls profile flame; do
    equal $command --weight misses
done
run trod profile --weight misses --format json physical/t.csv
status 0
json '.misses > 0'

# they are where they are with --physical too: only the instructions have none
cp virtual/rich.conf .
run trod cache --physical --config rich.conf --format json physical/t.csv
status 0
json ".without_physical == $(grep -c INSTR physical/t.csv)"
json "[.caches[] | [.references, .misses]] == $(trod cache --config rich.conf --format json virtual/t.csv |
    jq -c '[.caches[] | [.references, .misses]]')"
run trod cache --like drcachesim --order file --with '-no_core_sharded -cores 1 -use_physical' physical/t.csv
status 0
out_is <(trod cache --like drcachesim --order file --with '-no_core_sharded -cores 1' physical/t.csv)

# page 1 lies on page 5: a reference to the physical page 1 changes nothing in that
printf 'kind,addr,paddr,size\nREAD,0x1000,0x5000,4\nREAD,,0x1000,4\nREAD,0x1000,,4\nREAD,,0x5000,4\n' >pages.csv
printf 'cache D size=128 ways=2\ntlb T entries=2 ways=full\nwalk D\n' >pages.conf
run trod cache --physical --config pages.conf --format json pages.csv
status 0
# the first read walks; it and the second miss, the others hit
json '.without_physical == 0 and .tlbs[0].references == 2 and .tlbs[0].misses == 1 and .walks.reads == 4'
json '.references == 4 and .caches[0].references == 8 and .caches[0].misses == 6'
# without --physical the second is to the line of the first; TLBs have virtual addresses alone
run trod cache --config pages.conf --format json pages.csv
status 0
json '.tlbs[0].references == 2 and .caches[0].misses == 6'
run trod cache --like drcachesim --order file --with '-simulator_type TLB -no_core_sharded -cores 1' pages.csv
status 0
check test "$(grep -A 2 'L1D stats' "$stdout" | grep -o '[0-9]*$' | paste -sd ' ')" = '1 1'

# what is on a bus at a physical address alone is behind the caches; 200000: of code
printf 'kind,addr,paddr,size,flags\nBUS,,0x1000,8,0x200000\nBUS,0x2000,,8,0x200000\n' >bus.csv
for more in '' '--classify' '--sweep size=4K,ways=1'; do
    # shellcheck disable=SC2086
    run trod cache --format json $more bus.csv
    status 0
    json '[.. | objects | .references | numbers] | max == 1'
done
run trod locality --format json bus.csv
status 0
json '.references == 1'

# QEMU's plugin has them of whole machines, where a device stands behind the address (docs/formats/qemu.md)
if trod formats | grep -q execlog; then
    cat >machine.log <<'X'
0, 0xa12, 0xf8012400, "movs r4, #0"
0, 0xa14, 0xf87f42b4, "cmp r4, r6", load, 0x00010000, RAM
0, 0xa16, 0xd206, "bhs #0xa26", store, 0x00010040, RAM
X
    run trod cache --format json machine.log
    status 0
    json '.caches[] | select(.cache == "L1D") | .references == 2 and .misses == 2'
    run trod cache --physical --format json machine.log
    status 0
    json '.without_physical == 3'
    json '.caches[] | select(.cache == "L1D") | .references == 2 and .misses == 2'
    run trod locality --refs data --format json machine.log
    status 0
    json '.references == 2 and .lines == 2'
fi
finish

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
json '.by == [{"instruction": "0x8000", "L1": 16}]'
json '[.intervals[].L1] | add == 16'
run trod cache --config one.conf --warmup 2 --format json ping.tarmac
status 0
json '.instructions == 6 and .caches[0].misses >= 12'
run trod cache --sweep size=64..256,ways=1..4 --format csv ping.tarmac
status 0
out_has '^data,64,64,1,1,8,8,100.000$'
out_has '^data,64,128,2,1,8,2,25.000$'
out_has '^data,64,256,4,1,8,2,25.000$'
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
refused 'each core below num_cores' '-config_file bad.conf'
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
finish

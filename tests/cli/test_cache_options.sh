# test_cache_options.sh - trod cache: options and configurations that cannot be, and numbers at the ends of what there is.
. "$TROD_SOURCE/tests/cli/lib.sh"

rows() { # of eight instructions, one a line, each with a read of nothing
    echo 'kind,stream,addr,size,pc'
    for i in 0 1 2 3 4 5 6 7; do printf 'INSTR,0,%d,4,\nREAD,0,%d,0,4096\n' $((4096 + 64 * i)) $((65536 + 64 * i)); done
}
rows >w.csv
echo 'cache L size=1K' >ok.conf
cache() { run trod cache --config ok.conf "$@"; }
refuse() { # PATTERN OPTION...
    pattern=$1
    shift
    run trod cache "$@" w.csv
    status 2
    err_has "$pattern"
    out </dev/null
}

# numbers that are as large as numbers can be
cache --warmup 18446744073709551615 --format json w.csv
status 0
json '.instructions == 0 and .references == 0'
cache --skip 5 --warmup 18446744073709551615 --format json w.csv
json '.instructions == 0 and .references == 0'
cache --skip 18446744073709551615 --format json w.csv
json '.instructions == 0'
cache --windows 18446744073709551615,18446744073709551614,1 --format json w.csv
json '.windows == 0 and .instructions == 0'
cache --interval 18446744073709551615 --top 18446744073709551615 --by line --format json w.csv
json '(.intervals | length) == 1 and (.by | length) == 8'
# nothing counts because the trace ends before
for left in '--skip 8' '--warmup 8' '--warmup rows:16' '--skip 4 --warmup 4' '--windows 9,8,1' '--sweep ways=1 --warmup 8'; do
    for jobs in 1 2; do
        run trod cache $left -j $jobs w.csv
        status 0
        err_has '^trod: warning: nothing is counted: what was read ended (within|before the first of) --(skip|warmup|windows)$'
    done
done
for left in '--skip 7' '--warmup 7' '--warmup rows:15' '--skip 4 --warmup 3' '--windows 8,7,1' '--sweep ways=1 --warmup 7' '--warmup full'; do
    for jobs in 1 2; do
        run trod cache $left -j $jobs w.csv
        status 0
        err </dev/null
    done
done
# behind the last address comes the first one, in every cache of a sweep as in one alone
printf 'kind,addr,size\nREAD,0xfffffffffffffff8,16\nREAD,0xfffffffffffffff8,16\nREAD,0x10,4\n' >top.csv
for line in 8 64; do
    printf 'cache L size=1K line=%d ways=2\n' $line >top.conf
    run trod cache --config top.conf --format json top.csv
    want=$(jq -c '.caches[0] | [.references, .misses]' "$stdout")
    for jobs in 1 3; do
        run trod cache -j $jobs --sweep "size=1K,ways=2,line=$line,policy=lru+srrip" --format json top.csv
        json "[.sweep[] | select(.stream == \"data\") | [.references, .misses]] == [$want, $want]"
        run trod cache -j $jobs --sweep "size=1K,ways=2,line=$line,policy=lru+fifo" --format json top.csv
        json "[.sweep[] | select(.stream == \"data\") | [.references, .misses]] == [$want, $want]"
    done
done
refuse "'--top': '18446744073709551616' is not a number" --top 18446744073709551616
refuse 'is not EVERY,WARM,COUNT' --windows 1,,1
refuse 'are more than EVERY' --windows 5,0,0
refuse 'are more than EVERY' --windows 18446744073709551615,18446744073709551615,18446744073709551615

# what does not go together
refuse '--windows and --interval have one table' --config ok.conf --windows 4,1,2 --interval 2
refuse "'w.csv' is input and output at once" --config ok.conf --misses w.csv
rows | cmp - w.csv || fail 'the input is not what it was'
refuse "--misses and the result both go to 'x.csv'" --config ok.conf --misses x.csv -o x.csv
refuse "--misses and the result both go to '-'" --config ok.conf --misses -
cache --misses - -o result.txt w.csv
status 0
check test "$(grep -c '^[0-9]*,INSTR,' "$stdout")" = 8

# a bus of eight bytes takes a line in eight transfers: as many references, and the same misses
cache --misses m.csv w.csv
cache --misses m.byu12 w.csv
status 0
echo 'cache L2 size=4K' >second.conf
run trod cache --config second.conf --format json m.csv
json '.caches[0] | .references == 8 and .misses == 8'
run trod cache --config second.conf --format json m.byu12
json '.caches[0] | .references == 64 and .misses == 8'

# configurations: the line and the reason
bad() { # PATTERN STATEMENT
    printf '# a comment\n%s\n' "$2" >bad.conf
    refuse "bad.conf:2: $1" --config bad.conf
}
bad "'line' takes a power of two of bytes, 4 to 65536, not '3'" 'line 3'
bad "expected a power of two of bytes, 4 to 65536: line=64; got 'line=131072'" 'cache L size=1M line=131072'
bad "'writebacks' takes bytes, a power of two, not '0'" 'writebacks 0'
bad "a cache cannot be called 'memory'" 'cache memory size=4K'
bad "a cache cannot be called 'references'" 'cache references size=4K'
bad "a tlb cannot be called 'walk'" 'tlb walk entries=4'
bad 'expected degree=N, from 1 to 1024; got .degree=1025' 'cache L size=4K prefetch=next degree=1025'
bad 'expected victims=N, lines, up to 64K; got .victims=65537' 'cache L size=4K victims=65537'
bad "more than 1,073,741,823 lines: cache 'L'" 'cache L size=1024G'
bad "expected sizes of pages: pages=4K,2M; got 'pages=4K,3K'" 'tlb T entries=4 pages=4K,3K'
bad 'pages have a power of two of bytes, 4K to 1024G' 'pages 2048G'
bad "expected bytes: size=32K; got 'size=18446744073709551615'" 'cache L size=18446744073709551615'
bad "no size: cache 'L'" 'cache L size=0'
bad "the lines cannot be shared out to the ways: cache 'L'" 'cache L size=4K ways=4294967295'
bad "code and data exclude each other, both is neither word: 'L'" 'cache L size=4K code data'
bad "code and data exclude each other, both is neither word: 'T'" 'tlb T data entries=4 code'
bad "expected a policy: lru .* drrip; got 'policy=best'" 'tlb T entries=4 policy=best'
bad "'cores' takes one value: from 1 to 64" 'cores'
bad "'policy' takes one value: lru fifo" 'policy lru fifo'
bad "unknown statement: 'Cores'" 'Cores 1 2'
: >bad.conf
refuse 'bad.conf:1: no cache' --config bad.conf

# sweeps: the reason, and the part that it is about
sweep() { # REASON PART RANGES
    refuse "a sweep is .*: ${1//+/.}: '${2//+/.}'\$" --sweep "$3"
}
powers='expected A..B, or A alone: powers of two, A not above B'
for part in size=8K..4K size=3K size=4K..10K size=4K.. size= size=4Q size=0 size=-4; do sweep "$powers" "$part" "ways=1,$part,line=64"; done
sweep "$powers" ways=3 size=4K,ways=3
for part in policy= policy=opt policy=lru+opt policy=lru+lru policy=lru+ policy=best; do
    sweep 'expected different policies but opt, with + between them' "$part" "$part,size=4K"
done
sweep 'neither size=, ways=, line= nor policy=' lines=64 size=4K,lines=64,ways=1
sweep 'this is said twice' size=8K size=4K,ways=1,size=8K
sweep 'a line has 4 bytes at least' line=2,size=4K line=2,size=4K
sweep 'a sweep has 8 sizes of lines at most' size=64K,line=4..1024 size=64K,line=4..1024
sweep 'a cache of a sweep has 64 ways at most' ways=1..128 ways=1..128
sweep 'a cache of a sweep has 4 GiB at most' size=4K..8G size=4K..8G
for ranges in size=64,ways=2 size=4K,line=9223372036854775808,ways=2; do
    sweep 'the smallest cache has no room for one set of the longest lines' "$ranges" "$ranges"
done
run trod cache --sweep size=4K,line=4..512,ways=1,policy=lru --format json w.csv
json '.sweep | length == 16'

echo 'cache line size=4K' >bad.conf
refuse "a column 'line' already" --config bad.conf --by line
# of words that come twice the last counts
printf 'cores 2\ncache L size=4K cores=0 cores=1\n' >twice.conf
run trod cache --config twice.conf --format json w.csv
json '.references == 16 and .caches[0].references == 0'
for side in code data; do err_has "^trod: warning: core 0 has no cache for $side, as others have: its references are not simulated\$"; done
sed -i 's/size=4K/& policy=opt/' twice.conf
for args in '-j 1' '-j 2' '-j 4 --by core'; do
    run trod cache --config twice.conf $args w.csv
    check test "$(wc -l <"$stderr")" = 2
done
for caches in 'cores 2;cache I code size=4K' 'cores 3;cache A size=4K cores=0,2;cache B size=4K cores=1'; do
    tr ';' '\n' <<<"$caches" >sides.conf
    run trod cache --config sides.conf w.csv
    status 0
    err </dev/null
done

# other tools' options and files
with() { # PATTERN TOOL OPTIONS
    refuse "$1" --like "$2" --with "$3"
}
with "bad value of option '-l1-usize': '17179869185G'" dinero '-l1-usize 17179869185G -l1-ubsize 64'
with "bad value of option '-l1-usize': '18446744073709551616'" dinero '-l1-usize 18446744073709551616 -l1-ubsize 64'
for when in on off; do
    with "what begins or ends at an address is not simulated .--instructions and --range choose a part.: '-$when-trigger'" dinero "-l1-usize 8K -l1-ubsize 64 -$when-trigger 0x1000"
done
with "a split level has an instruction and a data cache: 'l1'" dinero '-l1-dsize 8K -l1-dbsize 64'
with "unified and split at one level: 'l1'" dinero '-l1-dsize 8K -l1-dbsize 64 -l1-usize 8K -l1-ubsize 64'
with "a level is left out: 'l1'" dinero '-l2-usize 8K -l2-ubsize 64'
with "a split level after a unified one: 'l2'" dinero '-l1-usize 8K -l1-ubsize 64 -l2-isize 8K -l2-ibsize 64 -l2-dsize 8K -l2-dbsize 64'
# what Dinero refuses, although a size is not among it
both='-l1-isize 1K -l1-ibsize 32 -l1-dsize 1K -l1-dbsize 32'
for option in '-l2-uassoc 4' '-l2-uassoc 4 -l2-ubsize 64' '-l2-usbsize 8' -l2-uccc '-l2-ufetch m' '-l2-uwback n' '-l2-usize 0 -l2-ubsize 64'; do
    with "the size of the cache is missing: option '-l2-usize'" dinero "$both $option"
done
for option in '-l3-dfetch m' '-l2-upfdist 2' '-l2-upfabort 5' '-l2-uassoc 0' '-l2-usize 0'; do with "a level is left out: 'l2'" dinero "$both $option"; done
for option in '-l1-ubsize 32' -l1-uccc '-l1-urepl f'; do with "unified and split at one level: 'l1'" dinero "$both $option"; done
for option in walloc wback; do with "a cache for instructions has no writes: option '-l1-i$option'" dinero "$both -l1-i$option n"; done
with "nothing is prefetched, which could be aborted: option '-l1-ipfabort'" dinero "$both -l1-ipfabort 50"
with "nothing is prefetched, which could be aborted: option '-l1-dpfabort'" dinero "$both -l1-dpfabort 50 -l1-dfetch d"
with "more than 100 percent: cache 'l1-d'" dinero "$both -l1-dpfabort 101 -l1-dfetch a"
for option in '-l1-ifetch s -l1-ipfdist 3' '-l1-ifetch l -l1-ipfdist 2' '-l1-ifetch s -l1-ipfdist 5 -l1-isbsize 8'; do
    with "prefetches in one block reach no further than its size: option '-l1-ipfdist'" dinero "$both $option"
done
for option in '-l1-dsbsize 8' '-l1-dbsize 64' '-l1-dbsize 64 -l1-dsbsize 32 -l1-isbsize 32'; do
    with "with -stat-idcombine the blocks, and sub-blocks, of both caches are equal: level 'l1'" dinero "$both $option -stat-idcombine"
done
with "a sub-block is at most 32K: cache 'l1-u'" dinero '-l1-usize 64K -l1-ubsize 64K'
# what it takes, and lists: each option with a number that is not 0
for option in '-l1-dpfdist 2' '-l1-ifetch s -l1-ipfdist 4 -l1-isbsize 8' '-l1-ifetch t -l1-ipfdist 9 -l1-ipfabort 100' '-l1-upfdist 3 -l1-upfabort 7'; do
    run trod cache --like dinero --with "$both $option" w.csv
    status 0
    for words in ${option// -l/ @-l}; do printf '%s ' "$words"; done | tr @ '\n' | sed 's/ $//' | sort >want
    grep -xFf want "$stdout" | sort >got
    same want got
done
run trod cache --like dinero --with "$both -l1-isbsize 8 -l1-dsbsize 8 -stat-idcombine" w.csv
status 0
for word in '--simulate-wb=no' '--simulate-hwpref=no' '--simulate-wb=yes --simulate-wb=no'; do
    run trod cache --like callgrind w.csv
    status 0
    cp "$stdout" want
    run trod cache --like callgrind --with "$word" w.csv
    status 0
    same want "$stdout"
    with "unknown option '--simulate-[a-z]*=[a-z]*'" cachegrind "$word"
done
with "unknown option '--simulate-wb=maybe'" callgrind '--simulate-wb=maybe'
with "unknown option '--simulate-hwpref=off'" callgrind '--simulate-hwpref=off'
# a write that does not allocate hits block 0, which the fully associative cache of four blocks has lost by then: it does not come back
# there, and the read that misses it at last misses for want of capacity
printf 'r %s 4\n' 0 10 20 30 50 >din3c.xdin
printf 'w 0 4\nr 40 4\nr 0 4\n' >>din3c.xdin
for how in n f; do
    run trod cache --like dinero --with "-l1-usize 64 -l1-ubsize 16 -l1-uwalloc $how -l1-uccc" din3c.xdin
    status 0
    out_has '^   Compulsory misses[[:space:]]+6[[:space:]]'
    out_has '^   Capacity misses[[:space:]]+1[[:space:]]'
    out_has '^   Conflict misses[[:space:]]+0[[:space:]]'
done
# of an invalidated block Dinero forgets as many of its first sub-blocks as the logarithm of their number is; above 4 GiB it forgets none
invalidated() { # BASE FORGOTTEN SUB-BLOCKS
    local i k n=$3
    for i in 1 2; do
        ((i == 1)) || printf 'v %x 4\n' "$1"
        for ((k = 0; k < n; k++)); do printf 'r %x 4\n' $(($1 + k * 32 / n)); done
    done >v.xdin
    run trod cache --like dinero --with "-l1-usize 1K -l1-ubsize 32 -l1-usbsize $((32 / n)) -l1-uccc" v.xdin
    status 0
    out_has "^   Compulsory misses[[:space:]]+$((n + $2))[[:space:]]"
    out_has "^   Capacity misses[[:space:]]+$((n - $2))[[:space:]]"
    ((n == 1)) || out_has "^   DB capacity misses[[:space:]]+1[[:space:]]"
}
for forgotten in 0 1 2 3; do
    invalidated 0x1000 $forgotten $((1 << forgotten))
    invalidated 0x100001000 0 $((1 << forgotten))
done
printf 'r 1000 4\nv 1000 4\nr 1000 4\n' >v.xdin # all that was known of it
run trod cache --like dinero --with "-l1-usize 1K -l1-ubsize 32 -l1-usbsize 16 -l1-uccc" v.xdin
out_has '^   DB compulsory misses[[:space:]]+2[[:space:]]'
with "not a number: option 'L1D_size': '17179869185G'" drcachesim '-L1D_size 17179869185G'
with "not a number: option 'L1D_assoc': '4294967304'" drcachesim '-L1D_assoc 4294967304'
with "not a number: option 'sim_refs': '18446744073709551616'" drcachesim '-sim_refs 18446744073709551616'
with "cannot create 'nowhere/x'" drcachesim '-LL_miss_file nowhere/x'
with "cannot open 'nowhere'" drcachesim '-use_physical -v2p_file nowhere'
printf '// a comment\nL1 {\n  size 5G\n}\n' >dr.conf
with "dr.conf:3: not a size from 1 to 2147483647: '5G'" drcachesim '-config_file dr.conf'
printf 'warmup_refs 3\nwarmup_fraction 0.5\nnum_cores 1\nL1 { core 0 size 4K assoc 4 }' >dr.conf
with 'dr.conf:2: warmup_refs and warmup_fraction exclude each other' drcachesim '-config_file dr.conf'
# every key of such files, and what it does not take: line 6
conf() { # PATTERN TEXT
    printf '%s\n' 'num_cores 1' 'line_size 64' 'L1I { type instruction core 0 size 1K assoc 2 parent LL }' \
        'L1D { type data core 0 size 1K assoc 2 parent LL }' 'LL { type unified size 4K assoc 4 parent memory }' "$2" >dr.conf
    with "dr.conf:6: $1" drcachesim '-config_file dr.conf'
}
for key in skip_refs warmup_refs sim_refs num_cores line_size verbose; do
    conf "not a number: '1K'" "$key 1K"
    conf "a value is missing after '$key'" "$key"
done
for key in cpu_scheduling coherence coherent use_physical; do conf "neither true nor false: 'yes'" "$key yes"; done
for v in 2 -1 nan 0.5x; do conf "not a fraction from 0 to 1: '$v'" "warmup_fraction $v"; done
conf "unknown parameter 'colour'" 'colour red'
conf "unknown parameter '//x'" '//x 1'
conf "a name is missing before '}'" '} x 1'
conf "a name is missing before '{'" '{ x 1 }'
conf "empty block 'X'" 'X { }'
conf "the block has no end: 'X'" 'X { type unified'
conf "not a type of cache .instruction, data, unified.: 'both'" 'X { type both }'
conf "not a size from 1 to 2147483647: '4G'" 'X { size 4G }'
conf "not a number of ways: '0'" 'X { assoc 0 }'
conf "not a number: 'x'" 'X { core x }'
conf "neither true nor false: 'maybe'" 'X { inclusive maybe }'
conf "neither true nor false: 'maybe'" 'X { exclusive maybe }'
conf "unknown replacement policy 'lru'" 'X { replace_policy lru }'
conf "unknown replacement policy 'BIT_PLRU'" 'X { replace_policy BIT_PLRU }'
conf 'empty block' 'X { replace_policy { } }'
conf 'rrpv_bits, rrpv_period and rrpv_long_per_period go together' 'X { replace_policy { type RRIP rrpv_bits 2 } }'
conf "unknown parameter of a replacement policy 'kind'" 'X { replace_policy { kind RRIP } }'
conf "unknown prefetcher 'stride'" 'X { prefetcher stride }'
conf "unknown parameter of a cache: 'colour'" 'X { colour red }'
conf "cache 'X': size / line size / ways must be a power of two" 'X { size 1K assoc 3 }'
conf "cache 'X': its parent is no cache" 'X { size 1K assoc 1 parent Y }'
conf "cache 'X': its parents go round in a circle" 'X { size 1K assoc 1 parent X }'
conf "cache 'X': the type of its parent is another one" 'X { size 1K assoc 1 parent L1D }'
conf "cache 'X': its core has such a cache already" 'X { size 1K assoc 1 core 0 parent LL }'
conf "cache 'X': its core is not below num_cores" 'X { size 1K assoc 1 core 5 type data parent LL }'
conf "cache 'X': a cache cannot be both inclusive and exclusive" 'X { size 1K assoc 1 inclusive true exclusive true }'
conf "not a number: 'x'" 'LL { size 8K core x }'
# of equal names the first counts
for twice in 'num_cores 2' 'LL { type data size 8K assoc 4 parent X miss_file x }'; do
    sed -i '6,$d' dr.conf
    run trod cache --like drcachesim --with '-no_core_sharded -config_file dr.conf' w.csv
    status 0
    cp "$stdout" once
    echo "$twice" >>dr.conf
    run trod cache --like drcachesim --with '-no_core_sharded -config_file dr.conf' w.csv
    status 0
    same once "$stdout"
done
pages() { # PATTERN LINE
    printf 'page_size: 0x1000\npage_count: 1\naddress_mapping {\n%s\n}\n' "$2" >v2p
    with "v2p:4: $1" drcachesim '-use_physical -v2p_file v2p'
}
pages 'neither KEY: NUMBER nor' 'virtual_address: x'
pages 'neither KEY: NUMBER nor' 'physical_address 0x1000'
pages 'neither KEY: NUMBER nor' 'nonsense'
pages 'page_size is no power of two' 'page_size: 3'
printf 'page_size: 0x1000\npage_count: 1\n# a comment\naddress_mapping {\n  virtual_address: 0x1000\n  physical_address: 0x2000\n}\n\n' >v2p
run trod cache --like drcachesim --with '-no_core_sharded -use_physical -v2p_file v2p' w.csv
status 0
run trod cache --like drcachesim --with '-no_core_sharded -sim_refs 18446744073709551615' w.csv
status 0

# coherence is told of wherever it is simulated, also where no cache has two before it: nothing is snooped then
printf '%s\n' 'num_cores 1' 'coherent true' 'U { type unified core 0 size 256 assoc 1 parent LL }' \
    'LL { type unified size 1K assoc 1 parent memory }' >dr.conf
for coherent in true false; do
    sed -i "2s/.*/coherent $coherent/" dr.conf
    run trod cache --like drcachesim --with '-no_core_sharded -config_file dr.conf' w.csv
    status 0
    check test "$(sed -n '/^Coherence stats:$/,$p' "$stdout" | tr -s ' \n' ' ')" = \
        "$([[ $coherent == false ]] || echo 'Coherence stats: Total writes: 0 Invalidations: 0 Writebacks: 0 ')"
done
# a core without a cache that it needs: which core, which cache, and where the number of cores stands
lacks() { # PATTERN LINE...
    printf '%s\n' "${@:2}" >dr.conf
    with "$1" drcachesim '-config_file dr.conf'
}
l1i() { echo "I$1 { type instruction core $1 size 1K assoc 2 parent LL }"; }
l1d() { echo "D$1 { type data core $1 size 1K assoc 2 parent LL }"; }
behind='LL { type unified size 4K assoc 4 parent memory }'
lacks 'dr.conf:2: core 0 has no data cache: .*num_cores .1.' '// one core' 'num_cores 1' "$(l1i 0)" "$behind"
lacks 'dr.conf:4: core 1 has no instruction cache: .*num_cores .2.' "$(l1i 0)" "$(l1d 0)" "$(l1d 1)" 'num_cores 2' "$behind"
lacks 'dr.conf:1: core 1 has no instruction and no data cache: ' 'num_cores 2' "$(l1i 0)" "$(l1d 0)" "$behind"
lacks 'dr.conf:3: core 1 has no .*num_cores .4, as it is not given.' "$(l1i 0)" "$(l1d 0)" "$behind"
lacks 'dr.conf:1: core 0 has no ' '// nothing'

# blocks of a byte: a reference of many, and the last one of all, with many ways too
printf 'kind,stream,addr,size\nREAD,0,128,60000\nWRITE,0,18446744073709551615,1\nREAD,0,64,1\nREAD,0,18446744073709551615,1\nREAD,0,0,1\n' >byte.csv
run trod cache --like dinero --with '-l1-usize 64 -l1-ubsize 1' byte.csv
status 0
out_has '^ Demand Fetches.* 60004[[:space:]]'
out_has '^ Demand Misses.* 60003[[:space:]]'
out_has '^ Bytes To Memory.* 1$'
printf 'kind,stream,addr,size\nWRITE,0,18446744073709551615,1\nREAD,0,18446744073709551551,1\n' >byte.csv # of the same set
run trod cache --like dinero --with '-l1-usize 64 -l1-ubsize 1 -l2-usize 128 -l2-ubsize 1' byte.csv
out_has '^ Bytes To Memory.* 1$'
for i in 1 2 3; do printf 'READ,0,18446744073709551615,1\nREAD,0,%d,1\n' $i; done | cat <(echo 'kind,stream,addr,size') - >byte.csv
run trod cache --like dinero --with '-l1-usize 64 -l1-ubsize 1 -l1-uassoc 64 -l1-uccc' byte.csv
out_has '^ Demand Misses.* 4[[:space:]]'
out_has '^   Compulsory misses.* 4[[:space:]]'
# an instruction there is one owner
{
    echo 'kind,stream,addr,size,pc'
    for i in $(seq 200); do printf 'READ,0,%d,4,0xffffffffffffffff\nREAD,0,%d,4,%d\n' $((64 * i)) $((64 * i + 32)) "$i"; done
} >owner.csv
for warmup in 0 rows:399; do
    cache --by instruction --top 0 --warmup $warmup --format json owner.csv
    status 0
    json "([.by[] | .references] | add) == .references and ([.by[].instruction] | length) == ([.by[].instruction] | unique | length)"
done

# presets: each can be simulated, and says where its sizes are from
run trod cache --presets --format csv
status 0
for name in $(sed 1d "$stdout" | cut -d, -f1); do
    run trod cache --preset "$name" --format json w.csv
    status 0
    json '.instructions == 8'
    [ "$name" = default ] || check grep -q "^| \`$name\` | .*Manual\|^| \`$name\` | .*Guide" "$TROD_SOURCE/docs/caches.md"
done

# ---- options of other tools: unknown ones and those without their value are not the same
for with in 'drcachesim -foo' 'dinero -foo' 'dinero -l1-ufoo' 'cachegrind --foo'; do
    run trod cache --like "${with% *}" --with "${with#* }" "$TROD_SOURCE/examples/hello.tarmac"
    status 2
    err_has "^trod: unknown option '-*[a-z1-]*foo'"
done
for with in 'drcachesim -LL_size' 'drcachesim -replace_policy' 'dinero -l1-usize' 'dinero -skipcount'; do
    run trod cache --like "${with% *}" --with "${with#* }" "$TROD_SOURCE/examples/hello.tarmac"
    status 2
    err_has '^trod: a value is missing after option'
done

# ---- DynamoRIO's configuration file: the order of a block's pairs means nothing, of equal names the first counts
awk 'BEGIN {
    print "kind,addr,size"
    for (x = 1; i < 4000; i++) { x = x * 16807 % 2147483647; print "READ," int(x / 64) % (i % 3 ? 40 : 400) * 64 ",4" }
}' >rrip.csv
rrip() { # PAIRS of the block: how many misses the data cache has
    printf '%s\n' 'num_cores 1' 'L1I { type instruction core 0 size 1K assoc 2 parent LL }' \
        "L1D { type data core 0 size 2K assoc 8 parent LL replace_policy $1 }" 'LL { size 64K assoc 4 }' >rrip.conf
    run trod cache --like drcachesim --order file --with '-no_core_sharded -config_file rrip.conf' rrip.csv
    status 0
    got=$(sed -n '/ L1D/,/ Misses/s/.* Misses: *//p' "$stdout")
}
rrip RRIP
plain=$got
rrip '{ type RRIP rrpv_bits 1 rrpv_period 2 rrpv_long_per_period 1 }'
first=$got
check test "$first" != "$plain"
set -- 'type RRIP' 'rrpv_bits 1' 'rrpv_period 2' 'rrpv_long_per_period 1'
for order in '2 3 4 1' '2 1 3 4' '4 3 1 2' '3 4 2 1' '4 1 2 3'; do
    pairs=
    for i in $order; do pairs+=" ${!i}"; done
    rrip "{$pairs }"
    check test "$got" = "$first"
    rrip "{$pairs rrpv_long_per_period 0 type LRU rrpv_bits 3 rrpv_period 64 }"
    check test "$got" = "$first"
done
rrip '{ type RRIP type LRU }'
check test "$got" = "$plain"
rrip '{ type LRU type RRIP }'
lru=$got
rrip LRU
check test "$got" = "$lru"
# as many long ones as the period has, or more: all of them
rrip '{ type RRIP rrpv_bits 2 rrpv_period 1 rrpv_long_per_period 1 }'
all=$got
for more in '0 rrpv_long_per_period 0' '0 rrpv_long_per_period 7' '3 rrpv_long_per_period 3'; do
    rrip "{ rrpv_period $more rrpv_bits 2 type RRIP }"
    check test "$got" = "$all"
done

# ---- what is wrong is told, and where
refuse_dr() { # PATTERN, and the configuration
    printf '%s\n' "${@:2}" >wrong.conf
    refuse "$1" --like drcachesim --with '-config_file wrong.conf'
}
one='L1 { type unified core 0 size 1K assoc 2'
refuse_dr '^trod: wrong.conf:2: warmup_refs and warmup_fraction exclude' 'num_cores 1' 'warmup_refs 3 warmup_fraction 0.5' "$one }" 'sim_refs 5'
refuse_dr '^trod: wrong.conf:4: warmup_refs and warmup_fraction exclude' 'num_cores 1' 'warmup_fraction 0.5' "$one }" 'warmup_refs 3' ''
refuse_dr "^trod: wrong.conf:2: cache 'L1': its parents go round in a circle" 'num_cores 1' "$one parent L1 }"
refuse_dr "^trod: wrong.conf:2: cache 'L1': its parents go round in a circle" 'num_cores 1' "$one parent L2 }" 'L2 { size 1K assoc 1 parent L1 }'
refuse_dr "^trod: wrong.conf:2: cache 'L1': its parent is no cache" 'num_cores 1' "$one parent L3 }"
refuse_dr '^trod: wrong.conf:2: empty block' 'num_cores 1' "$one replace_policy { } }"
refuse_dr '^trod: wrong.conf:2: rrpv_bits is at least 1' 'num_cores 1' \
    "$one replace_policy { type RRIP rrpv_bits 0 rrpv_period 2 rrpv_long_per_period 1 } }"
refuse_dr '^trod: wrong.conf:2: rrpv_bits, rrpv_period and .* go together' 'num_cores 1' "$one replace_policy { type RRIP rrpv_bits 2 } }"
for side in u i d; do
    refuse "the size of its blocks is missing: option '-l2-${side}bsize'" --like dinero \
        --with "-l1-isize 8K -l1-ibsize 32 -l1-dsize 8K -l1-dbsize 32 $(for k in u i d; do
            [[ $side$k != *u* || $side$k == uu ]] || continue
            printf ' -l2-%ssize 64K' $k
            [[ $k == "$side" ]] || printf ' -l2-%sbsize 64' $k
        done)"
done
for line in 'cache L1 size=1K next=' $'cache L1 size=1K\ntlb T entries=4 next='; do
    echo "$line" >wrong.conf
    refuse "expected next=NAME; got 'next='" --config wrong.conf
done

# ---- Dinero with addresses of 32 bits: behind the last one comes the first
printf 'kind,addr,size\nREAD,0xfffffffe,4\nREAD,0,1\n' >crossing.csv
printf 'kind,addr,size\nREAD,0xfffffff0,4\nREAD,0,1\n' >next.csv
for bits in '32 2' '64 3'; do
    run trod cache --like dinero --with "-l1-usize 8K -l1-ubsize 32 -address-bits ${bits% *}" crossing.csv
    out_has "^ Demand Misses[[:space:]]+${bits#* }[[:space:]]"
done
for bits in '32 1' '64 2'; do # the first read has the next block fetched
    run trod cache --like dinero --with "-l1-usize 8K -l1-ubsize 32 -l1-ufetch a -address-bits ${bits% *}" next.csv
    out_has "^ Demand Misses[[:space:]]+${bits#* }[[:space:]]"
done

# code of core 0 that core 1 writes, before each of its fetches: two of these miss what was taken away, and find it dirty in the other core.
# The second write has the line by then, as core 0. So it is whether a level behind holds the line or not
printf '%s\n' kind,stream,pc,addr,size INSTR,1,0x1000,,4 INSTR,2,0x2000,,4 WRITE,2,0x2000,0x1000,8 INSTR,1,0x1004,,4 INSTR,2,0x2004,,4 \
    WRITE,2,0x2004,0x1000,8 INSTR,1,0x1004,,4 >code.csv
for more in '' 'cache P size=4K ways=4' 'cache P size=4K ways=4 inclusion='{inclusive,exclusive} 'cache P size=64 ways=1'; do
    for how in 'size=1K ways=2' 'size=1K ways=2 victims=1' 'size=1K ways=2 line=16' 'size=1K ways=2 coherent=yes sector=8'; do
        [[ $more$how != *exclusive*line=* && $more$how != *exclusive*sector=* ]] || continue # refused
        printf '%s\n' 'cores 2' 'coherence on' 'classify on' "cache L1I code $how" 'cache L1D data size=1K ways=2' "$more" \
            'cache L2 shared size=64K ways=4' >code.conf
        for jobs in 1 4; do
            run trod cache --config code.conf --order file -j $jobs --format json code.csv
            status 0
            json '[.caches[] | select(.cache == "L1I") | .references, .misses, .coherence, .coherence_invalidations] == [5, 4, 2, 2]'
            json '.coherence == {invalidations: 2, interventions: 2, upgrades: 1}'
        done
    done
done
# not so where the configuration says so, and in processors that leave it to software
sed 's/coherent=yes/coherent=no/' code.conf >kept.conf
for machine in '--config kept.conf' '--preset cortex-a53' '--preset cortex-a72'; do
    run trod cache $machine --order file --format json code.csv
    status 0
    json '[.caches[] | select(.cache == "L1I") | .references, .misses, .coherence_invalidations] == [5, 2, 0]'
done
# what such a cache pushes out later may be taken away behind it
printf '%s\n' kind,stream,pc,addr,size INSTR,1,0x1000,,4 WRITE,2,0x2000,0x1000,8 INSTR,1,0x3000,,4 WRITE,2,0x2000,0x1000,8 >code.csv
printf '%s\n' 'cores 2' 'coherence on' 'cache L1I code size=64 coherent=no' 'cache L1D data size=1K ways=2' \
    'cache P size=4K ways=4 inclusion=exclusive' 'cache L2 shared size=64K ways=4' >kept.conf
run trod cache --config kept.conf --order file --format json code.csv
status 0
json '[.caches[] | .coherence_invalidations] == [0, 0, 1, null]'
json '.coherence == {invalidations: 1, interventions: 0, upgrades: 1}'
# a core whose data come to a shared cache first takes lines from a core with a cache before that, which it has written back when it reads
printf '%s\n' kind,stream,pc,addr,size WRITE,1,0x400,0x1000,8 READ,2,0x500,0x1000,8 WRITE,2,0x500,0x1000,8 READ,1,0x400,0x1000,8 >some.csv
printf '%s\n' 'cores 2' 'coherence on' 'cache L1D data cores=0 size=1K' 'cache L2 shared size=64K ways=4' >some.conf
run trod cache --config some.conf --order file --format json some.csv
json '.coherence == {invalidations: 1, interventions: 1, upgrades: 1} and .caches[0].misses == 2 and .caches[0].writebacks == 1'
finish

# test_cache_properties.sh - `trod cache` and `trod locality`: what is cut, shared, emptied, swept or sampled against runs of parts
# of the trace, and lists.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
check python3 "$TROD_SOURCE/tests/cli/cache_properties.py" "$TROD" 0 "$(fewer 4 1)"
check python3 "$TROD_SOURCE/tests/cli/cache_laws.py" "$TROD" 0 "$(fewer 3 1)"

# mistakes of configurations: the line, what is wrong, and what may stand there
bad() { # WHAT LINE
    printf '# a comment\n%s\n' "$2" >bad.conf
    run trod cache --config bad.conf p.csv
    status 2
    err_has "^trod: bad.conf:2: $1"
}
bad "'cores' takes from 1 to 64, not '65'" 'cores 65'
bad "'line' takes a power of two of bytes, 4 to 65536, not 'x'" 'line x'
bad "'policy' takes lru fifo .* opt, not 'best'" 'policy best'
bad "'coherence' takes on, not 'maybe'" 'coherence maybe'
bad "'flush' takes tlbs, caches or all, not 'everything'" 'flush everything'
bad "unknown statement: 'nonsense'" 'nonsense 1'
bad "expected ways=N, from 1 on, or ways=full; got 'ways=0'" 'cache L1 size=1K ways=0'
bad "expected a policy: lru .* opt; got 'policy=foo'" 'cache L1 size=1K policy=foo'
bad "expected cores=0-3,6; got 'cores=z'" 'cache L1 size=1K cores=z'
bad "unknown parameter: 'colour=red'" 'cache L1 size=1K colour=red'
bad "unknown parameter: 'size=4K'" 'tlb T entries=4 size=4K'
bad "expected sizes of pages: pages=4K,2M; got 'pages=3K'" 'tlb T entries=4 pages=3K'
bad "expected inclusion=none, inclusive, exclusive, data or evicted; got 'inclusion=some'" 'cache L1 size=1K inclusion=some'
bad "only a cache for code can keep what other cores write .coherent=no.: cache 'L1'" 'cache L1 size=1K data coherent=no'
bad "expected coherent=yes or no; got 'coherent=maybe'" 'cache L1 size=1K code coherent=maybe'
for more in victims=1 prefetch=next; do
    bad 'a cache of evicted lines goes with neither victims nor prefetch' "cache L1 size=1K inclusion=evicted $more"
done
bad "an exclusive cache takes in nothing but what is pushed out, and cannot prefetch: cache 'L1'" 'cache L1 size=1K inclusion=exclusive prefetch=next'
for how in exclusive evicted; do
    bad ".* goes to a cache with lines as long: cache 'A'" "cache A size=1K line=32"$'\n'"cache B size=2K inclusion=$how"
    bad "sectors do not go before a cache of what is pushed out: cache 'A'" "cache A size=1K sector=16"$'\n'"cache B size=2K inclusion=$how"
done
for range in 0x1000..0x1000 0x2000..0x1000 0x1000 ..0x1000 0x1000.. -0x2000..0x1000 0..-0x1000 0..0x10000000000001000 0..0x20000000000000000 0..0; do
    bad "no range of addresses LO..HI: '$range'" "pages 4K $range"
done
bad "the range is no whole number of such pages: '0..0xffffffffffffffff'" 'pages 4K 0..0xffffffffffffffff'
bad "the range is no whole number of such pages: '0x1000..0x10000000000000000'" 'pages 2M 0x1000..0x10000000000000000'

# what nothing comes to, and what something does come to
idle() { # LINE NAME STATEMENT...
    printf '%s\n' "${@:3}" >idle.conf
    run trod cache --config idle.conf p.csv
    status 2
    err_has "^trod: idle.conf:$1: nothing comes to it, .*: '$2'"
}
idle 2 B 'cache A size=4K next=memory' 'cache B size=8K'
idle 2 B 'cache A data size=4K' 'cache B data size=8K'
idle 3 B 'cores 2' 'cache A size=4K next=C' 'cache B size=8K cores=1' 'cache C size=16K'
idle 3 S 'cache A size=4K' 'tlb T entries=4 next=walk' 'tlb S entries=8'
used() { # STATEMENT...
    printf '%s\n' "$@" >used.conf
    run trod cache --config used.conf --format json p.csv
    status 0
}
used 'cache A data size=4K next=B' 'cache B data size=8K'
used 'cache A data size=4K next=memory' 'cache B size=8K'
used 'cores 2' 'cache A size=4K cores=0' 'cache B size=8K'
used 'tlb T entries=4' 'cache A size=4K next=memory' 'cache B size=8K' 'walk B'
finish

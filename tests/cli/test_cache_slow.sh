# test_cache_slow.sh - hierarchies of all kinds, on one core and several, against slow simulators of docs/caches.md.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
slow() { check python3 "$TROD_SOURCE/tests/cli/cache_slow.py" "$TROD" "$@"; }
slow 0 "$(fewer 60 15)"
check python3 "$TROD_SOURCE/tests/cli/cache_slow_few.py" "$TROD"
slow 337 338 # an exclusive level behind one that writes through
slow 103 104 # best offsets near address 0
slow 117 118 # an inclusive level pushes out what it brings in
slow 139 140 # a cache that prefetches before the optimal policy
slow 1000 1006 # levels of evicted lines
slow 1137 1138 # and how they are classified after a reference that went past

# 32 words of a line were dropped from the 33rd on, and what follows a zero byte
{ printf 'cache L1 size=4K'; printf ' ways=1%.0s' {1..40}; echo ' prefetch=now'; } >long.conf
run trod cache --config long.conf slow.csv
status 2
err_has 'long.conf:1: .*more than 32 words'
printf 'cache L1 size=4K\n\0cache L2 size=3\n' >zero.conf
run trod cache --config zero.conf slow.csv
status 2
err_has 'zero.conf:2: .*zero byte'
printf 'cores 2\ncoherence on\ncache A data cores=0 size=4K line=32\ncache B data cores=1 size=4K\n' >two.conf
run trod cache --config two.conf slow.csv
status 2
err_has 'two.conf:4: .*lines as long'
printf 'cache A ways=2\n' >no.conf
run trod cache --config no.conf slow.csv
status 2
err_has "no.conf:1: no size: cache 'A'"
printf 'cache A size=17179869185G\n' >huge.conf
run trod cache --config huge.conf slow.csv
status 2
err_has "huge.conf:1: .*size=17179869185G"
finish

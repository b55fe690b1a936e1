# test_cache_slow_report.sh - the whole report of `trod cache` (ratios, sharing, coherence, clusters, flushes, TLBs, phases, intervals,
# physical addresses) and its trace of misses against slow simulators of docs/caches.md.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
slow() { check python3 "$TROD_SOURCE/tests/cli/cache_slow_report.py" "$TROD" "$@"; }
slow 0 12      # 0: whose flush it is; 9: windows side by side; 10: dirty copies of clusters
slow 17 18     # these, in front of sectors
slow 30 31     # the top line of all is taken away by an inclusive level
slow 5098 5099 # code that another core wrote to is pushed out into an exclusive level
slow 133 134   # and by another core
slow 148 149   # and from behind a flush
slow 160 161   # a stride round the top of the addresses
slow 1003 1007 # levels inclusive of data alone
slow 2000 2003 # levels of evicted lines
slow 1018 1019 # pages up to 2^64
slow 1029 1030 # several lines written back at once
slow 1033 1034 # and to physical addresses
slow 10000 10004 # physical addresses alone
slow 7039 7040 # caches that are full after the read of an atomic access
slow 20000 $((20000 + $(fewer 25 10))) # code that others write, and cores that share more of code than of data, or less
slow 20100 20101 # a core whose first cache of data is shared, and others with one before it
slow 20171 20172 # a sector of a line of code that stays when it is written
check python3 "$TROD_SOURCE/tests/cli/cache_slow_misses.py" "$TROD" 0 3
finish

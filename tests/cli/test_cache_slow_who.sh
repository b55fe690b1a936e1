# test_cache_slow_who.sh - TLBs, page walks, and misses by their owners (code, pages, threads; objects, blocks,
# lines of source) against slow simulators of docs/caches.md.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
check python3 "$TROD_SOURCE/tests/cli/cache_slow_who.py" "$TROD" 0 "$(fewer 30 8)"
check python3 "$TROD_SOURCE/tests/cli/cache_slow_data.py" "$TROD" 0 "$(fewer 30 8)"
finish

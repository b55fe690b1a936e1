# test_cache_slow_like.sh - `trod cache --like` dinero, cachegrind, callgrind and drcachesim against slow simulators of these tools' rules.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3

export PYTHONDONTWRITEBYTECODE=1
check python3 "$TROD_SOURCE/tests/cli/cache_slow_like.py" "$TROD" 0 25
check python3 "$TROD_SOURCE/tests/cli/cache_slow_dr.py" "$TROD" 0 25
more() { check python3 "$TROD_SOURCE/tests/cli/cache_slow_dr_more.py" "$TROD" "$@"; }
more 0 25
more 75 78 # hints forget the warm-up, and their table keeps its buckets
finish

# test_cut_slow.sh - where warm-ups, intervals and regions are cut, in instructions, rows and time, against traces cut by hand.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
needs_format csv

export PYTHONDONTWRITEBYTECODE=1
check python3 "$TROD_SOURCE/tests/cli/cut_slow.py" "$TROD" 0 "$(fewer 30 8)"
finish

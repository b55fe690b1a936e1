# test_drm_slow.sh - rows, counts, histogram and system calls of DynamoRIO traces against a reader that takes entry by entry.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
needs_format drmemtrace

export PYTHONDONTWRITEBYTECODE=1
check python3 "$TROD_SOURCE/tests/cli/drm_slow.py" "$TROD" 0 "$(fewer 24 6)"
check python3 "$TROD_SOURCE/tests/cli/drm_slow.py" "$TROD" 7045 7046 # windows
finish

# test_index_same.sh - every command that takes a part of a trace answers with an index what it answers without, whatever
# other options it has: of Tarmac, compressed too, and of what some other formats make of it.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
check python3 "$TROD_SOURCE/tests/cli/index_same.py" "$TROD"
finish

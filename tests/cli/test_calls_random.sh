# test_calls_random.sh - what calls cost, and the stack at a row, of random programs whose stacks are known: tail
# calls, system calls, exceptions thrown through frames; with stack pointers and without, with an index and without.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
for features in - t s st x xt xs xst; do
    for seed in $(seq "$(fewer 4 1)"); do
        check python3 "$TROD_SOURCE/tests/cli/calls_random.py" "$TROD" $seed $features
    done
done
finish

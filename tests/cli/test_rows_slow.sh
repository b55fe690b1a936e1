# test_rows_slow.sh - `trod view` of random Tarmac, Trace Matcher and Amber traces against rows that were made together with their
# records (tarmac_slow.py, amber_slow.py), field by field; and what conversions of them keep.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
needs_format tarmac
needs_format tt6

tarmac=$TROD_SOURCE/tests/cli/tarmac_slow.py amber=$TROD_SOURCE/tests/cli/amber_slow.py

for seed in $(seq "$(fewer 12 4)"); do
    python3 "$tarmac" gen "$seed" 150 t.tarmac t.rows
    run trod view --format json t.tarmac
    status 0
    err </dev/null
    check python3 "$tarmac" same t.rows "$stdout"
    # to itself byte for byte, and in another dialect with the same rows
    check trod convert -q t.tarmac copy.tarmac
    check cmp t.tarmac copy.tarmac
    for dialect in fm gem5; do
        check trod convert -q --to tarmac:dialect=$dialect t.tarmac other.tarmac
        run trod compare --track all --compare text --format json t.tarmac other.tarmac
        json '.comparisons[0].summary | .equal and .not_compared_a == 0'
    done
done
for seed in $(seq "$(fewer 8 2)"); do
    python3 "$tarmac" matcher "$seed" 150 t.trace t.rows
    run trod view --format json t.trace
    status 0
    err </dev/null
    check python3 "$tarmac" same t.rows "$stdout"
    check trod convert -q t.trace copy.matcher
    check cmp t.trace copy.matcher
done
for format in tt6 tt6e full; do
    for seed in $(seq "$(fewer 8 2)"); do
        python3 "$amber" gen $format "$seed" 120 t.$format t.rows
        run trod view --from $format --format json t.$format
        status 0
        err </dev/null
        check python3 "$amber" same t.rows "$stdout"
        check trod convert -q --from $format t.$format copy.$format
        check cmp t.$format copy.$format
    done
done
finish

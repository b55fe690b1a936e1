#!/usr/bin/env bash
# Many records through standard input: numbers of records are counted to the end. What is expected of
# byu6 follows from the period of trod-gen's trace, which a short run shows. With TROD_LONG=1 there are
# more than 2^32 of them, and as many instructions of TT6.
set -euo pipefail
. "$TROD_SOURCE/tests/cli/lib.sh"

# rows FORMAT RECORDS: rows of each kind that trod counts
rows() {
    "$GEN" "$1" --records "$2" | "$TROD" info - --from "$1" --format json |
        tr -d ' \n' | grep -o '"kind":"[A-Z]*","rows":[0-9]*' | sed 's/"kind":"//; s/","rows":/ /' |
        sort
}

# times FORMAT PERIOD N: N periods give N times the rows of one
times() {
    local one many
    one=$(rows "$1" "$2" | awk -v n="$3" '{printf "%s %.0f\n", $1, $2 * n}')
    many=$(rows "$1" $(($2 * $3)))
    last="$1, $3 times $2 records"
    checks=$((checks + 1))
    [[ -n $one && $one == "$many" ]] ||
        printf 'expected:\n%s\ngot:\n%s\n' "$one" "$many" | wrong
}

# the program of calls keeps the rules of its formats, and every return of it has its call: so many calls
# and tail calls have ended, or are open; threads of many take turns
for format in drm-calls tarmac-calls; do
    "$GEN" $format --records 100000 >calls.${format/drm-calls/trace}
    "$TROD" check calls.* >/dev/null
    last=$format checks=$((checks + 1))
    "$TROD" calls --format json calls.* | jq -e '.calls > 1000 and .tail_calls > 50 and
        .unmatched_returns == 0 and .unwound == 0 and .calls + .tail_calls >= .returns' >/dev/null ||
        "$TROD" calls --top 1 calls.* | wrong
    rm calls.*
done

if [[ -z ${TROD_LONG:-} ]]; then
    times byu6 60000 500
    echo "skipped: 2^32 records of byu6 and instructions of TT6, some minutes: TROD_LONG=1 runs them"
    finish
    exit
fi
times byu6 60000 71583
# instructions of TT6: as many as were asked for
n=4294980000
got=$(rows tt6 $n | grep INSTR || true)
last="tt6, $n instructions"
checks=$((checks + 1))
[[ $got == "INSTR $n" ]] || echo "got: $got" | wrong
finish

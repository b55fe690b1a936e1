# label: traces
# test_waves_reference.sh - trod waves --like tarmac against what Arm's tarmac-vcd printed for the same
# traces: whole outputs, and sums of those that are too long to be kept.
. "$TROD_SOURCE/tests/cli/lib.sh"
have sha256sum

traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/tarmac
reference=$traces/reference
if ! [[ -d $reference ]]; then
    echo "skipped: no reference outputs in $reference (TROD_TRACES)"
    exit 77
fi
n=0
for file in "$reference"/*/vcd*.txt; do
    folder=$(dirname "$file") options=()
    name=$(basename "$folder")
    trace=$folder/trace.tarmac
    [[ -e $trace ]] || trace=$traces/$name
    [[ $file != *use-tarmac-timestamps* ]] || options+=(--use-tarmac-timestamps)
    image=$(sed -n '1s/.*--image \([^ ]*\).*/\1/p' "$file")
    [[ -z $image ]] || options+=(--symbols "$traces/$image")
    run trod waves --like tarmac --no-date -q "${options[@]}" "$trace"
    status 0
    sum=$(sed -n "s/^$(basename "$file"): .*sha256 \([0-9a-f]*\).*/\1/p" "$folder/SIZES.txt" 2>/dev/null)
    if [[ -n $sum ]]; then
        check test "$(sha256sum <"$stdout" | cut -d' ' -f1)" = "$sum"
    else
        tail -n +2 "$file" >want
        same want "$stdout"
    fi
    n=$((n + 1))
done
check test "$n" -ge 18
# other formats are refused
run trod waves --like tarmac "$TROD_SOURCE/examples/sum.tt6"
status 2
err_has 'is for traces of format tarmac'
run trod waves --like tarmac --cycles "$TROD_SOURCE/examples/hello.tarmac"
status 2
err_has 'not for --like tarmac'
finish

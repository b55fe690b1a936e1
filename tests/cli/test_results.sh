# test_results.sh - every analysis of analyses.def: each key that it prints is on a page of docs/,
# and damaged and empty traces are answered, alike for every number of threads.
# timeout: 300
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
examples=$TROD_SOURCE/examples
cat "$TROD_SOURCE"/docs/*.md >pages
mapfile -t analyses < <(sed -n 's/^TROD_ANALYSIS(\(.*\))/\1/p' "$TROD_SOURCE/src/analysis/analyses.def")
check test "${#analyses[@]}" -gt 12

# keys ANALYSIS: those of its results of some traces
keys() {
    local file more
    for file in sum.trace.zip hello.tarmac sum.tt6 records.tt6e; do
        for more in '' '--interval 20' '--by thread' '--by core' '--by module'; do
            # shellcheck disable=SC2086 # options and their values
            "$TROD" "$1" --format json $more "$examples/$file" 2>/dev/null
        done
    done | jq -r '[paths | map(select(type == "string"))[]] | unique[]' | sort -u
}

for a in "${analyses[@]}"; do
    last="keys of $a"
    keys "$a" >"$a.keys"
    check test -s "$a.keys"
    while read -r key; do
        checks=$((checks + 1))
        grep -qF -e "\`$key\`" -e "\`$key[]\`" pages ||
            echo "trod $a prints '$key', which no page of docs/ has" | wrong
    done <"$a.keys"
done

# and each that its source can print
result_keys >keys
check test "$(wc -l <keys)" -gt 300
last='keys in the sources'
while read -r key; do
    checks=$((checks + 1))
    grep -qF -e "\`$key\`" -e "\`$key[]\`" pages || echo "no page of docs/ has the key '$key'" | wrong
done <keys

# what all share; trod check is the one that says neither
for a in "${analyses[@]}"; do
    last="trod $a"
    [[ $a == check || $a == info ]] || check jq -e '.format == "tt6" and .files == 1' <("$TROD" "$a" --format json "$examples/sum.tt6")
done

# damaged in the middle, cut off, empty
cp "$examples/hello.tarmac" damaged.tarmac
sed -i '5s/.*/\x01\x02 not a record/' damaged.tarmac
head -c 1000 "$examples/sum.tt6" >cut.tt6
gzip -dc "$examples/sum.full.gz" | head -c 700 >cut.full
: >empty.tarmac
for a in "${analyses[@]}"; do
    for file in damaged.tarmac cut.tt6 cut.full empty.tarmac; do
        from=()
        [[ $file != empty* ]] || from=(--from tarmac)
        "$TROD" "$a" -j 1 --format json "${from[@]}" "$file" >one 2>one.err
        one=$?
        run trod "$a" -j 3 --format json "${from[@]}" "$file"
        check test "$got" = "$one"
        check test "$one" -le 2
        same one "$stdout"
        same one.err "$stderr"
        [[ ! -s one ]] || check jq -e 'type == "object"' one
        check test -s one -o -s one.err
    done
done
finish

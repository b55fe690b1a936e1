# test_interchange.sh - the traces of $TROD_TRACES/interchange, which other programs wrote or accepted: read as what they are, with as
# many rows as they have lines or records, and byte for byte themselves when written again. What indextool says of Tarmac traces
# ($TROD_TRACES/tarmac/reference): architecture, and the time and PC of each of its nodes.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq gzip python3
traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}
dir=$traces/interchange
[[ -d $dir ]] || { echo "skipped: no folder $dir"; exit 77; }

# reads FORMAT ROWS FILE: it is of the format, has so many rows, and is equal to itself
reads() {
    run trod count --format json "${from[@]}" "$dir/$3"
    status 0
    json ".format == \"$1\" and .total.rows == $2"
    run trod compare "${from[@]}" "$dir/$3" "$dir/$3"
    status 0
}

# writes FILE: the same bytes
writes() {
    run trod convert -q "${from[@]}" "$dir/$1" "again-${1##*/}"
    status 0
    check cmp "$dir/$1" "again-${1##*/}"
}

lines() {
    grep -c -v -e '^#' -e '^Format: ' "$dir/$1"
}

bytes() {
    wc -c <"$dir/$1"
}

from=()
reads tarmac "$(lines model.tarmac)" model.tarmac
for f in lackey/model.lackey lackey/lackey-head.log; do
    reads lackey "$(lines $f)" $f
    writes $f
done
for f in pinatrace/model.pinatrace dinero/model.din dinero/model.xdin dynamorio-samples/memtrace_simple.log \
    dynamorio-samples/memtrace_x86.log; do
    case $f in
    pinatrace/*) format=pinatrace ;;
    *.din) format=dinero ;;
    *.xdin) format=dinerox ;;
    *simple*) format=memtrace_simple ;;
    *) format=memtrace_x86 ;;
    esac
    reads $format "$(lines $f)" $f
    writes $f
done
for f in model.tarmac tables/model.csv gem5/model.ptrc champsim/model.cpu{0,1}.{champsim,cloudsuite}; do
    writes $f
done
reads csv $(($(wc -l <"$dir/tables/model.csv") - 1)) tables/model.csv
reads gem5packet "$(grep -c . "$dir/gem5/decoded.txt")" gem5/model.ptrc

# an instruction is a record of 64 bytes, of 96 in Cloudsuite's; the model has 21 and 10
for cpu in 0 1; do
    for format in champsim cloudsuite; do
        f=champsim/model.cpu$cpu.$format
        run trod count --format json "$dir/$f"
        json ".format == \"$format\" and .total.fetched_instructions == $(($(bytes $f) / ($([[ $format == champsim ]] && echo 64 || echo 96))))"
        json ".total.fetched_instructions == $((cpu ? 10 : 21))"
    done
done
run trod count --format json "$dir/model.tarmac"
json '.total.fetched_instructions == 31 and .total.data_loads == 8 and .total.data_stores == 6'

# what is read and not written becomes a table with as many rows
for f in qemu/in_asm-exec.log qemu/singlestep-exec.log qemu/execlog.txt bt9/model.cpu0.bt9 bt9/model.cpu1.bt9 spike/model.spike.log \
    gem5/model.exec.txt perf/model.perf.txt stf/hand.stf stf/hand.zstf cbp2025/model.cpu0.gz; do
    run trod convert -q --allow-loss --to csv "$dir/$f" table.csv
    status 0
    rows=$(trod count --format json "$dir/$f" | jq .total.rows)
    check test "$rows" -gt 5
    run trod compare "$dir/$f" "$dir/$f"
    status 0
    run trod count --format json table.csv
    json ".total.rows <= $rows and .total.rows > 5"
done
# cbp2025 from the model: the accesses of the file that the kit's reader accepted, pairs as one
run trod convert -q --allow-loss -s cpu0 --to cbp2025 "$dir/model.tarmac" model.cbp2025
status 0
for f in "$dir/cbp2025/model.cpu0.gz" model.cbp2025; do
    run trod view --kind READ,WRITE --format json "$f"
    status 0
    jq -c '[.kind, .address, .size, .pc]' "$stdout" >"accesses.${f##*.}"
done
last="accesses of model.tarmac"
same accesses.gz accesses.cbp2025
run trod compare "$dir/stf/hand.stf" "$dir/stf/hand.zstf"
status 0
from=(--from dinerob)
writes dinero/model.b
[[ -d $traces/tarmac/reference ]] || { echo "skipped: no folder $traces/tarmac/reference"; exit 77; }
check python3 "$TROD_SOURCE/tests/cli/indextool.py" "$TROD" "$traces/tarmac/reference"
finish

# test_raw_convert.sh - raw directories of DynamoRIO become final traces without rows: the same bytes as by rows
# (which --order time makes), for every number of threads, container and size of chunks, and the same messages.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3 objdump

inverse() {
    python3 "$TROD_SOURCE/tests/cli/raw_inverse.py" "$@"
}

# summary NAME: standard output, a summary in JSON, without the name of what was written
summary() {
    grep -v '"output"' "$stdout" >"$1"
}

run trod gen sharing:count=300 --isa x86-64 --to drmemtrace gen/
status 0
run inverse make gen/trace/*.trace.zip back
status 0
threads=(back/raw/*.raw.gz)
check test "${#threads[@]}" -gt 1

for container in none zip; do
    run trod convert back rows/ --order time --to "drmemtrace:container=$container" --format json
    status 0
    summary rows.json
    for jobs in 1 2 7; do
        run trod convert back whole/ --to "drmemtrace:container=$container" -j $jobs --format json
        status 0
        err </dev/null
        summary whole.json
        check cmp rows.json whole.json
        check diff -r rows whole
        rm -rf whole
    done
    rm -rf rows
done

# into one file, from one file
run trod convert "${threads[0]}" whole.trace
status 0
run trod convert "${threads[0]}" rows.trace --order time
status 0
check cmp whole.trace rows.trace
# raw or final is no matter of what the trace says: the rows of one are compared with all that those of the other say
run trod compare "${threads[0]}" whole.trace
status 0
out_not 'not compared:'
python3 - <<'PY'
import struct
TAKEN, UNTAKEN, ENTRY = 48, 49, 12
data = bytearray(open('whole.trace', 'rb').read())
for at in range(0, len(data), ENTRY):
    kind, = struct.unpack_from('<H', data, at)
    if kind in (TAKEN, UNTAKEN):
        struct.pack_into('<H', data, at, TAKEN + UNTAKEN - kind)
        break
open('other.trace', 'wb').write(data)
PY
run trod compare "${threads[0]}" other.trace
status 1
out_has '^  branch: (taken against untaken|untaken against taken)$'

# chunks: each is whole by itself, and together they are the trace
for n in 1 7 100; do
    run trod convert back cut.$n/ --to drmemtrace:chunk=$n -j 2
    status 0
    run python3 "$TROD_SOURCE/tests/cli/drm_chunks.py" $n cut.$n/trace/*.trace.zip
    status 0
    out </dev/null
    run inverse same gen/trace/*.trace.zip cut.$n/trace/*.trace.zip
    status 0
    out </dev/null
    run trod check cut.$n
    status 0
    check cmp <(cd cut.$n && ls trace/*.trace.zip) <(cd gen && ls trace/*.trace.zip)
done
run trod convert back other/ --to drmemtrace:chunk=100 -j 1
check diff -r cut.100 other

# repeated string instructions, generated code and restartable sequences come by other ways
run trod gen random:count=3000 --isa x86-64 --to drmemtrace mixed/
run inverse make --full mixed/trace/*.trace.zip full
status 0
run trod convert full cut.full/ --to drmemtrace:chunk=50
status 0
run python3 "$TROD_SOURCE/tests/cli/drm_chunks.py" 50 cut.full/trace/*.trace.zip
out </dev/null

# what is filtered, and options that entries must be written anew for, go by rows
run trod convert back part/ --kind instr
status 0
run trod count part
out_has 'total counts'
run trod convert back old/ --to drmemtrace:version=5
status 0
run trod check old

# messages: the same, in the same order, with damage and without code; what could be read is written
for f in "${threads[@]}"; do
    gzip -dc "$f" >"${f%.gz}" && rm "$f"
    truncate -s -1005 "${f%.gz}"
done
rm back/image0.so
run trod convert back rows/ --order time
cp "$stderr" rows.err
for jobs in 1 2; do
    run trod convert back whole$jobs/ -j $jobs
    status 2
    err_has 'raw trace ends without a footer'
    check test "$(grep -c 'ends without a footer' "$stderr")" -eq "${#threads[@]}"
    check test "$(grep -c 'instructions of .* are not known' "$stderr")" -eq "$(grep -c 'are not known' rows.err)"
    grep -v '^whole' "$stderr" >err.$jobs
done
check cmp err.1 err.2
check diff -r whole1 whole2
run trod convert back strict/ --strict
status 2
check test ! -e strict

# an output that cannot be written is an error, and nothing appears
run trod convert back /dev/full -j 2
status 2
finish

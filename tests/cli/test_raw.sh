# test_raw.sh - raw directories of DynamoRIO: final traces are turned into raw ones by raw_inverse.py, which
# has objdump take instructions apart, and what trod makes of those is compared record by record. Traces of
# `trod gen` always, those of DynamoRIO's own post-processor where they are at hand (TROD_TRACES).
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3 objdump

inverse() {
    python3 "$TROD_SOURCE/tests/cli/raw_inverse.py" "$@"
}

# turns NAME MODE... -- FILE...: FILEs are made raw and back
turns() {
    local name=$1 mode=()
    shift
    while [[ $1 != -- ]]; do mode+=("$1") && shift; done
    shift
    rm -rf "$name" "$name.out"
    run inverse make "${mode[@]}" "$@" "$name"
    status 0
    run trod convert "$name" "$name.out/" --to drmemtrace:container=gzip
    status 0
    err_has 'rows read'
    run inverse same ${mode[0]:+--but-types} "$@" "$name.out"/trace/*.trace.gz
    status 0
    out </dev/null
}

for pattern in sharing:count=300 recursion:depth=30 random:count=2000; do
    rm -rf gen
    run trod gen $pattern --isa x86-64 --to drmemtrace gen/
    status 0
    turns back -- gen/trace/*.trace.zip
    turns back --full -- gen/trace/*.trace.zip
done
turns back --version 5 -- gen/trace/*.trace.zip

# every command reads a raw folder, by any of its names; what comes of it is a sound trace
for d in back back/raw back/raw/*.raw.gz; do
    run trod count "$d"
    status 0
    out_has 'fetched instructions: *[1-9]'
done
run trod check back
status 0
run trod convert back zipped/ --to drmemtrace:chunk=1000
status 0
check test "$(unzip -l zipped/trace/drmemtrace.*.trace.zip | grep -c chunk.)" -gt 1

# what the tracer may compress its files with: none, zlib (gzip above; snappy and LZ4 read the same, by their magic)
run trod count back
cp "$stdout" count.txt
for suffix in raw raw.zlib; do
    rm -rf other && mkdir -p other/raw && cp back/*.so other
    cp back/raw/modules.log other/raw
    for f in back/raw/*.raw.gz; do
        python3 - "$f" "other/raw/$(basename "${f%.raw.gz}").$suffix" <<'END'
import gzip, sys, zlib
data = gzip.open(sys.argv[1]).read()
open(sys.argv[2], "wb").write(zlib.compress(data) if sys.argv[2].endswith(".zlib") else data)
END
    done
    run trod count other
    status 0
    out_is count.txt
done

# a module whose file is gone is named once, and the rest is kept; a cut file says where
rm back/image0.so
run trod count back
status 0
err_has "warning: instructions of '/gone/image0.so' are not known"
gzip -dc gen/../back/raw/*.raw.gz | head -c 3001 >cut.raw
cp back/raw/modules.log .
run trod count cut.raw
err_has 'raw trace ends without a footer'

traces=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/drmemtrace
if [[ -d $traces/fresh ]]; then
    turns odd -- "$traces"/fresh/odd-instructions/trace/*.trace.zip
    turns l0 -- "$traces"/fresh/l0-filtered-threads/trace/*.trace.zip
    turns sig -- "$traces"/drmemtrace.threadsig.x64.tracedir/*.872805.*.trace.zip
    # windows: a folder each, which the output has again
    windows=$traces/fresh/windows-split/trace
    rm -rf split
    run inverse make "$windows"/window.*/*.trace.zip split
    status 0
    for w in "$windows"/window.*; do
        f=$(basename "$w"/*.trace.zip .trace.zip)
        mkdir "split/raw/${w##*/}" && mv "split/raw/$f.raw.gz" "split/raw/${w##*/}"
    done
    run trod convert split split.out/ --to drmemtrace:container=gzip
    status 0
    run inverse same "$windows"/window.*/*.trace.zip split.out/trace/window.*/*.trace.gz
    status 0
    out </dev/null
    # kernel events as module and offset
    turns sig --version 6 -- "$traces"/drmemtrace.threadsig.x64.tracedir/*.872805.*.trace.zip
fi
finish

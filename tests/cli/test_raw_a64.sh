# test_raw_a64.sh - raw directories of AArch64: final traces are turned into raw ones by raw_inverse.py, which has
# objdump take instructions apart, and what trod makes of those is compared record by record. Random code, of which
# most accesses memory, traces of `trod gen`, and one of a program where it is at hand (TROD_TRACES).
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3 aarch64-linux-gnu-objdump

inverse() {
    python3 "$TROD_SOURCE/tests/cli/raw_inverse.py" "$@"
}

# turns MODE... -- FILE...: FILEs are made raw and back
turns() {
    local mode=()
    while [[ $1 != -- ]]; do mode+=("$1") && shift; done
    shift
    rm -rf raw made
    run inverse make "${mode[@]}" "$@" raw
    status 0
    run trod convert raw made/ --to drmemtrace:container=gzip
    status 0
    err_has 'rows read'
    run inverse same ${mode[0]:+--but-types} "$@" made/trace/*.trace.gz
    status 0
    out </dev/null
}

run inverse random 1 2500 code.trace
status 0
run trod count code.trace
out_has 'fetched instructions: *2,500'
turns -- code.trace
turns --full -- code.trace
turns --version 4 -- code.trace

run trod gen random:count=2000 --isa a64 --to drmemtrace gen/
status 0
turns -- gen/trace/*.trace.zip
turns --full -- gen/trace/*.trace.zip
run trod check raw
status 0

program=${TROD_TRACES:-$TROD_SOURCE/../shared/traces}/tarmac/calculator-aarch64-fastmodel.tarmac
if [[ -f $program ]]; then
    run trod convert "$program" program.trace --to drmemtrace --allow-loss
    status 0
    turns -- program.trace
fi
finish

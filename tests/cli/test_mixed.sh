# test_mixed.sh - files of several formats are no trace: those of another one than the first are refused, each
# named, and the rest is read; files of several instruction sets are decoded as the first says, for every -j.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq

run trod gen cyclic:lines=4,laps=2 a.tarmac
run trod gen cyclic:lines=4,laps=2 b.trace
run trod gen cyclic:lines=4,laps=2 c.tarmac
run trod count a.tarmac c.tarmac
cp "$stdout" both
for j in 1 2 3; do
    run trod count -j $j a.tarmac b.trace c.tarmac
    status 2
    err_has "b.trace: this is a trace of format 'drmemtrace', and the files before are of 'tarmac'"
    sed 's/^files: .*/files:   2/' "$stdout" | diff -b both - >/dev/null
    check test $? = 0
    run trod check -j $j b.trace a.tarmac c.tarmac
    status 1
    out_has 'a.tarmac: this is a trace of format' 'c.tarmac: this is a trace of format' '2 findings'
    run trod run info,mix,deps -j $j --format json b.trace a.tarmac
    status 2
    cp "$stdout" json.$j
    run trod count --order time -j $j a.tarmac b.trace
    status 2
    err_has 'b.trace: this is a trace of format'
    run trod convert -j $j --to csv --allow-loss a.tarmac b.trace out.csv
    status 2
    err_has 'b.trace: this is a trace of format'
done
same json.1 json.2
same json.1 json.3

# the format is named: then the file is not read as what it is
run trod count --from tarmac a.tarmac c.tarmac
status 0

# instruction sets
run trod gen cyclic:lines=400,laps=20 --isa a64 a64.trace
run trod gen cyclic:lines=400,laps=20 --isa x86-64 x86.trace
for what in mix hot deps branches; do
    for files in 'a64.trace x86.trace' 'x86.trace a64.trace'; do
        # shellcheck disable=SC2086
        run trod $what -j 1 $files
        status 0
        cp "$stdout" one
        err_has "${files#* }: warning: this is code of"
        for _ in 1 2 3 4 5 6; do
            # shellcheck disable=SC2086
            run trod $what -j 3 $files
            out_is one
            err_has "${files#* }: warning: this is code of"
        done
    done
done
finish

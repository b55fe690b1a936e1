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

# A32 and A64: each file's instructions have the alignment of its own set, so that what predictors get wrong in both is
# what they get wrong in each. Two branches 32 bytes apart, one taken, one not: 16 entries tell them apart by 4 bytes
# (A64), not by 2 (A32, which has T32 beside it).
awk 'function p(file, at, op, mode) { printf "%d clk cpu0 IT (%d) %08x %s %s : X\n", ++n, n, at, op, mode >file }
     BEGIN { for (; i < 200; i++) {
         p("a64.tarmac", 32768, "54000100", "O EL1h_n"); p("a64.tarmac", 32800, "54000040", "O EL1h_n")
         p("a64.tarmac", 32804, "17fffff7", "O EL1h_n")
         p("a32.tarmac", 36864, "0a000006", "A svc_s"); p("a32.tarmac", 36896, "0a000000", "A svc_s")
         p("a32.tarmac", 36900, "eafffff5", "A svc_s") } }'
predictors=bimodal:log=4,gshare:log=4:history=0,local:log=4:history=1,perceptron:log=4
mispredicted() { jq -c '[.predictors[] | select(.of == "direction") | .wrong]' "$stdout"; }
run trod branches --predictors $predictors --format json a32.tarmac
json '.predictors[0].wrong > 190'
mispredicted >each
run trod branches --predictors $predictors --format json a64.tarmac
json '.predictors[0].wrong < 10'
mispredicted >>each
jq -s -c 'transpose | map(add)' each >want
for files in 'a32.tarmac a64.tarmac' 'a64.tarmac a32.tarmac'; do
    for j in 1 2 3; do
        # shellcheck disable=SC2086
        run trod branches --predictors $predictors -j $j --format json $files
        status 0
        mispredicted >got
        same want got
    done
done

# a file that says no instruction set, then two that differ: x86-64 is a bit of the file type's first byte, of
# which nothing else is set here
cp x86.trace none.trace
printf '\x00' | dd of=none.trace bs=1 seek=$((24 + 4)) count=1 conv=notrunc status=none
for what in mix hot calls deps branches count; do
    for files in 'none.trace x86.trace a64.trace' 'none.trace a64.trace x86.trace' 'none.trace none.trace x86.trace a64.trace'; do
        # shellcheck disable=SC2086
        run trod $what -j 1 $files
        status 0
        cp "$stdout" one
        cp "$stderr" one.err
        err_has "${files##* }: warning: this is code of"
        for j in 2 3 4; do
            # shellcheck disable=SC2086
            run trod $what -j $j $files
            out_is one
            err <one.err
        done
    done
done

# directories: what one of them is says nothing of the others
mkdir tm drm
cp a.tarmac tm/1.tarmac
cp c.tarmac tm/2.tarmac
cp a64.trace drm/1.trace
cp a64.trace drm/2.trace
for j in 1 2; do
    run trod count -j $j a.tarmac drm
    status 2
    sed 's/^files: .*/files:   1/' "$stdout" >got
    trod count a.tarmac >want
    same want got
    text "$stderr" <<'END'
trod: drm/1.trace: this is a trace of format 'drmemtrace', and the files before are of 'tarmac': read files of several formats one by one (where one is mistaken: --from FORMAT)
trod: drm/2.trace: this is a trace of format 'drmemtrace', and the files before are of 'tarmac': read files of several formats one by one (where one is mistaken: --from FORMAT)
END
    for order in file time; do
        run trod count --order $order -j $j tm drm
        status 2
        trod count --order $order tm 2>"$tmp/.left" >want
        out_is want
        check test "$(grep -c "^trod: drm/[12].trace: this is a trace of format 'drmemtrace', and" "$stderr")" = 2
        run trod count --order $order -j $j drm a.tarmac tm
        status 2
        trod count --order $order drm >want
        out_is want
        check test "$(grep -c "tarmac: this is a trace of format 'tarmac', and" "$stderr")" = 3
    done
done
finish

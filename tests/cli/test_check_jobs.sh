# test_check_jobs.sh - check finds and says the same, byte for byte, for any number of threads: lines,
# offsets and records of findings too, in damaged traces of one file and of several.
. "$TROD_SOURCE/tests/cli/lib.sh"
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
[[ -x $gen ]] || { echo "no trod-gen"; exit 77; }

"$gen" drm-large --records 120000 >drm.trace
"$gen" tarmac-fm --records 60000 >fm.tarmac
"$gen" tt6 --records 60000 >a.tt6
"$gen" byu12 --records 60000 >a.byu
trod convert -q drm.trace drm.zip --to drmemtrace:chunk=20000
awk 'NR % 9000 == 77 {print "12 clk cpu0 IT (x) zz"; next}
    NR % 777 == 3 {$3 = "cpu3"}
    NR % 501 == 1 {sub(/0/, "7")}
    {print}' fm.tarmac | head -c -20 >bad.tarmac
for f in drm.trace a.tt6 a.byu; do
    { head -c 300000 $f; printf 'nonsense'; tail -c +300000 $f; } | head -c -5 >bad.$f
done

# same_for OPTION... TRACE...: -j 1 says what must come of the others
same_for() {
    run trod check -j 1 --format json "$@"
    local was=$got
    cp "$stdout" one
    cp "$stderr" one.err
    for jobs in 2 3; do
        run trod check -j $jobs --format json "$@"
        status "$was"
        same one "$stdout"
        same one.err "$stderr"
    done
}

for trace in drm.trace drm.zip fm.tarmac bad.tarmac a.tt6 a.byu bad.drm.trace bad.a.tt6 bad.a.byu; do
    same_for $trace
done
same_for --strict bad.tarmac
same_for --max 100000 bad.tarmac
same_for --where 'addr % 8 == 0' bad.tarmac
same_for bad.tarmac fm.tarmac bad.tarmac
run trod check -j 1 bad.tarmac --salvage one.tarmac
run trod check -j 2 bad.tarmac --salvage two.tarmac
same one.tarmac two.tarmac
check grep -q "line" one
finish

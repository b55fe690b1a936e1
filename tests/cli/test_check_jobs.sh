# test_check_jobs.sh - check finds and says the same, byte for byte, for any number of threads: lines,
# offsets and records of findings too, in damaged traces of one file and of several, and in files so
# large that they are read in parts.
. "$TROD_SOURCE/tests/cli/lib.sh"
gen=$(dirname "$TROD")/../../tests/gen/trod-gen
[[ -x $gen ]] || { echo "no trod-gen"; exit 77; }
have python3

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
    for jobs in 2 3 5; do
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

# each finding has its line, in all batches of all windows: lines so short that several batches are of the first window
awk 'BEGIN { for (i = pc = 0; i < 20000; i++) {
                 if (i % 977 == 5) {
                     print i % 2 ? "" : i " clk IT (x) zz"
                     lines++
                 }
                 printf "%d clk IT (%d) %08x d503201f O EL1h_n : NOP\n", i, i, pc
                 lines++
                 if (i && i % 90 == 0)
                     print lines >"want"
                 pc += i % 90 == 89 ? 8 : 4 } }' >gaps.tarmac
same_for --max 100000 gaps.tarmac
python3 -c 'import json
for f in json.load(open("one"))["findings"]:
    if f["rule"] == "tarmac.pc-continuity":
        print(f["line"])' >lines
same want lines

# parts of at least 4 MiB, and of an archive each of some members
"$gen" drm-large --records 800000 >large.trace
"$gen" tarmac-fm --records 160000 >large.tarmac
awk 'NR % 30011 == 7 {sub(/ R X/, " R W")} NR % 40009 == 9 {sub(/^[0-9]*/, "5")} NR % 50021 == 4 {$5 = "00001230"} {print}' \
    large.tarmac >faults.tarmac
{ head -c 6000000 large.trace; head -c 7000008 large.trace | tail -c 1000008; tail -c +6000001 large.trace; } >faults.trace
trod convert -q faults.trace faults.zip --to drmemtrace:chunk=20000
trod convert -q faults.tarmac faults.tarmac.zst
"$gen" tt6 --records 4000000 >large.tt6
{ head -c 12000000 large.tt6; printf 'nonsense'; tail -c +12000001 large.tt6; } >faults.tt6
split -b 3000000 faults.tt6 part. # not at records
for part in part.??; do
    gzip -1 -c $part >>faults.tt6.gz
done
for trace in faults.tarmac faults.trace faults.zip faults.tt6.gz faults.tarmac.zst; do
    same_for $trace
done
check grep -q tarmac. one

# one pass for several analyses finds what each finds alone
for analysis in check count cache; do
    trod run -j 1 --format json $analysis faults.trace 2>/dev/null >$analysis.json
done
for jobs in 1 2 3; do
    trod run -j $jobs --format json check,count,cache faults.trace 2>/dev/null >all.json
    check python3 -c 'import json
together = json.load(open("all.json"))
for name in "check", "count", "cache":
    alone = json.load(open(name + ".json"))
    assert {k: v for k, v in alone.items() if k not in ("format", "files")} == together[name], name'
done
finish

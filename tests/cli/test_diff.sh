# test_diff.sh - two saved results compared: fields, rows by key, lists, tolerances, choices, statuses.
# The differences are those that the results below were written with.
. "$TROD_SOURCE/tests/cli/lib.sh"

cat >a.json <<'END'
{
  "format": "tarmac",
  "total": {"rows": 1000, "share": 12.50, "big": 9223372036854775807, "low": -5, "whole": true, "at": "0x1000"},
  "caches": [
    {"cache": "L1I", "kind": "fetch", "misses": 10, "percent": 1.25},
    {"cache": "L1D", "kind": "read", "misses": 20, "percent": null},
    {"cache": "L1D", "kind": "write", "misses": 30, "percent": 3.75}
  ],
  "twice": [{"n": 1}, {"n": 1}, {"n": 2}],
  "empty": [],
  "intervals": [{"rows": 1, "of": {"x": 1}}, {"rows": 2, "of": {"x": 2}}]
}
END
cp a.json b.json
run trod diff a.json b.json
status 0
out </dev/null
err </dev/null
run trod diff --format json a.json b.json
status 0
json '. == {compared: 26, different: 0, differences: []}'
run trod diff a.json - <b.json
status 0

# the same rows in another order, and other spellings of the same numbers
cat >b.json <<'END'
{"intervals": [{"rows": 1, "of": {"x": 1}}, {"rows": 2, "of": {"x": 2}}], "empty": [], "format": "tarmac",
 "twice": [{"n": 2}, {"n": 1}, {"n": 1}],
 "caches": [{"cache": "L1D", "kind": "write", "misses": 30, "percent": 3.7500},
            {"cache": "L1D", "kind": "read", "misses": 20, "percent": null},
            {"cache": "L1I", "kind": "fetch", "misses": 10, "percent": 1.25}],
 "total": {"at": "0x1000", "whole": true, "big": 9223372036854775807, "share": 12.5, "low": -5, "rows": 1000}}
END
run trod diff a.json b.json
status 0

# what differs, in the order of the first
cat >b.json <<'END'
{
  "format": "drmemtrace",
  "total": {"rows": 1010, "share": 10.00, "big": 9223372036854775806, "low": 5, "whole": false, "at": "0x1001", "new": 7},
  "caches": [
    {"cache": "L1I", "kind": "fetch", "misses": 0, "percent": 1.25},
    {"cache": "L1D", "kind": "write", "misses": 33, "percent": 3.75},
    {"cache": "LL", "kind": "read", "misses": 4, "percent": null}
  ],
  "twice": [{"n": 1}, {"n": 2}, {"n": 3}],
  "empty": [{"k": 1}],
  "intervals": [{"rows": 1, "of": {"x": 9}}]
}
END
run trod diff --format csv a.json b.json
status 1
sed -n '/^path/,$p' "$stdout" >got
cat >want <<'END'
path,first,second,difference,percent
format,tarmac,drmemtrace,,
total.rows,1000,1010,10,1.000
total.share,12.5,10,-2.5,-20.000
total.big,9223372036854775807,9223372036854775806,-1,0.000
total.low,-5,5,10,200.000
total.whole,true,false,,
total.at,0x1000,0x1001,,
total.new,,7,,
caches[L1I/fetch].misses,10,0,-10,-100.000
caches[L1D/read].cache,L1D,,,
caches[L1D/read].kind,read,,,
caches[L1D/read].misses,20,,,
caches[L1D/write].misses,30,33,3,10.000
caches[LL/read].cache,,LL,,
caches[LL/read].kind,,read,,
caches[LL/read].misses,,4,,
twice[1].n,1,,,
twice[3].n,,3,,
empty[1].k,,1,,
intervals.0.of.x,1,9,8,800.000
intervals.1.rows,2,,,
intervals.1.of.x,2,,,
END
same want got
run trod diff --format json a.json b.json
status 1
json '.different == 22 and (.differences | length) == 22'
json '.differences[] | select(.path == "total.rows") == {path: "total.rows", first: 1000, second: 1010, difference: 10, percent: 1}'
run trod diff a.json b.json
status 1
out_has '^ *total\.rows +1000 +1010 +10 +1\.000$'

# changed NAMES -- OPTIONS: the paths that are left
changed() {
    local names=$1
    shift
    run trod diff --format json "$@" a.json b.json
    jq -r '.differences[].path' "$stdout" >got
    printf '%s\n' $names | sed '/^$/d' >want
    same want got
}
changed 'total.rows total.share total.low total.new' --tolerance 1 --only 'total.rows,total.share,total.low,total.new,total.big'
status 1
changed 'total.low total.new' --only total.rows,total.share,total.low,total.new --tolerance 9,1%
changed '' --only total.rows,total.share --tolerance 20%
status 0
changed 'total.share' --only total.rows,total.share --tolerance 19.9%
changed 'total.share' --only total.rows,total.share --tolerance 1%
changed 'total.rows total.share' --only total.rows,total.share --tolerance 0.9%
changed 'total.share' --only total.rows,total.share --tolerance 0.9%,10 --tolerance 2.4,1%
changed 'caches[L1I/fetch].misses caches[L1D/read].misses caches[L1D/write].misses caches[LL/read].misses' --only 'caches*.misses'
changed 'caches[L1D/write].misses' --only 'caches[L1D/write]'
changed 'caches[L1D/write].misses' --only 'caches[L1D/?rite].m*s'
changed '' --only 'cache'
status 0
changed 'intervals.0.of.x intervals.1.of.x' --only 'intervals.*.of'
changed 'caches[write].misses' --key kind --only 'caches[write].misses,caches[write].percent' --tolerance 0
run trod diff --key kind --format json --only 'caches[read]' a.json b.json
json '[.differences[].path] == ["caches[read].cache", "caches[read].misses"]'

# results of the program itself
run trod mix --format json "$TROD_SOURCE/examples/hello.tarmac"
cp "$stdout" one.json
run trod mix --format json -j 1 "$TROD_SOURCE/examples/hello.tarmac"
cp "$stdout" two.json
run trod diff one.json two.json
status 0
run trod mix --format json "$TROD_SOURCE/examples/sum.trace.zip"
cp "$stdout" two.json
run trod diff one.json two.json
status 1
out_has '^ *format +tarmac +drmemtrace'

# what is no result
printf '[1]' >list.json
printf '{"a": 1' >cut.json
printf '{"a": 1, "a": 2}' >doubled.json
printf '{"a": 99999999999999999999999}' >large.json
: >empty.json
for bad in list cut doubled large empty nowhere; do
    run trod diff a.json $bad.json
    status 2
    out </dev/null
    err_has "'$bad.json'"
done
{ for ((i = 0; i < 40; i++)); do printf '{"a":'; done; printf 1; for ((i = 0; i < 40; i++)); do printf '}'; done; } >deep.json
run trod diff deep.json deep.json
status 2
err_has 'nested deeper than'
for bad in x 1x -1 % nan inf; do
    run trod diff --tolerance "$bad" a.json b.json
    status 2
    err_has "'--tolerance'"
done
run trod diff a.json
status 2

# --only that leaves nothing to compare is no equality
trod count --format json "$TROD_SOURCE/examples/hello.tarmac" >only.json
run trod diff --only nosuch only.json only.json
status 2
out </dev/null
err <<<'trod: neither result has a value at or below the paths of --only'
run trod diff --only nosuch,total only.json only.json
status 0

# integers that need all of 64 bits, above texts that look like them
cat >a.json <<'END'
{"most": 18446744073709551615, "half": 9223372036854775808, "down": 18446744073709551615,
 "text": "18446744073709551615", "quoted": "\"18446744073709551615", "nul": "\\u0000",
 "18446744073709551615": [9223372036854775807, -9223372036854775808, 18446744073709551615],
 "rows": [{"n": 18446744073709551614}, {"n": 1.8446744073709551614e19}]}
END
run trod diff a.json a.json
status 0
sed -e 's/"most": .*5, "h/"most": 18446744073709551614, "h/' -e 's/: 9223372036854775808/: 9223372036854775807/' \
    -e 's/"down": [0-9]*/"down": 9223372036854775817/' a.json >b.json
run trod diff --format csv a.json b.json
status 1
through sed '1,/^path/d; s/,[^,]*$//'
out <<'END'
most,18446744073709551615,18446744073709551614,-1
half,9223372036854775808,9223372036854775807,-1
down,18446744073709551615,9223372036854775817,-9223372036854775798
END
printf '%s\n' kind,time,unit,pc,addr,size INSTR,18446744073709551614,clk,0x1000,0x1000,4 >high.csv
trod info --format json high.csv >high.json
check grep -q 18446744073709551614 high.json
run trod diff high.json high.json
status 0
# one more is too large, and what had a NUL still has one
for text in '{"n": 18446744073709551616}' '{"n": "\u0000"}' '{"a": 18446744073709551615, "n": "\u00001"}'; do
    printf '%s\n' "$text" >bad.json
    run trod diff a.json bad.json
    status 2
    err_has "^trod: bad.json:1: 'bad.json' is no JSON: "
done
printf '{"n": 14\0}\n' >bad.json
run trod diff a.json bad.json
status 2
err_has "'bad.json' is no JSON: it has a byte of zero"

finish

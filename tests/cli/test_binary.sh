# test_binary.sh - a binary format (byu12, 12 bytes a record) through info, view and convert: layouts,
# filters, cut files, loss, atomic and compressed outputs, pipes.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format byu12

# address, type, size, attributes, agent, ticks since the record before
{
    bytes 00 10 00 00 01 04 03 00 ff ff ff ff # MEMREAD
    bytes 08 20 00 00 03 08 03 01 0a 00 00 00 # MEMWRITE
    bytes f8 03 00 00 10 01 00 00 05 00 00 00 # IOREAD
    bytes 00 00 41 00 00 08 03 00 01 00 00 00 # FETCH
} >t.byu12
from="--from byu12"

run trod view $from --header always t.byu12
status 0
out <<'EOF'
    row    time  agent  kind   address     size  value       text
      0   0 clk  0      READ   0x00001000     4  -           MEMREAD  {pa=0x00001000 memory=write-back}
      1  10 clk  1      WRITE  0x00002008     8  -           MEMWRITE  {pa=0x00002008 memory=write-back}
      2  15 clk  0      READ   0x000003f8     1  -           IOREAD  {io pa=0x000003f8 memory=uncacheable}
      3  16 clk  0      BUS    0x00410000     8  -           FETCH  {fetch pa=0x00410000 memory=write-back}
EOF
err </dev/null

# the same numbers as JSON, an object a line
run trod view $from --format json t.byu12
status 0
check test "$(wc -l <"$stdout")" = 4
through jq -c '[.record, .kind, .time, .unit, .agent, .address, .physical, .size, .flags]'
out <<'EOF'
[0,"READ",0,"clk","0","0x1000","0x1000",4,null]
[1,"WRITE",10,"clk","1","0x2008","0x2008",8,null]
[2,"READ",15,"clk","0","0x3f8","0x3f8",1,["io"]]
[3,"BUS",16,"clk","0","0x410000","0x410000",8,["fetch"]]
EOF

# and as CSV: the columns are the keys of JSON
run trod view $from --format csv t.byu12
status 0
check test "$(head -1 "$stdout" | tr ',' '\n' | wc -l)" = "$(sed -n 2p "$stdout" | tr ',' '\n' | wc -l)"
through cut -d, -f1-8
out <<'EOF'
record,kind,time,unit,agent,address,physical,size
0,READ,0,clk,0,0x1000,0x1000,4
1,WRITE,10,clk,1,0x2008,0x2008,8
2,READ,15,clk,0,0x3f8,0x3f8,1
3,BUS,16,clk,0,0x410000,0x410000,8
EOF
run trod view $from --format csv --header never t.byu12
check test "$(wc -l <"$stdout")" = 4
run trod view $from --format csv --kind REG t.byu12
status 0
check test "$(wc -l <"$stdout")" = 1

# the format's own listing
run trod view $from --native --range 1..2 t.byu12
status 0
out <<'EOF'
00002008 08 03 01 0000000a MEMWRITE
000003f8 01 00 00 00000005 IOREAD
EOF

# filters: which record numbers are left
numbers() {
    trod view $from --format json "$@" t.byu12 | jq -c .record | tr '\n' ' '
}
kept() {
    last="numbers $2"
    run numbers $2
    printf '%s' "$1" >want
    same want "$stdout"
}
kept '0 1 2 3 ' ''
kept '1 2 ' '--range 1..2'
kept '2 3 ' '--range 2..'
kept '0 1 ' '--range ..1'
kept '3 ' '--range 3'
kept '' '--range 4..'
kept '0 2 ' '--kind read'
kept '0 1 2 ' '--kind MEMORY'
kept '1 3 ' '--kind WRITE,BUS'
kept '1 3 ' '--kind WRITE --kind BUS'
kept '3 ' '--kind FETCH'
kept '0 2 ' '--kind MEMREAD,IOREAD'
kept '1 3 ' '--kind memwrite,BUS'
kept '' '--kind MEMREADINV'
kept '0 ' '--address 0x1003'
kept '' '--address 0x1004..0x2007'
kept '1 ' '--address 0x200f..0x3000'
kept '0 2 3 ' '--stream 0'
kept '1 ' '--stream 1'
kept '1 ' '--stream #1'
kept '' '--stream 2'
kept '1 2 ' '--time 10..15'
kept '2 ' '--kind READ --time 1..'

# standard input, and several files as one trace
run sh -c "cat t.byu12 | '$TROD' view $from --kind WRITE -"
status 0
out_has '^ +1  10 clk  1      WRITE  0x00002008'
run trod view $from --format json t.byu12 t.byu12
status 0
through jq -s .
json 'map(.record) == [0,1,2,3,4,5,6,7]'

# info
run trod info $from --format json t.byu12
status 0
json '.files | length == 1'
json '.files[0] | .format == "byu12" and .rows == 4 and .file_bytes == 48 and .errors == 0'
json '.files[0].kinds | map({(.kind): .rows}) | add == {"READ": 2, "WRITE": 1, "BUS": 1}'
json '.files[0].streams | map([.name, .rows]) == [["0", 3], ["1", 1]]'
json '.files[0].times == [{"unit": "clk", "first": 0, "last": 16, "least": 0, "most": 16, "rows": 4}]'
run trod info $from --format csv t.byu12
status 0
out_has '^files\.0\.rows,4$'
out_has '^files\.0,READ,2,50\.00$'
run trod info $from t.byu12
status 0
out_has '^  rows: +4$'
out_has '^    READ +2 +50\.00$'
run trod info --quick $from t.byu12
status 0
out_not '^  rows:'

# one of several cannot be read: the others are shown, the status says so
run trod info $from --format json missing t.byu12
status 2
json '.files | map(.rows) == [4]'
err_has '^trod: missing: '

# a cut file: everything before is delivered, said, and the status is 2
head -c 40 t.byu12 >cut.byu12
run trod view $from --format json cut.byu12
status 2
check test "$(wc -l <"$stdout")" = 3
err_has '^trod: cut\.byu12: .*4 bytes'
run trod info $from --format json cut.byu12
status 2
json '.files[0] | .rows == 3 and .errors == 1'
json '.files[0].problems | length == 1 and .[0].count == 1'
run trod convert $from cut.byu12 whole.byu12
status 2
check cmp whole.byu12 <(head -c 36 t.byu12)
rm whole.byu12
run trod convert --strict $from cut.byu12 whole.byu12
status 2
check test ! -e whole.byu12

# loss is named and refused, nothing appears; with the option it goes
run trod convert $from t.byu12 t.byu6
status 2
err_has 'time.*--allow-loss'
check test ! -e t.byu6
run trod convert $from t.byu12 t.byu6 --allow-loss --format json
status 0
json '.rows_read == 4 and .rows_kept == 4 and .from == "byu12" and .to == "byu6" and .bytes == 24'
check test "$(stat -c %s t.byu6)" = 24

# a copy is the file itself; compressed by suffix or option; back again
run trod convert $from t.byu12 same.byu12
status 0
out </dev/null
check cmp t.byu12 same.byu12
err_has '^same\.byu12: 4 rows read, 4 kept'
run trod convert -q $from t.byu12 same.byu12
status 0
err </dev/null
for suffix in gz zst lz4 xz; do
    run trod convert $from t.byu12 t.byu12.$suffix
    status 0
    run trod info $from --format json t.byu12.$suffix
    status 0
    json '.files[0].rows == 4 and (.files[0].filters | length == 1) and .files[0].decoded_bytes == 48'
    run trod convert $from t.byu12.$suffix -
    status 0
    out_is t.byu12
done
run trod convert $from --compress gzip t.byu12 packed
status 0
check cmp t.byu12 <(gzip -dc packed)
run trod convert $from --compress nonsense t.byu12 packed
status 2
err_has nonsense

# filters of convert
run trod convert $from --kind WRITE,BUS t.byu12 -
status 0
through od -An -v -w12 -tx1
through cut -c1-24
out <<'EOF'
 08 20 00 00 03 08 03 01
 00 00 41 00 00 08 03 00
EOF

# outputs: onto the input, into nowhere
run trod convert $from t.byu12 t.byu12
status 2
err_has 'input and output'
run trod convert $from t.byu12 nowhere/t.byu12
status 2
err_has 'nowhere'
run trod view $from t.byu12 -o rows.txt
status 0
out </dev/null
run trod view $from t.byu12
out_is rows.txt
run trod info $from t.byu12 -o report.json --format json
status 0
check jq -e '.files[0].rows == 4' report.json

# a name is there only when the output is complete: nothing is left of a run that failed
run trod view $from t.byu12 -o nowhere/rows.txt
status 2
check test -z "$(find . -name '*.tmp*' -o -name '.trod*')"

# a reader that leaves early
yes | head -c 6000000 | trod convert -q --from byu12 - many.byu12
run bash -c "set -o pipefail; '$TROD' view $from many.byu12 | head -n 1; echo \${PIPESTATUS[0]}"
out_has '^141$'
err </dev/null
run bash -c "trap '' PIPE; '$TROD' view $from many.byu12 | head -n 1"
err </dev/null
# a full disk is told
if [ -w /dev/full ]; then
    run bash -c "'$TROD' view $from many.byu12 >/dev/full"
    status 2
    err_has 'standard output: No space left'
    run bash -c "'$TROD' info $from t.byu12 >/dev/full"
    status 2
    err_has 'No space left|could not be written'
fi

# by several threads: batches go round, and nothing of the rows before stays in them
golden=$TROD_SOURCE/tests/golden/byu6
for _ in $(seq 200); do
    cat "$golden/codes.canonical.byu6" "$golden/boot.canonical.byu6"
done >round.byu6
trod view -j 1 --format json round.byu6 >want
run trod view -j 4 --format json round.byu6
out_is want
# FULL traces put one behind the other are read as one; what the last instruction of the first led to is the second
gzip -dc "$TROD_SOURCE/examples/sum.full.gz" >a.full
cat a.full a.full >joined.full
run trod view --format json a.full
of_one='select(.kind != "REG") | del(.record, .target, .branch)'
jq -c "$of_one" "$stdout" >rows
cat rows rows >want
for jobs in 1 2; do
    run trod view -j $jobs --format json joined.full
    status 0
    err_has "note: another trace begins here: they are read as one \\(byte $(stat -c %s a.full)\\)"
    jq -c "$of_one" "$stdout" >got
    same want got
done
head -c 4 a.full | cat joined.full - >cut.full # nothing but a magic number follows
run trod view cut.full
status 2
err_has 'trace ends 4 bytes into a record'
finish

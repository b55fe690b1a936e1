# test_not_input.sh - what a command reads it does not write: files named, and files of directories.
. "$TROD_SOURCE/tests/cli/lib.sh"
mkdir in
for k in 0 1; do
    awk -v cpu=$k 'BEGIN { for (i = 1; i < 40; i++) {
        printf "%d clk cpu%d IT (%d) %08x d503201f O EL1h_n : NOP\n", i, cpu, i, 4096 + 4 * i
        printf "%d clk cpu%d R X1 %016x\n", i, cpu, i } }' >in/c$k.tarmac
done
printf 'kind,stream,pc,addr,value,sub\nINSTR,1,0x1000,0x1000,,\nSYNC,1,,0x8000,1,0x20\nSYNC,2,,0x8000,1,0x30\n' >sync.csv
ln in/c0.tarmac hard.tarmac
ln -s in/c0.tarmac soft.tarmac

# refused OUT COMMAND: nothing is written to OUT, which is read
refused() {
    local out=$1 before
    shift
    before=$(cksum in/* sync.csv)
    run trod "$@"
    status 2
    err_has "'$out' is input and output at once"
    check test "$(cksum in/* sync.csv)" = "$before"
}
for out in in/c0.tarmac in/../in/c1.tarmac hard.tarmac soft.tarmac; do
    refused "$out" convert --to tarmac in "$out"
    refused "$out" convert --to chrome in "$out"
    refused "$out" export --to chrome -o "$out" in
    refused "$out" hide in "$out"
    refused "$out" truncate -o "$out" in
    refused "$out" waves -o "$out" in
    refused "$out" find -o "$out" in 'kind == INSTR'
    refused "$out" view -o "$out" in
    refused "$out" check --salvage "$out" in
    refused "$out" check -o "$out" in
    refused "$out" run mix -o "$out" in
    refused "$out" run mix --save "$out" in
    refused "$out" mix -o "$out" in
    refused "$out" cache -o "$out" in
    refused "$out" cache --misses "$out" --to csv in
    refused "$out" phases --bb "$out" in
    refused "$out" phases --picture "$out" in
    refused "$out" run "phases:bb=$out" in
    refused "$out" info -o "$out" in
    refused "$out" compare -o "$out" in in/c1.tarmac
done
refused sync.csv sync --dot sync.csv sync.csv
refused in/c0.tarmac convert in/c0.tarmac in/c0.tarmac

ln -s in/c0.tarmac points.simpoints
ln -s in/c1.tarmac others.weights
refused points.simpoints phases --simpoints points in
refused others.weights phases --simpoints others in

# other files of the directory may be written, and named so they are
run trod convert --allow-loss --range 0..9 in in/part.csv
status 0
rm in/part.csv
run trod mix -o in/result.txt in/c0.tarmac
status 0
check test -s in/result.txt
rm in/result.txt

# a directory gets files with names of streams: none takes the place of what is read
if trod formats tt6 >/dev/null 2>&1; then
    mkdir out
    run trod convert "$TROD_SOURCE/tests/golden/tt6/records.canonical.tt6" out/
    status 0
    name=$(echo out/*)
    cp "$name" before
    run trod convert "$name" out/
    status 2
    err_has "'$name' is input and output at once"
    check cmp "$name" before
    mv "$name" out/other.tt6
    run trod convert out/other.tt6 out/
    status 0
    check test -s "$name"
fi
finish

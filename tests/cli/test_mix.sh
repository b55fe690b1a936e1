# test_mix.sh - trod mix: a trace that is counted by hand, every example by the records that trod view
# shows, crossings of lines and pages, parts and files on several threads, damaged and empty traces.
. "$TROD_SOURCE/tests/cli/lib.sh"
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
examples=$TROD_SOURCE/examples

# by hand: examples/hello.tarmac
run trod mix --format json "$examples/hello.tarmac"
status 0
json '.instructions == 12 and .skipped == 1'
json '[.mnemonics[] | select(.mnemonic == "ldr", .mnemonic == "str", .mnemonic == "svc") | .instructions] == [1, 1, 1]'
json '.lengths == [{length: 4, instructions: 12, share: 100.00, user: 12, kernel: 0}]'
json '.access_sizes == [{size: 8, reads: 1, writes: 3, atomic: 0}]'
json '[.categories[] | select(.category == "load", .category == "store") | .instructions] == [1, 2]'

json '[.categories[] | select(.category == "system call", .category == "call", .category == "return") | .instructions] == [1, 1, 1]'
json '.extensions == [{extension: "base", instructions: 12, share: 100, user: 12, kernel: 0}]'
json 'has("groups") | not'

# PowerPC: groups, and the classes by which TT6 writes records of one, two or three words
run trod mix --format json "$examples/sum.tt6"
status 0
json '[.groups[].instructions] | add == 57'
trod view --format json "$examples/sum.tt6" >rows
want=$(jq -s '[.[] | select(.kind == "READ" or .kind == "WRITE")] | length' rows)
json "[.tt6_classes[] | select(.class | test(\"memory\")) | .instructions] | add == $want"
json '([.tt6_classes[].instructions] | add) == 57 and ([.tt6e_classes[].instructions] | add) == 57'

# made for it: accesses that cross, beside ones that do not
cat >cross.tarmac <<'T'
1 clk cpu0 IT (1) 00008000:000000008000_NS d503201f O EL1h_n : NOP
1 clk cpu0 MR8 00001038:000000001038_NS 00000000_00000000
1 clk cpu0 MR8 0000103c:00000000103c_NS 00000000_00000000
1 clk cpu0 MW4 00001fff:000000001fff_NS 00000000
1 clk cpu0 MW1 00001fff:000000001fff_NS 00
T
run trod mix --format json cross.tarmac
status 0
json '.alignment[0] == {access: "read", misaligned: 1, crosses_line: 1, crosses_page: 0}'
json '.alignment[1] == {access: "write", misaligned: 1, crosses_line: 1, crosses_page: 1}'
run trod mix --line-size 128 --page-size 65536 --format json cross.tarmac
json '[.alignment[].crosses_line] == [0, 1, 0] and [.alignment[].crosses_page] == [0, 0, 0]'
run trod mix --line-size 48 cross.tarmac
status 2
err_has 'powers of two'

# the slow way: every record, as trod view says it
for file in hello.tarmac mips.trace sum.tt6 records.tt6e sum.full.gz sum.trace.zip boot.byu6; do
    trod view --format json "$examples/$file" 2>/dev/null | jq -s -c '
        {instructions: map(select(.kind == "INSTR" and ((.flags // []) | index("synthetic") | not))) | length,
         access_sizes: ([.[] | select(.size and .address and
                (.kind | . == "READ" or . == "WRITE" or . == "ATOMIC"))]
            | group_by([.size, 64] | min) | map({size: ([.[0].size, 64] | min),
                reads: map(select(.kind == "READ")) | length,
                writes: map(select(.kind == "WRITE")) | length,
                atomic: map(select(.kind == "ATOMIC")) | length}))}' >want
    for jobs in 1 2 5; do
        trod mix -j $jobs --format json "$examples/$file" >mix.$jobs
        jq -c '{instructions, access_sizes}' mix.$jobs >got
        last="mix of $file"
        same want got
        same mix.1 mix.$jobs
    done
    check jq -e '[.instructions] == ([[.mnemonics[].instructions], [.categories[].instructions],
        [.lengths[].instructions]] | map(add // 0) | unique)' mix.1
done

# several files on several threads: the instruction set is known from the first that is read
mkdir two
cp "$examples/hello.tarmac" two/a.tarmac
cp "$examples/hello.tarmac" two/b.tarmac
for jobs in 1 4; do
    run trod mix -j $jobs --format json two/a.tarmac two/b.tarmac
    status 0
    json '.instructions == 24 and [.mnemonics[] | select(.mnemonic == "ldr") | .instructions] == [2]'
    json '[.mnemonics[] | select(.mnemonic == "(unknown)")] == []'
    cp "$stdout" two.$jobs
done
same two.1 two.4
for part in 0 1; do
    run trod run --part $part/2 --save part.$part mix two/a.tarmac two/b.tarmac
    status 0
done
run trod run --format json mix two/a.tarmac two/b.tarmac
cp "$stdout" whole
run trod merge --format json part.0 part.1
status 0
jq .mnemonics "$stdout" >got
jq .mnemonics whole >want
last="trod merge"
same want got

# damaged and empty
head -c 700 "$examples/hello.tarmac" >cut.tarmac
run trod mix cut.tarmac
check test "$got" -le 2
: >empty.tarmac
run trod mix --from tarmac empty.tarmac
check test "$got" -le 2
finish

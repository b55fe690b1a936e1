# test_short.sh - the format of traces of a few records: by content where that is enough, else by the name.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format tarmac
needs_format byu6
needs_format byu12
needs_format tt6e

# is FILE FORMAT: the format that is found; - none
is() {
    run trod info --format json "$1"
    check test "$(jq -r '.files[0].format // "-"' "$stdout")" = "$2"
}

# ---- text: one record of each kind; a UTF-8 mark in front, comments that are not ASCII
n=0
while IFS= read -r line; do
    n=$((n + 1))
    printf '%s\n' "$line" >"$n"
    is $n tarmac
    printf '\357\273\277%s\r\n' "$line" >mark
    is mark tarmac
    run trod view --format json mark
    through jq -c 'del(.record)'
    cp "$stdout" with
    run trod view --format json $n
    through jq -c 'del(.record)'
    out_is with
    check trod convert -q --to tarmac mark copy
    check cmp mark copy
done <<'EOL'
1 clk IT (1) 00000004 3c080001 A svc : NOP
10 clk MR8 00103fc4 00104000_00000000
14 clk R r8 00000000
5 FD (11) 00001000 00002000 A
1 clk E 00008100 00000084 CoreEvent_CURRENT_SPx_SYNC
0 ps CACHE MAINTENANCE Instruction and Data cache Invalidate All to PoU 00000000
1 clk cpu0 CACHE l1d LINE 00aa ALLOC 0x000080000000_NS
1 clk cpu0 TTW DTLB LPAE 1:3 000080390010 00000000804004c3 : BLOCK ATTRIDX=0 NS=0
1 clk cpu0 TLB EVICT l1 4K 0x80300000 EL3_s
1 clk cpu0 MU4_ADD 00001000 00000001
1 clk cpu0 BW4D__S I_____ O_____ 1 00008000 00000001
41000 ns ES (00000000:e59ff018) A svc: LDR pc,[pc]
EOL
printf '1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n' >one
is one matcher
printf '# \344\270\255\346\226\207\344\270\255\346\226\207\344\270\255\346\226\207\344\270\255\346\226\207\n1 clk IT (1) 00000004 3c080001 A svc : NOP\n' >wide
is wide tarmac
printf '\377\3761\0 \0' >utf16
is utf16 -
err_has 'UTF-16.*iconv'
# lines that end in CR alone are one line to every reader of text
for text in hello.tarmac hello.din hello.csv hello.lackey mips.trace; do
    tr '\n' '\r' <"$TROD_SOURCE/examples/$text" >"cr-$text"
    is "cr-$text" -
    err_has "CR alone.*tr '.r' '.n'"
done

# ---- lists of references: one record, or records of one kind, with the name, and what is written is what is read back
printf '%s\n' kind,pc,addr,size INSTR,0x1000,0x1000,4 READ,0x1000,0x2000,1 WRITE,0x1000,0x3000,256 >each.csv
for format in dinero:din dinerox:xdin dinerob:dinb ramulator:ramulator dramsim3:dramsim3 instrace:instrace pinatrace:pinatrace \
    memtrace_simple:memtrace_simple memtrace_x86:memtrace_x86 lackey:lackey; do
    suffix=${format#*:} format=${format%:*}
    for kind in INSTR READ WRITE; do
        [[ $format != instrace || $kind == INSTR ]] || continue
        [[ ! $format =~ ^(ramulator|dramsim3|pinatrace|memtrace_x86)$ || $kind != INSTR ]] || continue
        for n in 1 2 3 7 30; do
            awk -F, -v k=$kind -v n=$n 'NR == 1; $1 == k { for (i = 0; i < n; i++) print }' each.csv >some.csv
            trod convert -q --allow-loss --to "$format" some.csv "some.$suffix"
            is "some.$suffix" "$format"
            check test "$(jq .total.rows <(trod count --format json "some.$suffix"))" = "$n"
        done
    done
done
printf 'm 1000 4\n' >a.xdin
is a.xdin dinerox
for text in 'r 1000 4' '0 1000' '0x1000 R'; do # without a name they may be something else
    printf '%s\n' "$text" >nameless
    is nameless -
    err_has 'may be .*--from'
done
printf 'r 1000 4\nand more\n' >b.xdin
is b.xdin -
head -c 64 /dev/zero >zero.dinb # no sizes
is zero.dinb -

# ---- binary: a record or two say little, a name that ends so settles it
bytes 00 00 10 00 00 80 >a.byu6
is a.byu6 byu6
cp a.byu6 nameless
is nameless -
bytes 00 10 00 00 01 08 03 00 05 00 00 00 >a.byu12
is a.byu12 byu12
bytes 00 00 10 00 7c 63 22 14 7c 63 22 14 >a.tt6 # add, add
is a.tt6 tt6
cp a.tt6 a.tt6e
is a.tt6e tt6e
cp a.tt6 nameless
is nameless -
err_has 'may be tt6 or tt6e'
bytes 00 00 10 00 48 00 00 10 00 00 10 10 >b.tt6e # one branch
is b.tt6e tt6e
bytes 00 00 10 00 00 20 00 02 bf f0 00 00 00 00 00 01 >c.tt6 # a signal
is c.tt6 tt6
bytes 00 00 10 00 04 00 00 01 7c 63 22 14 >d.tt6 # no such opcode
is d.tt6 -
bytes a1 11 8e 17 >nameless
is nameless full
finish

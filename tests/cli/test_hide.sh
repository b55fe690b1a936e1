# test_hide.sh - `trod hide`: what is gone is gone, what is counted stays as it was.
. "$TROD_SOURCE/tests/cli/lib.sh"

# numbers FILE [OPTION...]: of caches, TLBs, locality and predictors, without what names an address or a thread.
# btfn is left out: whether a branch leads backwards stands in its opcode.
numbers() {
    trod cache --preset i7-6700 --order file --format json "$1" | jq -S '[.caches, .kinds]'
    trod locality --format json "$1" | jq -S '[.references, .lines, .cold, .miss_ratio_curve, .distances]'
    trod branches --format json "$@" |
        jq -S '[.branches, .kinds, (.predictors | map(select(.predictor != "btfn")))]'
}

for pattern in recursion:depth=6,count=40 zipf:lines=200,count=3000 loop:trips=5,count=60 sharing:count=50; do
    rm -rf a.d h.d
    run trod gen --to drmemtrace $pattern a.d
    run trod hide --format json a.d h.d
    status 0
    json '.rows_kept <= .rows and .to == "drmemtrace"'
    run trod check h.d
    status 0
    numbers a.d >want
    numbers h.d >got
    check test -s want
    same want got
    run trod info --format json h.d
    json '.files[0].isa == "REGDEPS"'
    # neither addresses nor opcodes are those of the program
    trod view --kind INSTR --format json a.d | jq -r '.address, .code // .opcode' | sort -u >before
    trod view --kind INSTR --format json h.d | jq -r '.address, .code // .opcode' | sort -u >after
    check test "$(comm -12 before after | grep -cv null)" = 0
done

# --- and with instruction sets that the hidden trace does not tell, by the alignment that is printed
for format in drmemtrace tarmac tt6 full stf; do
    for pattern in recursion:depth=6,count=40 zipf:lines=200,count=3000 loop:trips=5,count=60; do
        rm -rf a.* h.d
        isa=()
        [[ $format != drmemtrace ]] || isa=(--isa a64)
        run trod gen "${isa[@]}" --to $format $pattern a.$format
        run trod hide --format json a.$format h.d
        status 0
        json '.alignment > 1 and .rows_not_written == 0'
        alignment=$(jq .alignment "$stdout")
        run trod check h.d
        status 0
        numbers a.$format >want
        numbers h.d --alignment $alignment >got
        same want got
    done
done

# --- a trace of a bus: transfers of 16 and 32 bytes are not taken apart
run trod hide --format json "$TROD_SOURCE/examples/boot.byu12" h.byu12
status 0
json '.rows_not_written == 0'
rows=$(jq .rows_kept "$stdout")
check test "$(trod count --format json h.byu12 | jq .total.rows)" = "$rows"
for file in "$TROD_SOURCE/examples/boot.byu12" h.byu12; do
    trod locality --histogram --format json "$file" |
        jq -S '[.references, .lines, .cold, .miss_ratio_curve, .distances, .sizes]' >"${file##*/}.numbers"
    trod cache --preset i7-6700 --order file --format json "$file" | jq -S '[.caches, .kinds]' >>"${file##*/}.numbers"
    trod view --format json --kind READ,WRITE,BUS "$file" | jq -c '[.kind, .size]' >>"${file##*/}.numbers"
done
check grep -q ',32\]' boot.byu12.numbers
same boot.byu12.numbers h.byu12.numbers

# --- register dependences stay: x86 and A64, by what `deps` finds of registers
for isa in x86-64 a64; do
    rm -rf a.d h.d
    run trod gen --isa $isa --to drmemtrace stack:depth=50,laps=3 a.d
    run trod hide a.d h.d
    trod deps --format json a.d | jq -S '.register_distance' >want
    trod deps --format json h.d | jq -S '.register_distance' >got
    check test "$(jq length want)" -gt 0
    same want got
done

# --- one key: equal addresses stay equal; no key, or another: they do not
echo secret >key
echo other >key2
for n in 1 2; do
    run trod hide --key-file key -q a.d k$n.d
    trod view --kind READ --format json k$n.d | jq -r .address >k$n
    run trod hide -q a.d r$n.d
    trod view --kind READ --format json r$n.d | jq -r .address >r$n
done
same k1 k2
check test "$(comm -12 <(sort r1) <(sort r2) | wc -l)" = 0
run trod hide --key-file key2 -q a.d k3.d
check test "$(trod view --kind READ --format json k3.d | jq -r .address | sort | comm -12 - <(sort k1) | wc -l)" = 0

# --- what may stay
run trod gen stack:depth=50,laps=3 a.tarmac
run trod hide a.tarmac h.tarmac
status 2
err_has 'tarmac has the opcode of each instruction: keep them'
check test ! -e h.tarmac
run trod hide --keep code,values a.tarmac h.tarmac
status 0
run trod check h.tarmac
status 0
trod view --format json a.tarmac | jq -r '.value // empty' >want
trod view --format json h.tarmac | jq -r '.value // empty' >got
check test "$(grep -c . want)" -gt 200
same want got
# of a bus there are none to keep, and its formats are written as they are
run trod hide "$TROD_SOURCE/tests/golden/byu6/boot.canonical.byu6" h.byu6
status 0
run trod hide --to byu12 "$TROD_SOURCE/tests/golden/byu6/boot.canonical.byu6" h.byu12
status 0
rm -rf h.d
run trod hide a.tarmac h.d
status 0
numbers a.tarmac | jq -s '.[0][0] | map(select(.cache == "L1D") | del(.mpki, .total_percent))' >want
numbers h.d | jq -s '.[0][0] | map(select(.cache == "L1D") | del(.mpki, .total_percent))' >got
check test "$(jq length want)" = 1
same want got
check test "$(trod view --format json h.d | jq -r 'select(.kind == "READ") | .value // empty' | wc -l)" = 0

# --- what the tracer put in goes: TT6E's pairs behind a twi (the program's own rfi is a jump in drmemtrace)
run trod convert --where 'kind != EXCEPTION && pc < 0x800' "$TROD_SOURCE/examples/records.tt6e" pairs.tt6e
status 0
pairs=$(trod view --where synthetic --format json pairs.tt6e | wc -l)
check test "$pairs" = 4
numbers pairs.tt6e >want
for to in drmemtrace csv:columns=all; do
    rm -rf h.out
    run trod hide --format json --to $to pairs.tt6e h.out
    status 0
    json '.synthetic_instructions == "gone"'
    json "(.kinds[] | select(.kind == \"INSTR\") | .gone) == $pairs"
    [[ $to == drmemtrace ]] && numbers h.out --alignment 4 >got || numbers h.out >got
    same want got
    check test "$(trod view --where synthetic h.out 2>/dev/null | wc -l)" = 0
done
# TT6E says which they are
run trod hide --format json --keep code pairs.tt6e h.tt6e
status 0
json '.synthetic_instructions == "kept"'
check test "$(trod view --where synthetic --format json h.tt6e | wc -l)" = $pairs
numbers h.tt6e >got
same want got
run trod hide --format json a.tarmac h2.d
json '.synthetic_instructions == "none"'

# --- where the last branch goes on is not known: it stays all the same
printf '%s\n' '1 clk IT (1) 00001000 d503201f O EL1h_s : NOP' \
    '2 clk IT (2) 00001004 d65f03c0 O EL1h_s : RET' >ends.tarmac
rm -rf h.d
run trod hide --format json ends.tarmac h.d
status 0
json '.rows_kept == 2 and .rows_not_written == 0'
run trod check h.d
status 0
check test "$(trod view --kind INSTR --format json h.d | wc -l)" = 2

# --- and so is what OUT has no column for
printf '%s\n' 'I  00001000,4' ' L 00002000,8' ' S 00002008,8' >a.lackey
run trod hide --format json a.lackey h.pinatrace
status 0
json '.rows_not_written == 1 and .columns_not_written == "sizes"'
run trod hide --format json a.lackey h2.lackey
status 0
json '.rows_not_written == 0 and .columns_not_written == "none"'

# --- every family: a table holds all that stays, and so does the format of IN where it has no opcodes
golden=$TROD_SOURCE/tests/golden
for file in tarmac/model.canonical.tarmac byu6/boot.canonical.byu6 tt6/records.canonical.tt6 full/records.canonical.full \
    stf/records.stf execlog/system.execlog qemulog/x86_64.qemulog spike/commits.spike rvvitext/all.rvvi \
    gem5exec/microops.gem5exec perfscript/real.perfscript bt9/model-cpu0.bt9 cbp2025/classes.cbp2025; do
    run trod hide -q "$golden/$file" h.csv
    status 0
    numbers "$golden/$file" >want
    numbers h.csv >got
    same want got
done
for file in lackey/model.canonical.lackey champsim/kinds.canonical.champsim dinerox/model.canonical.xdin \
    pinatrace/model.canonical.pinatrace memtrace_simple/model.canonical.memtrace_simple gem5exec/arm.gem5exec; do
    run trod hide --format json "$golden/$file" hidden
    status 0
    json ".to == \"$(sed 's|gem5exec|csv|; s|/.*||' <<<"$file")\" and .rows_not_written == 0"
    numbers "$golden/$file" >want
    numbers hidden >got
    same want got
done
run trod hide a.lackey lackey.d
status 0
err_has 'lackey has no opcodes'

# --- addresses are moved whatever the key is. Two keys whose hashes draw only zeros first: found with FNV-1a,
# splitmix64 and xoshiro256** as they are published, for granules of 1 MiB and 1 GiB
printf 'I  00401000,4\n L 00007000,4\n S 00000000,4\n S 00000ff8,8\n' >null.lackey
for key in key110 key0 key1 key2 key3 key4 key5 key6 key7; do
    printf %s $key >drawn
    for granule in 1Mi 1Gi; do
        run trod hide --key-file drawn --granule $granule null.lackey moved.lackey
        status 0
        check test "$(grep -c -e '^I  0*401000,' -e '^ L 0*7000,' moved.lackey)" = 0
        # the first page is where it was: it would tell where all others are
        check grep -q '^ S 00000000,4' moved.lackey
        check grep -q '^ S 00000ff8,8' moved.lackey
    done
done
rm -rf m.d mh.d
run trod gen --isa x86-32 cyclic:lines=3,laps=2 m.d
printf key110 >drawn
run trod hide --key-file drawn m.d mh.d
status 0
for d in m mh; do
    trod view --kind READ --format json $d.d | jq -r .address | sort -u >$d.addresses
done
check test "$(comm -12 m.addresses mh.addresses | wc -l)" = 0

# --- times: from the first of all threads, whichever row has it, in units that differ
cat >times.csv <<'EOF'
row,kind,stream,time,unit,pc,addr,size
0,INSTR,1,1000,us,0x401000,,4
1,INSTR,2,500,us,0x401004,,4
2,INSTR,2,700,us,0x401008,,4
3,INSTR,1,1000001,ns,0x40100c,,4
EOF
run trod hide times.csv times-hidden.csv
status 0
check test "$(awk -F, 'NR > 1 { printf "%s%s ", $4, $5 }' times-hidden.csv)" = '500us 0us 200us 500001ns '
# of a pipe, from the first row's
run trod hide --from csv --format json - piped.csv <times.csv
status 0
json '.times_before_the_first == 2'
# rows that are left out do not count: the earliest of those copied is 0
run trod hide --range 2..3 times.csv part.csv
status 0
check test "$(awk -F, 'NR > 1 { printf "%s%s ", $4, $5 }' part.csv)" = '0us 300001ns '
run trod hide --pc 0x401000 --format json times.csv part.csv
status 0
json '.times_before_the_first == 0'
check test "$(awk -F, 'NR > 1 { printf "%s%s ", $4, $5 }' part.csv)" = '0us '
run trod hide --keep times times.csv times-kept.csv
status 0
check test "$(awk -F, 'NR > 1 { printf "%s ", $4 }' times-kept.csv)" = '1000 500 700 1000001 '

# --- which page of memory a page is in is gone
printf '%s\n' '1 us cpu0 IT (1) 40080000:000000123000 580002c1 O EL1h : ldr x1, #0x40080058' \
    '1 us cpu0 MR8 40080058:000000123058 00000000_00000000' \
    '2 us cpu0 IT (2) 40080004:000000123004 b8210022 O EL1h : ldadd w1, w2, [x1]' \
    '2 us cpu0 MR4 40080060:000000123060 00000000' \
    '2 us cpu0 MU4_ADD 40080060:000000123060 00000001' >system.tarmac
for to in tarmac csv; do
    run trod hide --keep code system.tarmac pages.$to
    status 0
    check test "$(grep -c 123 pages.$to)" = 0
done
# and atomic operations have their names where opcodes are kept
check test "$(grep -c 'MU4_ADD' pages.tarmac)" = 1

# --- kinds of transactions on a bus
run trod convert --where 'size <= 8' "$golden/byu12/boot.canonical.byu12" bus.byu12
status 0
run trod hide bus.byu12 hidden.byu12
status 0
# its addresses are physical, before and after
check test "$(grep -c virtual "$stderr")" = 0
for f in bus hidden; do
    trod convert --to csv:columns=kind,addr,paddr $f.byu12 - | sed 's/0x[0-9a-f]*/at/' >columns.$f
done
same columns.bus columns.hidden
for f in bus hidden; do
    trod view --kind READ,WRITE,BUS --format json $f.byu12 | jq -r .text >kinds.$f
done
check grep -q MEMREADINV kinds.bus
same kinds.bus kinds.hidden

# --- errors
run trod hide --keep all a.d x.d
status 2
err_has "'all' is none of code, values, times, names"
run trod hide --granule 3000 a.d x.d
status 2
err_has 'no power of two'
run trod hide --key-file /nonexistent a.d x.d
status 2
err_has 'cannot be read'
check test ! -e x.d
head -c 300 a.tarmac >cut.tarmac
run trod hide --keep code cut.tarmac cut2.tarmac
check test -s cut2.tarmac
finish

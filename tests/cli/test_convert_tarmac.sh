# test_convert_tarmac.sh - from one dialect of Tarmac to another: instruction sets of lines that name none, digits that are not known
# and digits that are not written.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format tarmac

# 16 bits, two halves, an odd halfword: Thumb; 32 bits that do not begin as an opcode of Thumb does (111
# and not 00): A32; the other ones may be either, which is said
cat >none.tarmac <<'T'
354ns IT 00000350 490d LDR r1,[pc]
356ns IT 00000352 f000_b800 B.W foo
358ns IT 00000356 f000b800 B.W foo
360ns IT 0000035c e59ff018 LDR pc,[pc,#24]
362ns IT 00000360 e0811002 ADD r1,r1,r2
T
cat >maybe.tarmac <<'T'
354ns IT 00000350 490d LDR r1,[pc]
356ns IT 00000354 f000b800 B.W foo
358ns IT 00000358 eb000010 BL bar
T
for dialect in es gem5; do
    run trod convert --allow-loss --from tarmac --to tarmac:dialect=$dialect none.tarmac $dialect.tarmac
    status 0
    check test "$(grep -c 'instruction set' "$stderr")" -eq 0
    case $dialect in
    es) fields='s/.*(\(0*[0-9a-f]*\):\([0-9a-f]*\)) \([AT]\) .*/\1 \2 \3/p' ;;
    *) fields='s/.* \(0*[0-9a-f]*\) \([0-9a-f]*\) \([AT]\) .*/\1 \2 \3/p' ;;
    esac
    sed -n "$fields" $dialect.tarmac >$dialect.fields
    text $dialect.fields <<'T'
00000350 490d T
00000352 f000b800 T
00000356 f000b800 T
0000035c e59ff018 A
00000360 e0811002 A
T
    # the same bytes
    for f in none $dialect; do
        run trod view --from tarmac --format json $f.tarmac
        jq -c '[.address, .opcode]' "$stdout" >$f.code
    done
    run trod compare --from tarmac --ignore flags none.tarmac $dialect.tarmac
    status 0
    run trod convert --allow-loss --from tarmac --to tarmac:dialect=$dialect maybe.tarmac $dialect.tarmac
    status 0
    err_has 'note: 2 instructions, of which neither .* says the instruction set, are written as A32'
    run trod convert --allow-loss --from tarmac:iset=thumb --to tarmac:dialect=$dialect maybe.tarmac $dialect.tarmac
    status 0
    check test "$(grep -c 'instruction set' "$stderr")" -eq 0
    check test "$(grep -c -E ' T ' $dialect.tarmac)" -eq 3
done
head -2 maybe.tarmac >one.tarmac
run trod convert --allow-loss --from tarmac --to tarmac:dialect=es one.tarmac es.tarmac
status 0
err_has 'note: 1 instruction, of which neither .* says the instruction set, is written as A32'
# in their own dialect they stay what they were
run trod convert -q --from tarmac --to tarmac:dialect=fm none.tarmac fm.tarmac
status 0
check cmp none.tarmac fm.tarmac

# what is not known stays so in every dialect; of what is not written, and of bytes with one digit, the
# es dialect can only say that it is not known, which is a loss
cat >digits.tarmac <<'T'
1 clk cpu0 MW4 00001000 12xx3456
1 clk cpu0 MR4 00001004 xxxxxxxx
1 clk cpu0 R cpsr xx0xxxxx
T
flags() { # FILE: value and flags of its rows
    run trod view --from tarmac --format json "$1"
    status 0
    jq -c '[.kind, .address, .value, .flags]' "$stdout"
}
flags digits.tarmac >want
run trod convert --allow-loss --format json --from tarmac --to tarmac:dialect=es digits.tarmac es.tarmac
status 0
json 'has("lost_columns") | not'
check grep -q 'ST .* 12##3456$' es.tarmac
flags es.tarmac >got
same want got
for dialect in fm gem5; do
    run trod convert --from tarmac:dialect=es --to tarmac:dialect=$dialect es.tarmac back.tarmac
    status 0
    flags back.tarmac >got
    same want got
    check grep -q 'MW4 00001000 12xx3456$' back.tarmac
    check grep -q 'MR4 00001004 xxxxxxxx$' back.tarmac
done
lost() { # COLUMN VALUE: converting it to es loses that
    echo "1 clk cpu0 MW4 00001000 $2" >one.tarmac
    run trod convert --from tarmac --to tarmac:dialect=es one.tarmac one.es
    status 2
    run trod convert --allow-loss --format json --from tarmac --to tarmac:dialect=es one.tarmac one.es
    status 0
    json "[.lost_columns[] | [.kind, .column, .rows]] == [[\"WRITE\", \"$1\", 1]]"
}
lost value 12xx34--
lost value 12--3456
lost value 1x345678
lost value x2345678
lost flags --------
# in the other dialects dashes stay dashes
for dialect in fm gem5; do
    run trod convert --from tarmac --to tarmac:dialect=$dialect one.tarmac back.tarmac
    status 0
    check grep -q 'MW4 00001000 --------$' back.tarmac
done
finish

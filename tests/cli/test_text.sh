# test_text.sh - a text format (tarmac) through info and view: layouts, details, symbols, damaged
# lines, terminals.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq
needs_format tarmac

cat >t.tarmac <<'EOF'
1 clk cpu0 IT (1) 00008000:000000008000_NS d28c8000 O EL1h_n : MOV      x0,#0x6400
1 clk cpu0 R X0 0000000000006400
2 clk cpu1 IT (1) 0000800c:00000000800c_NS 94000005 O EL1h_n : BL       {pc}+0x14 ; 0x8020
2 clk cpu0 MR8 00006400:000000006400_NS 00000000_0000002a
3 clk cpu0 IS (2) 00008014:000000008014_NS 54ffff60 O EL1h_n : B.EQ     {pc}-0x14 ; 0x8000
3 clk cpu0 MW4X 0000ffe0:00000000ffe0_NS 1234abcd
4 clk cpu1 R cpsr 20000005
5 clk cpu0 WHATEVER it is, "kept" as it is
EOF

run trod view --header always t.tarmac
status 0
out <<'EOF'
    row   time  cpu   kind   address     size  value               text
      0  1 clk  cpu0  INSTR  0x00008000     4  d28c8000            MOV      x0,#0x6400          {pa=0x00008000:ns mode=EL1h_n index=1}
      1  1 clk  cpu0  REG    -              8  0x0000000000006400  X0
      2  2 clk  cpu1  INSTR  0x0000800c     4  94000005            BL       {pc}+0x14 ; 0x8020  {pa=0x0000800c:ns mode=EL1h_n index=1}
      3  2 clk  cpu0  READ   0x00006400     8  0x000000000000002a  -                            {pa=0x00006400:ns}
      4  3 clk  cpu0  INSTR  0x00008014     4  54ffff60            B.EQ     {pc}-0x14 ; 0x8000  {skipped pa=0x00008014:ns mode=EL1h_n index=2}
      5  3 clk  cpu0  WRITE  0x0000ffe0     4  0x1234abcd          -                            {exclusive pa=0x0000ffe0:ns}
      6  4 clk  cpu1  REG    -              4  0x20000005          cpsr
      7  5 clk  cpu0  NOTE   -              -  -                   5 clk cpu0 WHATEVER it is, "kept" as it is
EOF
err </dev/null

# unknown digits against unwritten ones, in text and JSON and in wide values; hexadecimal numbers of
# lines; what a TLB line says; times and cpus of lines below others
cat >odd.tarmac <<'EOF'
1 ticks cpu0 R Q0 -------- -------- xxxxxxxx 667f3bcd
1 ticks cpu0 R X1 --------
1 ticks cpu0 R X2 xxxxxxxx
1 ticks cpu0 MR4 00001000 12??5678
1 ticks cpu0 CACHE l2 LINE 04b0 ALLOC 0x000000001000
1 ticks cpu0 TLB FILL d 4K 0x1000_NS EL1_n vmid=42, nG asid=10:0x0015220000 Normal Shareable Inner=WriteBack Outer=WriteBack xn=0
EOF
run trod view --header never odd.tarmac
status 0
out_has '  1 ticks  cpu0  REG .*0x-{16}[?]{8}667f3bcd  Q0 '
out_has ' REG .*0x--------  *X1 '
out_has ' REG .*0x[?]{8}  *X2 '
out_has ' READ .*0x12[?]{2}5678  '
out_has ' CACHE_LINE .*0x04b0  *l2 '
out_has 'virtual_security=ns el=EL1_n vmid=42 asid=10 nonglobal memtype="Normal Shareable Inner=WriteBack Outer=WriteBack" attrs=.?xn=0'
run trod view --format json odd.tarmac
through jq -s .
json '.[0].value == "0x----------------????????667f3bcd" and .[0].unit == "ticks" and .[2].value == "0x????????"'
json '.[4].value == "0x04b0" and .[5].details.asid == 10 and .[5].details.virtual_security == "ns"'
cat >es.tarmac <<'EOF'
          5 tic ES  (00001000:e1a00001) A svc_s:          MOV      r0,r1
                    R R0 00000001
          6 tic ES  (00001004:e5900000) A svc_s:          LDR      r0,[r0]
                    LD 00002000 ........ 00000007 ........ ........    S:0000002000    NM
                    R R0 00000007
          7 tic ES  (00001008:e1a00001) A svc_s:          MOV      r0,r1
EOF
run sh -c "'$TROD' view --time 6..6 --format json es.tarmac | jq -c '[.record, .kind, .time]'"
out <<'EOF'
[2,"INSTR",6]
[3,"READ",6]
[4,"REG",6]
EOF
run trod convert es.tarmac es2.tarmac
status 0
check cmp es.tarmac es2.tarmac
cat >cpus.trace <<'EOF'
1 steps 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1
1 steps R r8 00010000
2 steps 1 IT (1) 00000004 3c080001 A svc : lui t0,0x1
2 steps MR4 00010000 00000007
EOF
run sh -c "'$TROD' view --from matcher -s 1 --format json cpus.trace | jq -c '[.record, .kind]'"
out <<'EOF'
[2,"INSTR"]
[3,"READ"]
EOF

# the native listing is the file; of chosen records their lines
run trod view --native t.tarmac
status 0
out_is t.tarmac
run trod view --native --kind READ,NOTE --header always t.tarmac
check cmp "$stdout" <(sed -n '4p;8p' t.tarmac)
printf '1 clk IT (1) 00008000 d28c8000 O EL1h_n : NOP\n2 clk R X0 0000000000000001' >cut.tarmac
run trod view --native --from tarmac cut.tarmac
check cmp "$stdout" <(cat cut.tarmac; echo)

run trod view --format json t.tarmac
status 0
check test "$(jq -c . "$stdout" | wc -l)" = 8
through jq -s .
json '.[0] | .address == "0x8000" and .opcode == "d28c8000" and .security == "ns" and .details.mode == "EL1h_n"'
json '.[4].flags == ["skipped"] and .[5].flags == ["exclusive"] and .[5].value == "0x1234abcd"'
json '.[7] == {"record": 7, "kind": "NOTE", "time": 5, "unit": "clk", "cpu": "cpu0", "text": "5 clk cpu0 WHATEVER it is, \"kept\" as it is"}'
run trod view --format csv --range 7 t.tarmac
out_has '^7,NOTE,5,clk,cpu0,.*,"5 clk cpu0 WHATEVER it is, ""kept"" as it is",'

run sh -c "'$TROD' view --stream cpu1 --format json t.tarmac | jq -c .record"
out <<'EOF'
2
6
EOF
run sh -c "'$TROD' view --pc 0x8000..0x800f --format json t.tarmac | jq -c .record"
out <<'EOF'
0
2
EOF

run trod info --format json t.tarmac
status 0
json '.files[0] | .format == "tarmac" and .evidence_bits >= 24 and .rows == 8 and .isa == "A64"'
json '.files[0].not_understood == [{"type": "WHATEVER", "rows": 1}]'
json '.files[0].streams | map({(.name): .rows}) | add == {"cpu0": 6, "cpu1": 2}'

# symbols: of this trod itself, as nm has them
if command -v nm >/dev/null && nm "$TROD" 2>/dev/null | grep -q ' T main$'; then
    at=$(nm "$TROD" | sed -n 's/^\([0-9a-f]*\) T main$/\1/p')
    {
        echo "1 clk IT (1) $at d503201f O EL1h_n : NOP"
        echo "2 clk IT (2) $(printf %016x $((0x$at + 2))) d503201f O EL1h_n : NOP"
        echo "3 clk IT (3) 0000000000000000 d503201f O EL1h_n : NOP"
    } >sym.tarmac
    run trod view --from tarmac --symbols "$TROD" --format csv sym.tarmac
    status 0
    through sed 's/.*,//'
    out <<'EOF'
symbol
main
main+0x2

EOF
    first=$(readelf -lW "$TROD" 2>/dev/null | awk '$1 == "LOAD" {print $3; exit}')
    if [ -n "$first" ]; then
        sed "2,3d; s/$at/$(printf %016x $((0x$at - first + 0x7f0000000000)))/" sym.tarmac >moved.tarmac
        run trod view --from tarmac --symbols "$TROD@0x7f0000000000" moved.tarmac
        out_has ' main +NOP'
    fi
fi
# formats and their options by name
run trod view --from tarmak t.tarmac
status 2
err_has "unknown format 'tarmak'; did you mean 'tarmac'\?"
run trod view --from tarmac:dialekt=fm t.tarmac
status 2
err_has "unknown option 'dialekt'; did you mean 'dialect'\?"
run trod formats tarmac --format json
status 0
json '.formats[0] | .name == "tarmac" and .form == "text" and (.dialects | index("fm")) and (.options | map(.option) | index("dialect"))'
run trod formats --format json
json '.formats | map(.name) | index("tarmac")'

run trod view --symbols t.tarmac t.tarmac
status 2
err_has '^trod: t\.tarmac: no ELF file'

# damaged lines: each told with line, record and a caret, and skipped; the rest is there
{
    sed -n 1,2p t.tarmac
    echo '2 clk cpu0 R X0 00zz0'
    printf '2 clk cpu0 MR8 000064\001\033[31m00 00000000\n'
    sed -n 3,8p t.tarmac
} >bad.tarmac
run trod view --native bad.tarmac
status 2
out_is t.tarmac
check test "$(grep -c '^trod: bad\.tarmac:' "$stderr")" = 2
err_has '^trod: bad\.tarmac:3: .*\(record 2, byte [0-9]+\)$'
err_has '^    2 clk cpu0 R X0 00zz0$'
err_has '^                      \^$'
err_has '^    2 clk cpu0 MR8 000064\\x01\\x1b\[31m00 00000000$'
run trod view --strict --native bad.tarmac
status 2
check cmp "$stdout" <(sed -n 1,2p t.tarmac)
run trod info --format json bad.tarmac
status 2
json '.files[0] | .rows == 8 and .errors == 2'
# what lies far behind the range is not even read
{
    for i in $(seq 500); do cat t.tarmac; done
    cat bad.tarmac
} >late.tarmac
run trod view --native --range 0..1 late.tarmac
status 0
check cmp "$stdout" <(sed -n 1,2p t.tarmac)
err </dev/null
run trod view -q late.tarmac
status 2

# the caret of a long line: the line is shortened around it
{
    cat t.tarmac
    printf '2 clk cpu0 R X0 %0300dz%0300d\n' 0 0
} >long.tarmac
run trod view --native long.tarmac
status 2
err_has '^    \.\.\.0+z0+\.\.\.$'
awk '/\.\.\./ {where = index($0, "z")} /^ *\^$/ {if (index($0, "^") == where) good = 1} END {exit !good}' \
    "$stderr"
check test $? = 0

# of one kind of problem twenty are printed and the rest counted
{
    cat t.tarmac
    for i in $(seq 50); do echo '2 clk cpu0 R X0 00zz0'; done
} >many.tarmac
run trod info --from tarmac --format json many.tarmac
status 2
check test "$(grep -c '^trod: many\.tarmac:[0-9]' "$stderr")" = 20
err_has '^trod: 30 more of this kind'
json '.files[0].problems | map(.count) == [50]'

# events by name
{
    cat t.tarmac
    echo '6 clk cpu0 E HRESETn 0'
    echo '7 clk cpu0 E HRESETn 1'
} >events.tarmac
run trod info --from tarmac --format json events.tarmac
status 0
json '.files[0].markers == [{"type": "HRESETn", "rows": 2}]'

# unknown types by the thousand take no memory, and are counted
{
    cat t.tarmac
    seq 3000 | awk '{print "6 clk cpu0 TYPE" $1 " x"; print "6 clk cpu0 OFTEN x"}'
} >types.tarmac
run trod info --from tarmac --format json types.tarmac
status 0
json '.files[0].not_understood | .[0] == {"type": "OFTEN", "rows": 3000} and length == 21 and (map(.rows) | add) == 6001'
run trod info --from tarmac types.tarmac
out_has '^    OFTEN +3,000$'
out_has '^    \(others\) +[0-9,]+$'

# what is no trace is not guessed at
run trod info "$TROD_SOURCE/LICENSE"
status 2
err_has 'LICENSE: format not recognised; name it with --from'
: >empty
run trod view empty
status 2
err_has 'empty: .*empty'

# on a terminal: colours, header; no escape sequences elsewhere, with NO_COLOR, or when told
esc=$(printf '\033')
run trod view t.tarmac --color always
out_has "$esc"
run trod view t.tarmac --color always --no-color
out_not "$esc"
on_terminal() {
    # script runs the command on a terminal of its own
    TERM=xterm script -qec "stty cols ${cols:-120} rows 40; $*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null && [ "$(on_terminal 'test -t 1 && echo yes')" = yes ]; then
    run on_terminal "TROD_PAGER= '$TROD' view t.tarmac"
    out_has "$esc"
    out_has 'row +time +cpu +kind'
    run on_terminal "NO_COLOR=1 TROD_PAGER= '$TROD' view t.tarmac"
    out_not "$esc"
    run on_terminal "TROD_PAGER='sed s/^/paged:/' '$TROD' view t.tarmac"
    out_has '^paged:.* row '
    run on_terminal "PAGER='sed s/^/paged:/' '$TROD' view --no-pager t.tarmac"
    out_not '^paged:'
    cols=80 run on_terminal "TROD_PAGER= '$TROD' view --no-color t.tarmac"
    out_has 'd28c8000  MOV      x0,#0x6400  \{'
    # a pager that is left early ends the listing without a word
    run on_terminal "TROD_PAGER='head -n 2' '$TROD' view --from tarmac long.tarmac"
    check test "$(wc -l <"$stdout")" = 2
    # binary data is kept from terminals
    if trod formats byu12 >/dev/null 2>&1; then
        bytes 00 10 00 00 01 04 03 00 ff ff ff ff >t.byu12
        run on_terminal "'$TROD' convert --from byu12 t.byu12 -; echo status \$?"
        out_has 'terminal'
        out_has '^status 2$'
    fi
fi
# what another dialect has no place for is counted in a note, and refused by none; exceptions that it borrows do not make it es
cat >es.tarmac <<'END'
5 tic ES  (00001000:e5900000) A svc_s: LDR r0,[r0]
      LD 00002000 ........ 00000007 ........ ........    S:0000002000    NM ISH
6 tic ES EXC [0x10] Synchronous
7 tic MNW4____ (00000050:000000a8) 05011000 00000003
END
run trod convert --to tarmac:dialect=fm es.tarmac fm.tarmac
status 0
err_has 'note: left out of 2 rows'
run trod info --format json fm.tarmac
json '.files[0].dialect == "fm"'
run trod convert --to tarmac:dialect=fm fm.tarmac again.tarmac
check cmp fm.tarmac again.tarmac
printf '%s\n' '1 clk cpu0 IF (2) 00001000:000000001000_NS,000000001002_NS e8900c00 T hyp_n : LDM r0,{r1,r2}' >fold.tarmac
run trod convert --allow-loss --to tarmac:dialect=es fold.tarmac out.tarmac
err_has 'note: left out of 1 row,'
run trod convert --to tarmac:dialect=gem5 fold.tarmac out.tarmac
status 0
check test -z "$(grep note "$stderr")"
finish

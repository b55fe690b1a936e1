# test_convert.sh - text formats through convert: byte-exact copies, targets by suffix, loss, damaged
# input, outputs that appear when whole.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq gzip
needs_format tarmac
needs_format matcher

cat >t.tarmac <<'EOF'
1 clk cpu0 IT (1) 00008000:000000008000_NS d28c8000 O EL1h_n : MOV      x0,#0x6400
1 clk cpu0 R X0 0000000000006400
2 clk cpu1 IT (1) 0000800c:00000000800c_NS 94000005 O EL1h_n : BL       {pc}+0x14 ; 0x8020
2 clk cpu0 MR8 00006400:000000006400_NS 00000000_0000002a
3 clk cpu0 IS (2) 00008014:000000008014_NS 54ffff60 O EL1h_n : B.EQ     {pc}-0x14 ; 0x8000
3 clk cpu0 MW4X 0000ffe0:00000000ffe0_NS 1234abcd
4 clk cpu1 R cpsr 20000005
4 clk cpu0 E 0000000000008018 00000001 CoreEvent_CURRENT_SPx_SYNC
5 clk cpu0 WHATEVER it is, "kept" as it is
EOF

# the same format: the same bytes, also of lines chosen, compressed, through a pipe
run trod convert t.tarmac copy.tarmac
status 0
out </dev/null
err <<EOF
copy.tarmac: 9 rows read, 9 kept, 9 of them copied as they were; $(wc -c <t.tarmac) bytes of tarmac
EOF
check cmp t.tarmac copy.tarmac
run trod convert --stream cpu1 t.tarmac -
status 0
check cmp "$stdout" <(sed -n '3p;7p' t.tarmac)
run trod convert t.tarmac copy.tarmac.gz
status 0
check cmp t.tarmac <(gzip -dc copy.tarmac.gz)
run sh -c "gzip -c t.tarmac | '$TROD' convert -q - -"
status 0
out_is t.tarmac
err </dev/null

# a line that had its time and cpu from one that is left out says them; those below it are copied
cat >two.tarmac <<'EOF'
         10 ns cpu0 ES  (0000000000001000:d503201f) O EL1h_n:         NOP
                    R X1 0000000000000001
         20 ns cpu1 ES  (0000000000001000:d503201f) O EL1h_n:         NOP
                    R X1 0000000000000002
                    LD 0000000000008000 ........ ........ 00000005 00000001
                       0000000000008010 ........ 00000022 ........ ........
         30 ns cpu0 ES  (0000000000001004:d503201f) O EL1h_n:         NOP
                    R X1 0000000000000003
EOF
run trod convert --where 'row != 2' two.tarmac -
status 0
err_has '8 rows read, 7 kept, 6 of them copied as they were'
check cmp "$stdout" <(sed -e 3d -e '4s/^ *R/         20 ns cpu1 R/' two.tarmac)
run trod convert -k MEMORY two.tarmac -
status 0
check cmp "$stdout" <(sed -n -e '5s/^ *LD/         20 ns cpu1 LD/p' -e 6p two.tarmac)
run trod convert -k REG two.tarmac reg.tarmac
status 0
check cmp <(trod view --format csv --from tarmac reg.tarmac | cut -d, -f2-) \
	<(trod view --format csv -k REG two.tarmac | cut -d, -f2-)
# and the further line of a picture begins one of its own
run trod convert --where 'kind == INSTR || addr == 0x8018' two.tarmac part.tarmac
status 0
run trod view -k MEMORY --format csv part.tarmac
out_has ',20,ns,cpu1,.*8018'

# a register of 64 KiB, and one of 256 KiB: lines of up to 1 MiB are written
for words in 16384 65536; do
	awk -v n=$words 'BEGIN { print "1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP"
		printf "1 clk cpu0 R za "
		for (i = 1; i <= n; i++) printf "deadbeef%s", i < n ? "_" : "\n" }' >wide.tarmac
	run trod convert --to tarmac:dialect=es --allow-loss wide.tarmac es.tarmac
	status 0
	check cmp <(sed -n 2p es.tarmac) <(sed -n '2s/^1 clk cpu0 R/                    R/p' wide.tarmac | tr _ ' ')
done

# a stored member does not show where it ends, so its size must stand before it: not to a pipe
for filter in zip zip-zstd zip-stored; do
    run trod convert -q -z $filter t.tarmac stored.$filter.tarmac
    status 0
    run trod compare t.tarmac stored.$filter.tarmac
    status 0
    run trod convert -q -z $filter t.tarmac -
    if [[ $filter == zip-stored ]]; then
        status 2
        err_has 'standard output: zip-stored needs a file.*name one'
        check test ! -s "$stdout"
    else
        status 0
        cp "$stdout" piped.$filter.tarmac
        run trod compare t.tarmac piped.$filter.tarmac
        status 0
    fi
done

# more than a piece, compressed by any number of threads: the same bytes
for i in $(seq 40); do for j in $(seq 100); do echo "$((i * j)) clk cpu0 R X$((j % 31)) 000000000000$((1000 + i * j % 9000))"; done; done >some.tarmac
for i in $(seq 15); do cat some.tarmac; done >large.tarmac
for suffix in gz zst lz4 zip; do
	for jobs in 1 2 5; do
		run trod convert -q -j $jobs large.tarmac "large$jobs.tarmac.$suffix"
		status 0
		check cmp "large$jobs.tarmac.$suffix" "large1.tarmac.$suffix"
	done
	run trod convert -q "large2.tarmac.$suffix" -
	check cmp "$stdout" large.tarmac
done

# the summary in full
run trod convert --range 2.. --format json t.tarmac part.tarmac
status 0
err </dev/null
json '.rows_read == 9 and .rows_kept == 7 and .rows_copied_verbatim == 7 and .to == "tarmac" and .output == "part.tarmac"'
json '.kinds | map({(.kind): [.rows, .kept]}) | add | .REG == [2, 1] and .INSTR == [3, 2] and .NOTE == [1, 1]'
json ".bytes == $(tail -n +3 t.tarmac | wc -c)"
run trod convert --format csv t.tarmac part.tarmac
out_has '^rows_read,9$'

# loss: named in words before anything is written, refused; a file of that name stays what it is
echo mine >out.matcher
run trod convert t.tarmac out.matcher
status 2
err_has 'matcher cannot hold all that tarmac says; lost would be: .*physical addresses.*--allow-loss'
check test "$(cat out.matcher)" = mine
run trod convert --allow-loss t.tarmac out.matcher
status 0
err <<EOF
out.matcher: 9 rows read, 8 kept, 1 lost, 0 of them copied as they were; $(wc -c <out.matcher) bytes of matcher
lost: 1 of 1 EXCEPTION rows
lost: flags of 3 INSTR rows
lost: flags of 1 READ rows
lost: flags of 1 WRITE rows
lost: cpus or threads of 1 NOTE rows
lost: physical addresses of 3 INSTR rows
lost: physical addresses of 1 READ rows
lost: physical addresses of 1 WRITE rows
EOF
run trod view --from matcher --kind INSTR --format json out.matcher
status 0
through jq -c '[.address, .opcode, .flags]'
out <<'EOF'
["0x8000","d28c8000",null]
["0x800c","94000005",null]
["0x8014","54ffff60",["skipped"]]
EOF

# a message names a row by its number in the trace, whatever was left out before it
printf 'kind,stream,addr,size,value,text\nREG,cpu0,,4,1,r1\nREG,cpu0,,4,1,r2\nREG,cpu0,,4,1,r3\nPREFETCH,cpu0,0x80,4,,\n' >row.csv
run trod convert --to tarmac --range 2.. row.csv -
status 2
err_has 'row 3, of kind PREFETCH'

# the account in full: chosen = kept + lost + what needs no record, kind by kind
run trod convert --allow-loss --range 1.. --format json t.tarmac out.matcher
status 0
json '.rows_read == 9 and .rows_chosen == 8 and .rows_kept == 7 and .rows_lost == 1 and .rows_not_needed == 0'
json '.kinds | all(.chosen == .kept + .lost + .not_needed)'
json '.kinds | map({(.kind): [.rows, .chosen, .kept, .lost]}) | add | .EXCEPTION == [1, 1, 0, 1] and .INSTR == [3, 2, 2, 0]'
json '.lost_columns | map({("\(.kind) \(.column)"): .rows}) | add | .["INSTR paddr"] == 2 and .["READ paddr"] == 1'

# a dialect that cannot hold it is refused beforehand as another format is
run trod convert t.tarmac es.log --to tarmac:dialect=es
status 2
err_has 'tarmac cannot hold all that tarmac says; lost would be: instruction numbers, physical addresses; .*--allow-loss'
check test ! -e es.log

# words behind a value are kept in the dialects that have a place for them, and counted in the one that has none
echo '1 clk cpu0 MR4 00001000 00000001 tag=3' >tag.tarmac
run trod convert -q --to tarmac:dialect=gem5 tag.tarmac -
out_is tag.tarmac
run trod convert --allow-loss --to tarmac:dialect=es tag.tarmac es.log
status 0
err_has 'note: left out of 1 row,'

# pictures need not say whether a physical address is secure; lines of Fast Models cannot leave it open
cat >es.log <<'EOF'
         10 clk ES  (00001000:e1a00001) A svc_s:          MOV      r0,r1
                    LD 00002000 ........ 00000007 ........ ........    0000002000
                    ST 00002000 ........ 00000007 ........ ........    S:0000002000
                    ST 00002000 ........ 00000007 ........ ........    NS:0000002000
EOF
run trod convert --to tarmac:dialect=fm es.log fm.tarmac
status 0
err_has 'note: 1 physical address, of which the source does not say whether it is secure, is written '
check grep -q '^10 clk MR4 00002008:000000002008 00000007$' fm.tarmac
run trod convert es.log again.log
status 0
check cmp es.log again.log
check test "$(grep -c 'of which the source does not say whether' "$stderr")" = 0

# formats with a first or last line have it in a trace without rows too, which is recognised by it
head -1 "$TROD_SOURCE/examples/hello.instrace" >none.instrace
head -1 "$TROD_SOURCE/examples/hello.memtrace_x86" >none.memtrace_x86
head -1 "$TROD_SOURCE/examples/hello.memtrace_simple" >none.memtrace_simple
head -1 "$TROD_SOURCE/examples/hello.csv" >none.csv
echo '#eof' >none.pinatrace
for f in none.*; do
	run trod convert -q "$f" "copy.${f#none.}"
	status 0
	check cmp "$f" "copy.${f#none.}"
	run trod convert -q --kind TLB "$TROD_SOURCE/examples/hello.${f#none.}" "copy.${f#none.}"
	status 0
	run trod info "copy.${f#none.}"
	status 0
	out_has "^ *format: *${f#none.}\$"
done

# traces of DRAM simulators are read as those programs do: with other blanks, without 0x, by DRAMsim3's other words
printf '1f R\n0x20  W \n0x3a\tR\t\r\n' >blanks.ramulator
printf '0x1f READ 0\n0x20 WRITE 0\n0x3a READ 0\n' >want
run trod convert -q --to dramsim3 blanks.ramulator -
status 0
out_is want
printf '0x10 read 1\n20 write 2 \n0x30\tP_MEM_RD  3\n0x40 P_MEM_WR 4\n0x50 P_FETCH 5\n0x60 BOFF 6\n' >words.dramsim3
printf '0x10 R\n0x20 W\n0x30 R\n0x40 W\n0x50 R\n0x60 W\n' >want
run trod convert -q --allow-loss --to ramulator words.dramsim3 -
status 0
out_is want

# what valgrind says besides in three kinds of lines is a note
printf '%s\n' '--12-- WARNING: unhandled syscall: 334' 'I  00001000,4' '**12** text' ' L 00002000,8' '==12== end' >notes.log
run trod convert -q --to csv notes.log -
status 0
cut -d, -f2 "$stdout" >kinds
printf "%s\n" kind NOTE INSTR NOTE READ NOTE >want
check cmp want kinds
run trod convert -q --to lackey notes.log -
status 0
out_is notes.log

# exceptions of other architectures are exceptions in Tarmac too
printf '%s\n' 'core   0: exception trap_load_page_fault, epc 0x0000000080000010' 'core   0:           tval 0x0000000000000bad' \
    'core   0: 3 0x0000000080000020 (0x00000013)' >page.spike
for dialect in fm es; do
	run trod convert -q --allow-loss --to tarmac:dialect=$dialect page.spike page.tarmac
	status 0
	run trod view --kind EXCEPTION page.tarmac
	out_has 'EXCEPTION  0x0*bad .* 0xd .*CoreEvent_trap_load_page_fault'
done

# names of opcodes may be two words, as DynamoRIO calls string instructions; lines may end in CR LF
{ head -1 "$TROD_SOURCE/examples/hello.memtrace_simple"; printf '0x1000:  2, rep movs\n0x1002: 16, w\n0x1002:  1, ret\n'; } >two.memtrace_simple
{ head -1 "$TROD_SOURCE/examples/hello.instrace"; printf '0x1000,rep movs\n0x1002,ret\n'; } >want
run trod convert -q --allow-loss --to instrace two.memtrace_simple -
status 0
out_is want
sed 's/$/\r/' want >crlf.log
run trod convert -q --to instrace crlf.log -
status 0
run trod info crlf.log
status 0
out_has '^ *format: *instrace$'

# what only a row shows ends the conversion there: which row, what and why, and nothing is left
printf '5 clk 0 IT (1) 00008000 e1a00000 A svc : NOP\n6 clk 0 WHATEVER it is\n' >late.trace
run trod convert --from matcher late.trace out/late.tarmac
status 2
mkdir out
run trod convert --from matcher late.trace out/late.tarmac
status 2
err_has 'row 1, of kind NOTE, cannot be kept as tarmac, lost would be: cpus or threads: .*--allow-loss'
check test -z "$(ls out)"
# a row is no record, and of several files it is not one of the last
err_has 'say --allow-loss to convert all the same$'
run trod convert --from matcher late.trace late.trace out/late.tarmac
status 2
err_has '^trod: late.trace: row 1 of all files, of kind NOTE, .*same$'
run trod convert --allow-loss --from matcher late.trace out/late.tarmac
status 0
err_has '^lost: cpus or threads of 1 NOTE rows$'

# lines that either format has: Tarmac, unless the file is called otherwise
printf '5 clk MR4X 00008000 e1a00000\n6 clk MW4 00008004 00000001\n' >either.matcher
for name in either.tarmac either either.log either.matcher.tarmac; do
    cp either.matcher $name
    run trod info --format json $name
    json '.files[0].format == "tarmac"'
done
gzip -k either.matcher
for name in either.matcher either.matcher.gz; do
    run trod view --format json $name
    status 0
    json '.record > 0 or .flags == ["privileged"]'
    run trod info --format json $name
    json '.files[0].format == "matcher"'
done

# an instruction set that the target has no word for
run trod convert --from matcher:isa=mips32 late.trace mips.tarmac
status 2
err_has 'tarmac has no word for .* instructions: use --to with one of .*matcher.*--allow-loss'
check test ! -e mips.tarmac

# another dialect and back: the rows stay the same
run trod convert -q --to tarmac:dialect=gem5 t.tarmac gem5.tarmac
status 0
run trod convert -q --to tarmac:dialect=fm gem5.tarmac back.tarmac
status 0
rows() {
    trod view --from tarmac --format json "$1" | jq -c '[.kind, .time, .cpu, .address, .size, .value, .opcode, .text, .flags]'
}
rows t.tarmac >want
rows back.tarmac >got
same want got

# damaged input: what can be read is converted, the status says that something was wrong
sed '3s/clk/clk clk/; 4s/2a$/zz/' t.tarmac >bad.tarmac
run trod convert bad.tarmac good.tarmac
status 2
check cmp good.tarmac <(sed '3s/clk/clk clk/; 4d' t.tarmac)
run trod convert --strict bad.tarmac strict.tarmac
status 2
check test ! -e strict.tarmac
check test -z "$(find . -name 'strict*')"

# a suffix that no format has: the format must be said
run trod convert -q t.tarmac copy.bin
status 2
err_has "'.bin' is no suffix of a format"
run trod convert -q t.tarmac copy.bin --to tarmac
status 0
check cmp t.tarmac copy.bin
# one that cannot be known
run trod convert --to nothing t.tarmac x
status 2
err_has "unknown format 'nothing'"
check test ! -e x

# killed in the middle: nothing under the name
mkfifo slow
(cat t.tarmac; sleep 5) >slow &
feeder=$!
"$TROD" convert -q --from tarmac slow late.tarmac 2>/dev/null &
run sh -c "sleep 0.5; kill $!"
wait $! 2>/dev/null
check test ! -e late.tarmac
kill $feeder 2>/dev/null
# the input is never the output
cp "$(ls "$TROD_SOURCE"/tests/golden/tarmac/*.tarmac | head -1)" same.tarmac
cp same.tarmac kept.tarmac
run trod convert --range 1..2 same.tarmac same.tarmac
status 2
err_has 'is input and output at once'
check cmp same.tarmac kept.tarmac

# ---- Tarmac: names that would be read as something else. Times without a unit, lines below them
cat >units.es <<'T'
          5 ES  (00008000:e320f000) A :  NOP
                    GGGGGGGGGGGGGGGGGGGGGGG71 BNR4O___ 77777770 00000000
                    G71 LD 00009000 ........ ........ ........ 12345678
T
for dialect in fm gem5; do
    run trod convert -q --from tarmac:dialect=es --to tarmac:dialect=$dialect units.es -
    status 0
    out_has '^5 clk GGGGGGGGGGGGGGGGGGGGGGG71 BNR4O___'
    cp "$stdout" units.$dialect
    run trod view --from tarmac:dialect=$dialect --format json units.$dialect
    status 0
    check test ! -s "$stderr"
    through jq -r '[.kind, .cpu // "-", .time] | @csv'
    out <<'T'
"INSTR","-",5
"BUS","GGGGGGGGGGGGGGGGGGGGGGG71",5
"READ","G71",5
T
done
# whatever number an instruction has, its opcode may be unknown, or of any number of bytes
printf 'kind,index,addr,size,code\n' >wide.csv
for index in 9999999 10000000 87654321 123456789012; do
    for opcode in 1, 3, 5, 6, 16, 1,ab 2,abcd 3,abcdef 3,123456 4,abcdefab 5,abcdefabcd 6,aabbccddeeff; do
        printf 'INSTR,%s,0x10000,%s\n' $index $opcode
    done
done >>wide.csv
said() { trod view --format json "$@" | jq -c '[.index, .address, .size, .opcode]'; }
said --from csv wide.csv >wide.said
check test "$(sort -u wide.said | wc -l)" = 48
for to in tarmac matcher; do
    run trod convert -q --from csv --to $to --allow-loss wide.csv wide.out
    status 0
    check cmp wide.said <(said --from $to wide.out)
done

# the name of an exception is what its line ends with; what of a name would be read otherwise is replaced, and lost
cat >exc.csv <<'T'
kind,time,value,text
EXCEPTION,1,3,"   "
EXCEPTION,2,," "
EXCEPTION,3,3," Reset "
EXCEPTION,4,,[2] a
EXCEPTION,5,,0x12
EXCEPTION,6,,"Data Abort"
EXCEPTION,7,4,"[Data Abort]"
EXCEPTION,8,5,"two
lines"
T
run trod convert --from csv --to tarmac --allow-loss exc.csv exc.tarmac
status 0
err_has 'of 6 EXCEPTION rows'
run trod view --format json exc.tarmac
status 0
through jq -r '[.time, .value, .text] | @csv'
out <<'T'
1,"0x3","___"
2,,"_"
3,"0x3","_Reset_"
4,,"_2] a"
5,,"_x12"
6,,"Data Abort"
7,"0x4","[Data Abort]"
8,"0x5","two_lines"
T
cat >names.csv <<'T'
kind,stream,time,unit,addr,size
READ,IT,5,ns,0x9000,4
READ,ns,6,ns,0x9000,4
READ,a:b,7,,0x9000,4
READ,core.1,8,,0x9000,4
T
for dialect in fm es gem5; do
    run trod convert -q --allow-loss --from csv --to tarmac:dialect=$dialect names.csv names.$dialect
    status 0
    run trod view --from tarmac:dialect=$dialect --format json names.$dialect
    status 0
    through jq -r '[.kind, .cpu] | @csv'
    out <<'T'
"READ","cpuIT"
"READ","cpuns"
"READ","a_b"
"READ","core.1"
T
done

# digits that are not known are not made up: formats without a word for them leave the value out, and say so
cat >gaps.tarmac <<'T'
1 clk cpu0 IT (1) 00008000 d503201f O EL1h_n : NOP
1 clk cpu0 R X1 000000000000??12
1 clk cpu0 R X2 0000000000000012
1 clk cpu0 MW4 00001000 12??5678
T
run trod convert --allow-loss gaps.tarmac gaps.csv
status 0
err_has '^lost: values of 1 REG rows'
err_has '^lost: values of 1 WRITE rows'
check test "$(cut -d, -f2,10,13 gaps.csv | tail -3 | tr '\n' ' ')" = 'REG,,"X1" REG,0x12,"X2" WRITE,, '

# no row is kept: a folder has a trace without rows, as a file has
for to in folder/ folder.trace; do
    run trod convert -q --allow-loss --to drmemtrace --where 'addr == 1 && addr == 2' t.tarmac $to
    status 0
    run trod count --format json $to
    status 0
    json '.total.fetched_instructions == 0'
    run trod check $to
    status 0
done
check test "$(find folder/trace -name '*.trace.zip' | wc -l)" -eq 1
run trod convert -q --to tarmac --where 'addr == 1 && addr == 2' t.tarmac none.tarmac
status 0
check test -e none.tarmac -a ! -s none.tarmac
# --- Trace Matcher: registers in lower case, and a value of the size of the access although none is known
printf '%s\n' '1 clk cpu0 IT (1) 00001000 d503201f O EL1h_s : NOP' '1 clk cpu0 R X0 000000000000002a' \
    '1 clk cpu0 R CPSR 600003c5' '1 clk cpu0 R DC CVAU 0000000000001000' >upper.tarmac
run trod convert --allow-loss --to matcher upper.tarmac upper.matcher
status 0
run grep -o 'R [a-zA-Z]*[0-9]*' upper.matcher
out <<END
R x0
R cpsr
R DC
END
run trod compare upper.tarmac upper.matcher
status 0
for size in 64 65 124 9999; do
    printf 'kind,addr,size\nREAD,0x2000,%s\n' $size >long.csv
    run trod convert -q --allow-loss --from csv --to matcher long.csv long.matcher
    status 0
    check test "$(grep -o -- '-*$' long.matcher | tr -d '\n' | wc -c)" = $((2 * size))
    run trod check --from matcher long.matcher
    status 0
    out <<<"           0 findings"
done
# --- the instruction of an access is the line before it, or lost: never without a word
printf 'kind,pc,addr,size\nINSTR,0x1000,,4\nREAD,0x1000,0x2000,4\nINSTR,0x1004,,4\nREAD,0x1004,0x2008,4\n' >behind.csv
printf 'kind,pc,addr,size\nREAD,0x1000,0x2000,4\nINSTR,0x1000,,4\nREAD,0x1004,0x2008,4\n' >astray.csv
for to in tarmac matcher; do
    run trod convert --from csv --to $to --allow-loss behind.csv behind.out
    status 0
    check test -z "$(grep 'addresses of instructions' "$stderr")"
    run trod convert --from csv --to $to --allow-loss astray.csv astray.out
    status 0
    err_has '^lost: addresses of instructions of 2 READ rows$'
done
printf '0x401000: R 0x7fff0000\n0x401004: W 0x7fff0008\n' >pin.pinatrace
run trod convert --to tarmac pin.pinatrace pin.tarmac
status 2
err_has 'addresses of instructions'
run trod convert --to tarmac --allow-loss pin.pinatrace pin.tarmac
err_has 'note: 2 accesses, of which the source does not say how large they are'
run trod convert --to drmemtrace pin.pinatrace pin.trace
status 2
err_has 'addresses of instructions'
run trod convert --from csv --to drmemtrace --allow-loss astray.csv astray.trace
err_has '^lost: addresses of instructions of 2 READ rows$'
run trod convert --from csv --to drmemtrace --allow-loss behind.csv behind.trace
check test -z "$(grep 'addresses of instructions' "$stderr")"
# --- where an instruction goes on the next line shows, or it is lost, also behind the last one
printf 'kind,pc,size,target\nINSTR,0x1000,4,0x1020\nINSTR,0x1020,4,\n' >shown.csv
printf 'kind,pc,size,target\nINSTR,0x1000,4,0x1020\nINSTR,0x1004,4,0x1008\n' >unshown.csv
run trod convert --from csv --to tarmac shown.csv shown.tarmac
status 0
run trod convert --from csv --to tarmac unshown.csv unshown.tarmac
status 2
err_has 'branch targets'
run trod convert --from csv --to tarmac --allow-loss unshown.csv unshown.tarmac
status 0
err_has '^lost: branch targets of 2 INSTR rows$'
# --- kinds of branches that no opcode tells: a table has a column for them, lines have none
cat >kinds.bt9 <<'END'
BT9_SPA_TRACE_FORMAT
BT9_NODES
NODE 0 0 - 0 0
NODE 1 0x1000 - 0x94000006 4 class: CALL+DIR+UCD
NODE 2 0x1020 - 0xd65f03c0 4 class: RET+IND+UCD
BT9_EDGES
EDGE 0 0 1 T 0x1000 - 0
EDGE 1 1 2 T 0x1020 - 0
EDGE 2 2 0 T 0x1004 - 0
BT9_EDGE_SEQUENCE
0
1
2
EOF
END
run trod convert kinds.bt9 kinds.csv
status 0
check test "$(tail -n +2 kinds.csv | sed 's/.*,//' | tr '\n' ' ')" = 'call return '
run trod convert kinds.csv again.csv
status 0
check cmp kinds.csv again.csv
run trod view --format json --from csv kinds.csv
out_has '"branch": "return"'
run trod convert --to tarmac kinds.bt9 kinds.tarmac
status 2
err_has 'flags'
run trod convert --to tarmac --allow-loss kinds.bt9 kinds.tarmac
err_has '^lost: flags of 2 INSTR rows$'
# an opcode of a known instruction set tells the kind
printf 'kind,pc,size,flags,code\nINSTR,0x1000,4,0x46,06 00 00 94\n' >coded.csv
run trod convert --from csv --to tarmac coded.csv coded.tarmac
status 0
printf 'kind,pc,branch\nINSTR,0x1000,jmup\n' >bad.csv
run trod view --from csv bad.csv
err_has 'no branches are of this kind'
# a compression that is none: said of the output that was named, before anything is made
for made in "convert $TROD_SOURCE/examples/sum.trace.zip" "hide $TROD_SOURCE/examples/sum.trace.zip" 'gen zipf:count=100'; do
    # shellcheck disable=SC2086 # words
    run trod $made -z foo new.d
    status 2
    err <<<"trod: new.d: unknown compression 'foo'"
    check test ! -e new.d
done
finish

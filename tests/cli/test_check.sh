#!/usr/bin/env bash
# `trod check` as users see it: options, positions, every output, exit statuses, --salvage.
. "$TROD_SOURCE/tests/cli/lib.sh"
have jq cmp
needs_format tarmac

# Three findings: time back (a warning) twice, an opcode that is none (a note).
cat >bad.tarmac <<'EOF'
10 clk R X0 0000000000000001
9 clk R X0 0000000000000002
8 clk R X0 0000000000000003
8 clk IT (1) 00001000 ffffffff O EL1h_n : DCI <&"
EOF
grep -v '^[89]' bad.tarmac >good.tarmac

# --- exit statuses and severities
run trod check good.tarmac --from tarmac
status 0
out <<'EOF'
           0 findings
EOF
# the version of the disassembler is that of the build
disassembler=$("$TROD" check bad.tarmac --from tarmac 2>&1 | sed -n 's/.*the disassembler (\(Capstone [0-9.]*\)) does.*/\1/p')
check test -n "$disassembler"
run trod check bad.tarmac --from tarmac
status 1
out <<EOF
warning tarmac.time: bad.tarmac:2: record 1: time goes back from 10 to 9
    9 clk R X0 0000000000000002
warning tarmac.time: bad.tarmac:3: record 2: time goes back from 9 to 8
    8 clk R X0 0000000000000003
note tarmac.opcode-valid: bad.tarmac:4: record 3: the disassembler ($disassembler) does not know the opcode
    8 clk IT (1) 00001000 ffffffff O EL1h_n : DCI <&"
           2 warning  tarmac.time: time does not go backwards in a stream, lines of the debugger (CADI) apart
           1 note     tarmac.opcode-valid: the opcode is an instruction that the disassembler knows (it may be older than the opcode)
           3 findings
EOF
run trod check bad.tarmac --from tarmac --severity error
status 0
run trod check bad.tarmac --from tarmac --skip tarmac.time --severity note
status 1
run trod check bad.tarmac --from tarmac --skip tarmac.time
status 0
# times of other units and decimals go back, too, or do not
printf '%s R X0 0000000000000001\n' '10.5 us' '10.75 us' '10.356 us' '10400 ns' '10399 ns' '11 us' '5 clk' '4.5 clk' >units.tarmac
run trod check units.tarmac --from tarmac
status 1
through grep '^warning'
out <<'EOF'
warning tarmac.time: units.tarmac:3: record 2: time goes back from 10.75 to 10.356
warning tarmac.time: units.tarmac:5: record 4: time goes back from 10400 to 10399
warning tarmac.time: units.tarmac:8: record 7: time goes back from 5 to 4.5
EOF
printf '%s R X0 0000000000000001\n' '10.5 us' '10499 ns' >units.tarmac
run trod check units.tarmac --from tarmac
status 1
out_has 'time goes back from 10.5 us to 10499 ns$'
run trod check no-such-file
status 2
run trod check
status 2
err_has 'no file given'
run trod check good.tarmac --only tarmac.tim
status 2
err_has "unknown rule 'tarmac.tim'"
run trod check good.tarmac --severity fatal
status 2
run trod check - --from tarmac <bad.tarmac
status 1
out_has '^           3 findings$'

# --- selection; how many are shown
run trod check bad.tarmac --from tarmac --only tarmac.time
out_has '^           2 findings$'
run trod check bad.tarmac --from tarmac --only drm.,byu.size
status 0
run trod check bad.tarmac --from tarmac --skip tarmac.
status 0
run trod check bad.tarmac --from tarmac -n 1
out_has '^           3 findings$'
out_not 'record 2'
run trod check --rules
status 0
out_has '^ *tarmac.time +warning '
out_has '^ *drm.pc-continuity +error .*invariant checker: control flow'
run trod check --rules --format json
json '.rules | length > 70 and all(.rule and .severity and .text and .source)'

# --- forms of the result
run trod check bad.tarmac --from tarmac --format json
status 1
json '.total == 3'
json '[.findings[] | .record] == [1, 2, 3]'
json '.findings[0] | [.rule, .severity, .file] == ["tarmac.time", "warning", "bad.tarmac"]'
json '.findings[0] | [.offset, .line] == [29, 2]'
json '.findings[0] | .message == "time goes back from 10 to 9"'
json '.findings[0] | .text == "9 clk R X0 0000000000000002"'
json '[.rules[] | [.rule, .findings]] == [["tarmac.time", 2], ["tarmac.opcode-valid", 1]]'
run trod check bad.tarmac --from tarmac --format csv
out_has '^rule,severity,file,record,offset,line,stream,message,text'
out_has '^tarmac.time,warning,bad.tarmac,1,29,2,'
run trod check bad.tarmac --from tarmac --format junit --severity note -o out.xml
status 1
check grep -q '<testsuite name="trod check" tests="1[0-9]" failures="2" errors="0">' out.xml
check grep -q 'bad.tarmac:4: record 3: the disassembler' out.xml
if command -v xmllint >/dev/null; then
    check xmllint --noout out.xml
elif command -v python3 >/dev/null; then
    check python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' out.xml
fi
run trod check good.tarmac --from tarmac --format junit
out_has '<testcase classname="trod.check" name="tarmac.time"/>'
out_not '<failure'

# --- what cannot be read is a finding too
printf '1 clk R X0 0000000000000001\n2 clk IT (oops) 00001000\n3 clk R X0 0000000000000001\n' >torn.tarmac
printf '1 clk R X0 0000000000000001\n3 clk R X0 0000000000000001\n' >whole.tarmac
run trod check torn.tarmac --from tarmac
status 1
out_has '^error read.damaged: torn.tarmac:2: '
out_has '^           1 finding$'
run trod check torn.tarmac --from tarmac --skip read.
status 0

# --- what is good of a damaged file is saved, and nothing else
# saved FORMAT NAME: NAME.bad is checked and salvaged; what comes out is NAME.good, byte for byte
saved() {
    run trod check --from "$1" "$2.bad" --salvage "$2.out.trace"
    status 1
    out_has '^error read.damaged: '
    check cmp "$2.good" "$2.out.trace"
    run trod check --from "$1" "$2.out.trace"
    status 0
}
cp torn.tarmac tarmac.bad && cp whole.tarmac tarmac.good
saved tarmac tarmac
printf '1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n2 clk R r8 zz\n3 clk R r8 00010000\n' >matcher.bad
sed 2d matcher.bad >matcher.good
saved matcher matcher
bytes 00 10 00 00 00 c0 00 10 00 08 0f f0 >byu6.good
{ cat byu6.good; bytes 00 10 00; } >byu6.bad
saved byu6 byu6
bytes 00 20 00 00 01 08 03 00 ff ff ff ff 00 20 00 00 03 08 03 00 05 00 00 00 >byu12.good
{ cat byu12.good; bytes 00 20 00 00 01 08 03; } >byu12.bad
saved byu12 byu12
bytes 00 00 10 00 60 00 00 00 48 00 00 10 00 00 10 14 60 00 00 00 >tt6.good
{ cat tt6.good; bytes 80 03 00 00; } >tt6.bad # a load without its address
saved tt6 tt6
cp tt6.good tt6e.good && cp tt6.bad tt6e.bad
saved tt6e tt6e
{ bytes a1 11 8e 17 60 00 00 00 00 00 10 00; head -c 996 /dev/zero; } >full.good
{ cat full.good; bytes 60 00 00 00 00 00 10 04; head -c 100 /dev/zero; } >full.bad
saved full full

# Of drmemtrace the structure is made anew: an unknown record goes, the end is put right.
e() { # type size value, little-endian, one byte each but the last
    bytes "$1" 00 "$2" 00 $3
}
zero='00 00 00 00 00 00'
drm() {
    e 19 00 "07 00 $zero"; e 1c 0c "07 00 $zero"; e 1c 09 "40 02 $zero"
    e 16 04 "07 00 $zero"; e 18 04 "07 00 $zero"; e 1c 0a "40 00 $zero"
    e 1c 14 "80 96 98 00 00 00 00 00"; e 1c 12 "00 10 $zero"; e 1c 02 "e8 03 $zero"; e 1c 03 "01 00 $zero"
    e 2f 01 "90 00 $zero"; e 0a 01 "00 10 $zero"
    [[ $1 == good ]] || e 3c 00 "00 00 $zero"
    e 2f 01 "90 00 $zero"; e 0a 01 "01 10 $zero"
    [[ $1 == good ]] || return 0
    e 17 04 "07 00 $zero"; e 1a 00 "00 00 $zero"
}
drm good >drm.good
drm bad >drm.bad
saved drmemtrace drm
# compressed, and cut in the middle: what could be inflated is there
{ drm bad; for i in 2 3 4 5 6 7 8 9; do e 2f 01 "90 00 $zero"; e 0a 01 "0$i 10 $zero"; done; } |
    gzip >cut.gz
head -c $(($(stat -c %s cut.gz) - 12)) cut.gz >cut.bad
run trod check --from drmemtrace cut.bad --salvage cut.out.trace
status 1
out_has '^error read.damaged: cut.bad: '
run trod check --from drmemtrace cut.out.trace
status 0
run trod count --from drmemtrace cut.bad --format json
through jq .total.fetched_instructions
n=$(cat "$stdout")
run trod count --from drmemtrace cut.out.trace --format json
through jq .total.fetched_instructions
out <<<"$n"
check test "$n" -ge 2

# An instruction whose encoding never came, or is of another length, cannot be written: it goes with
# its accesses, which would be of the instruction before. What is as it should be stays.
head_of() { drm good | head -c 120; }
tail_of() { e 17 04 "07 00 $zero"; e 1a 00 "00 00 $zero"; }
first() { e 2f 01 "90 00 $zero"; e 0a 01 "00 10 $zero"; e 00 08 "00 20 $zero"; }
last() { e 2f 01 "90 00 $zero"; e 0a 01 "02 10 $zero"; e 01 08 "00 30 $zero"; }
{ head_of; first; last; tail_of; } >coded.good
{ head_of; first; e 0a 01 "01 10 $zero"; e 00 08 "00 40 $zero"; last; tail_of; } >never.bad
{ head_of; first; e 2f 02 "66 90 $zero"; e 0a 01 "01 10 $zero"; e 00 08 "00 40 $zero"; last; tail_of; } >length.bad
for damage in never length; do
    run trod check --from drmemtrace $damage.bad --salvage $damage.out.trace
    status 1
    out_has '^error read.damaged: '
    check cmp coded.good $damage.out.trace
done
# written anew as something else the same goes, and is told
run trod convert --from drmemtrace never.bad --to drmemtrace:chunk=100 told.out.trace
status 2
err_has 'row 9, of kind INSTR, cannot be kept as drmemtrace: its encoding is missing'
run trod convert --from drmemtrace never.bad --to drmemtrace:chunk=100 --allow-loss told.out.trace
run trod check --only read.damaged --from drmemtrace told.out.trace
status 0
# nothing that is salvaged is damaged
for golden in "$TROD_SOURCE"/tests/golden/drmemtrace/*.trace; do
    rm -rf salvaged
    run trod check --only read.damaged "$golden" --salvage salvaged/
    run trod check --only read.damaged salvaged
    status 0
done
rm -rf salvaged

# --- the same result whatever the number of threads; a salvage reads in one go and finds the same
mkdir set
for i in 1 2 3 4 5 6; do
    drm $([[ $((i % 2)) == 0 ]] && echo good || echo bad) >set/drmemtrace.a.$i.1.trace
done
trod check set -j1 --format json >want
for j in 2 3 6; do
    run trod check set -j$j --format json
    status 1
    out_is want
done
run trod check set --salvage salvaged/ --format json
out_is want
run trod check salvaged
status 0

# --- schedule files beside a trace: what they say is what the trace says
run trod convert --to drmemtrace "$TROD_SOURCE/examples/hello.tarmac" scheduled --allow-loss
status 0
run trod check scheduled
status 0
# two directories as one trace: each has its own
run trod gen sharing:count=100 --isa a64 --to drmemtrace two-threads/
status 0
for both in "two-threads scheduled" "scheduled two-threads"; do
    # shellcheck disable=SC2086 # two words
    run trod check $both
    status 0
    out <<<"           0 findings"
done
serial=scheduled/trace/serial_schedule.bin
gzip -dc $serial.gz >entry
printf '\001' | dd of=entry bs=1 seek=24 conv=notrunc 2>/dev/null
gzip -c entry >$serial.gz
run trod check scheduled
status 1
out_has '^error schedule.serial: serial_schedule.bin.gz: the trace does not have: thread 1 on an unknown cpu at .* from instruction 1$'
out_has '^error schedule.serial: serial_schedule.bin.gz: missing is: thread 1 .* from instruction 0$'
run trod check two-threads scheduled
status 1
out_has '^error schedule.serial: .*missing is: thread 1 .* from instruction 0$'
out_has ' 2 findings$'
head -c 20 entry | gzip -c >$serial.gz
run trod check scheduled
status 1
out_has '^error read.damaged: .*schedule is cut'

# --- a wait whose signal never comes: what stands behind it is checked and salvaged too, and records are those of their file
word() { printf '%b' "$(printf '\\x%02x' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)))"; }
words() { for w in "$@"; do word "$w"; done; }
# b to the next; a wait for signal 5 on 0x8000; b 4 that goes on elsewhere
words 0x1000 0x48000004 0x1004 0x300002 0x8000 5 0x48000004 0x4444 0x60000000 >waits.tt6
words 0x2000 0x48000004 0x2004 0x200002 0x8000 1 0x48000004 0x2008 >gives.tt6
for set in "waits.tt6 gives.tt6" "gives.tt6 waits.tt6"; do
    # shellcheck disable=SC2086 # two words
    run trod check --from tt6 $set --salvage good.d/
    status 1
    out_has '^error read.damaged: waits.tt6: record 2: wait cannot complete: no thread gives signal 5 on sync point 0x8000$'
    out_has '^error amber.chain: waits.tt6: record 3, thread [01]: branch to 0x00001008 goes on at 0x00004444$'
    out_has ' 2 findings$'
    check test "$(cat good.d/* | cksum)" = "$(cat $set | cksum)"
    rm -rf good.d
done
# without --order file it is read as its threads allow
run trod check --from tt6 --order file waits.tt6 gives.tt6
status 1
out_has '^error amber.chain: waits.tt6: record 3, byte 24, '

# --- what a rule finds at the end of several records counts where they are chosen: a writeback of one word, a fetch
printf '\0\20\0\0\0\340\0\20\1\0\0\200' >back.byu6
run trod check back.byu6 --where 'kind == WRITE'
status 1
out_has '^warning byu.writeback-line: back.byu6: record 0, byte 0: '
run trod check back.byu6 --where 'kind != WRITE'
status 0
head -c 6 back.byu6 >ends.byu6
run trod check ends.byu6 --where 'kind != WRITE'
status 1
out_has '^warning byu.writeback-line: ends.byu6: record 0, byte 0: '

# a pipe is read once, and all of it
run trod check "$TROD_SOURCE/examples/hello.tarmac"
cp "$stdout" want
run trod check <(cat "$TROD_SOURCE/examples/hello.tarmac")
through sed 's:/dev/fd/[0-9]*:'"$TROD_SOURCE/examples/hello.tarmac:"
out_is want
finish

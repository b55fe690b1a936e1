# test_damage.sh - damage that a format lets one notice is noticed by `trod check`: one mutation of a good trace for each
# line of "Damage" in docs/formats/amber.md, byu.md and drmemtrace.md, told by the rule named there.
. "$TROD_SOURCE/tests/cli/lib.sh"
needs_format tt6
needs_format byu6
needs_format drmemtrace

# good FORMAT FILE: nothing to find. bad FORMAT FILE RULE: found by the rule, and the status is not 0.
good() {
    run trod check --from "$1" "$2"
    status 0
}
bad() {
    run trod check --from "$1" --severity note "$2"
    check test "$got" -ne 0
    cat "$stderr" >>"$stdout"
    out_has "$3"
}
words() {
    local w
    for w; do
        bytes ${w:0:2} ${w:2:2} ${w:4:2} ${w:6:2}
    done
}

# ---- tt6: a branch, a load, an escape, signals; b +16 at 1000 leads to 1010
tt6() {
    words ${pc:-00001000} 48000010 ${next:-00001010} 80610008 00003000 ${op:-60000000} \
        ${esc:-00020001} 20000000 00200002 0000bee0 ${first:-00000001} 60000000 \
        00200002 0000bee0 ${second:-00000002} 7c001828 ${ea:-00003004}
}
tt6 >t.tt6
good tt6 t.tt6
next=00001020 tt6 >x.tt6
bad tt6 x.tt6 amber.chain
pc=00001001 tt6 >x.tt6
bad tt6 x.tt6 'amber.(pc-aligned|chain)'
op=04000001 tt6 >x.tt6
bad tt6 x.tt6 amber.opcode-valid
esc=00060001 tt6 >x.tt6
bad tt6 x.tt6 amber.escape-code
esc=00020003 tt6 >x.tt6
bad tt6 x.tt6 amber.escape-length
second=00000001 tt6 >x.tt6
bad tt6 x.tt6 amber.sync-count
ea=00003002 tt6 >x.tt6
bad tt6 x.tt6 amber.address-aligned
head -c -2 t.tt6 >x.tt6
bad tt6 x.tt6 'ends 6 bytes into a record of 8'
# an escape whose count goes past the end
{ tt6; words 00070009 00000000; } >x.tt6
bad tt6 x.tt6 'ends 8 bytes into a record of 40'
# tt6e: the pair behind a twi
words 00001000 0c000000 48000702 00000700 4c000064 00001004 60000000 >t.tt6e
good tt6e t.tt6e
words 00001000 0c000000 48000702 00000700 60000000 60000000 60000000 >x.tt6e
bad tt6e x.tt6e amber.twi-pair
# threads: waits and signals of a set
words 00001000 00200002 0000bee0 00000001 60000000 >one.tt6
words 00002000 00300002 0000bee0 00000002 60000000 >two.tt6
run trod check --from tt6 one.tt6 two.tt6
status 1
out_has 'no thread gives signal 2'

# ---- full: size, next address
state() { # opcode pc
    words "$1" "$2"
    head -c 996 /dev/zero
}
{ words a1118e17; state 60000000 00001000; state 60000000 00001004; } >t.full
good full t.full
{ words a1118e17; state 60000000 00001000; state 60000000 00001008; } >x.full
bad full x.full amber.next-pc
{ words a1118e17; state 60000000 00001000; words 38630001 00001004; head -c 996 /dev/zero | tr '\0' '\1'; } >x.full
bad full x.full amber.register-change
head -c 2000 t.full >x.full
bad full x.full 'ends 992 bytes into a record of 1004'

# ---- byu6 and byu12
byu6() {
    local i
    for ((i = 0; i < 4; i++)); do
        bytes 00 00 10 $(printf %02x $((i * 8))) 00 e0
    done
    bytes 00 00 20 ${low:-00} ${enables:-0f} ${control:-c0}
}
byu6 >t.byu6
good byu6 t.byu6
low=04 byu6 >x.byu6
bad byu6 x.byu6 byu.aligned
enables=ff byu6 >x.byu6
bad byu6 x.byu6 byu.enables
control=a0 byu6 >x.byu6
bad byu6 x.byu6 byu.reserved-code
control=c5 byu6 >x.byu6
bad byu6 x.byu6 byu.control-bits
byu6 | tail -c +7 >x.byu6
bad byu6 x.byu6 byu.writeback
byu6 | tail -c +2 >x.byu6
bad byu6 x.byu6 byu
byu6 | head -c -1 >x.byu6
bad byu6 x.byu6 'ends 5 bytes into a record of 6'
byu12() {
    bytes 00 10 00 00 01 08 03 00 ff ff ff ff
    bytes ${low:-00} 20 00 00 ${type:-03} ${size:-08} 03 01 ${ticks:-0a 00 00 00}
}
byu12 >t.byu12
good byu12 t.byu12
type=44 byu12 >x.byu12
bad byu12 x.byu12 byu.reserved-code
size=09 byu12 >x.byu12
bad byu12 x.byu12 byu.size
low=04 byu12 >x.byu12
bad byu12 x.byu12 byu.crossing
ticks='ff ff ff ff' byu12 >x.byu12
bad byu12 x.byu12 byu.first-time
byu12 | head -c -5 >x.byu12
bad byu12 x.byu12 'ends 7 bytes into a record of 12'

# ---- drmemtrace: entries of 12 bytes: type, size, value
entry() {
    bytes $(printf '%02x %02x %02x %02x ' $(($1 & 255)) $(($1 >> 8)) $(($2 & 255)) $(($2 >> 8)))
    bytes $(printf '%016x' "$3" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\8 \7 \6 \5 \4 \3 \2 \1/')
}
drm() { # two instructions a chunk
    entry 25 0 7
    entry 28 12 ${version:-7}
    entry 28 9 $((0x240))
    entry 22 4 12345
    entry 24 4 54321
    entry 28 10 64
    entry 28 20 2
    [[ ${page:-yes} == no ]] || entry 28 18 4096
    entry 28 2 1000
    entry 28 3 1
    entry 47 1 $((0x90))
    entry 10 1 $((0x401000))
    [[ ${early:-no} == yes ]] || entry 47 1 $((0x90))
    [[ ${early:-no} == yes ]] || entry 10 1 $((0x401001))
    entry 28 21 ${footer:-0}
    entry 28 22 ${ordinal:-10}
    entry 28 2 1000
    entry 28 3 1
    [[ ${code:-yes} == no ]] || entry 47 ${length:-1} $((0x90))
    entry 10 1 $((${pc:-0x401002}))
    entry 28 2 ${time:-2000}
    entry 28 3 1
    [[ ${exit:-yes} == no ]] || entry 23 4 ${tid:-12345}
    [[ ${end:-yes} == no ]] || entry 26 0 0
}
drm >t.trace
good drmemtrace t.trace
d() {
    drm >x.trace
    bad drmemtrace x.trace "$1"
}
footer=5 d drm
ordinal=11 d "record number says 11 after 10 records"
early=yes pc=0x401001 ordinal=9 d drm
code=no d 'encoding of the instruction at 0x401002 never came'
length=2 d 'encoding of 2 bytes belongs to an instruction of 1 bytes'
pc=0x401010 d drm
time=900 d drm
exit=no d drm
end=no d "without its footer"
tid=12346 d drm
page=no d drm
version=6 d 'version marker says 6, the header 7'
drm | head -c -7 >x.trace
bad drmemtrace x.trace 'drm|bytes'
# a container: the checksum of a zip member, gzip's, a missing end
run trod convert -q t.trace t.zip --to drmemtrace
status 0
good drmemtrace t.zip
n=$(stat -c %s t.zip)
le() { # le OFFSET BYTES: a number there
    od -An -v -tu"$2" -j "$1" -N "$2" t.zip | tr -d ' '
}
at=0 members=0
while [[ $(le $at 4) -eq $((0x04034b50)) ]]; do # local headers, one behind the other
    size=$(le $((at + 18)) 4) at=$((at + 30 + $(le $((at + 26)) 2) + $(le $((at + 28)) 2)))
    for k in 0 $((size / 4)) $((size / 2)) $((size - 4)); do # deflated bytes of the member
        cp t.zip x.zip
        printf '\xaa\x55' | dd of=x.zip bs=1 seek=$((at + k)) conv=notrunc status=none
        bad drmemtrace x.zip 'damaged|corrupt|checksum|CRC|crc'
    done
    at=$((at + size)) members=$((members + 1))
done
check test $members -eq 2
head -c $((n - 30)) t.zip >x.zip
bad drmemtrace x.zip .
# the first chunk is lost, and the header with it: what the others hold is read, and numbered from 0 on
tail -c +181 t.trace >later.trace
cp t.zip later.zip
printf '\xff\xff\xff\xff' | dd of=later.zip bs=1 seek=$((30 + $(le 26 2) + $(le 28 2))) conv=notrunc status=none
for f in later.trace later.zip; do
    run trod view --format csv $f
    status 2
    err_has 'trace begins in a later chunk: its header is lost'
    through sed 1d
    check test "$(cut -d, -f1,2 "$stdout" | xargs)" = '0,INSTR 1,MARKER 2,MARKER 3,THREAD'
    bad drmemtrace $f 'its header is lost'
done
run trod view --strict later.trace
status 2
check test "$(wc -l <"$stdout")" -eq 0
tail -c +193 t.trace >later.trace # not even where it begins
run trod view later.trace
status 2
err_has 'not recognised'
gzip -c t.trace >t.trace.gz
good drmemtrace t.trace.gz
head -c -4 t.trace.gz >x.trace.gz
bad drmemtrace x.trace.gz .

# --strict ends a drmemtrace trace at its first damaged record: rows before it, none behind, for every -j
run trod gen --to drmemtrace zipf:lines=200,count=3000 strict.d
run trod convert -q --to drmemtrace:container=none strict.d strict.trace
run trod view strict.trace
cp "$stdout" sound
run trod convert -q --to drmemtrace:chunk=500 strict.d strict.trace.zip
printf '\310' | dd of=strict.trace bs=1 seek=$((12 * 3000)) conv=notrunc status=none
for j in 1 2; do
    run trod view -j $j --strict strict.trace
    status 2
    err_has 'record has the unknown type 200'
    rows=$(wc -l <"$stdout")
    check test "$rows" -gt 2900 -a "$rows" -lt 3000
    out_is <(head -n "$rows" sound)
    run trod count -j $j --strict --format json strict.trace
    status 2
    json ".total.rows == $rows"
done
run trod view strict.trace
status 2
check test "$(wc -l <"$stdout")" -gt 10000

# it ends any trace where a member of its archive is damaged, of which others are read on behind: here a checksum is wrong
if command -v python3 >/dev/null; then
    for ((i = 0; i < 2000; i++)); do echo "$i clk IT ($((i + 1))) $((10000000 + i * 4)) d503201f O EL1h_n : NOP"; done >long.tarmac
    python3 - <<'END'
import zipfile
lines = open("long.tarmac").readlines()
with zipfile.ZipFile("long.tarmac.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for k in range(4):
        z.writestr("part%d" % k, "".join(lines[500 * k:500 * k + 500]))
    crc = z.infolist()[1].CRC.to_bytes(4, "little")
data = open("long.tarmac.zip", "rb").read()
assert data.count(crc) == 2
open("long.tarmac.zip", "wb").write(data.replace(crc, bytes(255 - b for b in crc)))
END
    run trod view --format json long.tarmac
    cp "$stdout" sound
    run trod view --format json long.tarmac.zip
    status 2
    out_is sound
    for j in 1 2; do
        run trod view -j $j --strict --format json long.tarmac.zip
        status 2
        err_has 'zip member'
        out_is <(head -n 1000 sound)
        run trod count -j $j --strict --format json long.tarmac.zip
        status 2
        json '.total.rows == 1000'
        run trod compare -j $j --strict --format json long.tarmac.zip long.tarmac
        status 2
        err_has 'zip member'
    done
    run trod convert --strict long.tarmac.zip none.tarmac
    status 2
    check test ! -e none.tarmac
fi

# ---- a byte of what a trace begins with: the records behind it are read
trod gen -q cyclic:lines=20,laps=3 head.trace
trod gen -q --isa x86-32 cyclic:lines=20,laps=3 head32.trace
trod gen -q cyclic:lines=20,laps=3 head.full
trod convert -q --allow-loss --to gem5packet head.trace head.gem5packet
rows_of() { # JOBS FILE [OPTION...]
    run trod count --footprint none --format json -j "$1" "${@:3}" "$2"
}
spoilt() { # FILE BYTE OUT
    python3 -c "b = bytearray(open('$1', 'rb').read()); b[$2] ^= 0x24; open('$3', 'wb').write(b)"
}
for trace in head.trace:12 head32.trace:8 head.full:4 head.gem5packet:4; do
    file=${trace%:*} from=
    case $file in *.full | *.gem5packet) from=--from=${file#head.} ;; esac
    rows_of 1 "$file"
    status 0
    total=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["total"]["rows"])' "$stdout")
    for ((byte = 0; byte < ${trace#*:}; byte++)); do
        spoilt "$file" $byte "x.${file#*.}"
        for jobs in 1 2; do
            rows_of $jobs "x.${file#*.}" $from
            status 2
            json ".total.rows == $total"
        done
    done
done
# what is written of it has a header
spoilt head.trace 3 x.trace
run trod convert x.trace again.trace
status 2
check cmp again.trace head.trace
# a thread's file in a directory: also where nothing of it can be read
mkdir -p folder/trace
for thread in 1 2 3; do cp head.trace folder/trace/drmemtrace.app.$thread.000$thread.trace; done
rows_of 1 folder
status 0
total=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["total"]["rows"])' "$stdout")
spoilt head.trace 0 folder/trace/drmemtrace.app.2.0002.trace
rows_of 1 folder
status 2
json ".total.rows == $total"
: >folder/trace/drmemtrace.app.2.0002.trace
rows_of 1 folder
status 2
json ".total.rows == $total / 3 * 2"
run trod check --only read. folder
check test "$got" -ne 0
out_has 'error read.damaged: folder/trace/drmemtrace.app.2.0002.trace: byte 0'
finish

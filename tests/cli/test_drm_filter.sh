# test_drm_filter.sh - parts of drmemtrace traces, and traces of which rows were left out: the corner cases of DynamoRIO's
# record_filter (trims by time and by instruction, file types, encodings of instructions that are gone, chunks) and of its
# regions of interest, which are counted in each input. What is expected follows from the program below, entry by entry.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
needs_format drmemtrace

# Three times nop; mov (%rdi),%rax; jmp to the nop; each instruction has its encoding where it is first executed. Times 1000, 2000 and
# 3000 begin before the nop, the jmp and the next jmp; the last jmp is missing.
cat >make.py <<'EOF_PY'
import struct, sys

def entries(tid, window, footer):
    out = [(25, 0, 7), (28, 12, 7), (28, 9, 0x240), (22, 4, tid), (24, 4, tid), (28, 10, 64), (28, 20, 10000000), (28, 18, 4096)]
    seen = set()

    def time(at):
        out.extend([(28, 2, at)] + [(28, 14, 5)] * window + [(28, 3, 1)])

    def instruction(kind, pc, code):
        if pc not in seen:
            out.append((47, len(code), int.from_bytes(code, "little")))
        seen.add(pc)
        out.append((kind, len(code), pc))

    for i in range(3):
        if i == 0:
            time(1000)
        instruction(10, 0x1000, b"\x90")
        instruction(10, 0x1001, b"\x48\x8b\x07")
        out.append((0, 8, 0x8000 + 8 * i))
        if i < 2:
            time(2000 + 1000 * i)
            instruction(11, 0x1004, b"\xeb\xfa")
    return out + [(23, 4, tid)] + [(26, 0, 0)] * footer

path, tid, window, footer = sys.argv[1], *map(int, sys.argv[2:])
open(path, "wb").write(b"".join(struct.pack("<HHQ", *e) for e in entries(tid, window, footer)))
EOF_PY

# A line for each part of a file: file type, times, instructions with + where an encoding stands before, reads, windows, ends, ordinals
cat >show.py <<'EOF_PY'
import io, struct, sys, zipfile

def parts(path):
    data = open(path, "rb").read()
    if data[:2] != b"PK":
        return [data]
    archive = zipfile.ZipFile(io.BytesIO(data))
    return [archive.read(name) for name in archive.namelist()]

MARKS = {2: "t{}", 9: "type:{:x}", 14: "window:{}", 21: "footer:{}", 22: "ordinal:{}"}
for part in parts(sys.argv[1]):
    words, held = [], ""
    for kind, size, value in struct.iter_unpack("<HHQ", part):
        if kind == 47:
            held = "+"
        elif kind == 28:
            words += [MARKS[size].format(value)] if size in MARKS else []
        elif kind in (10, 11):  # of no bytes: the instruction of accesses that follow, which was left out
            words.append(f"{held}{value:x}" if size else f"pc:{value:x}")
            held = "" if size else held
        elif kind in (0, 23, 26):
            words.append({0: f"read:{value:x}", 23: "exit", 26: "end"}[kind])
    print(*words)
EOF_PY

# expect WANT OPTION...: what `trod convert OPTION... a.trace` writes
expect() {
    local want=$1
    shift
    rm -rf out.trace
    run trod convert -q --allow-loss --to drmemtrace:container=none "$@" a.trace out.trace
    status 0
    check test "$(python3 show.py out.trace)" = "$want"
}
python3 make.py a.trace 7 0 1
expect 'type:240 t1000 +1000 +1001 read:8000 t2000 +1004 1000 1001 read:8008 t3000 1004 1000 1001 read:8010 exit end'

# --- trims by instruction: N+1 to N+M, both included, with their accesses; the header, the end of the thread and the footer stay,
# and encodings are written where an instruction is first executed in the part
expect 'type:240 t1000 +1000 exit end' --instructions 1..1
expect 'type:240 t2000 +1004 +1000 exit end' --instructions 3..4
expect 'type:240 t2000 +1000 +1001 read:8008 t3000 exit end' --instructions 4..5
expect 'type:240 t3000 +1000 +1001 read:8010 exit end' --instructions 7..99

# --- trims by time: what is at the bounds is in; the time that decides belongs to what follows
expect 'type:240 t2000 +1004 +1000 +1001 read:8008 exit end' --time 2000..2999
expect 'type:240 t2000 +1004 +1000 +1001 read:8008 t3000 1004 1000 1001 read:8010 exit end' --time 2000..3000
expect 'type:240 t2000 +1004 +1000 +1001 read:8008 exit end' --time 1001..2000
expect 'type:240 t3000 +1004 +1000 +1001 read:8010 exit end' --time 2001..

# nothing is left: a trace all the same
for none in '--instructions 99..100' '--time 1001..1999' '--time 3001..'; do
    rm -f out.trace
    run trod convert -q --to drmemtrace:container=none $none a.trace out.trace
    status 0
    check grep -qx 'type:240 t[0-9]* exit end' <(python3 show.py out.trace)
    run trod check --format json out.trace
    json '[.findings[].rule] == ["drm.no-instructions"]'
done

# --- file types: 0x80 where instructions were left out, 0x100 where accesses were; a part that is whole has neither; without
# encodings their bit (0x200) goes
expect 'type:340 t1000 +1000 +1001 t2000 +1004 1000 1001 t3000 1004 1000 1001 exit end' --kind INSTR
run trod convert -q --to drmemtrace:container=none --kind READ a.trace out.trace
check grep -q '^type:3c0 ' <(python3 show.py out.trace)
rm -f out.trace
run trod convert -q --allow-loss --to drmemtrace:container=none,encodings=no a.trace out.trace
check grep -qx 'type:40 t1000 1000 1001 .* exit end' <(python3 show.py out.trace)

# --- the encoding of an instruction that is left out stands before its next execution
expect 'type:3c0 t1000 +1001 read:8000 t2000 +1004 +1000 1001 read:8008 t3000 1004 1000 1001 read:8010 exit end' --where 'row != 7'
expect 'type:3c0 t1000 +1000 pc:1001 read:8000 t2000 +1004 1000 pc:1001 read:8008 t3000 1004 1000 +1001 read:8010 exit end' \
    --where '!(kind == INSTR && pc == 0x1001 && row < 20)'

# --- a footer that is missing is added, and the first window stays
python3 make.py a.trace 7 0 0
rm -f out.trace
run trod convert -q --to drmemtrace:container=none --where true a.trace out.trace
err_has 'ends without its footer'
check grep -qx '.* exit end' <(python3 show.py out.trace)
python3 make.py a.trace 7 1 1
expect 'type:240 t3000 window:5 +1004 +1000 +1001 read:8010 exit end' --time 3000..

# --- chunks: footers, ordinals and the times after them are made again, and so are encodings that stood there because a chunk began.
# Ordinals count what a reader sees up to the footer: 5 markers of the header, time, cpu, ...
python3 make.py a.trace 7 0 1
run trod convert -q --to drmemtrace:chunk=2 a.trace two.trace.zip
python3 show.py two.trace.zip >got
cat >want <<'EOF_WANT'
type:240 t1000 +1000 +1001 read:8000 t2000 footer:0
ordinal:13 t2000 +1004 +1000 footer:1
ordinal:16 t2000 +1001 read:8008 t3000 +1004 footer:2
ordinal:22 t3000 +1000 +1001 read:8010 exit end
EOF_WANT
same want got
run trod convert -q --to drmemtrace:chunk=5 two.trace.zip five.trace.zip
python3 show.py five.trace.zip >got
cat >want <<'EOF_WANT'
type:240 t1000 +1000 +1001 read:8000 t2000 +1004 1000 1001 read:8008 t3000 footer:0
ordinal:19 t3000 +1004 +1000 +1001 read:8010 exit end
EOF_WANT
same want got
rm -f part.trace.zip # instructions 4 to 6, counted through the chunks, in chunks of two
run trod convert -q --instructions 4..6 --to drmemtrace:chunk=2 two.trace.zip part.trace.zip
python3 show.py part.trace.zip >got
cat >want <<'EOF_WANT'
type:240 t2000 +1000 +1001 read:8008 t3000 footer:0
ordinal:13 t3000 +1004 exit end
EOF_WANT
same want got
run trod check part.trace.zip
status 0

# --- regions of interest are counted in each input, whatever the order of all
mkdir -p threads/trace
python3 make.py threads/trace/drmemtrace.a.00007.0001.trace 7 0 1
python3 make.py threads/trace/drmemtrace.a.00008.0002.trace 8 0 1
run trod convert -q --instructions 2..3 --to drmemtrace:container=none threads regions
status 0
for file in regions/trace/*.trace; do
    check test "$(python3 show.py "$file")" = 'type:240 t1000 +1001 read:8000 t2000 +1004 exit end'
done
check test "$(find regions/trace -name '*.trace' | wc -l)" -eq 2
run trod view --instructions 2..3 --kind INSTR --format csv threads
check test "$(sed 1d "$stdout" | cut -d, -f1,5,6 | tr '\n' ' ')" = '8,7,0x1001 12,7,0x1004 31,8,0x1001 35,8,0x1004 '

# in the order of time instructions have the numbers of that order, whichever command chooses them
run trod view --order time --instructions 2..3 --kind INSTR --format csv threads
check test "$(sed 1d "$stdout" | cut -d, -f1,5,6 | tr '\n' ' ')" = '8,7,0x1001 17,8,0x1000 '
cp "$stdout" want
run trod find --order time --instructions 2..3 --format csv threads 'kind == INSTR'
out_is want
finish

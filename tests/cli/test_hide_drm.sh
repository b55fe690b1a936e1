# test_hide_drm.sh - `trod hide` of drmemtrace traces: file types, gaps, events and categories. What is expected are the entries of
# the source, with addresses as distances from the first.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3
needs_format drmemtrace
export PYTHONPATH=$TROD_SOURCE/tests/cli

# py TEXT: Python with drm_entries
py() {
    check python3 -c "from drm_entries import *
$1"
}

py '
# Instructions were filtered: accesses of those that are not there come behind entries of size 0, branches do not lead to what follows,
# of some the direction is not known. Behind the end point everything is there.
t = Trace(0x40 | 0x200 | 0x80 | 0x100 | 0x2000)
t.mark(COUNT, 0)
t.run(0x401530, b"\x31\xed")
t.put(INSTR, 0, 0x401535); t.put(READ, 8, 0x7000)
t.put(INSTR, 0, 0x401540); t.put(WRITE, 4, 0x7040)
t.run(0x401600); t.run(0x401700, b"\x74\x10", COND); t.run(0x401900)
t.run(0x401980, b"\xff\xe0", INDIRECT); t.run(0x401a00)
t.time(1010); t.mark(COUNT, 60)
t.run(0x401530, b"\x31\xed"); t.put(INSTR, 0, 0x401535); t.put(READ, 8, 0x7080)
t.mark(ENDPOINT, 0)
t.run(0x402000, b"\x74\x02", TAKEN); t.run(0x402004, b"\x75\x02", UNTAKEN)
t.run(0x402006, b"\xff\xe0", INDIRECT, 0x402010); t.run(0x402010, b"\x8b\x03"); t.put(READ, 4, 0x70c0)
t.mark(COUNT, 100)
t.save("filtered.trace")

# A machine: the kernel takes over behind instructions that are no branches, twice, and returns
t = Trace(0x40 | 0x200 | 0x40000)
t.run(0x401000); t.mark(HW_EVENT, 0x401001)
t.run(0xffffffff81000000); t.mark(HW_EVENT, 0xffffffff81000001)
t.run(0xffffffff82000000); t.run(0xffffffff82000001, b"\x48\xcf", RETURN, 0xffffffff81000001); t.put(READ, 40, 0x7000); t.mark(HW_RETURN, 1)
t.run(0xffffffff81000001, b"\x48\xcf", RETURN, 0x401001); t.put(READ, 40, 0x7000); t.mark(HW_RETURN, 1)
t.run(0x401001); t.save("machine.trace")

# What ends a window is no branch to the next one
t = Trace(0x40 | 0x200)
t.mark(WINDOW, 0); t.run(0x401000); t.run(0x401001); t.mark(WINDOW, 1); t.run(0x401900); t.run(0x401901)
t.save("windows.trace")

# Prefetches, flushes and masked stores; the counts of a reader know the records of each
t = Trace(0x40 | 0x200)
t.run(0x401000, b"\x0f\x18\x0b"); t.put(3, 1, 0x7000)
t.run(0x401003, b"\x0f\xae\x3b"); t.put(20, 64, 0x7040)
t.run(0x401006, b"\x66\x0f\xf7\xd1"); t.put(WRITE, 16, 0x7080)
t.run(0x40100a, b"\x0f\x0d\x0b"); t.put(42, 1, 0x7000)
t.run(0x40100d); t.save("hints.trace")'

for name in filtered machine windows hints; do
    run trod check $name.trace
    status 0
    for keep in names names,code; do
        rm -f h.trace
        run trod hide -q --keep $keep $name.trace h.trace
        status 0
        py "a, b = load('$name.trace'), load('h.trace')
assert flow(a) == flow(b), (flow(a), flow(b))
bits = 0x1 | 0x4 | 0x80 | 0x100 | 0x2000 | 0x40000
assert markers(a, FILETYPE)[0] & bits == markers(b, FILETYPE)[0] & bits
for number in (COUNT, ENDPOINT, WINDOW, TIME):
    want, got = markers(a, number), markers(b, number)
    if number == TIME: want, got = [x - want[0] for x in want], [x - got[0] for x in got]
    assert want == got, (number, want, got)"
        run trod check h.trace
        status 0
    done
    # hidden once more categories stay; those of branches are 8
    rm -f h.trace hh.trace
    run trod hide -q $name.trace h.trace
    run trod hide -q h.trace hh.trace
    status 0
    py "
def categories(entries):
    return [value >> 10 & 0x3fffff for kind, _, value in entries if kind == ENCODING]
a, b = load('h.trace'), load('hh.trace')
assert categories(a) == categories(b) and flow(a) == flow(b)
at = [i for i, e in enumerate(a) if e[0] in INSTRUCTIONS and a[i - 1][0] == ENCODING]
assert at and all((a[i][0] in BRANCHES) == bool(a[i - 1][2] >> 10 & 8) for i in at)"
done

# --- an event without a place has none afterwards: moved, 0 would tell how far the others were
py 't = Trace(0x40 | 0x200)
t.run(0x401000); t.mark(EVENT, 0); t.run(0x402000); t.save("callback.trace")'
run trod hide -q callback.trace h2.trace
status 0
py 'assert markers(load("h2.trace"), EVENT) == [0]
assert [e[0] for e in load("h2.trace") if e[0] in INSTRUCTIONS] == [INSTR, INSTR]'

# --- instructions that are left out while hiding leave a gap, no jump
py 't = Trace(0x40 | 0x200)
for i in range(8): t.run(0x401000 + i)
t.save("nops.trace")'
run trod hide -q --pc 0x401000..0x401001,0x401006..0x401007 nops.trace some.trace
status 0
py 'b = load("some.trace")
assert markers(b, FILETYPE)[0] & 0x180 == 0x180
assert {e[0] for e in b if e[0] in INSTRUCTIONS} == {INSTR}'

# --- opcodes that nobody understands may be anything: they are jumps where something else follows
py 't = Trace(0x40 | 0x200)
t.run(0x401000, b"\x06"); t.run(0x402000); t.run(0x402001); t.save("what.trace")'
run trod hide -q what.trace h3.trace
status 0
py 'b = load("h3.trace")
assert [e[0] for e in b if e[0] in INSTRUCTIONS] == [INDIRECT, INSTR, INSTR]
assert [e[2] >> 10 & 0xe for e in b if e[0] == ENCODING][0] == 0xe'
finish

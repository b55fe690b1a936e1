# test_drm_times.sh - drmemtrace: times find a place where none of them parts a branch from its successor, those of 32 bits wrap, cpus may
# be unknown, system calls keep their numbers in entries of the other width.
. "$TROD_SOURCE/tests/cli/lib.sh"
have python3 jq
needs_format drmemtrace
export PYTHONPATH=$TROD_SOURCE/tests/cli

# py TEXT: Python with drm_entries
py() {
    check python3 -c "from drm_entries import *
$1"
}

# --- programs of version 4, which say neither directions nor targets and have times anywhere, as version 7: all instructions in
# their order but a branch at the end, all times in their order
for seed in 1 2 3 4 5 6 7 8; do
    py "
import random
r = random.Random($seed)
t, pc, now = Trace(0x40 | 0x200, version=4), 0x401000, 1000
for _ in range(400):
    what = r.randrange(6)
    target = 0x401000 + 16 * r.randrange(64)
    if what < 2: t.run(pc); pc += 1
    elif what == 2: t.run(pc, b'\x74\x10', COND); pc += r.choice((2, 0x12))
    elif what == 3: t.run(pc, b'\xe9' + (target - pc - 5).to_bytes(4, 'little', signed=True), JUMP); pc = target
    elif what == 4: t.run(pc, b'\xff\xe0', INDIRECT); pc = target
    else: t.run(pc, b'\xc3', RETURN); t.put(READ, 8, 0x7000); pc = target
    while r.randrange(3) == 0:
        now += r.randrange(1, 9)
        t.time(now, r.randrange(4))
t.run(pc); t.run(pc + 1)
t.save('v4.trace')"
    rm -f v7.trace
    run trod convert -q --to drmemtrace:version=7 v4.trace v7.trace
    status 0
    run trod check v7.trace
    status 0
    py "
a, b = load('v4.trace'), load('v7.trace')
assert cut_branches(a) and not cut_branches(b), cut_branches(b)
for number in (TIME, CPU):
    assert markers(a, number) == markers(b, number), number
assert [e[1:] for e in a if e[0] in INSTRUCTIONS] == [e[1:] for e in b if e[0] in INSTRUCTIONS]"
    # hidden, of either version
    for name in v4 v7; do
        rm -f h.trace
        run trod hide -q $name.trace h.trace
        status 0
        run trod check h.trace
        status 0
        py "
a, b = load('$name.trace'), load('h.trace')
assert not cut_branches(b)
assert [x - 1000 for x in markers(a, TIME)] == [x - markers(b, TIME)[0] for x in markers(b, TIME)]"
    done
done

# --- a time at the end, behind a branch that nothing follows, stays; sysenter is no branch: the times around its call stay there
py 't = Trace(0x40 | 0x200, version=4)
t.run(0x401000); t.run(0x401001, b"\xeb\x10", JUMP); t.time(1007, 2); t.save("end.trace")
t = Trace(0x20 | 0x200 | 0x400, width=8)
t.run(0x401000, b"\x0f\x34", SYSENTER); t.time(1005); t.mark(SYSCALL, 20); t.time(1009); t.run(0x402000); t.run(0x402001)
t.save("sysenter.trace")'
run trod convert -q --to drmemtrace:version=7 end.trace end7.trace
status 0
py 'assert markers(load("end7.trace"), TIME) == [1000, 1007]'
run trod convert -q --to drmemtrace:chunk=1000 sysenter.trace same.trace
status 0
py 'def body(path): return [e for e in load(path, 8) if e[:2] != (MARKER, 20)]
assert body("sysenter.trace") == body("same.trace")'

# --- of times among branches sixteen find a place behind them; no more are left out unsaid
for times in 16 17; do
    py "t = Trace(0x40 | 0x200, version=4)
t.run(0x401000, b'\xeb\x00', JUMP)
for i in range($times): t.time(2000 + i); t.run(0x401002 + 2 * i, b'\xeb\x00', JUMP)
t.run(0x401002 + 2 * $times); t.run(0x401003 + 2 * $times); t.save('many.trace')"
    rm -f many7.trace
    run trod convert -q --to drmemtrace:version=7 many.trace many7.trace
    status $((times == 16 ? 0 : 2))
done
err_has 'one of them has no place'
run trod convert -q --to drmemtrace:version=7 --allow-loss many.trace many7.trace
status 0
py 'assert markers(load("many7.trace"), TIME) == [1000, *range(2001, 2017)]'

# --- 32 bits: the call takes from 0xfffffff8 to 5, 13 microseconds
py 't = Trace(0x20 | 0x200 | 0x400, width=8, time=0xfffffff0)
t.run(0x8048000); t.run(0x8048001, b"\xcd\x80")
t.time(0xfffffff8, -1); t.mark(SYSCALL, 3)
t.mark(FUNC, 0x10003); t.mark(ARG, 7); t.mark(FUNC, 0x10003); t.mark(RETVAL, 9)
t.time(5)
t.run(0x8048003, b"\xe8\x08\x00\x00\x00", CALL); t.put(WRITE, 4, 0x7000)
t.mark(FUNC, 2); t.mark(RETADDR, 0x8048008); t.mark(ARG, 1); t.run(0x8048010)
t.save("wrap.trace")
u = Trace(0x20 | 0x200 | 0x400, width=8, time=2)
u.run(0x8048000); u.save("later.trace")'
run trod check wrap.trace
status 0
run trod syscalls --format json wrap.trace
status 0
json '.timed == 1 and .total_time == 13 and .calls[0].least == 13 and has("note") == false'
run trod schedule --format json wrap.trace
status 0
json '.latencies == [{number: 3, name: "read", switched: false, from: 10, to: 15, calls: 1}]'
# from 0xfffffff0 on the first microsecond is 0: the last time stamp is 21 later
json '[.chart[].to] | max <= 21'
run trod schedule --format json wrap.trace later.trace
status 0
json '[.chart[].to] | max <= 21'
# what is written anew has the same times
run trod convert -q --to drmemtrace:chunk=1000 wrap.trace anew.trace
status 0
py 'assert markers(load("wrap.trace", 8), TIME) == markers(load("anew.trace", 8), TIME)'
run trod check anew.trace
status 0

# --- entries of the other width: system calls from 2^32 on, not from 2^16; an unknown cpu has all bits set
py 't = Trace(0x20 | 0x200 | 0x400, width=8, time=10)
t.run(0x8048001, b"\xcd\x80")
t.time(20, -1); t.mark(SYSCALL, 3)
t.mark(FUNC, 0x10003); t.mark(ARG, 7); t.mark(FUNC, 0x10003); t.mark(RETVAL, 9)
t.time(30)
t.run(0x8048003, b"\xe8\x08\x00\x00\x00", CALL); t.put(WRITE, 4, 0x7000)
t.mark(FUNC, 2); t.mark(RETADDR, 0x8048008); t.mark(ARG, 1); t.run(0x8048010)
t.save("w8.trace")'
run trod convert -q --to drmemtrace:entry=12 w8.trace w12.trace
status 0
py 'b = load("w12.trace")
assert markers(b, FUNC) == [(1 << 32) + 3, (1 << 32) + 3, 2] and markers(b, CPU) == [1, (1 << 64) - 1, 1]'
run trod syscalls --format json w12.trace
json '.with_result == 1 and .total_calls == 1'
run trod check w12.trace
status 0
run trod convert -q --to drmemtrace:entry=8 w12.trace back.trace
status 0
py 'assert load("w8.trace", 8) == load("back.trace", 8)'
# a number of more than 16 bits is lost, and so is a function that would be a system call
for number in '(1 << 32) + 0x10003' 0x10005; do
    py "t = Trace(0x40 | 0x200 | 0x400, time=10)
t.run(0x401000, b'\x0f\x05'); t.time(20); t.mark(SYSCALL, 3); t.mark(FUNC, $number); t.mark(ARG, 7); t.time(30); t.run(0x401002)
t.save('big.trace')"
    rm -f small.trace
    run trod convert -q --to drmemtrace:entry=8 big.trace small.trace
    status 2
    err_has '(16 bits for the number of a system call|a function of this number is a system call)'
done

# --- cpu 1, an unknown one, cpu 2: one migration, two cores
for width in 8 12; do
    py "t = Trace({8: 0x20, 12: 0x40}[$width] | 0x200, width=$width)
for i, cpu in enumerate((-1, 2)): t.run(0x401000 + i); t.time(1001 + i, cpu)
t.run(0x401002); t.save('cpus.trace')"
    run trod schedule --format json cpus.trace
    status 0
    json '.migrations == 1 and .switches == 0 and .threads[0].cores == 2 and (.note | test("not known"))'
    json '[.cores[] | [.core, .instructions, .migrations]] == [[1, 1, 0], [2, 1, 1], ["unknown", 1, 0]]'
    json '.cores[2].busy == null'
    run trod schedule --chart cpus.trace
    out_has '^unknown +\|'
    run trod count --by core --format json cpus.trace
    json '[.cores[] | [.core, .total.fetched_instructions]] | sort == [[1, 1], [2, 1], ["unknown", 1]]'
done
finish

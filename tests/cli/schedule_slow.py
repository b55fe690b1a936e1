"""schedule_slow.py - `trod schedule --like serial_schedule` and `cpu_schedule` against a slow computation of what such files hold.

    schedule_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces of one to four threads. After drmemtrace, section 16.1: at each visible marker of a cpu an entry
(thread, last time, cpu, instructions before it); all sorted by time, cpu, thread and start; of those of one thread behind each other the first
(docs/formats/drmemtrace-writing.md). What is written holds for `trod check`, and `--order recorded` follows it.
"""
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import zipfile

from drm_entries import CPU, EXIT, INSTR, MARKER, NO_FETCH, NOP, TIME, Trace

FOOTER, ORDINAL, CHUNK = 21, 22, 20  # markers
VISIBLE = {0, 1, INSTR, NO_FETCH, EXIT}


def visible(trace):
    """How many records readers see; no chunk has ended yet that hides any."""
    return sum(kind in VISIBLE or kind == MARKER for kind, _, _ in trace.entries)


def made(rng, tid, width, own_ties):
    """A thread: instructions, more iterations of them, times that others have too, cpus that change; unknown ones."""
    time, cpu, pc, chunk = rng.randrange(1000, 1010), rng.randrange(4), tid << 16, rng.choice((3, 7, 1000))
    trace = Trace(0x20 if width == 8 else 0x40, width=width, time=time, cpu=cpu, tid=tid, chunk=chunk)
    left, hidden = chunk, 0
    for _ in range(rng.choice((0, 1, 5, 60))):
        what = rng.randrange(6)
        if what < 3:
            trace.run(pc)
            pc += 1
            left -= 1
            if rng.random() < .2:
                trace.put(NO_FETCH, len(NOP), pc - 1)
        elif what < 5:
            time += rng.randrange(0 if own_ties else 1, 4)
            cpu = rng.choice((-1, 0, 1, 2, 3))
            trace.time(time, cpu)
        else:
            trace.mark(CPU, cpu)
        if left == 0:
            trace.mark(FOOTER, hidden // 2)
            trace.mark(ORDINAL, visible(trace) - hidden - hidden // 2)
            trace.time(time, 0)
            left, hidden = chunk, hidden + 2
    return trace


def lines(trace):
    """The entries of a thread."""
    n, time, hide, out = 0, 0, set(), []
    for kind, number, value in trace.entries:
        n += kind == INSTR
        if kind != MARKER:
            continue
        if number == FOOTER:
            hide = {TIME, CPU}
        elif number in hide:
            hide.discard(number)
        elif number == TIME:
            time = value
        elif number == CPU:
            out.append((trace.tid, time, value, n))
    return out


def joined(entries):
    out = []
    for e in sorted(entries, key=lambda e: (e[1], e[2], e[0], e[3])):
        if not out or out[-1][0] != e[0]:
            out.append(e)
    return out


def packed(entries):
    return b"".join(struct.pack("<QQQQ", *e) for e in entries)


def turns(threads, schedule):
    """The addresses of instructions in the order of the schedule; a turn ends where the thread's next one begins."""
    left = {t.tid: [v for kind, _, v in t.entries if kind == INSTR] for t in threads}
    done, out = {t.tid: 0 for t in threads}, []
    for i, (tid, _, _, _) in enumerate(schedule):
        later = [e[3] for e in schedule[i + 1 :] if e[0] == tid]
        stop = max(later[0] if later else len(left[tid]), done[tid])
        out += left[tid][done[tid] : stop]
        done[tid] = stop
    return out


def ran(trod, *arguments):
    p = subprocess.run([trod, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.returncode in (0, 1), p.stderr
    return p.stdout


def one(trod, seed):
    rng = random.Random(seed)
    own_ties = rng.random() < .5
    width = rng.choice((8, 12))
    threads = [made(rng, tid, width, own_ties) for tid in range(101, 102 + rng.randrange(4))]
    shutil.rmtree("schedules", ignore_errors=True)
    os.makedirs("schedules/trace")
    for t in threads:
        t.save(f"schedules/trace/drmemtrace.x.{t.tid:05}.0001.trace")
    entries = [e for t in threads for e in lines(t)]
    for jobs in "1", "2":
        ran(trod, "schedule", "--like", "serial_schedule", "-j", jobs, "-o", "serial.bin", "schedules")
        with open("serial.bin", "rb") as f:
            assert f.read() == packed(joined(entries)), f"{seed}: the schedule of all cpus"
        ran(trod, "schedule", "--like", "cpu_schedule", "-j", jobs, "-o", "cpus.zip", "schedules")
        with zipfile.ZipFile("cpus.zip") as z:
            got = {name: z.read(name) for name in z.namelist()}
        want = {str(cpu): packed(joined([e for e in entries if e[2] == cpu])) for cpu in {e[2] for e in entries}}
        assert got == want, f"{seed}: the schedules of cpus {sorted(got)}, not {sorted(want)}"
    if not own_ties:
        rows = ran(trod, "view", "--order", "recorded:file=serial.bin", "--kind", "INSTR", "--format", "json", "schedules")
        got = [int(json.loads(row)["address"], 16) for row in rows.splitlines()]
        got = [pc for i, pc in enumerate(got) if i == 0 or got[i - 1] != pc]  # iterations
        assert got == turns(threads, joined(entries)), f"{seed}: the order recorded"
    with open("serial.bin", "rb") as f, gzip.open("schedules/trace/serial_schedule.bin.gz", "wb") as g:
        g.write(f.read())
    shutil.copy("cpus.zip", "schedules/trace/cpu_schedule.bin.zip")
    assert "schedule." not in ran(trod, "check", "schedules"), f"{seed}: findings"


for s in range(int(sys.argv[2]), int(sys.argv[3])):
    one(sys.argv[1], s)

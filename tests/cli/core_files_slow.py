"""core_files_slow.py - `trod schedule --like schedule_stats`, `serial_schedule` and `cpu_schedule` of traces that are sharded by core on disk,
against lists of the tool's rules.

    core_files_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces of one to three files. A core is a file, whatever the CPU_ID markers say; idle time stands in the
file of the core that was idle; a thread is on several cores; its letter is its number modulo 26. The order of the files' rows changes nothing.
Schedule files hold the turns, file behind file: the thread, the instructions of all and of itself before it (docs/analysing.md).
"""
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile

FILETYPE, STAMP, CPU, CALL, MAYBE, DIRECT, IDLE = 9, 2, 3, 25, 26, 31, 33


class Core:
    """A file, and what its records say: (thread, what) with what in "instr call maybe direct:T exit other idle"."""

    def __init__(self, rng, threads, time):
        self.rng, self.bytes, self.records, self.time, self.now = rng, bytearray(), [], time, None
        self.entry(25, 0, 7)
        self.mark(12, 7)
        self.mark(FILETYPE, 0x40 | 0x400 | 0x10000)
        if rng.random() < .4:  # the core begins idle
            for kind in (22, 24):
                self.entry(kind, 0, -1)
            self.mark(STAMP, -1)
            self.mark(CPU, -1)
            self.idle()
        for _ in range(rng.choice((1, 5, 40))):
            self.part(threads)
        if rng.random() < .5 and self.now:
            self.entry(23, 4, self.now)
            self.say("exit")
        self.entry(26, 0, 0)

    def entry(self, kind, size, value):
        self.bytes += struct.pack("<HHQ", kind, size, value % 2**64)

    def mark(self, number, value):
        self.entry(28, number, value)

    def say(self, what, n=1):
        self.records += [(self.now, what)] * n

    def idle(self):
        n = self.rng.randrange(1, 4)
        for _ in range(n):
            self.mark(IDLE, 0)
        self.records += [("idle", "idle")] * n

    def run(self, n):
        self.bytes += struct.pack("<HHQ", 10, 4, 0x400000) * n
        self.say("instr", n)

    def part(self, threads):
        rng, what = self.rng, self.rng.randrange(8) if self.now else 0
        if what < 2:  # another thread, or the same one
            self.now = rng.choice(threads)
            self.entry(22, 0, self.now)
            self.entry(24, 0, 50)
            self.time += rng.choice((0, 5))
            self.mark(STAMP, self.time)
            self.mark(CPU, rng.randrange(4))
            self.say("other", 2)
            self.run(1)
        elif what < 4:
            self.run(rng.choice((1, 3, 5, 5, 5, 60000, 600000)) if rng.random() < .2 else 2)
        elif what == 4:
            self.mark(CALL, 3)
            self.say("call")
            if rng.random() < .5:
                self.mark(MAYBE, 0)
                self.say("maybe")
        elif what == 5:
            to = rng.choice(threads)
            self.mark(DIRECT, to)
            self.say(f"direct:{to}")
        elif what == 6:
            self.entry(0, 8, 0x1000)
            self.say("other")
        else:
            self.idle()
            self.run(1)

    def letters(self):
        text, before, since = "", None, 0
        for who, what in self.records:
            idle = who == "idle"
            if who != before:
                text, since = text + ("_" if idle else chr(65 + who % 26)), 0
            since += what == "instr" or idle and who == before
            if since == 500000:
                text, since = text + ("_" if idle else chr(97 + who % 26)), 0
            before = who
        return text

    def switches(self):
        """All, voluntary ones, direct ones."""
        n, voluntary, direct, before, leaves, to = 0, 0, 0, None, False, None
        for who, what in self.records:
            if before not in (None, "idle", who):
                n += 1
                voluntary += leaves
                direct += to == who
            if what == "instr":
                leaves, to = False, None
            leaves = leaves or what in ("call", "maybe", "exit")
            to = int(what[7:]) if what.startswith("direct") else to
            before = who
        return n, voluntary, direct

    def counts(self):
        n, voluntary, direct = self.switches()
        said = [what for _, what in self.records]
        return {"instructions": said.count("instr"), "total context switches": n, "voluntary context switches": voluntary,
                "direct context switches": direct, "system calls": said.count("call"), "maybe-blocking system calls": said.count("maybe"),
                "direct switch requests": sum(w.startswith("direct") for w in said), "idles": said.count("idle")}


def turns(cores):
    """(thread, place, core, instructions of the thread before it) of each turn, in order."""
    place, own, out = 0, {}, []
    for i, core in enumerate(cores):
        before = None
        for who, what in core.records:
            if who not in (before, "idle") and not (out and out[-1][0] == who and out[-1][2] == i):
                out.append((who, place, i, own.get(who, 0)))
            before = who
            place += what == "instr"
            own[who] = own.get(who, 0) + (what == "instr")
    return out


def unpacked(data):
    return list(struct.iter_unpack("<4Q", data))


def wrong_turns(trod, folder, cores):
    for like in ("serial_schedule", "cpu_schedule"):
        subprocess.run([trod, "schedule", "-q", "--order", "file", "--like", like, "-o", like, folder], check=True)
    want = turns(cores)
    with open("serial_schedule", "rb") as f:
        got = unpacked(f.read())
    if got != want:
        yield "serial", got, want
    with zipfile.ZipFile("cpu_schedule") as z:
        got = [turn for name in sorted(z.namelist()) for turn in unpacked(z.read(name))]
    if got != want:
        yield "cpu", got, want


def wrong(trod, seed, folder):
    rng = random.Random(seed)
    threads = rng.sample((100, 101, 102, 129, 155), rng.choice((1, 2, 4)))
    cores = [Core(rng, threads, rng.randrange(1000, 1100)) for _ in range(rng.choice((1, 2, 3)))]
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for i, core in enumerate(cores):
        with open(f"{folder}/drmemtrace.core.{i:06}.trace", "wb") as f:
            f.write(core.bytes)
    yield from wrong_turns(trod, folder, cores)
    counts = [core.counts() for core in cores]
    for order in ("file", "time"):
        text = subprocess.run([trod, "schedule", "-q", "--order", order, "--like", "schedule_stats", folder], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        for name in counts[0]:
            got, want = [int(v) for v in re.findall(rf"^ *(\d+) {name}$", text, re.M)], [c[name] for c in counts]
            if name.split()[0] in ("voluntary", "direct") and order == "time":
                continue  # threads are on several cores at a time here, which none is in a trace
            if got != [sum(want)] + want:
                yield order, name, got, [sum(want)] + want
        got, want = re.findall(r"^Core #\d+ schedule: (.*)$", text, re.M), [core.letters() for core in cores]
        if got != want:
            yield order, got, want


def main():
    bad = [(seed, *what) for seed in range(int(sys.argv[2]), int(sys.argv[3])) for what in wrong(sys.argv[1], seed, "cores.dir")]
    print(*bad[:20], sep="\n")
    sys.exit(bool(bad))


main()

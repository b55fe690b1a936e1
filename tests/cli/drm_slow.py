"""drm_slow.py - rows, counts, histogram and system calls of DynamoRIO traces against a reader that takes entry by entry.

    drm_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces: of one to five threads, with 12 or 8 bytes an entry, all versions from 3 on, plain files or
archives of chunks, with signals, sequences that are aborted, system calls with and without the kernel's code, functions, windows, physical
addresses, every kind of prefetch, flushes and code that changes. Written from the description of the format and of DynamoRIO's tools alone
(docs/formats/drmemtrace.md).
"""
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile

INSTR = {10, 11, 12, 13, 14, 15, 16, 31, 48, 49}
INDIRECT = {12, 15, 16}
PREFETCH = {*range(2, 10), 27, *range(32, 47)}
DATA = PREFETCH | {0, 1}
ADDRESSES = {0, 1, 5, 13, 15, 17, 24, 43, 44}  # markers whose values are
ALL = 2**64 - 1
COUNTED = {2: "timestamp_cpuid", 3: "timestamp_cpuid", 0: "kernel_transfer", 1: "kernel_transfer", 4: "function_id",
           5: "function_return_address", 6: "function_argument", 7: "function_return_value", 25: "system_call_number",
           26: "blocking_system_call", 46: "skipped_memref", 15: "physical_address_virtual_address", 16: "physical_address_unavailable",
           43: "hardware_transfer", 44: "hardware_transfer", 17: None}

WORDS = {0: "kernel xfer from {:#x} to handler", 1: "syscall xfer from {:#x}", 5: "function return address {:#x}", 13:
         "rseq abort from {:#x} to handler", 16: "physical address not available for {:#x}", 24: "rseq entry with end at {:#x}", 25:
         "system call {}", 27: "trace start for system call number {}", 28: "trace end for system call number {}", 30:
         "system call failed: {}", 31: "direct switch to thread {}", 36: "vector length {} bytes", 37: "current thread going unscheduled",
         38: "re-schedule thread {}", 39: "syscall timeout arg {}", 40: "signal #{}", 41: "uncompleted instruction, encoding {:#x}", 46:
         "type 46; value {}", 77: "type 77; value {}"}


class Writer:
    """A file of one thread."""

    def __init__(self, rng, how, tid, instructions):
        self.rng, self.how, self.tid = rng, how, tid
        self.bytes, self.ends = bytearray(), []
        self.given, self.records, self.fetched, self.chunks, self.window = set(), 0, 0, 0, -1
        self.time, self.base = rng.randrange(1000, 2000), 0x400000
        self.entry(25, 0, how["version"])
        self.mark(12, how["version"])
        self.mark(9, how["type"])
        self.entry(22, 4, tid)
        self.entry(24, 4, tid % 2 + 50)
        for number, value in ((10, 64), (20, how["chunk"]), (18, 4096)):
            self.mark(number, value)
        self.tick()
        while self.fetched < instructions:
            if rng.random() < .85:
                self.instruction()
            else:
                self.other(rng.randrange(14))
        if rng.random() < .5:
            self.tick()
        self.entry(23, 4, tid)
        self.entry(26, 0, 0)

    def entry(self, kind, size, value):
        wide = self.how["width"] == 12
        self.bytes += struct.pack("<HHQ" if wide else "<HHI", kind, size, value & (ALL if wide else 2**32 - 1))

    def mark(self, number, value):
        self.entry(28, number, value)
        self.records += 1

    def tick(self):
        self.time += self.rng.choice((0, 0, 1, 5, 40, 300))
        self.cpu = self.rng.randrange(4)
        self.mark(2, self.time)
        if self.how["windows"]:
            self.window += self.rng.random() < .1 or self.window < 0  # the first one is number 0
            self.mark(14, self.window)
        self.mark(3, self.cpu)

    def next_chunk(self):
        size = self.how["chunk"]
        if not self.how["zip"] or not self.fetched or self.fetched % size or self.fetched // size == self.chunks:
            return
        self.mark(21, self.chunks)
        self.chunks += 1
        self.ends.append(len(self.bytes))
        self.given.clear()
        for number, value in ((22, self.records), (2, self.time), (3, self.cpu)):
            self.entry(28, number, value)

    def code(self, pc, size):
        if not self.how["type"] & 0x200 or (pc in self.given and self.rng.random() > .03):
            return
        self.given.add(pc)
        room, code = self.how["width"] - 4, self.rng.randbytes(size)
        for at in range(0, size, room):
            piece = code[at:at + room]
            self.bytes += struct.pack("<HH", 47, len(piece)) + piece.ljust(room, b"\0")

    def instruction(self, kernel=False):
        self.next_chunk()
        rng, place = self.rng, self.rng.randrange(60)
        wide = self.how["width"] == 12
        pc, size = self.base + 17 * place + (0xffff800000000000 if kernel and wide else 0), 1 + place % 9
        kind = rng.choice((10, 10, 10, 10, 11, 12, 14, 15, 16) + ((48, 49) if self.how["version"] >= 5 else (13,)))
        target = kind in INDIRECT and self.how["version"] >= 5
        first = rng.random() < .5
        if target and first:
            self.entry(28, 29, self.base + rng.randrange(1000))
        self.code(pc, size)
        if target and not first:
            self.entry(28, 29, self.base + rng.randrange(1000))
        self.entry(kind, size, pc)
        self.records += 1
        self.fetched += 1
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            self.access(rng.choice((0, 0, 0, 1, 1, rng.choice(sorted(PREFETCH)))))
        if kind == 10 and rng.random() < .03:
            for _ in range(rng.randrange(4)):
                self.entry(29, size, pc)
                self.records += 1
                self.access(rng.randrange(2))

    def access(self, kind):
        place = self.rng.choice((0x10000, 0x7ffffff00, 0x20000, ALL - 2**31 + 1)) + self.rng.randrange(700)
        self.entry(kind, self.rng.choice((1, 2, 4, 8, 8, 16, 32, 64, 0, 300)), place)
        self.records += 1

    def some(self, n, kernel=False):
        for _ in range(n):
            self.instruction(kernel)

    def other(self, what):
        rng, mark = self.rng, self.mark
        if what < 3:
            self.tick()
        elif what < 6 and self.how["type"] & 0x400:
            self.system_call(rng.choice((0, 1, 14, 202, 231, 60)))
        elif what == 6:
            mark(0, self.base + 5)
            mark(40, rng.randrange(1, 30))
            self.tick()
            self.some(3)
            mark(1, self.base + 9)
        elif what == 7:
            mark(15, 0x5000 + rng.randrange(9) * 4096)
            mark(17, 0x9000)
            mark(16, 0x77000)
        elif what == 8:
            mark(46, 0x1234)
            mark(24, self.base + 40)
            mark(13, self.base + 4)
            mark(0, self.base + 4)
        elif what == 9:
            self.entry(rng.choice((18, 20)), 64, 0x10000)
            kind = rng.choice((18, 20))
            self.entry(kind, 0, 0x10000)
            self.entry(kind + 1, 0, 0x10000 + rng.randrange(1, 500))
            self.records += 2
        elif what == 10:
            mark(rng.choice((31, 36, 37, 38, 39, 41, 77, 200)), rng.randrange(99))
        elif what == 11 and self.how["type"] & 0x40000:
            mark(43, self.base)
            self.some(2, True)
            mark(44, 1)
        elif what == 12:
            self.entry(10, 0, self.base + rng.randrange(100))  # only a place for the data behind it
            self.access(0)
        elif what == 13:
            mark(4, rng.randrange(3))
            mark(5, self.base + 33)
            mark(6, rng.randrange(50))

    def system_call(self, number):
        rng, mark = self.rng, self.mark
        named = (0x100000000 if self.how["width"] == 12 else 0x10000) + number
        self.tick()
        mark(25, number)
        if rng.random() < .4:
            mark(26, 0)
        if rng.random() < .4:
            mark(4, named)
            for _ in range(rng.randrange(4)):
                mark(6, rng.randrange(1 << 30))
        if self.how["type"] & 0x1000 and rng.random() < .8:
            mark(27, number)
            self.some(rng.randrange(1, 4), True)
            mark(28, number)
        if rng.random() < .5:
            mark(4, named)
            mark(7, rng.randrange(100))
            if rng.random() < .5:
                mark(30, rng.choice((2, 11, 4)))
        self.tick()

    def write(self, path):
        if not self.how["zip"]:
            with open(path, "wb") as f:
                f.write(self.bytes)
            return
        with zipfile.ZipFile(path + ".zip", "w", zipfile.ZIP_DEFLATED) as z:
            start = 0
            for number, end in enumerate(self.ends + [len(self.bytes)]):
                z.writestr(f"chunk.{number:04}", self.bytes[start:end])
                start = end


Record = collections.namedtuple("Record", "kind tid addr size code new number value kernel")


def read(data, how):
    """The records that a tool sees."""
    width, out = how["width"], []
    entries = list(struct.iter_unpack("<HHQ" if width == 12 else "<HHI", data))
    tid = next(e[2] for e in entries if e[0] == 22)  # the header's holds for its markers
    pc, code, known, repeated, begun, inlined, depth = 0, b"", {}, False, 0, False, 0

    def full(a):
        return a | (ALL << 47 & ALL) if width == 12 and a >> 47 & 1 else a & (2**48 - 1)

    def add(kind, addr=0, size=0, code=b"", new=False, number=-1, value=0):
        out.append(Record(kind, tid, addr, size, code, new, number, value, inlined or depth > 0))

    for kind, size, value in entries:
        if kind in DATA or kind in (18, 20) and size:
            add(kind, full(value), size)
        elif kind in (18, 20):
            begun = full(value)
        elif kind in (19, 21):
            add(kind - 1, begun, full(value) - begun)
        elif kind == 47:
            code += value.to_bytes(8, "little")[:size]
        elif (kind in INSTR or kind == 29) and size:
            pc, new = full(value), bool(code)
            if new:
                known[pc], code = code, b""
            add(kind, pc, size, known.get(pc, b""), new)
        elif kind == 23:
            add(kind)
        elif kind == 28:
            if size in (22, 29):
                continue
            if repeated and size in (2, 3):  # of a chunk's beginning
                repeated = size != 3
                continue
            inlined, depth = inlined or size == 27, depth + (size == 43)
            add(kind, number=size, value=full(value) if size in ADDRESSES else value)
            inlined, depth = inlined and size != 28, depth - (size == 44)
            repeated = size == 21
    return out


def by_time(files):
    """Section 14.2: the file with the smallest time goes on, ties to the first, until its next time is larger than another's."""
    time = [next(r.value for r in f if r.number == 2) for f in files]
    at, live, out = [0] * len(files), set(range(len(files))), []
    now = min(live, key=lambda k: (time[k], k))
    while live:
        if at[now] == len(files[now]):
            live.remove(now)
        elif files[now][at[now]].number == 2:
            time[now] = files[now][at[now]].value
        ahead = min(live, key=lambda k: (time[k], k), default=now)
        if at[now] < len(files[now]) and (files[now][at[now]].number != 2 or ahead == now):
            out.append(files[now][at[now]])
            at[now] += 1
        elif ahead != now:
            now = ahead
    return out


def counts(records, how):
    n = collections.Counter()
    for r in records:
        if r.kind in INSTR:
            n["fetched_instructions"] += 1
            n["kernel_instructions" if r.kernel else "userspace_instructions"] += 1
        name = {0: "data_loads", 1: "data_stores", 18: "icache_flushes", 20: "dcache_flushes", 29: "non_fetched_instructions"}.get(r.kind)
        name = "prefetches" if r.kind in PREFETCH else name
        if name:
            n[name] += 1
        if r.kind == 28 and COUNTED.get(r.number, "other"):
            n[COUNTED.get(r.number, "other") + ("_marker_pairs" if r.number == 15 else "_markers")] += 1
        n["encodings"] += r.new
    n["unique_fetched_instructions"] = len({r.addr for r in records if r.kind in INSTR})
    if not how["type"] & 0x49000 and not n["kernel_instructions"]:
        del n["userspace_instructions"]
    return n


def lines(records):
    code, data = collections.Counter(), collections.Counter()
    for r in records:
        if r.kind in INSTR or r.kind in DATA:
            for line in range(r.addr & ~63, r.addr + r.size, 64):
                (code if r.kind in INSTR or r.kind == 9 else data)[line] += 1
    return [dict(code), dict(data)]


def syscall_mix(files):
    calls, failures = collections.Counter(), collections.defaultdict(collections.Counter)
    for records in files:
        last = -1
        for r in records:
            if r.number == 25:
                last = r.value
                calls[last] += 1
            elif r.number == 30:
                failures[last][r.value] += 1
    yield "Syscall mix tool results:"
    yield "  syscall count : syscall_num"
    for number, n in sorted(calls.items(), key=lambda x: (-x[1], -x[0])):
        yield f"{n:15} : {number:9}"
    for number in sorted(failures):
        yield f"Failures for syscall {number}:"
        yield "  failure count : failure code"
        for error, n in sorted(failures[number].items(), key=lambda x: (-x[1], -x[0])):
            yield f"{n:15} : {error:9}"


def same_row(row, r):
    if r.kind == 28:
        return row["kind"] == "MARKER" and row["sub"] == r.number and int(str(row["value"]), 0) == r.value
    if r.kind in INSTR or r.kind == 29:
        return row["kind"] == "INSTR" and int(row["address"], 0) == r.addr and row["size"] == r.size and row.get("opcode", "") == r.code.hex()
    if r.kind == 23:
        return row["kind"] == "THREAD"
    kind = "READ" if r.kind == 0 else "WRITE" if r.kind == 1 else "FLUSH" if r.kind in (18, 20) else "PREFETCH"
    return row["kind"] == kind and int(row["address"], 0) == r.addr and row.get("size", 0) == r.size


def compare(trod, folder, seed):
    """What is wrong with the trace of SEED."""
    def said(*words):
        return subprocess.run([trod, *words], stdout=subprocess.PIPE, check=True, text=True).stdout

    rng = random.Random(seed)
    how = {"width": 12 if rng.random() < .85 else 8, "version": rng.choice((3, 4, 5, 6, 7, 7, 7)), "zip": rng.random() < .5,
           "windows": rng.random() < .15}
    how["chunk"] = rng.choice((10, 50, 1000)) if how["zip"] else 10000000
    how["type"] = (0x40 if how["width"] == 12 else 0x20) | rng.choice((0x200, 0)) | rng.choice((0, 0x400, 0xc00)) | rng.choice(
        (0, 0, 0x1000, 0x40000))
    made = [Writer(rng, how, 100 + i, rng.choice((1, 30, 200, 500))) for i in range(rng.choice((1, 2, 3, 5)))]
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for w in made:
        w.write(os.path.join(folder, f"drmemtrace.made.{w.tid}.{rng.randrange(10000):04}.trace"))
    files = [read(w.bytes, how) for w in made]
    every = [r for f in files for r in f]

    rows = [json.loads(line) for line in said("view", "--format", "json", "--order", "time", folder).splitlines()]
    want = by_time(files)
    if len(rows) != len(want):
        yield f"{len(rows)} rows, not {len(want)}"
    for row, r in zip(rows, want):
        if row["tid"] != r.tid or not same_row(row, r):
            yield f"{row} is not {r}"
            break

    listed = re.findall("<marker: (.*)>", said("view", "--native", "--order", "time", folder))
    words = {text.split("{")[0] for text in WORDS.values()}
    if [m for m in listed if any(m.startswith(w) for w in words)] != [WORDS[r.number].format(r.value) for r in want if r.number in WORDS]:
        yield "words of markers"

    result = json.loads(said("count", "--format", "json", folder))
    for got, records in [(result["total"], every)] + list(zip(sorted(result.get("threads_counts", []), key=lambda t: t["tid"]), files)):
        for name, n in counts(records, how).items():
            if got.get(name, 0) != n:
                yield f"{name} is {got.get(name)}, not {n}"

    text = said("hot", "--like", "histogram", "--top", "0", folder).split("dcache top")
    for got, want in zip(text, lines(every)):
        if {int(a, 16): int(n) for a, n in re.findall("0x([0-9a-f]+): ([0-9]+)", got)} != want:
            yield "lines of the histogram"

    if any(r.number == 25 for r in every) and said("syscalls", "--like", "syscall_mix", folder).splitlines() != list(syscall_mix(files)):
        yield "syscall_mix"

    for container in ("none", "zip"):
        copy = folder + ".copy"
        shutil.rmtree(copy, ignore_errors=True)
        said("convert", "-q", folder, copy, "--to", "drmemtrace:container=" + container)
        if said("view", "--format", "csv", copy) != said("view", "--format", "csv", folder):
            yield f"a copy in {container} has other rows"


def main():
    trod, wrong = sys.argv[1], 0
    for seed in range(int(sys.argv[2]), int(sys.argv[3])):
        for what in compare(trod, "slow.dir", seed):
            print(f"seed {seed}: {what}")
            wrong += 1
    sys.exit(wrong > 0)


main()

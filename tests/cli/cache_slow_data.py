"""cache_slow_data.py - `trod cache --by` and `trod locality --per` data, block and source against lists of docs/caches.md, "Whose data".

    cache_slow_data.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies, with TLBs or without, and of drmemtrace traces that were recorded with a heap: blocks of
malloc, calloc, realloc and free, objects of two files, and pages that nobody owns. Lines of source are those of an assembled file.
"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys

from cache_slow_who import DATA, FILES, Paged, elf, file_of, functions, stretches

HEAP, PLACES = 0x20000000, [0x7f0000000000, 0x7ffffff00000]
CALLERS = [0x10000, 0x10008, 0x10000 + 100, 0x40000000 + 200, 0x90010, 0x90020]
LINES = 0x60000, [("one.c", 5), ("two.h", 9), ("one.c", 6), None, ("two.h", 9), ("two.h", 10)]  # of 64 bytes each
MALLOC, FREE, REALLOC, CALLOC = range(4)


def objects(start):
    """Three objects in the data of a file, and holes between them."""
    return [(f"o{start:x}_{i}", start + DATA + 512 * i, 300) for i in range(3)]


class Heap:
    """Entries of a trace of one thread, and what each reference belongs to."""

    def __init__(self, rng):
        self.rng, self.blocks, self.rows = rng, {}, []  # blocks: address: (size, caller)
        self.bytes = b""
        for kind, size, value in ((25, 0, 4), (28, 12, 4), (28, 9, 0x40), (22, 4, 77), (24, 4, 76), (28, 10, 64), (28, 2, 1000), (28, 3, 0)):
            self.entry(kind, size, value)
        self.pc = 0x10000
        self.instruction()

    def entry(self, kind, size, value):
        self.bytes += struct.pack("<HHQ", kind, size, value)

    def call(self, function, caller, *args):
        for size, value in [(4, function), (5, caller)] + [(6, a) for a in args]:
            self.entry(28, size, value)

    def give(self, function, value):
        self.entry(28, 4, function)
        self.entry(28, 7, value)

    def instruction(self):
        start = self.rng.choice(list(FILES) + [None, None])
        self.pc = LINES[0] + self.rng.randrange(420) if start is None else FILES[start] + 64 * self.rng.randrange(13)
        self.entry(10, 4, self.pc)
        self.rows.append(("INSTR", self.pc, 4, self.pc, "(code)", "(code)"))

    def place(self, size):
        while True:
            at = HEAP + 16 * self.rng.randrange(600)
            if all(at + size <= b or b + n <= at for b, (n, _) in self.blocks.items()):
                return at

    def allocate(self):
        size, caller, how = self.rng.randrange(1, 300), self.rng.choice(CALLERS), self.rng.randrange(4)
        if how == REALLOC and self.blocks:
            old = self.rng.choice(list(self.blocks))
            self.call(REALLOC, caller, old, size)
            del self.blocks[old]
            at = self.place(size)
            self.give(REALLOC, at)
        elif how == CALLOC:
            self.call(CALLOC, caller, 1, size)
            at = self.place(size)
            self.give(CALLOC, at)
        else:
            self.call(MALLOC, caller, size)
            at = self.place(size)
            self.give(MALLOC, at)
        self.blocks[at] = (size, caller)

    def free(self):
        at = self.rng.choice(list(self.blocks) + [0x1234])
        self.call(FREE, 0x90000, at)
        self.blocks.pop(at, None)

    def owner(self, addr):
        """By data, by block."""
        for at, (size, caller) in self.blocks.items():
            if at <= addr < at + size:
                asked = place(caller)
                return f"(heap) from {asked}", f"(heap) {at:#x}, {size} bytes from {asked}"
        name = next((n for start in FILES.values() for n, at, size in objects(start) if at <= addr < at + size), None)
        file = file_of(addr)
        return (name or (f"(data) of {file}" if file else ("", addr >> 12)),) * 2

    def access(self):
        rng = self.rng
        where = rng.randrange(4)
        if where == 0 and self.blocks:
            at = rng.choice(list(self.blocks))
            addr = at + rng.randrange(self.blocks[at][0])
        elif where == 1:
            addr = rng.choice(PLACES) + 4096 * rng.choice([0, 1, 20]) + rng.randrange(200)
        elif where == 2:
            addr = HEAP + rng.randrange(9600)
        else:
            addr = rng.choice(list(FILES.values())) + DATA + rng.randrange(1600)
        op, size = rng.choice(["READ", "READ", "WRITE"]), rng.choice([1, 4, 8, 16, 40])
        self.entry(int(op == "WRITE"), size, addr)
        self.rows.append((op, addr, size, self.pc, *self.owner(addr)))

    def make(self, n):
        for _ in range(n):
            self.rng.choice([self.allocate, self.free] + [self.instruction] * 5 + [self.access] * 9)()
        self.entry(23, 4, 77)
        self.entry(26, 0, 0)


def place(addr):
    """Whose code asks, by symbols."""
    found = next(((n, addr - at) for start in FILES.values() for n, at, size in functions(start) if at <= addr < at + size), None)
    return f"{addr:#x}" if not found else found[0] + (f"+{found[1]:#x}" if found[1] else "")


def source(pc):
    """The line of PC, each of which goes on where the next has none."""
    at, line = (pc - LINES[0]) // 64, None
    for of in LINES[1][:at + 1] if 0 <= at < len(LINES[1]) else []:
        line = of or line
    return line and f"{os.getcwd()}/{line[0]}:{line[1]}"


class Owned(Paged):
    def build(self):
        super().build()
        self.who = {by: {} for by in ("data", "block", "source")}

    def owe(self, cache=None):
        tables = self.owners.get("region") == "(page tables)"
        for by, owner in self.named.items():
            row = self.who[by].setdefault("(page tables)" if tables and by != "source" else owner, {})
            row[cache.name if cache else None] = row.get(cache.name if cache else None, 0) + 1

    def one(self, op, addr, size, pc, data, block):
        self.named = dict(data=data, block=block, source=source(pc) or "(no symbol)")
        self.reference(0, "77", op, addr, size, pc)


def by_distance(rows, by, lines):
    """References, and misses in an LRU cache of so many lines, of each owner."""
    stack, who = [], {}
    for op, addr, _, pc, data, block in rows:
        owner, line = dict(data=data, block=block, source=source(pc) or "(no symbol)")[by], addr // 64
        row = who.setdefault(owner, {"references": 0, "misses": 0})
        row["references"] += 1
        row["misses"] += line not in stack[:lines]
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return who if by == "source" else stretches(who)


def locality(trod, heap, by, files, wrong):
    lines = heap.rng.choice([4, 16, 64])
    got = json.loads(subprocess.run([trod, "locality", "-q", "--per", by, "--size", str(64 * lines), "--shared", "--top", "10000", "--format",
                                     "json", "--symbols", files, "data.d/a.trace"], check=True, stdout=subprocess.PIPE).stdout)
    table = {r[by]: {k: r[k] for k in ("references", "misses")} for r in got["owners"]}
    want = by_distance(heap.rows, by, lines)
    if table != want:
        wrong.append(("locality", by, lines, {k: (want.get(k), table.get(k)) for k in {**want, **table} if want.get(k) != table.get(k)}))


def assemble():
    """A file whose code has the lines of LINES."""
    if not shutil.which("cc"):
        return False
    with open("lines.s", "w") as f:
        f.write('.text\n.globl _start\n_start:\n.file 1 "one.c"\n.file 2 "two.h"\n')
        for line in LINES[1]:
            f.write(f".loc {1 + (line[0] == 'two.h')} {line[1]}\n" if line else "")
            f.write(".rept 64\nnop\n.endr\n")
    done = subprocess.run(["cc", "-g", "-nostdlib", "-static", "-no-pie", f"-Wl,-Ttext={LINES[0]:#x}", "-Wl,--build-id=none", "-o",
                           "lines.elf", "lines.s"], stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def case(trod, seed, by_source):
    rng = random.Random(seed)
    m, heap, wrong = Owned(rng), Heap(rng), []
    heap.make(500)
    with open("data.d/a.trace", "wb") as f:
        f.write(heap.bytes)
    with open("data.conf", "w") as f:
        f.write(m.text())
    for _ in range(1 + any(s["policy"] == "opt" for s in m.spec)):
        m.build()
        for row in heap.rows:
            m.one(*row)
    names = [None] + [s["name"] for s in m.spec]
    for by, owners in m.who.items():
        if by == "source" and not by_source:
            continue
        files = "lines.elf" if by == "source" else ",".join(FILES)
        got = json.loads(subprocess.run([trod, "cache", "-q", "--config", "data.conf", "--format", "json", "--by", by, "--top", "0", "--symbols",
                                         files, "-j", str(rng.randint(1, 3)), "data.d/a.trace"], check=True, stdout=subprocess.PIPE).stdout)
        locality(trod, heap, by, files, wrong)
        table = {}
        for r in got["by"]:
            table[r[by]] = [r["references"]] + [r[n] for n in names[1:]]
        for owner, row in (owners if by == "source" else stretches(owners)).items():
            want = [row.get(n, 0) for n in names]
            if table.pop(owner, None) != want:
                wrong.append((by, owner, want, [r for r in got["by"] if r[by] == owner]))
        wrong += [(by, owner, None, row) for owner, row in table.items()]
    if wrong:
        print(f"seed {seed}:\n{m.text()}", *wrong[:8], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    os.makedirs("data.d", exist_ok=True)
    with open("data.d/funclist.log", "w") as log:
        log.write("".join(f"{i},{n},{i:#x},{r}libc.so.6!{name}\n" for i, n, r, name in (
            (MALLOC, 1, "", "malloc"), (FREE, 1, "noret,", "free"), (REALLOC, 2, "", "realloc"), (CALLOC, 2, "", "calloc"))))
    for file, start in FILES.items():
        with open(file, "wb") as f:
            f.write(elf(start, objects(start)))
    lines = assemble()
    sys.exit(sum(not case(sys.argv[1], seed, lines) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

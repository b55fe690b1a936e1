"""cache_slow_who.py - TLBs, page walks and `--by` of `trod cache` against lists.

    cache_slow_who.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies with or without TLBs, of pages and of traces over a wide range of
addresses. Each miss is put down to the reference that is being made, and the tables of all owners must be the same.
"""
import json
import random
import struct
import subprocess
import sys

from cache_model import Cache, Line
from cache_slow import Machine

SIZES = {"4K": 12, "16K": 14, "64K": 16, "2M": 21, "4M": 22, "1G": 30}
FILES = {"one.elf": 0x10000, "two.elf": 0x40000000}  # where their code begins, their data are DATA behind
DATA, PLACES = 0x3000, [0x10000, 0x13000, 0x40000000, 0x40003000, 0x7f0000000000, 0x7fffffff0000]


class Tlb(Cache):
    """Entries are (page, bits of its size); a page's number says its set."""

    def __init__(self, spec):
        super().__init__(dict(spec, size=spec["entries"], line=1, prefetch="none", victims=0))
        self.code = self.read = self.write = 0

    def look(self, kind, page, bits):
        if self.pages and bits not in self.pages:
            return self.next is not None and self.next.look(kind, page, bits)
        self.n["references"] += 1
        number = page % self.sets
        places, ways = self.place[number], self.state[number]
        for way, entry in enumerate(places):
            if entry and entry.number == (page, bits):
                ways.touch(way, False)
                return True
        self.n["misses"] += 1
        self.kind[kind][1] += 1
        known = self.next is not None and self.next.look(kind, page, bits)
        way = places.index(None) if None in places else ways.victim()
        self.n["evictions"] += places[way] is not None
        places[way] = Line((page, bits), False, False)
        ways.touch(way, True)
        return known


class Paged(Machine):
    """A machine with TLBs that puts misses down to owners."""

    def __init__(self, rng):
        self.tlb_spec, self.ranges, self.walk, self.levels = [], [], None, 4
        super().__init__(rng)
        if rng.random() < .8:
            self.add_tlbs()
        self.build()

    def build(self):
        super().build()
        self.walks = self.reads = 0
        self.who = {by: {} for by in "instruction page line thread function module region".split()}
        for cache in sum(self.caches.values(), []):
            cache.tell = self.owe
        self.tlbs = {s["name"]: [Tlb(s) for _ in range(1 if s["shared"] else self.cores)] for s in self.tlb_spec}
        for i, s in enumerate(self.tlb_spec):
            behind = next((t for t in self.tlb_spec[i + 1:] if t["side"] == ""), None)
            for k in range(self.cores if behind else 0):
                self.of(self.tlbs, s, k).next = self.of(self.tlbs, behind, k)

    @staticmethod
    def of(all_of, spec, core):
        return all_of[spec["name"]][0 if spec["shared"] else core]

    def add_tlbs(self):
        rng = self.rng
        names = rng.choice([[("ITLB", "code"), ("DTLB", "data")], [("DTLB", "data")], []])
        names += [(f"TLB{i}", "") for i in range(rng.randrange(0 if names else 1, 4))]
        for name, side in names:
            ways, shared = rng.choice([1, 2, 4, 8]), self.tlb_spec and self.tlb_spec[-1]["shared"]
            self.tlb_spec.append(dict(
                name=name, side=side, ways=ways, entries=ways * rng.choice([1, 2, 3, 5, 8]), sector=0, seed=7,
                shared=bool(shared or (side == "" and self.cores > 1 and rng.random() < .3)),
                pages=rng.choice([None, None, {12}, {12, 21}, {14, 16, 22}, {21, 30}]), policy=rng.choice(
                    "lru lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip".split())))
        self.size = rng.choice([12, 12, 12, 14, 16, 21])
        for _ in range(rng.randrange(4)):
            bits = rng.choice(list(SIZES.values()))
            low = rng.choice(PLACES) >> bits << bits
            self.ranges.append((bits, low, low + (rng.randrange(1, 20) << bits)))
        walk = [s["name"] for s in self.spec if s["side"] != "code"]
        self.walk, self.levels = rng.choice(walk + [None]), rng.choice([4, 4, 5])

    def text(self):
        def names(pages):
            return ",".join(n for n, bits in SIZES.items() if bits in pages)
        lines = [f"tlb {s['name']} {s['side']} {'shared' if s['shared'] else ''} entries={s['entries']} "
                 f"ways={s['ways']} policy={s['policy']} seed=7" + (f" pages={names(s['pages'])}" if s["pages"] else "")
                 for s in self.tlb_spec]
        if self.tlb_spec:
            lines += [f"pages {names({bits})} {low:#x}..{high:#x}" for bits, low, high in self.ranges]
            lines += [f"pages {names({self.size})}", f"walk {self.walk or 'memory'} levels={self.levels}"]
        return super().text() + "\n".join(lines) + "\n"

    # owners
    def owe(self, cache=None):
        """The reference at hand is made; CACHE: it misses there."""
        for by, owner in self.owners.items():
            row = self.who[by].setdefault(owner, {})
            row[cache.name if cache else None] = row.get(cache.name if cache else None, 0) + 1

    def part(self, core, thread, op, addr, size, pc):
        """What lies in one line of the first cache."""
        self.owners.update(page=f"{addr >> 12 << 12:#x}", line=f"{addr >> 6 << 6:#x}")
        self.owe()
        super().reference(core, thread, op, addr, size, pc)

    def reference(self, core, thread, op, addr, size, pc):
        function, module = code_of(pc)
        region = region_of(op, addr)
        self.owners = dict(instruction=f"{pc:#x}", thread=str(thread), function=function, module=module, region=region)
        first = next((s for s in self.spec if s["side"] != ("data" if op == "INSTR" else "code")))
        while size:
            bits = next((b for b, low, high in self.ranges if low <= addr < high), self.size) if self.tlb_spec else 63
            page = min(size, (1 << bits) - addr % (1 << bits))
            if self.tlb_spec:
                self.translate(core, op, addr, bits, pc)
                self.owners["region"] = region
            size -= page
            while page:
                n = min(page, first["line"] - addr % first["line"])
                self.part(core, thread, op, addr, n, pc)
                addr, page = addr + n, page - n

    def translate(self, core, op, addr, bits, pc):
        first = next((s for s in self.tlb_spec if s["side"] != ("data" if op == "INSTR" else "code")), None)
        kind = {"INSTR": "fetch", "READ": "read", "WRITE": "write"}[op]
        if not first or self.of(self.tlbs, first, core).look(kind, addr >> bits, bits):
            return
        self.walks += 1
        last = (bits - 12) // 9  # 0: the level that maps 4 KiB
        for level in range(self.levels - 1, last - 1, -1):
            self.reads += 1
            if self.walk:
                space = 2 ** (12 + 9 * self.levels)
                at = 0xff << 56 | (level << 52) + 8 * (addr % space // (4096 * 512 ** level))
                spec = next(s for s in self.spec if s["name"] == self.walk)
                self.owners.update(page=f"{at >> 12 << 12:#x}", line=f"{at >> 6 << 6:#x}", region="(page tables)")
                self.owe()
                self.of(self.caches, spec, core).reference("read", at, 8, pc)


def functions(start):
    """Four functions of 96 bytes, then a hole of as many."""
    return [(f"f{start:x}_{i}", start + 192 * i, 96) for i in range(4)]


def file_of(addr):
    return next((f for f, start in FILES.items() if start <= addr < start + DATA + 0x1000), None)


def code_of(pc):
    """Function and file of code."""
    name = next((f for start in FILES.values() for f, at, size in functions(start) if at <= pc < at + size), None)
    file = file_of(pc)
    return name or "(no symbol)", file or "(no symbol)"


def region_of(op, addr):
    """Stretches are named when all of them are known."""
    file = file_of(addr)
    if op == "INSTR":
        return f"(code) of {file}" if file else ("(code) ", addr >> 12)
    return f"(data) of {file}" if file else ("", addr >> 12)


def stretches(rows):
    """Pages that nobody owns, as stretches: no more than 64 KiB apart."""
    named = {k: dict(v) for k, v in rows.items() if isinstance(k, str)}
    for kind in ("(code) ", ""):
        pages = sorted(k[1] for k in rows if not isinstance(k, str) and k[0] == kind)
        while pages:
            n = next((i for i in range(1, len(pages)) if pages[i] - pages[i - 1] > 16), len(pages))
            total = named.setdefault(f"{kind}{pages[0] << 12:#x}..{pages[n - 1] << 12 | 0xfff:#x}", {})
            for page in pages[:n]:
                for name, count in rows[kind, page].items():
                    total[name] = total.get(name, 0) + count
            pages = pages[n:]
    return named


def elf(start, objects=()):
    """An ELF file of one segment with functions, and OBJECTS of data, in nothing but its symbols."""
    strings, symbols = b"\0", b"\0" * 24
    for kind, name, at, size in [(0x12, *f) for f in functions(start)] + [(0x11, *o) for o in objects]:
        symbols += struct.pack("<IBBHQQ", len(strings), kind, 0, 1, at, size)
        strings += name.encode() + b"\0"
    at = 64 + 56
    sections = [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (0, 1, 6, start, 0, DATA + 0x1000, 0, 0, 16, 0),
                (0, 2, 0, 0, at, len(symbols), 3, 1, 8, 24), (0, 3, 0, 0, at + len(symbols), len(strings), 0, 0, 1, 0)]
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, start, 64, at + len(symbols) + len(strings), 0,
                                                    64, 56, 1, 64, len(sections), 0)
    load = struct.pack("<IIQQQQQQ", 1, 7, 0, start, start, at, DATA + 0x1000, 0x1000)
    return head + load + symbols + strings + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)


def trace(rng, threads):
    """Few hot pages, strides of pages, and references across their ends."""
    pages = [rng.choice(PLACES) + 4096 * rng.choice([0, 1, 2, 3, rng.randrange(40), rng.randrange(3000)])
             for _ in range(rng.choice([6, 30, 90]))]
    shape = rng.randrange(3)
    for i in range(500):
        op = rng.choice(["INSTR", "READ", "READ", "WRITE"])
        page = (rng.choice(pages), pages[i % len(pages)], pages[int(rng.paretovariate(1.1)) % len(pages)])[shape]
        addr = page + (rng.randrange(4092, 4096) if rng.random() < .1 else rng.choice([0, 40, 90, 200, 999, 4000]))
        pc = rng.choice(list(FILES.values()) + [0x90000]) + 64 * rng.randrange(13)
        if op == "INSTR" and rng.random() < .5:
            addr = pc
        yield rng.randrange(threads), op, addr, rng.choice([1, 4, 8, 16, 40]), addr if op == "INSTR" else pc


def told(trod, jobs, *args):
    return json.loads(subprocess.run([trod, "cache", "-q", "--config", "who.conf", "--format", "json", "--order", "file",
                                      "-j", str(jobs), *args, "who.csv"], check=True, stdout=subprocess.PIPE).stdout)


def case(trod, seed):
    rng = random.Random(seed)
    m, wrong = Paged(rng), []
    rows = list(trace(rng, m.cores + rng.choice([0, 0, 3])))
    with open("who.csv", "w") as f:
        f.write("kind,stream,addr,size,pc\n")
        for thread, op, addr, size, pc in rows:
            f.write(f"{op},{thread},{addr:#x},{size},{'' if op == 'INSTR' else pc}\n")
    with open("who.conf", "w") as f:
        f.write(m.text())
    m.run(rows)
    if any(s["policy"] == "opt" for s in m.spec):
        m.build()
        m.run(rows)
    names = [None] + [s["name"] for s in m.spec]
    for by, owners in m.who.items():
        files = ["--symbols", ",".join(FILES)] if by in ("function", "module", "region") else []
        got = told(trod, rng.randint(1, 4), "--by", by, "--top", "0", *files)
        table = {r[by]: [r["references"]] + [r[n] for n in names[1:]] for r in got["by"]}
        for owner, row in (stretches(owners) if by == "region" else owners).items():
            want = [row.get(n, 0) for n in names]
            if table.pop(owner, None) != want:
                wrong.append((by, owner, want, [r for r in got["by"] if r[by] == owner]))
        wrong += [(by, owner, None, row) for owner, row in table.items()]
    for row in got.get("tlbs", []):
        tlbs = m.tlbs[row["tlb"]]
        for key in ("references", "misses", "evictions"):
            if row[key] != sum(t.n[key] for t in tlbs):
                wrong.append((row["tlb"], key, sum(t.n[key] for t in tlbs), row[key]))
        for key, kind in (("code", "fetch"), ("read", "read"), ("write", "write")):
            if row[key + "_misses"] != sum(t.kind[kind][1] for t in tlbs):
                wrong.append((row["tlb"], key, sum(t.kind[kind][1] for t in tlbs), row[key + "_misses"]))
    if m.tlb_spec and [m.walks, m.reads] != [got["walks"][k] for k in ("walks", "reads")]:
        wrong.append(("walks", m.walks, m.reads, got["walks"]))
    for row in got["caches"]:
        for key in ("references", "misses", "writebacks", "bytes_in"):
            want = sum(c.n[key] for c in m.caches[row["cache"]])
            if row[key] != want:
                wrong.append((row["cache"], key, want, row[key]))
    if wrong:
        print(f"seed {seed}:\n{m.text()}", *wrong[:8], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    for file, start in FILES.items():
        with open(file, "wb") as f:
            f.write(elf(start))
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

"""cache_slow_dr_more.py - what cache_slow_dr.py leaves out of DynamoRIO's simulators, against lists of their rules.

    cache_slow_dr_more.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds: flushes of code and data, physical addresses of a -v2p_file, first levels that are exclusive, what only
counts, files of misses, and the hints of the miss analyzer with their file, in the order of its hash table.
"""
import os
import random
import sys

from cache_slow_dr import differences, hierarchy, run, told, with_fewest

IFETCH, NOFETCH = 1 << 21, 1 << 19
FLAGS = dict(CODE_PREFETCH=IFETCH, CODE_FLUSH=IFETCH, NOTHING=NOFETCH)
ROW = dict(CODE_PREFETCH="PREFETCH", CODE_FLUSH="FLUSH", NOTHING="INSTR")
KIND = dict(INSTR="fetch", READ="read", WRITE="write", PREFETCH="prefetch", CODE_PREFETCH="prefetch")
PRIMES = [13, 29, 59, 127, 257, 541, 1109, 2357]  # how many buckets a table of the GNU C++ library grows to


def table_order(keys, before=0):
    """KEYS in the order of a hash table that they were put into one by one, which had BEFORE elements before it was cleared."""
    buckets, order = next((p for p in [0] + PRIMES if p >= before)), []

    def put(key):
        order.insert(next((i for i, k in enumerate(order) if k % buckets == key % buckets), 0), key)
    for key in keys:
        if len(order) + 1 > buckets:
            buckets = next(p for p in PRIMES if p > len(order))
            again, order = order, []
            for old in again:
                put(old)
        put(key)
    return order


def signed(number):
    return (number + 2**31) % 2**32 - 2**31


class Misses:
    """Lines of the reads that missed, by instruction."""

    def __init__(self):
        self.lines, self.before = {}, 0

    def clear(self):
        self.before = max(self.before, len(self.lines))
        self.lines = {}

    def hints(self, count, fraction, confidence, line):
        enough = min(int(fraction * sum(map(len, self.lines.values()))), count)
        for pc in table_order(self.lines, self.before):
            lines = self.lines[pc]
            if len(lines) < enough:
                continue
            steps = {}
            for a, b in zip(lines, lines[1:]):
                if signed(b - a):
                    steps[signed(b - a)] = steps.get(signed(b - a), 0) + 1
            best, most = 0, 0
            for step in table_order([s % 2**64 for s in steps]):
                if steps[signed(step)] > most:
                    best, most = signed(step), steps[signed(step)]
            if most >= int(confidence * len(lines)) and signed(best * line):
                yield pc, signed(best * line)


class Pages:
    """Physical addresses."""

    def __init__(self, rng, rows):
        self.size = 1 << rng.choice([8, 10, 12])
        pages = sorted({(a + d) // self.size for _, _, a, _, pc in rows for d in (0, 60)} | {pc // self.size for *_, pc in rows})
        self.frame = {p: rng.randrange(1, 64) for p in pages if rng.random() < .7}

    def write(self, name):
        with open(name, "w", encoding="ascii") as f:
            f.write(f"page_size: {self.size:#x}  # of these\n\npage_count: {len(self.frame)}\n")
            for page, frame in self.frame.items():
                f.write(f"address_mapping {{\n  virtual_address: {page * self.size:#x}\n  physical_address: {frame * self.size:#x}\n}}\n")

    def place(self, addr):
        frame = self.frame.get(addr // self.size)
        return addr % 2**28 if frame is None else frame * self.size + addr % self.size


def trace(rng, cores):
    """Rows: thread, kind, address, size, pc."""
    threads, base, span = cores + rng.choice([0, 2]), rng.choice([0x1000, 0x7ffff123]), rng.choice([100, 900, 5000])
    steps = [(0x400000 + 4 * rng.randrange(400), rng.choice([64, -64, 192, 16, 2**38, 72])) for _ in range(rng.choice([3, 30]))]
    at = [base + rng.randrange(span) for _ in steps]
    ops = ["READ"] * 6 + ["INSTR", "WRITE"] + rng.choice([[], ["PREFETCH", "CODE_PREFETCH", "FLUSH", "CODE_FLUSH", "NOTHING"]])
    for _ in range(500):
        i, op, size = rng.randrange(len(steps)), rng.choice(ops), rng.choice([1, 4, 8, 40])
        if rng.random() < .6:
            at[i] = (at[i] + steps[i][1]) % 2**46
            addr = at[i]
        else:
            addr = base + rng.randrange(span)
        if op in ("FLUSH", "CODE_FLUSH"):
            size = rng.choice([1, 64, 300])
        yield rng.randrange(threads), op, addr, size, addr if op in ("INSTR", "NOTHING") else steps[i][0]


class Case:
    def __init__(self, trod, seed):
        self.trod, self.rng = trod, random.Random(seed)
        self.cores, self.first, self.caches, self.snoop, self.options, self.text = hierarchy(self.rng)
        self.rows, self.core_of, self.files = list(trace(self.rng, self.cores)), {}, {}
        self.process = {t: i for i, t in enumerate(dict.fromkeys(t for t, *_ in self.rows))}
        self.pages = Pages(self.rng, self.rows) if self.rng.random() < .4 else None
        self.refs = [self.rng.choice(v) for v in ([0, 0, 7], [0, 0, 30, 200], [0, 0, 200])]
        with open("more.csv", "w", encoding="ascii") as f:
            f.write("kind,stream,addr,size,pc,flags\n")
            for t, op, addr, size, pc in self.rows:
                f.write(f"{ROW.get(op, op)},{t},{addr:#x},{size},{'' if op in ('INSTR', 'NOTHING') else hex(pc)},{FLAGS.get(op, 0):#x}\n")

    def physical(self, from_file=False):
        if self.pages:
            self.pages.write("more.v2p")
            self.options += ["-v2p_file more.v2p"] + ["-use_physical"] * (not from_file)
            self.text = "use_physical true\n" + self.text

    def counts(self):
        return [f"-{w}_refs {n}" for w, n in zip(("skip", "warmup", "sim"), self.refs) if n]

    def touch(self, thread, op, addr, size, pc):
        core = with_fewest(self.core_of, thread, self.cores)
        if self.pages:
            addr = self.pages.place(addr)
            pc = self.pages.place(pc) if op in ("READ", "WRITE", "PREFETCH", "CODE_PREFETCH") else addr
        cache = self.first[core][op not in ("INSTR", "CODE_PREFETCH", "CODE_FLUSH")]
        self.who = self.process[thread], pc
        if op in ("FLUSH", "CODE_FLUSH"):
            cache.flush(addr, size)
        elif op != "NOTHING":
            cache.request(KIND[op], addr, size)

    def tell(self, cache, lines):
        def missed(kind, addr):
            if kind != "hardware":
                lines.append(f"{self.who[0]},{addr if kind == 'fetch' else self.who[1]:#x},{addr:#x}\n")
        cache.missed = missed

    def simulate(self):
        """The simulator of caches, with a file of misses."""
        from_file = "config_file" in self.options[0]
        if from_file and self.rng.random() < .2 and not self.snoop:
            self.text = self.text.replace("L1D0 {", "L1D0 { exclusive true ")
            self.first[0][1].exclusive = True
        cache = self.rng.choice(self.caches) if from_file else self.caches[-1]
        self.files["more.miss"] = lines = []
        self.tell(cache, lines)
        self.options += [] if from_file else ["-LL_miss_file more.miss"]
        self.physical(from_file)
        if from_file:
            self.text = self.text.replace(f"{cache.name} {{", f"{cache.name} {{ miss_file more.miss ")
            with open("dr.conf", "w", encoding="ascii") as f:
                f.write("".join(f"{w}_refs {n} // {n}\n" for w, n in zip(("skip", "warmup", "sim"), self.refs) if n) + self.text)
        else:
            self.options += self.counts()
        run(self.rows, self.touch, self.caches, *self.refs)
        return list(differences(self.told(), self.caches, self.refs[1], self.core_of))

    def analyze(self):
        """The miss analyzer."""
        last, misses, line = self.caches[-1], Misses(), self.caches[-1].line

        def missed(kind, addr):
            if kind == "read":
                misses.lines.setdefault(self.who[1], []).append(addr // line)

        def anew(begin=last.anew):
            begin()
            misses.clear()
        last.missed, last.anew = missed, anew
        asked = self.rng.choice([3, 20, 50000]), self.rng.choice([0, .005, .05]), self.rng.choice([0, .3, .75, 1])
        self.options += ["-tool miss_analyzer -miss_count_threshold %d -miss_frac_threshold %g -confidence_threshold %g" % asked] + self.counts()
        self.physical()
        self.options += ["-LL_miss_file more.hints"]
        run(self.rows, self.touch, self.caches, *self.refs)
        hints = list(misses.hints(*asked, line))
        self.files["more.hints"] = [f"{pc:#x},{stride},nta\n" for pc, stride in hints]
        want = "".join(["Cache miss analyzer results:\n"] + [f"pc={pc:#x}, stride={stride}, locality=nta\n" for pc, stride in hints])
        got = self.told()
        return [] if got == want else [("hints", want, got)]

    def told(self):
        for name in self.files:
            if os.path.exists(name):
                os.remove(name)
        return told(self.trod, *self.options, trace="more.csv")

    def run(self, seed):
        if seed % 2 and "config_file" not in self.options[0]:
            wrong = self.analyze()
        else:
            wrong = self.simulate()
        for name, lines in self.files.items():
            with open(name, encoding="ascii") as f:
                got = list(f)
            if got != lines:
                wrong.append((name, len(lines), len(got), next(((w, g) for w, g in zip(lines, got) if w != g), None)))
        if wrong:
            print(f"seed {seed}: {self.options}\n{self.text}", *wrong[:6], sep="\n", file=sys.stderr)
        return not wrong


if __name__ == "__main__":
    sys.exit(sum(not Case(sys.argv[1], seed).run(seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

"""cache_slow_like.py - `trod cache --like` dinero, cachegrind and callgrind against lists of the rules of these tools.

    cache_slow_like.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of caches and traces. Counts, fractions and bytes must be those of the rules, without any reference output.
"""
import random
import re
import subprocess
import sys

KINDS = ("INSTR", "READ", "WRITE")
LABELS = dict(INSTR="i", READ="r", WRITE="w", MISC="m", COPY_BACK="c", INVALIDATE="v")


def gnu_random():
    """random() of the GNU C library, never seeded."""
    r = [1]
    for i in range(1, 31):
        r.append(16807 * r[i - 1] % 2147483647)
    r += r[:3]
    for i in range(34, 344):
        r.append((r[i - 31] + r[i - 3]) % 2**32)
    while True:
        r.append((r[-31] + r[-3]) % 2**32)
        yield r[-1] >> 1


class Block:
    def __init__(self, number):
        self.number, self.valid, self.referenced, self.dirty = number, set(), set(), set()


class Stacks:
    """Blocks by set, those that come last to go first in the list."""

    def __init__(self, sets, ways, policy, numbers):
        self.sets, self.ways, self.policy, self.numbers = [[] for _ in range(sets)], ways, policy, numbers

    def find(self, number):
        return next((b for b in self.sets[number % len(self.sets)] if b.number == number), None)

    def place(self, number):
        """The block, and what has to go for it."""
        blocks, block, old = self.sets[number % len(self.sets)], self.find(number), None
        if block and self.policy != "l":
            return block, None
        if block:
            blocks.remove(block)
        elif len(blocks) == self.ways:
            old = blocks.pop(next(self.numbers) % self.ways if self.policy == "r" else -1)
        block = block or Block(number)
        blocks.insert(0, block)
        return block, old


class Dinero:
    """A cache; S are its options."""

    def __init__(self, s, numbers, below):
        self.s, self.below, self.numbers = s, below, numbers
        self.blocks = Stacks(s["size"] // s["bsize"] // s["assoc"], s["assoc"], s["repl"], numbers)
        self.full = Stacks(1, s["size"] // s["bsize"], s["repl"], numbers)
        self.seen, self.n, self.multi, self.bytes_in, self.bytes_out = set(), {}, 0, 0, 0

    def count(self, what, kind, prefetch):
        self.n[what, kind, prefetch] = self.n.get((what, kind, prefetch), 0) + 1

    def reference(self, kind, addr, size, prefetch=False):
        while size:  # the rest of a crossing reference comes when all else of it is done
            part = min(size, self.s["bsize"] - addr % self.s["bsize"])
            self.multi += part < size
            self.part(kind, addr, part, prefetch)
            addr, size = (addr + part) % 2**64, size - part

    def subs(self, addr, size):
        return set(range(addr % self.s["bsize"] // self.s["sbsize"], (addr % self.s["bsize"] + size - 1) // self.s["sbsize"] + 1))

    def asked_ahead(self, kind, addr, miss, block, subs):
        """The address to prefetch, or none."""
        s = self.s
        to, start = (addr + s["pfdist"] * s["sbsize"]) % 2**64, addr // s["bsize"] * s["bsize"]
        wanted = dict(d=False, a=True, m=miss, t=miss or not (block and block.referenced & subs), l=to // s["bsize"] == addr // s["bsize"], s=True)
        if kind not in ("READ", "INSTR") or not wanted[s["fetch"]]:
            return None
        if s["pfabort"] and next(self.numbers) // ((2**31 - 1) // 100) < s["pfabort"]:
            return None
        to = start + to % s["bsize"] if s["fetch"] == "s" else to
        return to // s["sbsize"] * s["sbsize"]

    def part(self, kind, addr, size, prefetch):
        s, number, subs = self.s, addr // self.s["bsize"], self.subs(addr, size)
        block, write, exact = self.blocks.find(number), kind == "WRITE", size == len(subs) * s["sbsize"]
        miss, block_miss = not (block and subs <= block.valid), block is None
        allocates = write and (s["walloc"] == "a" or s["walloc"] == "f" and exact)
        places = not write or allocates  # a block that is not there, here and in the fully associative cache
        updates = places or block is not None
        back = write and updates and s["wback"] != "n"
        ahead = None if prefetch else self.asked_ahead(kind, addr, miss, block, subs)
        old = None
        if updates:
            block, old = self.blocks.place(number)
            block.valid |= subs
            block.referenced |= set() if prefetch else subs
            block.dirty |= subs if back else set()
        if s["ccc"]:
            self.classify(kind, number, subs, prefetch, miss, block_miss, places)
        for what, true in (("fetch", True), ("miss", miss), ("block", block_miss)):
            if true:
                self.count(what, kind, prefetch)
        if miss and (not write or allocates and not exact):
            self.bytes_in += len(subs) * s["sbsize"]
            self.down("READ" if write else kind, addr // s["sbsize"] * s["sbsize"], len(subs) * s["sbsize"])
        if write and not back:
            self.bytes_out += size
            self.down("WRITE", addr, size)
        if old:
            self.write_back(old)
        if ahead is not None:
            self.reference(kind, ahead, s["sbsize"], True)

    def down(self, kind, addr, size):
        if self.below:
            self.below.reference(kind, addr, size)

    def write_back(self, block):
        """Runs of dirty sub-blocks, the last one first."""
        dirty = sorted(block.dirty)
        runs = [k for k in dirty if k - 1 not in block.dirty]
        for first in reversed(runs):
            n = next(i for i in range(1, len(dirty) + 1) if first + i not in block.dirty)
            self.bytes_out += n * self.s["sbsize"]
            self.down("WRITE", block.number * self.s["bsize"] + first * self.s["sbsize"], n * self.s["sbsize"])

    def classify(self, kind, number, subs, prefetch, miss, block_miss, places):
        there = self.full.find(number)
        whole = there is not None and subs <= there.valid
        recorded = {k for n, k in self.seen if n == number}
        if places or there:
            self.full.place(number)[0].valid |= subs
        if miss:
            self.count("conflict" if whole else "capacity" if subs <= recorded else "compulsory", kind, prefetch)
        if block_miss:
            self.count("block conflict" if there else "block capacity" if recorded else "block compulsory", kind, prefetch)
        if miss and not whole:
            self.seen |= {(number, k) for k in subs}

    def copy_back(self, addr=None):
        """All blocks, or that of ADDR: what is written last is what is found first."""
        for blocks in reversed(self.blocks.sets):
            for block in reversed(blocks):
                if addr is None or block.number == addr // self.s["bsize"]:
                    self.write_back(block)
                    block.dirty = set()
        if self.below:
            self.below.copy_back(addr)

    def invalidate(self, addr=None):
        for stacks in (self.blocks, self.full):
            stacks.sets = [[b for b in blocks if addr is not None and b.number != addr // self.s["bsize"]] for blocks in stacks.sets]
        known = None if addr is None else addr % 2**32 // self.s["bsize"]  # as an address of 32 bits
        few = (self.s["bsize"] // self.s["sbsize"]).bit_length() - 1  # not as many as there are, but their logarithm
        self.seen = {(n, k) for n, k in self.seen if known is not None and (n != known or k >= few)}
        if self.below:
            self.below.invalidate(addr)

    def rows(self):
        """Rows of the result: Total, Instrn, Data, Read, Write, Misc."""
        def row(what, prefetches=(False,)):
            instr, read, write, misc = (sum(self.n.get((what, k, p), 0) for p in prefetches) for k in KINDS + ("MISC",))
            return [instr + read + write + misc, instr, read + write + misc, read, write, misc]

        def ratio(part, whole):
            return [f"{p / (w or 1):.4f}" for p, w in zip(part, whole)]
        fetches, misses = row("fetch"), row("miss")
        r = {"Demand Fetches": fetches, "Fraction of total": ratio(fetches, fetches[:1] * 6), "Demand Misses": misses, "Demand miss rate": ratio(misses, fetches)}
        if self.s["ccc"]:
            for what in ("compulsory", "capacity", "conflict"):
                r.update({f"{what.capitalize()} misses": row(what), f"{what.capitalize()} fraction": ratio(row(what), misses)})
        if self.s["fetch"] != "d":
            ahead, both = row("fetch", (True,)), row("fetch", (False, True))
            r.update({"Prefetch Fetches": ahead, "Total Fetches": both, "Prefetch Misses": row("miss", (True,)), "Total Misses": row("miss", (False, True)),
                      "PF miss rate": ratio(row("miss", (True,)), ahead), "Total miss rate": ratio(row("miss", (False, True)), both)})
        if self.s["sbsize"] != self.s["bsize"]:
            r.update({"Demand Block Misses": row("block"), "DB miss rate": ratio(row("block"), fetches)})
            if self.s["ccc"]:
                for what in ("compulsory", "capacity", "conflict"):
                    fraction = ratio(row(f"block {what}"), row("block"))
                    if what == "compulsory":  # its last column is the number itself
                        fraction[5] = f"{row(f'block {what}')[5]:.4f}"
                    r.update({f"DB {what} misses": row(f"block {what}"), f"DB {what} fract": fraction})
            if self.s["fetch"] != "d":
                r.update({"Prefetch Block Misses": row("block", (True,)), "Total Block Misses": row("block", (False, True))})
        moved = self.bytes_in + self.bytes_out
        r.update({"Multi-block refs": [self.multi], "Bytes From Memory": [self.bytes_in], "Bytes To Memory": [self.bytes_out], "Total Bytes r/w Mem": [moved],
                  "( / Demand Writes)": ratio([self.bytes_out], [fetches[4]])})
        return r


def dinero_caches(rng):
    """Options by level and side."""
    specs, block, split = [], 4 << rng.randrange(5), rng.random() < .6
    for level in range(1, 1 + rng.choice([1, 2, 2, 3])):
        block *= rng.choice([1, 1, 2])
        for side in "id" if split else "u":
            blocks = 1 << rng.randrange(1, 6)
            s = dict(level=level, side=side, size=block * blocks, bsize=block, sbsize=block >> rng.choice([0, 0, 0, 1, 2]),
                     assoc=rng.choice([1, 1, 2, 3, blocks]), repl=rng.choice("llfr"), fetch=rng.choice("dddamtls"), pfdist=rng.choice([1, 1, 2]),
                     pfabort=rng.choice([0, 0, 30]), walloc=rng.choice("aanf"), wback=rng.choice("aanf"), ccc=rng.random() < .5)
            s["assoc"] = min(s["assoc"], blocks)
            if s["fetch"] == "d":
                s["pfabort"] = 0
            elif s["fetch"] in "ls":
                s["pfdist"] = min(s["pfdist"], block // s["sbsize"])
            specs.append(s)
        split = split and rng.random() < .3
    return specs


class Sum(Dinero):
    """The caches of a split level in one table."""

    def __init__(self, code, data):
        self.s = dict(data.s, ccc=code.s["ccc"] or data.s["ccc"], fetch=data.s["fetch"] if code.s["fetch"] == "d" else code.s["fetch"])
        self.n = {k: code.n.get(k, 0) + data.n.get(k, 0) for k in {**code.n, **data.n}}
        self.multi, self.bytes_in, self.bytes_out = (getattr(code, v) + getattr(data, v) for v in ("multi", "bytes_in", "bytes_out"))


def tables(caches, combined):
    """By name: the rows of a table."""
    names = {}
    for (level, side), cache in sorted(caches.items(), key=lambda c: (c[0][0], "uid".index(c[0][1]))):
        if not combined or side == "u":
            names[f"l{level}-{side}cache"] = cache.rows()
        elif side == "d":
            names[f"l{level}-I/Dcaches"] = Sum(caches[level, "i"], cache).rows()
    return names


def with_labels(rng, rows):
    """ROWS, and some that are no accesses; size 0: of all blocks."""
    for op, addr, size, pc in rows:
        yield op, addr, size, pc
        if rng.random() < .15:
            op = rng.choice(["MISC", "MISC", "COPY_BACK", "INVALIDATE"])
            yield op, addr + rng.choice([0, 0, 64]), size if op == "MISC" else rng.choice([size, size, size, 0]), pc


def dinero(trod, rng, rows):
    specs, numbers = dinero_caches(rng), gnu_random()
    caches = {}
    for s in reversed(specs):
        below = caches.get((s["level"] + 1, "u"), caches.get((s["level"] + 1, s["side"])))
        caches[s["level"], s["side"]] = Dinero(s, numbers, below)
    flush, skip, most = rng.choice([0, 0, 0, 37]), rng.choice([0, 0, 5]), rng.choice([0, 0, 100])
    alike = all(s["sbsize"] == t["sbsize"] for s in specs for t in specs if s["level"] == t["level"])
    combined, interval, old_format = rng.random() < .3 and alike, rng.choice([0, 0, 90]), rng.random() < .2
    trace, written = "like.csv", len(rows)
    if rng.random() < .5:
        trace, rows = "like.xdin", list(with_labels(rng, [(op, addr % 2**64, size, pc) for op, addr, size, pc in rows if addr < 2**64]))
        with open(trace, "w", encoding="ascii") as f:
            f.write("".join(f"{LABELS[op]} {addr:x} {size:x}\n" for op, addr, size, _ in rows))
    # one sequence of random numbers for all, drawn in the order of what happens
    first = {op: caches.get((1, "u")) or caches[1, "i" if op == "INSTR" else "d"] for op in KINDS + ("MISC",)}
    told_then = []
    for i, (op, addr, size, _) in enumerate(rows[skip:skip + most if most else None]):
        addr, size = (addr // 4 * 4, 4) if old_format else (addr, size)
        if op == "COPY_BACK":
            first["READ"].copy_back(addr if size else None)
        elif op == "INVALIDATE":
            first["INSTR"].invalidate(addr if size else None)
            first["READ"].invalidate(addr if size else None)
        else:
            first[op].reference(op, addr, size)
        if interval and i % interval == interval - 1:
            told_then.append(tables(caches, combined))
        if flush and i % flush == flush - 1:
            first["READ"].copy_back()
            first["INSTR"].invalidate()
            first["READ"].invalidate()
    first["READ"].copy_back()
    words = [f"-l{s['level']}-{s['side']}{k} {v}" for s in specs for k, v in s.items()
             if k not in ("level", "side", "ccc") and not (s["side"] == "i" and k in ("walloc", "wback"))]
    words += [f"-l{s['level']}-{s['side']}ccc" for s in specs if s["ccc"]]
    options = sorted(w for w in words if not w.endswith(" 0"))  # all of these are listed
    words += [f"-flushcount {flush}"] * (flush > 0) + [f"-skipcount {skip}"] * (skip > 0) + [f"-maxcount {most}"] * (most > 0)
    words += ["-stat-idcombine"] * combined + [f"-stat-interval {interval}"] * (interval > 0) + ["-informat d"] * old_format
    summary, text = told(trod, "dinero", " ".join(words), trace).split("---Simulation begins.\n")
    if options != (listed := sorted(re.findall(r"^-l.*", summary, re.M))):
        yield "options", options, listed
    got = [(name, table) for name, table in re.findall(r"^(l\d-\S+)\n((?: .*\n|\n)+)", text, re.M)]
    want = [t for names in told_then + [tables(caches, combined)] for t in names.items()]
    if [n for n, _ in want] != [n for n, _ in got]:
        yield "tables", [n for n, _ in want], [n for n, _ in got], " ".join(words)
    for (name, lines), (_, table) in zip(want, got):
        for label, numbers in lines.items():
            line = re.search(rf"^ +{re.escape(label)}\s+([\d.\s]+)$", table, re.M)
            found = line and line[1].split()[:len(numbers)]
            if found != [str(w) for w in numbers]:
                yield name, label, numbers, found, " ".join(words), trace, written


class Valgrind:
    """Two levels; lines by set, the one used last first."""

    def __init__(self, shapes, callgrind, write_back, ahead):
        self.shapes, self.callgrind, self.write_back, self.ahead = shapes, callgrind, write_back, ahead
        self.cache = {name: [[] for _ in range(size // ways // line)] for name, (size, ways, line) in shapes.items()}
        self.n = {k + e: 0 for k in ("INSTR", "READ", "WRITE") for e in ("", " first", " last", " dirty")}
        self.streams = [[0, 0] for _ in range(8)]

    def touch(self, name, line, dirty):
        """Is it a miss, and does a dirty line go?"""
        lines = self.cache[name][line % len(self.cache[name])]
        known = next((e for e in lines if e[0] == line), None)
        out = False
        if known:
            lines.remove(known)
        elif len(lines) == self.shapes[name][1]:
            out = lines.pop()[1]
        lines.insert(0, (line, dirty or bool(known and known[1])))
        return known is None, out

    def look_up(self, name, addr, size, dirty=False):
        line = self.shapes[name][2]
        found = [self.touch(name, at, dirty) for at in range(addr // line, (addr + size - 1) // line + 1)]
        return any(m for m, _ in found), any(o for _, o in found)

    def reference(self, kind, addr, size):
        size = min(size, *(s[2] for s in self.shapes.values())) if kind != "INSTR" else size
        self.n[kind] += 1
        write = self.write_back and kind == "WRITE"
        miss, _ = self.look_up("I1" if kind == "INSTR" else "D1", addr, size)
        if not miss:
            if write:
                self.look_up("LL", addr, size, True)
            return
        self.n[kind + " first"] += 1
        if self.ahead:
            self.stream(addr)
        miss, out = self.look_up("LL", addr, size, write)
        self.n[kind + " last"] += miss
        self.n[kind + " dirty"] += miss and out

    def stream(self, addr):
        line, stream = addr // self.shapes["LL"][2], self.streams[addr // 4096 % 8]
        step = line - stream[0]
        if step == 0:
            return
        run = stream[1] + step if abs(step) == 1 and stream[1] * step >= 0 else step if abs(step) == 1 else 0
        stream[:] = [line, run]
        if abs(run) >= 2:
            self.touch("LL", line + (5 if run > 0 else -5), False)

    def run(self, rows):
        i = 0
        while i < len(rows):
            op, addr, size, pc = rows[i]
            if op == "READ" and i + 1 < len(rows) and rows[i + 1] == ("WRITE", addr, size, pc):
                op, i = "WRITE" if self.callgrind else "READ", i + 1  # one reference
            self.reference(op, addr, size)
            i += 1

    def lines(self):
        """Label: numbers, as they are printed."""
        n = self.n
        ir, dr, dw = (n[k] for k in KINDS)

        def pair(event):
            return [n["READ" + event] + n["WRITE" + event], n["READ" + event], n["WRITE" + event]]

        def rates(part, whole, digits=1):
            return [f"{p * 100 / w if w else 0:.{digits}f}" for p, w in zip(part, whole)]
        first, last, refs = pair(" first"), pair(" last"), pair("")
        ll = [first[0] + n["INSTR first"], first[1] + n["INSTR first"], first[2]]
        ll_misses = [last[0] + n["INSTR last"], last[1] + n["INSTR last"], last[2]]
        return {"I refs": [ir], "I1 misses": [n["INSTR first"]], "LLi misses": [n["INSTR last"]], "I1 miss rate": rates([n["INSTR first"]], [ir], 2),
                "LLi miss rate": rates([n["INSTR last"]], [ir], 2), "D refs": refs, "D1 misses": first, "LLd misses": last,
                "D1 miss rate": rates(first, refs), "LLd miss rate": rates(last, refs), "LL refs": ll, "LL misses": ll_misses,
                "LL miss rate": rates(ll_misses, [ir + dr + dw, ir + dr, dw])}


def valgrind(trod, rng, rows):
    shapes = {}
    for name in ("I1", "D1", "LL"):
        ways, line = rng.choice([1, 2, 3, 4]), rng.choice([16, 32, 64])
        shapes[name] = (ways * line << rng.randrange(5 if name == "LL" else 3), ways, line)
    callgrind, extra = rng.random() < .6, rng.choice(["", "--simulate-wb=yes", "--simulate-hwpref=yes"])
    extra = extra if callgrind else ""
    v = Valgrind(shapes, callgrind, "wb" in extra, "hwpref" in extra)
    v.run(rows)
    words = " ".join(f"--{name}={','.join(map(str, s))}" for name, s in shapes.items()) + " " + extra
    text = told(trod, "callgrind" if callgrind else "cachegrind", words)
    got = {}
    for line in text.splitlines():
        label, _, numbers = line.partition(":")
        got[" ".join(label.split())] = re.findall(r"[\d.]+", numbers.replace(",", ""))
    want = v.lines()
    if callgrind:
        n = v.n
        want["Collected"] = [n[k] for k in KINDS] + [n[k + " first"] for k in KINDS] + [n[k + " last"] for k in KINDS]
        want["Collected"] += [n[k + " dirty"] for k in KINDS] if "wb" in extra else []
    for label, numbers in want.items():
        if got.get(label) != [str(x) for x in numbers]:
            yield label, numbers, got.get(label), words


def told(trod, tool, words, trace="like.csv"):
    return subprocess.run([trod, "cache", "-q", "--like", tool, "--with", words, trace], check=True, stdout=subprocess.PIPE).stdout.decode()


def trace(rng):
    """Rows: kind, address, size, pc; random, a loop, strides or few hot places, and reads that are written at once."""
    base, span, how = rng.choice([0x1000, 0x7ffff123, 2**64 - 2**20]), rng.choice([100, 500, 3000, 9000]), rng.randrange(4)
    rows = []
    for i in range(400):
        at = (rng.randrange(span), i * 8 % span, i * 36 % (2 * span), int(span * rng.paretovariate(1.2)) % (2 * span))[how]
        op, size = rng.choice(["INSTR", "READ", "READ", "WRITE"]), rng.choice([1, 2, 4, 8, 8, 16, 40])
        size, pc = min(size, 15) if op == "INSTR" else size, base + at if op == "INSTR" else 0x400 + 4 * rng.randrange(3)
        rows.append((op, base + at, size, pc))
        if op == "READ" and rng.random() < .2:
            rows.append(("WRITE", base + at, size, pc))
    return rows


def case(trod, seed):
    rng = random.Random(seed)
    rows = trace(rng)
    with open("like.csv", "w", encoding="ascii") as f:
        f.write("kind,stream,addr,size,pc\n")
        for op, addr, size, pc in rows:
            f.write(f"{op},0,{addr:#x},{size},{'' if op == 'INSTR' else pc}\n")
    wrong = list(dinero(trod, rng, rows)) + list(valgrind(trod, rng, rows))
    if wrong:
        print(f"seed {seed}:", *wrong[:6], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

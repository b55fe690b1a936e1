"""locality_slow.py - `trod locality` against lists: docs/locality.md, and the definitions of each word in it.

    locality_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces (random, loops, strides, few hot places, both ends of the address space; of one to three
threads) and of options. Every number of every table must be what lists, sets and dicts give.
"""
import json
import random
import subprocess
import sys

CLASSES = {"INSTR": "instr", "READ": "read", "WRITE": "write", "ATOMIC": "write", "PREFETCH": "prefetch"}
REFS = {"all": ("instr", "read", "write", "prefetch"), "data": ("read", "write", "prefetch"), "instr": ("instr",), "read": ("read",),
        "write": ("write",)}
NO_REFERENCE = {"NOFETCH": 1 << 19, "SYNTHETIC": 1 << 17, "ABORTED": 1 << 22}
SKIPPED = 1 << 10  # fetched, though not executed
MOST = 700  # references
COUNTERS = 8  # strides that are counted of an instruction
TOP = 2**64


def trace(rng):
    """Rows: kind, thread, address, size, pc, flags."""
    base = rng.choice([0, 0, 0x10000, 0x7fff1230, 1 << 47, TOP - rng.choice([1, 300, 5000])])
    span, shape = rng.choice([200, 1000, 4000, 40000]), rng.randrange(5)
    threads, turn, pc = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 20]), [0x400000] * 3
    place, step = [0] * 3, [rng.choice([1, 8, 64, 72, -40, 4096]) for _ in range(6)]
    thread, n = 0, rng.choice([1, 2, 3, 30, 180, 250, 800, MOST])
    for i in range(n):
        if i % turn == 0:
            thread = rng.randrange(threads)
        kind = rng.choice(["INSTR"] * 6 + ["READ"] * 6 + ["WRITE"] * 4 + ["ATOMIC", "PREFETCH", "PREFETCH", "REG", "MARKER"])
        if kind == "INSTR":
            pc[thread] = 0x400000 + 16 * rng.randrange(6)
            yield kind, thread, pc[thread], 4, pc[thread], rng.choice([0] * 20 + [SKIPPED, *NO_REFERENCE.values()])
            continue
        site = (pc[thread] - 0x400000) // 16
        place[thread] += step[site]
        at = (rng.randrange(span), i * 8 % span, place[thread] % (3 * span), int(span * rng.paretovariate(1.2)) % (2 * span),
              i % rng.choice([5, 7, 11]) * 64)[shape]
        size = rng.choice([0, 1, 2, 4, 4, 8, 8, 16, 40, 64, 65, 130, 300])
        yield kind, thread, (base + at) % TOP, size, pc[thread], rng.choice([0] * 30 + list(NO_REFERENCE.values()))


def write(name, rows):
    with open(name, "w") as f:
        f.write("kind,stream,addr,size,pc,flags\n")
        for kind, thread, addr, size, pc, flags in rows:
            where = f"{addr:#x},{size},{pc:#x}" if kind not in ("REG", "MARKER") else ",,"
            f.write(f"{kind},{thread},{where},{flags:#x}\n")


class Lane:
    """References in front of one cache: (class, line, pc, bytes of the line that are touched, address)."""

    def __init__(self, refs, limit=0):
        self.refs, self.limit = refs, limit
        self.distance, self.time = [], []  # None: the first reference
        stack, last, forgotten = [], {}, set()
        self.forgotten = self.forgotten_hits = 0
        for i, (_, line, *_) in enumerate(refs):
            self.distance.append(stack.index(line) if line in stack else None)
            if line in stack:
                stack.remove(line)
            stack.insert(0, line)
            self.forgotten_hits += line in forgotten
            forgotten.discard(line)
            if limit and len(stack) > limit:
                self.forgotten += 1
                forgotten.add(stack.pop())
            self.time.append(i - last[line] if line in last else None)
            last[line] = i
        self.kept = stack

    def misses(self, lines):
        """Places of the references that miss in a fully associative cache."""
        return [i for i, d in enumerate(self.distance) if d is None or d >= lines]

    def in_sets(self, sets, ways):
        held, misses = {}, 0
        for _, line, *_ in self.refs:
            there = held.setdefault(line % sets, [])
            misses += line not in there
            if line in there:
                there.remove(line)
            there.insert(0, line)
            del there[ways:]
        return misses

    def residencies(self, lines):
        """Numbers of bytes that were touched of lines while they were in a cache of so many."""
        stack, bits, out = [], {}, []
        for _, line, _, touched, _ in self.refs:
            if line in stack:
                stack.remove(line)
            stack.insert(0, line)
            bits[line] = bits.get(line, set()) | touched
            if len(stack) > lines:
                out.append(len(bits.pop(stack.pop())))
        return out + [len(b) for b in bits.values()]

    def footprint(self, w):
        """The mean of all windows of W references, and of the last W at each time."""
        lines = [r[1] for r in self.refs]
        windows = [len(set(lines[i:i + w])) for i in range(len(lines) - w + 1)]
        last = [len(set(lines[max(0, i + 1 - w):i + 1])) for i in range(len(lines))]
        return sum(windows) / len(windows), sum(last) / len(last)


class Case:
    def __init__(self, trod, seed):
        self.trod, self.seed, self.wrong = trod, seed, []
        self.rng = rng = random.Random(seed)
        self.rows = list(trace(rng))
        self.line = rng.choice([64, 64, 64, 1, 16, 32, 128, 4096])
        self.which, self.crossing, self.shared = rng.choice(["all"] * 4 + list(REFS)), rng.random() < .4, rng.random() < .5
        while sum(len(list(self.references(*r))) for r in self.rows) > MOST:
            del self.rows[-len(self.rows) // 4:]
        write("slow.csv", self.rows)
        self.make()

    def make(self, limit=0):
        threads = sorted({r[1] for r in self.rows}, key=[r[1] for r in self.rows].index)
        lanes = {t: [] for t in threads}
        for row in self.rows:
            lanes[row[1]] += self.references(*row)
        self.lanes = {t: Lane(refs, limit) for t, refs in lanes.items()}
        if self.shared:
            self.lanes = {None: Lane([r for row in self.rows for r in self.references(*row)], limit)}
        self.of = list(self.lanes.values())

    def references(self, kind, _, addr, size, pc, flags):
        if CLASSES.get(kind) not in REFS[self.which] or flags & sum(NO_REFERENCE.values()):
            return
        at, left = addr, max(size, 1)
        while True:
            n = min(left, self.line - at % self.line)
            grain = max(1, self.line // 64)
            parts = {b // grain * grain + k for b in range(at % self.line, at % self.line + n) for k in range(grain)}
            yield CLASSES[kind], at // self.line, pc, parts, addr
            at, left = (at + n) % TOP, left - n
            if not left or not self.crossing:
                return

    def ask(self, *args, refused=False):
        args = ["--line", str(self.line), "--refs", self.which, *args]
        args += ["--crossing"] * self.crossing + ["--shared"] * self.shared + ["-j", str(self.rng.randint(1, 4))]
        done = subprocess.run([self.trod, "locality", "-q", "--format", "json", "--order", "file", *args, "slow.csv"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.args, self.said = args, done.stderr.decode()
        if refused:
            self.same("refused", 2, done.returncode)
            return {}
        if done.returncode:
            self.wrong.append((args, done.returncode, done.stderr.decode()))
            return {}
        return json.loads(done.stdout)

    def same(self, what, want, got, decimals=None):
        if decimals is not None and isinstance(got, (int, float)) and abs(want - got) <= .5001 * 10 ** -decimals:
            return
        if want != got:
            self.wrong.append((what, "want", want, "got", got, self.args))

    def table(self, what, want, got, decimals=None):
        """Rows are lists; numbers that are no whole ones have so many decimals."""
        self.same((what, "rows"), len(want), len(got))
        for w, g in zip(want, got):
            for a, b in zip(w, g):
                self.same((what, w), a, b, decimals if isinstance(a, float) else None)

    # what all of it comes to
    def summary(self, got, lanes, limit=0):
        refs = [r for l in lanes for r in l.refs]
        self.same("references", len(refs), got.get("references", 0))
        if not refs:
            return
        for name, of in (("instruction", "instr"), ("read", "read"), ("write", "write"), ("prefetch", "prefetch")):
            self.same(name, sum(r[0] == of for r in refs), got.get(name + "_references", 0))
        self.same("lines", len({r[1] for r in refs}), got["lines"])
        known = sorted(d for l in lanes for d in l.distance if d is not None)
        self.same("cold", len(refs) - len(known), got["cold"])
        if known:
            mean = sum(known) / len(known)
            self.same("mean", mean, got["mean_distance"], 2)
            self.same("deviation", (sum((d - mean) ** 2 for d in known) / len(known)) ** .5, got["standard_deviation"], 2)
            half = len(known) // 2
            self.same("median", next(d for d in known if sum(k <= d for k in known) >= half), got["median_distance"])
            self.same("max", known[-1], got["max_distance"])
        else:
            self.same("nothing again", set(), {"mean_distance", "median_distance", "standard_deviation", "max_distance"} & set(got))
        size, sizes = 1, [1]
        while size < got["lines"]:
            sizes += [size + size // 2] * (size > 1) + [2 * size]
            size *= 2
        if limit and size > limit:  # of larger caches nothing is known
            sizes = sorted({s for s in sizes if s < limit} | {limit})
        self.curve(got, lanes, sizes)

    def curve(self, got, lanes, sizes):
        self.table("curve", [self.point(lanes, c) for c in sizes], [list(p.values()) for p in got["miss_ratio_curve"]], 6)

    def point(self, lanes, lines):
        missing = [l.refs[i][0] for l in lanes for i in l.misses(lines)]
        out = [lines, lines * self.line, len(missing)]
        for of in (REFS["all"], ("instr",), REFS["data"]):
            n = sum(r[0] in of for l in lanes for r in l.refs)
            out.append(sum(m in of for m in missing) / n if n else None)
        return out

    def distances(self, got, each):
        rows, n = {}, sum(len(l.refs) for l in self.of)
        for l in self.of:
            for (of, *_), d in zip(l.refs, l.distance):
                if d is not None:
                    low = d if each or d < 2 else 1 << d.bit_length() - 1
                    rows.setdefault(low, dict.fromkeys(REFS["all"], 0))[of] += 1
        self.table("distances", [[low, low if each or low < 2 else 2 * low - 1, *row.values(), 100 * sum(row.values()) / n]
                                 for low, row in sorted(rows.items())], [list(r.values()) for r in got.get("distances", [])], 4)

    def lists(self, got, distant, top):
        count = {}
        for l in self.of:
            for (_, line, *_), d in zip(l.refs, l.distance):
                row = count.setdefault(line, [0, 0])
                row[0] += 1
                row[1] += d is not None and d > distant
        for name, by in (("top_lines", lambda i: (-i[1][0], -i[1][1], i[0])), ("distant_lines", lambda i: (-i[1][1], -i[1][0], i[0]))):
            want = [[f"{line * self.line:#x}", *row] for line, row in sorted(count.items(), key=by)[:top]]
            self.table(name, want, [list(r.values()) for r in got.get(name, [])])

    # what is asked for
    def plain(self):
        each, distant, top = self.rng.random() < .5, self.rng.choice([0, 1, 5, 100]), self.rng.choice([1, 3, 10, 1000])
        got = self.ask("--distant", str(distant), "--top", str(top), *["--histogram"] * each)
        self.summary(got, self.of)
        self.distances(got, each)
        self.lists(got, distant, top)
        streams = {s["stream"]: s for s in got.get("streams", [])}
        if not self.shared:
            for thread, lane in self.lanes.items():
                if lane.refs:
                    self.summary(streams.pop(str(thread), {}), [lane])
            self.same("streams", [], [s for s in streams.values() if s["references"]])

    def sets(self):
        ways = self.rng.choice([1, 2, 3, 4, 7, 8, 16])
        got = self.ask("--ways", str(ways)).get("set_associative", [])
        of, some = sum(len(l.refs) for l in self.of), [w for w in (1, 2, 4, 8, 16) if w < ways] + [ways]
        if of:
            self.same("shapes", [(1 << k, w) for k in range(17) for w in some], [(r["sets"], r["ways"]) for r in got])
        for row in self.rng.sample(got, min(8, len(got))):
            misses = sum(l.in_sets(row["sets"], row["ways"]) for l in self.of)
            self.table("sets", [[row["sets"] * row["ways"] * self.line, misses, misses / of]], [list(row.values())[2:]], 6)

    def touched(self):
        size = self.rng.choice([1, self.line, 3 * self.line, 3 * self.line + 1, 16 * self.line, 1 << 20])
        if size < self.line:
            self.ask("--touched", str(size), refused=True)
            self.same(("both sizes", self.said), True, f"a cache of {size} bytes holds no line of {self.line}:" in self.said)
            return
        got = self.ask("--touched", str(size))
        all_of = [n for l in self.of for n in l.residencies(size // self.line)]
        self.table("touched", [[n, all_of.count(n), 100 * all_of.count(n) / len(all_of)] for n in sorted(set(all_of))],
                   [list(r.values()) for r in got.get("touched", [])], 2)
        if all_of:
            self.same("touched share", 100 * sum(all_of) / len(all_of) / self.line, got["touched_share"], 2)

    def times(self):
        window = self.rng.choice([1, 2, 10, 100, 1000])
        got = self.ask("--times", "--window", str(window))
        known = [t for l in self.of for t in l.time if t is not None]
        n = sum(len(l.refs) for l in self.of)
        if known:
            self.same("mean time", sum(known) / len(known), got["mean_reuse_time"], 2)
        else:
            self.same("mean time", None, got.get("mean_reuse_time"))
        lows = sorted({1 << t.bit_length() - 1 for t in known})
        counts = [sum(low <= t < 2 * low for t in known) for low in lows]
        self.table("reuse times", [[low, 2 * low - 1, k, 100 * k / n] for low, k in zip(lows, counts)],
                   [list(r.values()) for r in got.get("reuse_times", [])], 4)
        used = [l for l in self.of if l.refs]
        if len(used) != 1:
            self.same("of several", [], [k for k in ("footprint", "models", "windows") if k in got])
            return
        lines = [r[1] for r in used[0].refs]
        self.same("windows", [[i, len(set(lines[k:k + window]))] for i, k in enumerate(range(0, n - window + 1, window))],
                  [list(r.values()) for r in got["windows"]])
        self.same("footprints", {1 << k for k in range(n.bit_length())} - {r["window"] for r in got["footprint"]}, set())
        self.table("footprint", [[r["window"], *used[0].footprint(r["window"])] for r in got["footprint"]],
                   [list(r.values()) for r in got["footprint"]], 2)
        if n < 256:  # lengths of time are not in bins
            self.models(got["models"], used[0], n)

    def models(self, got, lane, n):
        """HOTL: the rise of the footprint where it is C; AET: P(T) where the sum of P below T is C; StatStack: reuses whose expected
        distance, the sum of P(k) for 0 < k < T, is C or more. P(t): share of reuse times beyond t."""
        lines = len({r[1] for r in lane.refs})
        fp = [0.] + [lane.footprint(w)[0] for w in range(1, n + 1)]
        beyond = [sum(t is None or t > k for t in lane.time) / n for k in range(n + 1)]
        fill = [sum(beyond[:k]) for k in range(n + 2)]
        for row in got:
            c = row["bytes"] // self.line
            at = max(w for w in range(n + 1) if fp[w] <= c + 1e-9)
            want = lines / n if c >= lines else fp[at + 1] - fp[at]
            self.same(("hotl", c), want, row["hotl"], 6)
            at = max(t for t in range(n + 1) if fill[t] <= c + 1e-9)
            self.same(("aet", c), beyond[at], row["aet"], 6)
            far = sum(t is None or fill[t] - 1 >= c - 1e-9 for t in lane.time) / n
            self.same(("statstack", c), far, row["statstack"], 6)

    def owners(self):
        per, size = self.rng.choice(["instruction", "page", "line"]), self.line * self.rng.choice([1, 4, 64]) + self.rng.choice([0, 1])
        got = self.ask("--per", per, "--size", str(size), "--top", "100000")
        count, key = {}, dict(instruction=lambda r: r[2], page=lambda r: r[1] * self.line >> max(12, self.line.bit_length() - 1) << 12,
                              line=lambda r: r[1] * self.line)[per]
        for l in self.of:
            for i, r in enumerate(l.refs):
                row = count.setdefault(key(r), [0, 0])
                row[0] += 1
                row[1] += l.distance[i] is None or l.distance[i] >= size // self.line
        all_of = sum(m for _, m in count.values())
        want = [[f"{k:#x}", n, m, m / n, 100 * m / all_of] for k, (n, m) in sorted(count.items(), key=lambda i: (-i[1][1], -i[1][0], i[0]))]
        self.same("owners", [w[:3] for w in want], [[r["address"], r["references"], r["misses"]] for r in got.get("owners", [])])
        for w, r in zip(want, got.get("owners", [])):
            self.same(("owner", "ratio"), w[3], r["miss_ratio"], 4)
            self.same(("owner", "share"), w[4], r["share"], 2)

    def strides(self):
        """Where an instruction has few strides all are known; else no count is too high, nor lower by more than what all had to share."""
        got = self.ask("--strides", "--top", "100000")
        steps = {}
        for thread in [None] if self.shared else self.lanes:
            last = {}
            for kind, t, addr, _, pc, flags in self.rows:
                if not list(self.references(kind, t, addr, 1, pc, flags)) or kind == "INSTR" or thread not in (None, t):
                    continue
                steps.setdefault(pc, [0, []])[0] += 1
                if pc in last:
                    by = (addr - last[pc]) % TOP
                    steps[pc][1].append(by - TOP if by >> 63 else by)
                last[pc] = addr
        want = sorted((-n, pc) for pc, (n, by) in steps.items() if by)
        self.same("strides", [(f"{pc:#x}", -n) for n, pc in want], [(r["address"], r["references"]) for r in got.get("strides", [])])
        regular = exact = 0
        for r in got.get("strides", []):
            by = steps.get(int(r["address"], 16), (0, [0]))[1]
            true, most = 100 * by.count(r["stride"]) / len(by), 100 * max(by.count(b) for b in set(by)) / len(by)
            few = len(set(by)) <= COUNTERS
            exact += few
            regular += max(by.count(b) for b in set(by))
            if few:
                self.same(("stride", r), most, r["share"], 2)
                self.same(("stride", r), most, true)
            elif not min(most - 100 / COUNTERS, true) - .01 <= r["share"] <= true + .01 or r["share"] <= 0:
                self.wrong.append(("stride", r, true, most))
        if got.get("strides") and exact == len(got["strides"]):
            self.same("regular", 100 * regular / sum(len(steps[pc][1]) for _, pc in want), got["regular"], 2)

    def forgotten(self):
        limit = self.rng.choice([1, 2, 5, 20])
        whole = self.of
        got = self.ask("--limit-lines", str(limit))
        self.make(limit)
        self.distances(got, False)
        self.summary(got, self.of, limit)
        if any(l.refs for l in self.of):
            self.curve(got, whole, [p["lines"] for p in got["miss_ratio_curve"]])  # exact, as far as it goes
            self.same("forgotten", [sum(l.forgotten for l in self.of), sum(l.forgotten_hits for l in self.of)],
                      [got["forgotten_lines"], got["forgotten_hits"]])
            self.limited(limit, whole)

    def limited(self, limit, whole):
        """Of caches up to the limit all is known, larger ones are refused."""
        most = limit * self.line
        for option, value in (("--size", most + self.line), ("--touched", most + self.line)):
            self.ask("--limit-lines", str(limit), option, str(value), "--per", "line", refused=True)
            self.same((option, self.said), True, f"has {limit + 1} lines, and --limit-lines {limit} forgets" in self.said)
        got = self.ask("--limit-lines", str(limit), "--per", "line", "--size", str(most), "--top", "100000")
        self.same("misses of lines", sum(len(l.misses(limit)) for l in whole), sum(r["misses"] for r in got["owners"]))

    def run(self):
        for check in (self.plain, self.sets, self.touched, self.times, self.owners, self.strides, self.forgotten):
            check()
        if self.wrong:
            print(f"seed {self.seed}", *self.wrong[:6], sep="\n", file=sys.stderr)
        return not self.wrong


if __name__ == "__main__":
    sys.exit(sum(not Case(sys.argv[1], seed).run() for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

"""cut_slow.py - warm-ups, intervals and regions against traces that are cut by hand.

    cut_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces whose rows are made with the number of the instruction that they belong to: accesses behind
it, or (of one thread) before it, and what else stands between two, which is of the first. An analysis of an interval must say what it says
of a trace with these rows only; one whose cache stays warm, what it says of all rows up to the end less what it says of those up to the
beginning.
"""
import json
import random
import subprocess
import sys

ACCESSES = ("READ", "WRITE", "PREFETCH", "REG")


def trace(rng, before):
    """Rows: kind, thread, time or None, pc, address; and of which instruction, from 1. BEFORE: accesses come first."""
    rows, time, last = [], rng.randrange(1000), None
    span = rng.choice([0x400, 0x4000])

    def between(n):
        for _ in range(rng.choice([0] * 9 + [1, 2])):
            rows.append((rng.choice(["MARKER", "NOTE"]), 0, None, None, None, n))

    between(0)
    for n in range(1, rng.randrange(20, 160)):
        pc = rng.choice([p for p in range(0x1000, 0x1040, 4) if p != last])
        last, thread = pc, 0 if before else rng.randrange(3)
        time += rng.choice([0, 1, 1, 2, 30])
        accesses = [(rng.choice(ACCESSES), thread, rng.choice([None, time, time, time + 1]), pc, 0x10000 + rng.randrange(span), n)
                    for _ in range(rng.choice([0, 0, 1, 1, 2, 5]))]
        said = rng.choice([None, time, time, time])
        instruction = [("INSTR", thread, said, pc, pc, n)]
        rows += accesses + instruction if before else instruction + accesses
        between(n)
    return rows


def write(name, rows, told):
    """TOLD: accesses say their instruction."""
    with open(name, "w") as f:
        f.write("kind,stream,time,unit,pc,addr,size,text\n")
        for kind, thread, time, pc, addr, _ in rows:
            when = f"{time},clk" if time is not None else ","
            if kind in ACCESSES:
                where = f"{pc:#x}" if told else ""
                f.write(f"{kind},{thread},{when},{where}," + (",4,r1\n" if kind == "REG" else f"{addr:#x},4,\n"))
            elif kind == "INSTR":
                f.write(f"INSTR,{thread},{when},{pc:#x},,4,\n")
            else:
                f.write(f"{kind},{thread},{when},,,,x\n")


def by_time(rows, length, warm):
    """Ends of the warm-up (if WARM is not 0) and of intervals of LENGTH in time, as numbers of rows."""
    ends, origin, now, due, left = [], None, None, False, warm
    ran = set()
    for i, (kind, _, time, _, _, n) in enumerate(rows):
        if time is not None:
            due |= origin is not None and time >= origin + (left or length)
            now, origin = time, time if origin is None else origin
        if due and not (kind in ACCESSES and n in ran):
            ends.append(i)
            origin, due, left = now, False, 0
        if kind == "INSTR":
            ran.add(n)
    return ends


def cut(rows, measure, length, warm):
    """The rows of the warm-up, and of each interval."""
    if measure == "time":
        ends = by_time(rows, length, warm)
    elif measure == "rows":
        ends = list(range(warm, len(rows), length))[0 if warm else 1:]
    else:
        number = [r[5] for r in rows]
        assert number == sorted(number)
        at = [warm] if warm else []
        at += range(warm + length, number[-1], length)
        ends = [sum(n <= last for n in number) for last in at if last < number[-1]]
        if warm >= number[-1]:
            ends = [len(rows)]
    ends = [0] * (not warm) + ends + [len(rows)]
    if warm and len(ends) == 1:  # it never ends
        return rows, []
    parts = [rows[a:b] for a, b in zip(ends, ends[1:])]
    return rows[:ends[0]], [p for p in parts if p]


class Slow:
    """A fully associative LRU cache: what LOCALITY says of intervals."""

    def __init__(self, lines):
        self.lines, self.stack = lines, []

    def rows(self, rows):
        refs = cold = misses = 0
        for kind, _, _, pc, addr, _ in rows:
            if kind not in ("INSTR", "READ", "WRITE", "PREFETCH"):
                continue
            line = (pc if kind == "INSTR" else addr) // 64
            refs += 1
            cold += line not in self.stack
            misses += line not in self.stack[:self.lines]
            if line in self.stack:
                self.stack.remove(line)
            self.stack.insert(0, line)
        return [refs, cold, misses]


class Case:
    def __init__(self, trod, seed):
        self.trod, self.seed, self.wrong = trod, seed, []
        self.rng = rng = random.Random(seed)
        self.before = rng.random() < .3
        self.told = self.before or rng.random() < .5
        self.rows = trace(rng, self.before)
        write("cut.csv", self.rows, self.told)

    def told_of(self, analysis, *args, file="cut.csv"):
        done = subprocess.run([self.trod, "run", *analysis.split(), "-q", "--format", "json", "-j", str(self.rng.randint(1, 4)),
                               *args, file], check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def same(self, what, want, got):
        if want != got:
            self.wrong.append((what, want, got))

    def alone(self, analysis, rows):
        """What ANALYSIS says of ROWS."""
        write("part.csv", rows, True)
        return self.told_of(analysis, file="part.csv")

    @staticmethod
    def plain(result):
        """Without what says where it is of."""
        names = ("interval", "rows_end", "instructions_end", "time_end", "format", "files", "isa", "intervals", "note", "measure_note",
                 "lengths")  # of a site that an access told of first it is not known
        return {k: v for k, v in result.items() if k not in names}

    def intervals(self, measure, length, warm):
        args = ["--interval", f"{length}:{measure}"] + (["--warmup", f"{warm}:{measure}"] if warm else [])
        before, parts = cut(self.rows, measure, length, warm)
        what = (*args, len(before), [len(p) for p in parts])
        for analysis in ("count", "mix"):
            got = self.told_of(analysis, *args)
            self.same((analysis, what), [self.plain(self.alone(analysis, p)) for p in parts],
                      [self.plain(i) for i in got["intervals"]] if parts else [])
        # warm caches
        slow, lines = Slow(8), []
        slow.rows(before)
        for part in parts:
            lines.append(slow.rows(part))
        got = self.locality(*args)
        self.same(("locality", what), lines, [[i[k] for k in ("references", "cold", "misses")] for i in got.get("intervals", [])])
        self.same(("locality", "all", what), sum(l[0] for l in lines), got["references"])
        if warm:
            self.warmed(measure, warm, before)

    def locality(self, *args):
        done = subprocess.run([self.trod, "locality", "--shared", "--size", "512", "-q", "--format", "json", *args, "cut.csv"],
                              check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def warmed(self, measure, warm, before):
        """What is counted behind a warm-up is what is counted of all rows less what is counted of it."""
        if not any(r[0] in ("INSTR", "READ", "WRITE") for r in before):
            return
        got, all_of, first = (self.counts(*a) for a in ((["--warmup", f"{warm}:{measure}"],), ([],), ([], before)))
        self.same(("cache", measure, warm), [a - b for a, b in zip(all_of, first)], got)

    def counts(self, args, rows=None):
        if rows is not None:
            write("part.csv", rows, True)
        got = self.told_of("cache:config=cut.conf", *args, file="cut.csv" if rows is None else "part.csv")
        return [got["instructions"], got["references"]] + [c[k] for c in got["caches"] for k in ("references", "misses", "writebacks")]

    def region(self):
        last = self.rows[-1][5]
        low = self.rng.randint(1, last)
        high = self.rng.randint(low, last)
        rows = [r for r in self.rows if low <= r[5] <= high]
        if low == 1 and self.before:  # nothing came that they could not belong to
            return
        got = self.told_of("count", "--region", f"{low}..{high}")
        self.same(("region", low, high), self.plain(self.alone("count", rows)), self.plain(got))

    def run(self):
        last = self.rows[-1][5]
        for measure, most in (("instructions", last), ("rows", len(self.rows)), ("time", 40 * last)):
            length = self.rng.choice([1, 3, 10]) if measure != "time" else self.rng.choice([5, 40, 200])
            self.intervals(measure, self.rng.choice([length, self.rng.randint(1, most)]),
                           self.rng.choice([0, 0, 1, self.rng.randint(1, last), most + 5]))
        self.region()
        if self.wrong:
            print(f"seed {self.seed}, before {self.before}, told {self.told}", *self.wrong[:4], sep="\n", file=sys.stderr)
        return not self.wrong


if __name__ == "__main__":
    with open("cut.conf", "w") as conf:
        conf.write("cache L1 size=512 ways=2\ncache L2 size=2K ways=4\n")
    sys.exit(sum(not Case(sys.argv[1], seed).run() for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

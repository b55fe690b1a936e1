"""cache_properties.py - runs of `trod cache` and `trod locality` that must agree with each other or with lists.

    cache_properties.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces and of what is asked: what is cut, shared, emptied, swept or sampled says what runs of parts
of the trace say together.
"""
import json
import random
import shutil
import subprocess
import sys

COUNTS = ("references", "misses", "evictions", "writebacks", "bytes_in", "bytes_out")


def trace(rng, threads, n):
    """Rows: kind, thread, address, physical address, size; all pages of a thread lie elsewhere in physical memory."""
    span, shape, t = rng.choice([600, 3000, 20000]), rng.randrange(3), 0
    for i in range(n):
        if rng.random() < .05:
            t = rng.randrange(threads)
        op = rng.choice(["INSTR", "READ", "READ", "WRITE"]) if i else "INSTR"
        at = (rng.randrange(span), i * 24 % span, int(span * rng.paretovariate(1.3)) % (3 * span))[shape]
        addr = 0x10000 + at if op != "INSTR" else 0x400000 + at // 4 * 4
        addr -= addr % 8 if addr % 4096 > 4088 else 0  # in one page
        yield op, t, addr, (addr ^ 0x5000000) + (addr >> 12) % 5 * 0x100000, rng.choice([1, 4, 8, 8])


class Case:
    def __init__(self, trod, seed):
        self.trod, self.seed, self.wrong = trod, seed, []
        self.rng = random.Random(seed)
        self.threads = self.rng.randint(1, 4)
        self.rows = list(trace(self.rng, self.threads, 700))

    def write(self, rows, name="p.csv", physical=False, numbered=True):
        with open(name, "w") as f:
            f.write("kind,stream,addr,paddr,size\n")
            for op, t, addr, paddr, size in rows:
                f.write(f"{op},{t if numbered else 0},{addr:#x},{f'{paddr:#x}' if physical else ''},{size}\n")

    def ask(self, *args, name="p.csv", command="cache"):
        done = subprocess.run([self.trod, command, "-q", "--format", "json", *map(str, args), name], check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def caches(self, rows, *args, **how):
        """By cache: its counts; none for no rows."""
        self.write(rows, **how)
        return {r["cache"]: [r[c] for c in COUNTS] for r in self.ask("--config", "p.conf", "--order", "file", *args)["caches"]} if rows else {}

    def config(self, text):
        with open("p.conf", "w") as f:
            f.write(text)

    def hierarchy(self, words=("", ""), l1="size=512 ways=2", l2="size=2K ways=4"):
        policy = self.rng.choice("lru fifo lfu tree-plru bit-plru nru srrip".split())
        return f"policy {policy}\ncache L1 {l1} {words[0]}\ncache L2 {l2} {words[1]} inclusion={self.rng.choice(['none', 'inclusive'])}\n"

    def same(self, what, want, got):
        if want != got:
            self.wrong.append((what, want, got))

    @staticmethod
    def sum(parts):
        names = {n for p in parts for n in p}
        return {n: [sum(v) for v in zip(*(p[n] for p in parts if n in p))] for n in names}

    @staticmethod
    def less(a, b):
        return {n: [x - y for x, y in zip(a[n], b.get(n, [0] * len(a[n])))] for n in a}

    def clusters(self):
        """Two clusters of two cores are two machines, where nothing else is shared."""
        for n in (4,):
            self.config(f"cores {n}\n" + self.hierarchy(("", "cluster=2")))
            first = {}
            for row in self.rows:
                first.setdefault(row[1], len(first))
            got = self.caches(self.rows)
            text = open("p.conf", encoding="ascii").read()
            self.config(text.replace("cores 4", "cores 2").replace("cluster=2", "shared"))
            self.same("clusters", self.sum([self.caches([r for r in self.rows if first[r[1]] // 2 == k]) for k in (0, 1)]), got)

    def flushed(self):
        """What one core has is emptied when another thread comes."""
        self.config("flush caches\n" + self.hierarchy())
        got = self.caches(self.rows)
        parts, last = [], None
        for row in self.rows:
            if row[1] != last:
                parts.append([])
            parts[-1].append(row)
            last = row[1]
        self.config(open("p.conf", encoding="ascii").read().replace("flush caches\n", ""))
        want = self.sum([self.caches(p) for p in parts])
        self.same("flush", {n: v[:2] for n, v in want.items()}, {n: v[:2] for n, v in got.items()})

    def phases(self):
        """--skip, --warmup and --windows against prefixes of what is left."""
        rng = self.rng
        self.config(self.hierarchy())
        skip, warm = rng.choice([0, 1, 30]), rng.choice([1, 20, 100])
        number, groups = 0, []
        for row in self.rows:
            number += row[0] == "INSTR"
            groups.append(number - 1)  # accesses are of the instruction before
        rows = [r for r, n in zip(self.rows, groups) if n >= skip]
        lead = [r for r, n in zip(self.rows, groups) if skip <= n < skip + warm]
        args = (["--skip", skip] if skip else []) + ["--warmup", warm]
        self.same(("warmup", args), self.less(self.caches(rows), self.caches(lead)), self.caches(self.rows, *args))
        some = rng.randrange(1, 500)
        self.same(("rows", some), self.less(self.caches(self.rows), self.caches(self.rows[:some])),
                  self.caches(self.rows, "--warmup", f"rows:{some}"))
        count, fill = rng.choice([5, 20]), rng.choice([0, 5, 20])
        every = count + fill + rng.choice([0, 10, 40])
        kept, state = [], []
        for row, n in zip(self.rows, groups):
            at = (n - skip) % every
            if n >= skip and at >= every - count - fill:
                kept.append(row)
                state.append(at >= every - count)
        want, at = [], 0
        while at < len(kept):
            end = at
            while end < len(kept) and state[end] == state[at]:
                end += 1
            if state[at]:
                want.append(self.less(self.caches(kept[:end]), self.caches(kept[:at])))
            at = end
        if want:
            self.same(("windows", skip, every, fill, count), self.sum(want),
                      self.caches(self.rows, "--skip", skip, "--windows", f"{every},{fill},{count}"))

    def intervals(self):
        self.config(self.hierarchy())
        n = self.rng.choice([10, 50])
        number, ends = 0, []
        for i, row in enumerate(self.rows):
            if row[0] == "INSTR" and number and number % n == 0:
                ends.append(i)
            number += row[0] == "INSTR"
        ends.append(len(self.rows))
        self.write(self.rows)
        got = [[i["L1"], i["L2"]] for i in self.ask("--config", "p.conf", "--order", "file", "--interval", n)["intervals"]]
        sums = [[self.caches(self.rows[:e])[c][1] for c in ("L1", "L2")] for e in ends]
        want = [sums[0]] + [[b - a for a, b in zip(x, y)] for x, y in zip(sums, sums[1:])]
        self.same(("interval", n), want, got)

    def physical(self):
        self.config(self.hierarchy())
        self.same("physical", self.caches([(o, t, p, p, s) for o, t, _, p, s in self.rows]),
                  self.caches(self.rows, "--physical", physical=True))

    def misses(self):
        """What the first level misses is a trace for which the second one behaves as before."""
        for extra in ("", "write=through", "allocate=no"):
            text = self.hierarchy(("", "")).replace("inclusion=inclusive", "inclusion=none").split("\n")
            if extra:  # writes of 64 bytes are none of the program's
                text[1] += " " + extra
            self.config("\n".join(text))
            want = self.caches(self.rows)
            self.config("\n".join(text[:2]) + "\n")
            self.write(self.rows)
            subprocess.run([self.trod, "cache", "-q", "--config", "p.conf", "--order", "file", "--misses", "m.csv", "p.csv"], check=True,
                           stdout=subprocess.DEVNULL)
            self.config(text[0] + "\n" + "writebacks 64\n" + text[2] + "\n")
            got = {r["cache"]: [r[c] for c in COUNTS] for r in self.ask("--config", "p.conf", "--order", "file", name="m.csv")["caches"]}
            self.same(("misses as a trace", extra), want["L2"], got["L2"])
            self.by_thread(text, extra, want["L2"])

    def by_thread(self, text, extra, want):
        """A file for each thread: the order of the threads is that of their times."""
        self.config("\n".join(text[:2]) + "\n")
        shutil.rmtree("m.dir", ignore_errors=True)
        subprocess.run([self.trod, "cache", "-q", "--config", "p.conf", "--order", "file", "--misses", "m.dir/", "--to", "drmemtrace", "p.csv"],
                       check=True, stdout=subprocess.DEVNULL)
        self.config(text[0] + "\n" + "writebacks 64\n" + text[2] + "\n")
        for order in ("time", "recorded"):
            got = {r["cache"]: [r[c] for c in COUNTS] for r in self.ask("--config", "p.conf", "--order", order, name="m.dir")["caches"]}
            self.same(("misses by thread", extra, order), want, got["L2"])
        subprocess.run([self.trod, "check", "-q", "m.dir"], check=True, stdout=subprocess.DEVNULL)

    def sweep(self):
        """Each point is a run by itself."""
        rng = self.rng
        sizes, ways, lines = rng.choice(["512..2K", "1K..4K"]), rng.choice(["1..4", "2..8"]), rng.choice(["32..64", "16", "64..128"])
        policies = rng.sample("lru fifo srrip nru lfu random bit-plru tree-plru brrip drrip".split(), 3)
        self.write(self.rows)
        got = self.ask("--sweep", f"size={sizes},ways={ways},line={lines},policy={'+'.join(policies)}", "-j", rng.randint(1, 4))
        points = got["sweep"]
        for p in rng.sample(points, min(6, len(points))):
            self.config(f"cache {'I code' if p.get('stream') == 'code' else 'D data'} size={p['size']} ways={p['ways']} line={p['line']} "
                        f"policy={p['policy']}\n")
            one = next(iter(self.caches(self.rows).values()))
            self.same(("sweep", p), one[:2], [p["references"], p["misses"]])

    def locality(self):
        """The whole curve, by sides too, and set-associative caches, against lists."""
        self.write(self.rows)
        got = self.ask("--shared", "--ways", 4, command="locality")
        stack, distances = [], []
        for op, _, addr, _, _ in self.rows:
            line = addr // 64
            distances.append((op == "INSTR", stack.index(line) if line in stack else 1 << 60))
            if line in stack:
                stack.remove(line)
            stack.insert(0, line)
        for p in got["miss_ratio_curve"]:
            far = [code for code, d in distances if d >= p["lines"]]
            self.same(("curve", p["lines"]), len(far), p["misses"])
            for side, key in ((True, "instr"), (False, "data")):
                all_of = sum(code == side for code, _ in distances)
                want = sum(code == side for code in far) / all_of if all_of else 0
                if p[key] is not None and abs(want - p[key]) > 2e-6:
                    self.wrong.append(("curve", key, p["lines"], want, p[key]))
        for p in got["set_associative"]:
            sets = {}
            misses = 0
            for _, _, addr, _, _ in self.rows:
                line = addr // 64
                held = sets.setdefault(line % p["sets"], [])
                misses += line not in held
                sets[line % p["sets"]] = [line] + [l for l in held if l != line][:p["ways"] - (line not in held)]
            self.same(("set-associative", p["sets"], p["ways"]), misses, p["misses"])
        whole = self.ask("--shared", command="locality")
        roomy = self.ask("--shared", "--memory", "1G", command="locality")
        self.same("--memory 1G", [(p["lines"], p["misses"]) for p in whole["miss_ratio_curve"]],
                  [(p["lines"], p["misses"]) for p in roomy["miss_ratio_curve"]])
        few = self.ask("--shared", "--sample", 20, command="locality")
        if "too small" not in str(few.get("sample")):
            self.wrong.append(("a sample of 5 % is too small", few.get("sample")))

    def jobs(self):
        self.write(self.rows)
        self.config(self.hierarchy(("prefetch=" + self.rng.choice(["none", "none", "next", "stream"]), "")))
        for args in (["--config", "p.conf"], ["--config", "p.conf", "--by", "line"], ["--config", "p.conf", "--classify"]):
            first = self.ask(*args, "--order", "file", "-j", 1)
            for j in (2, 4, 7):
                self.same(("jobs", j, args), first, self.ask(*args, "--order", "file", "-j", j))

    def run(self):
        for check in (self.clusters, self.flushed, self.phases, self.intervals, self.physical, self.misses, self.sweep, self.locality, self.jobs):
            check()
        if self.wrong:
            print(f"seed {self.seed}", *self.wrong[:6], sep="\n", file=sys.stderr)
        return not self.wrong


if __name__ == "__main__":
    sys.exit(sum(not Case(sys.argv[1], seed).run() for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

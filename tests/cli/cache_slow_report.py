"""cache_slow_report.py - the whole report of `trod cache`, and its trace of misses, against the lists of cache_world.py.

    cache_slow_report.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies (caches and TLBs of cores, clusters and some cores, flushes, physical addresses), of
what is asked (owners, sharing, intervals, skip, warm-up, windows) and of traces of several threads. Each number, ratio and row must be that
of the rules, and what goes to memory must be the same rows.
"""
import csv
import json
import random
import subprocess
import sys

from cache_layouts import csv_differences, text_differences
from cache_model import evicted
from cache_world import BARE, World

POLICIES = "lru lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip".split()
SIZES = {12: "4K", 14: "16K", 16: "64K", 21: "2M"}
TOP = 2**64
VARIED, EVICTED = 1000, 2000  # seeds from here on have more, and levels that are filled with what others push out
KEPT = 20000  # and several cores with caches for code, of which some keep what others write
ALONE = 10000  # and rows with a physical address alone


class Shape:
    """A configuration, as World takes it, and its text."""

    def __init__(self, rng):
        self.rng = rng
        self.cores = rng.choice([1, 1, 2, 3, 4, 4, 6])
        many = self.cores > 1
        self.c = dict(cores=self.cores, coherent=rng.random() < (.8 if many else .1), classify=rng.random() < .5, physical=rng.random() < .15,
                      flush=rng.choice(["", "", "", "tlbs", "caches", "all"]), writebacks=0, caches=[], tlbs=[], ranges=[], page=12,
                      walk=None, levels=4)
        self.together, self.some, self.line = 1, False, rng.choice([16, 32, 64, 64, 128])
        self.first_level()
        for level in range(2, 2 + rng.randrange(3)):
            self.line *= rng.choice([1, 1, 1, 2])
            self.widen()
            self.add(f"L{level}", "", behind=True)
            if self.together == 1 and many and rng.random() < .15:
                self.c["caches"][-1]["on"] = self.some_cores()
        if not self.c["physical"] and rng.random() < .1 and self.c["caches"][0]["inclusion"] != "exclusive":
            self.c["writebacks"] = rng.choice([8, 16])
        if rng.random() < .5:
            self.add_tlbs()

    def vary(self, rng):
        """What came later: levels inclusive of data alone, physical addresses of lines written back, pages at the top of all addresses."""
        for s in self.c["caches"]:
            if s["inclusion"] == "inclusive" and rng.random() < .7:
                s["inclusion"] = "data"
        self.c["physical"] |= self.c["writebacks"] > 0 and rng.random() < .5
        if self.c["tlbs"] and rng.random() < .4:
            bits = rng.choice(list(SIZES))
            self.c["ranges"].insert(0, (bits, TOP - (rng.randrange(1, 12) << bits), TOP))

    def share_code(self, rng):
        """Several cores, that share more of code than of data, or less, with lines of other lengths; some code stays when it is written."""
        self.cores = self.c["cores"] = rng.choice([2, 3, 4, 6])
        self.c.update(coherent=True, caches=[], walk=None, writebacks=0)
        lines, wide = [rng.choice([16, 32, 32, 64]) for _ in range(2)], [rng.choice([1, 1, 2, self.cores]) for _ in range(2)]
        names = ["I"] + ["I2"] * (rng.random() < .3)
        for name, side, which in [(n, "code", 0) for n in names] + [("D", "data", 1)]:
            self.line, self.together = lines[which], wide[which]
            self.add(name, side)
            if which == 0:
                self.c["caches"][-1].update(coherent=rng.choice(["yes", "yes", "no"]), next_name="I2" if name != names[-1] else "")
        self.line = max(lines)
        for level in range(rng.randrange(3)):
            self.together = max(wide) if level == 0 else self.cores
            self.add(f"L{level + 2}", "", behind=True)
        data = self.c["caches"][len(names)]
        if rng.random() < .3 and wide[1] in (1, self.cores) and self.line == lines[1]:
            data["on"] = sorted(rng.sample(range(self.cores), self.cores - 1))

    def some_cores(self):
        return sorted(self.rng.sample(range(self.cores), self.rng.randrange(1, self.cores)))

    def widen(self):
        """Behind what cores share they share all."""
        if self.cores > 1 and self.rng.random() < .5:
            self.together *= self.rng.choice([2, 2, 3, self.cores])

    def first_level(self):
        rng = self.rng
        if self.cores > 1 and rng.random() < .2:
            self.together = 2
        if rng.random() < .3:
            self.add("U", "")
        elif self.cores > 1 and self.together == 1 and rng.random() < .3:
            k = rng.randrange(1, self.cores)
            for name, on in (("A", range(k)), ("B", range(k, self.cores))):
                self.add(name, "")
                self.c["caches"][-1]["on"] = list(on)
        else:
            self.add("I", "code")
            if rng.random() < .2:
                self.c["caches"][-1]["next_name"] = "I2"
                self.add("I2", "code")
                self.c["caches"][-1]["inclusion"] = rng.choice(["none", "inclusive"] if not self.c["caches"][-2]["sector"] else ["none"])
                if self.c["caches"][-1]["sector"]:
                    self.c["caches"][-1]["inclusion"] = "none"
            self.add("D", "data")
            if rng.random() < .1:
                self.c["caches"][-1]["next_name"] = "memory"

    def add(self, name, side, behind=False):
        rng, line = self.rng, self.line
        policy = rng.choice(POLICIES)
        ways = 1 << rng.randrange(4) if policy == "tree-plru" else rng.choice([1, 2, 3, 4, 5, 8])
        s = dict(name=name, side=side, line=line, ways=ways, size=ways * rng.choice([1, 1, 2, 3, 4, 8, 16]) * line, policy=policy,
                 seed=rng.choice([0, 7]), write=rng.choice(["back"] * 4 + ["through"]), allocate=rng.choice(["yes"] * 4 + ["no"]), inclusion="none",
                 victims=0, sector=0, prefetch="none", degree=1, coherent="yes", next_name="", shared=self.together >= self.cores > 1,
                 cluster=self.together if 1 < self.together < self.cores else 0, on=None)
        extra = rng.random()
        if extra < .12:
            s["victims"] = rng.choice([1, 2, 5])
        elif extra < .24:
            s["sector"] = line // rng.choice([1, 2, 4])
        elif extra < .5:
            s.update(prefetch=rng.choice(["next", "stream", "stride", "best-offset"]), degree=rng.choice([1, 1, 2]))
        if behind and not s["sector"]:
            s["inclusion"] = rng.choice(["none", "none", "inclusive", "exclusive"])
        if s["inclusion"] == "exclusive" and any(t["sector"] or t["line"] != line for t in self.c["caches"]):
            s["inclusion"] = "inclusive"
        if s["inclusion"] == "exclusive":
            s.update(prefetch="none", degree=1)
        self.c["caches"].append(s)

    def add_tlbs(self):
        rng, together = self.rng, 1
        names = rng.choice([[("ITLB", "code"), ("DTLB", "data")], [("DTLB", "data")], []]) + [(f"T{i}", "") for i in range(rng.randrange(3))]
        for name, side in names or [("T", "")]:
            if side == "" and self.cores > 1 and rng.random() < .4:
                together *= rng.choice([2, self.cores])
            ways = rng.choice([1, 2, 4, 8])
            self.c["tlbs"].append(dict(
                name=name, side=side, ways=ways, entries=ways * rng.choice([1, 2, 3, 5]), sector=0, seed=rng.choice([0, 9]), next_name="",
                pages=rng.choice([None, None, {12}, {12, 21}, {14, 16}]), policy=rng.choice(POLICIES), on=None,
                shared=together >= self.cores > 1, cluster=together if 1 < together < self.cores else 0))
        self.c["page"] = rng.choice([12, 12, 14, 21])
        for _ in range(rng.randrange(3)):
            bits = rng.choice(list(SIZES))
            low = rng.choice([0, 0x10000, 0x7ffff000]) >> bits << bits
            self.c["ranges"].append((bits, low, low + (rng.randrange(1, 12) << bits)))
        data = [s["name"] for s in self.c["caches"] if s["side"] != "code"]
        self.c["walk"], self.c["levels"] = rng.choice(data + [None]), rng.choice([4, 5])

    @staticmethod
    def where(s):
        return [s["side"]] + ["shared"] * s["shared"] + [f"cluster={s['cluster']}"] * (s["cluster"] > 1) + [
            f"cores={','.join(map(str, s['on'] or []))}"] * bool(s["on"]) + [f"next={s['next_name']}"] * bool(s["next_name"])

    def text(self):
        c = self.c
        lines = [f"cores {c['cores']}"] + ["coherence on"] * c["coherent"] + ["classify on"] * c["classify"]
        lines += [f"flush {c['flush']}"] * bool(c["flush"]) + [f"writebacks {c['writebacks']}"] * bool(c["writebacks"])
        lines += ["addresses physical"] * c["physical"]
        for s in c["caches"]:
            words = [f"{w}={s[w]}" for w in "size ways line policy seed write allocate inclusion victims prefetch degree sector coherent".split() if s[w] != 0]
            lines.append(" ".join(["cache", s["name"]] + self.where(s) + words))
        for s in c["tlbs"]:
            pages = [f"pages={','.join(SIZES[b] for b in sorted(s['pages']))}"] if s["pages"] else []
            lines.append(" ".join(["tlb", s["name"]] + self.where(s) + [f"{w}={s[w]}" for w in "entries ways policy seed".split()] + pages))
        if c["tlbs"]:
            lines += [f"pages {SIZES[b]} {low:#x}..{high:#x}" for b, low, high in c["ranges"]]
            lines += [f"pages {SIZES[c['page']]}", f"walk {c['walk'] or 'memory'} levels={c['levels']}"]
        return "\n".join(lines) + "\n"


def question(rng, core):
    """What is asked, and the options that ask it. CORE: not by thread."""
    a = dict(by=rng.choice([None, "line", "page", "thread", "instruction"]), sharing=rng.random() < .4, interval=0, skip=0, warm=0, warm_rows=0,
             full=False, windows=None)
    how = rng.randrange(8)
    a["skip"] = rng.choice([1, 17, 60]) if how in (1, 2, 5) else 0
    if how in (2, 3):
        a["warm"] = rng.choice([1, 40, 10000])
    elif how == 4:
        a["warm_rows"] = rng.choice([1, 133])
    elif how in (5, 6):
        count, warm = rng.choice([1, 7, 20]), rng.choice([0, 0, 9])
        a["windows"] = (count + warm + rng.choice([0, 0, 15]), warm, count)
    a["full"] = how == 7
    if core and a["by"] == "thread":
        a["by"] = "core"
    if not a["windows"] and rng.random() < .4:
        a["interval"] = rng.choice([1, 13, 50])
    options = [f"--{k}={a[k]}" for k in ("by", "interval", "skip") if a[k]] + ["--sharing"] * a["sharing"] + ["--top=0"]
    options += [f"--warmup={a['warm']}"] * bool(a["warm"]) + [f"--warmup=rows:{a['warm_rows']}"] * bool(a["warm_rows"]) + ["--warmup=full"] * a["full"]
    options += [f"--windows={','.join(map(str, a['windows']))}"] if a["windows"] else []
    return a, options


def trace(rng, shape, more=False):
    """Rows: thread, kind, address, size, pc, physical address or none. MORE: what is written back may be many lines."""
    threads, where = shape.cores + rng.choice([0, 1, 4]), rng.choice([0, 0x10000, 0x7ffff123, TOP - 3000])
    span, how, calls = rng.choice([200, 1500, 6000, 30000]), rng.randrange(4), rng.choice([1, 4, 30])
    t = 0
    for i in range(600):
        if i % calls == 0:
            t = rng.randrange(threads)
        op = rng.choice(["INSTR", "READ", "READ", "WRITE"])
        at = (rng.randrange(span), i * 8 % span, i * 72 % (3 * span), int(span * rng.paretovariate(1.2)) % (2 * span))[how]
        addr, size = (where + at) % TOP, rng.choice([1, 2, 4, 8, 8, 16, 40, 0])
        if shape.c["writebacks"] and op == "WRITE" and size >= shape.c["writebacks"]:
            size = rng.choice([4, shape.c["writebacks"]])
            addr -= addr % size
            size *= rng.choice([1, 3, 40]) if more and size > 4 else 1
        pc = addr if op == "INSTR" else 0x400 + 16 * rng.randrange(6)
        frame = addr // 4096 * 7 % 11 + 0x500
        yield t, op, addr, size, pc, frame * 4096 + addr % 4096 if shape.c["physical"] and rng.random() < .4 else None


def with_others(rng, shape, rows):
    """ROWS, and some that are two references, or none."""
    for t, op, addr, size, pc, paddr in rows:
        if op != "INSTR" and not shape.c["writebacks"] and rng.random() < .08:
            op = rng.choice(["ATOMIC", "ATOMIC", "PREFETCH", "FLUSH"])
        yield t, op, addr, size, pc, paddr


def alone(rng, rows):
    """ROWS, some of which have the address as a physical one, and no other."""
    for t, op, addr, size, pc, paddr in rows:
        yield t, op, addr, size, pc, BARE if rng.random() < .2 else paddr


def told(trod, *args):
    done = subprocess.run([trod, "cache", "-q", "--config", "report.conf", "--order", "file", *args, "report.csv"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return done.stdout.decode()


def run(trod, *args):
    """The result; the note that nothing is counted, which is no part of the report, must be true."""
    result = json.loads(told(trod, "--format", "json", *args), parse_float=str)
    del result["format"], result["files"]  # of the trace
    if result.pop("note", None) and (result["instructions"] or result["references"]):
        raise RuntimeError("something is counted")
    return result


def cut(trod, options, top):
    """With --top: the first rows of long tables, in every layout."""
    options = [f"--top={top}" if o == "--top=0" else o for o in options]
    whole, got = run(trod, *options, "--top=0"), run(trod, *options)
    for rows in (whole.get("by", []), whole.get("sharing", {}).get("lines", [])):
        del rows[top or len(rows):]
    yield from differences(whole, got)
    yield from csv_differences(got, told(trod, *options, "--format", "csv"))
    yield from text_differences(got, told(trod, *options))


def differences(want, got, at=""):
    """Where two reports are not the same."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in {**want, **got}:
            yield from differences(want.get(key, "nothing"), got.get(key, "nothing"), f"{at}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (w, g) in enumerate(zip(want, got)):
            yield from differences(w, g, f"{at}[{i}]")
    elif want != got:
        yield at, want, got


def memory_rows(name):
    """Rows of a trace in CSV, as World notes them; the address of an instruction is its pc."""
    with open(name, encoding="ascii") as f:
        return [(r["kind"], int(r["stream"] or 0), int(r["addr"] or r["pc"], 16), int(r["size"] or 0),
                 0 if r["kind"] == "INSTR" else int(r["pc"] or "0", 16)) for r in csv.DictReader(f) if r["addr"] or r["pc"]]


def put_case(shape, rows, name):
    """The hierarchy and the trace, as NAME.conf and NAME.csv."""
    with open(f"{name}.conf", "w", encoding="ascii") as f:
        f.write(shape.text())
    with open(f"{name}.csv", "w", encoding="ascii") as f:
        f.write("kind,stream,addr,paddr,size,pc\n")
        for t, op, addr, size, pc, paddr in rows:
            where = f",{addr:#x}" if paddr == BARE else f"{addr:#x},{f'{paddr:#x}' if paddr is not None else ''}"
            f.write(f"{op},{t},{where},{size},{'' if op == 'INSTR' else pc}\n")


def case(trod, seed):
    rng = random.Random(seed)
    shape = Shape(rng)
    if seed >= VARIED:
        shape.vary(random.Random(-seed))
    if seed >= EVICTED:
        evicted(random.Random(seed), shape.c["caches"])
    if seed >= KEPT:
        shape.share_code(random.Random(-seed))
    asked, options = question(rng, seed % 2)
    rows = list(with_others(random.Random(seed), shape, trace(rng, shape, seed >= VARIED)))
    if KEPT > seed >= ALONE:
        rows = list(alone(random.Random(seed), rows))
    put_case(shape, rows, "report")
    world = World(shape.c, asked)
    world.run(rows)
    want, wrong = world.report(), []
    for more in (["-j", str(rng.randint(1, 4))], ["--misses", "report.out.csv"]):
        got = run(trod, *options, *more)
        if asked["by"]:
            names = [s["name"] for s in shape.c["caches"]]
            got["by"] = [[r[asked["by"]], r["references"]] + [r[n] for n in names] for r in got["by"]]
        wrong += [(more, *d) for d in differences(want, got)]
    wrong += cut(trod, options, random.Random(seed).choice([0, 1, 3, 20]))
    went, got = world.memory, memory_rows("report.out.csv")
    if shape.c["flush"] in ("caches", "all") and any(s["victims"] for s in shape.c["caches"]):
        went, got = sorted(went), sorted(got)  # victims leave in no order that is told
    if went != got:
        i = next((i for i, (w, g) in enumerate(zip(went, got)) if w != g), min(len(went), len(got)))
        wrong.append(("memory", i, went[i:i + 2], got[i:i + 2]))
    if wrong:
        print(f"seed {seed}: {' '.join(options)}\n{shape.text()}", *wrong[:8], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

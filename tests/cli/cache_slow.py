"""cache_slow.py - `trod cache` against a simulator of docs/caches.md that is nothing but lists.

    cache_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies, of one to four cores, and of traces: all counts must be equal. No cache may miss
less than the optimal policy would with what comes to it, inclusive caches have what those before them have, exclusive ones not.
"""
import json
import random
import subprocess
import sys

from cache_model import COUNTS, KINDS, Cache, belady, evicted

VARIED = 1000  # seeds from here on have levels that are filled with what others push out


class Machine:
    """Cores with caches of their own, behind them those that are shared."""

    def __init__(self, rng, varied=None):
        self.rng, self.cores = rng, rng.choice([1, 1, 1, 2, 3, 4])
        self.coherent, self.sharing = self.cores > 1 and rng.random() < .8, {}
        self.spec = []
        line = rng.choice([16, 32, 64, 64, 128])
        if self.cores == 1 and rng.random() < .6:
            self.add("I", line, "code")
            self.add("D", line, "data")
        else:
            self.add("U", line, "")
        for level in range(2, 2 + rng.randrange(3)):
            line *= rng.choice([1, 1, 2])
            self.add(f"L{level}", line, "", True)
            self.spec[-1]["shared"] = self.cores > 1 and (self.spec[-2]["shared"] or rng.random() < .6)
        if varied:
            evicted(varied, self.spec)
        if not self.coherent and rng.random() < .8:
            self.look_ahead()
        self.build()

    def build(self):
        """Caches with nothing in them; what was asked for before is what will be."""
        old = getattr(self, "caches", None)
        self.invalidations = self.interventions = self.upgrades = 0
        self.sharing = {}
        self.caches = {s["name"]: [Cache(s, old and old[s["name"]][k].asked)
                                   for k in range(1 if s["shared"] else self.cores)] for s in self.spec}
        for i, s in enumerate(self.spec):
            behind = next((t for t in self.spec[i + 1:] if t["side"] == ""), None)
            for k in range(self.cores if behind else 0):
                cache, after = (self.caches[t["name"]][0 if t["shared"] else k] for t in (s, behind))
                if not cache.next:
                    cache.next = after
                    after.before.append(cache)

    def look_ahead(self):
        """Caches of one level have the optimal policy, where it may be."""
        level = self.rng.choice([0, len(self.spec) - 1])
        first = self.spec[level]["side"] != "" or level == 0
        for i, s in enumerate(self.spec):
            behind = [t for t in self.spec[i + 1:] if t["side"] == ""]
            chosen = s["side"] != "" or i == 0 if first else i == level
            if (chosen and s["allocate"] == "yes" and s["inclusion"] == "none" and s["prefetch"] == "none"
                    and not s["victims"] and all(t["inclusion"] != "inclusive" for t in behind)):
                s["policy"] = "opt"

    def add(self, name, line, side, behind=False):
        rng = self.rng
        ways, sets = rng.choice([1, 2, 3, 4, 5, 7, 8, 16]), rng.choice([1, 1, 2, 3, 5, 7, 8, 12, 16, 33, 64])
        s = dict(name=name, line=line, side=side, inclusion="none", victims=0, sector=0, prefetch="none", degree=1,
                 shared=False, write=rng.choice(["back"] * 4 + ["through"]), allocate=rng.choice(["yes"] * 4 + ["no"]),
                 seed=rng.choice([0, 1, 123456789]),
                 policy=rng.choice("lru lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip".split()))
        if s["policy"] == "tree-plru":
            ways = 1 << rng.randrange(4)
        s.update(ways=ways, size=ways * sets * line)
        extra = rng.random()
        if extra < .15:
            s["victims"] = rng.choice([1, 2, 7])
        elif extra < .25:
            s["sector"] = line // rng.choice([1, 2, 4])
        if not s["sector"] and rng.random() < .35:
            s.update(prefetch=rng.choice(["next", "next", "stream", "stride", "best-offset", "best-offset"]), degree=rng.choice([1, 1, 2, 3]))
        if behind and not s["sector"]:
            s["inclusion"] = rng.choice(["none", "inclusive", "exclusive"])
        if s["inclusion"] == "exclusive" and any(t["sector"] or t["line"] != line for t in self.spec):
            s["inclusion"] = "none"
        if s["inclusion"] == "exclusive":
            s.update(prefetch="none", degree=1)
        self.spec.append(s)

    def text(self):
        words = "size ways line policy seed write allocate inclusion victims prefetch degree sector".split()
        return f"cores {self.cores}\nclassify on\n" + "coherence on\n" * self.coherent + "".join(
            f"cache {s['name']} {s['side']} {'shared' if s['shared'] else ''} "
            + " ".join(f"{w}={s[w]}" for w in words if s[w] != 0) + "\n" for s in self.spec)

    def chain(self, core):
        """Caches of CORE's own that data go through."""
        own = [self.caches[s["name"]][core] for s in self.spec if s["side"] != "code" and not s["shared"]]
        return own if self.coherent else []

    def cohere(self, core, addr, write):
        others = [k for k in range(self.cores) if k != core and any(c.anywhere(addr) for c in self.chain(k))]
        if not others:
            return
        self.upgrades += write and any(c.anywhere(addr) for c in self.chain(core))
        disturbed = set()
        for level in range(len(self.chain(core))):
            for k in others:
                if (Cache.take_away if write else Cache.clean)(self.chain(k)[level], addr):
                    disturbed.add(k)
        self.interventions += len(disturbed)
        self.invalidations += len(others) if write else 0

    def reference(self, core, thread, op, addr, size, pc):
        first = next(s["name"] for s in self.spec if s["side"] != ("data" if op == "INSTR" else "code"))
        cache = self.caches[first][core]
        while size:
            part = min(size, cache.line - addr % cache.line)
            if op != "INSTR":
                for at in range(addr, addr + part):
                    users = self.sharing.setdefault(at // 64, {}).setdefault(at % 64, (set(), set()))
                    users[op == "WRITE"].add(thread)
            if self.coherent and (op != "INSTR" or not cache.anywhere(addr)):
                self.cohere(core, addr, op == "WRITE")
            cache.reference(KINDS[op], addr, part, pc)
            addr, size = addr + part, size - part

    def alone(self, cache):
        """Is one cache before each from CACHE on? Two may have a line, and push it out both."""
        return not cache.before or len(cache.before) == 1 and self.alone(cache.before[0])

    def held(self):
        """Is in inclusive caches what is before them, and in exclusive ones not?"""
        for cache in sum(self.caches.values(), []):
            lines = [{l.number * c.line for l in sum(c.place, c.victim) if l} for c in cache.before]
            if cache.inclusion == "inclusive" and not all(cache.anywhere(at) for at in set().union(*lines)):
                return False
            if cache.inclusion == "exclusive" and self.alone(cache) and any(cache.anywhere(at) for at in lines[0]):
                return False
        return True

    def bounds(self):
        """Caches that miss less than the optimal policy, or as the optimal policy and more."""
        for cache in sum(self.caches.values(), []):
            misses = cache.n["misses"] - cache.n["sector_misses"]
            least = belady(cache.demanded, cache.sets, cache.ways, cache.allocate == "no")
            asked = len(cache.asked) > len(cache.demanded)  # lines come by prefetches too
            if not asked and cache.inclusion not in ("exclusive", "evicted") and (
                    misses < least or cache.policy == "opt" and misses > least):
                yield cache.name, "optimal", least, misses

    def run(self, rows):
        core_of, self.inclusive = {}, True
        for i, (thread, *row) in enumerate(rows):
            self.reference(core_of.setdefault(thread, len(core_of) % self.cores), thread, *row)
            self.inclusive &= i % 64 != 0 or self.held()

    def shared_lines(self):
        """Lines only read, lines written, lines falsely shared."""
        read_only = written = falsely = 0
        for users in self.sharing.values():
            if len(set().union(*(r | w for r, w in users.values()))) > 1:
                any_written = any(w for _, w in users.values())
                read_only += not any_written
                written += any_written
                falsely += any_written and not any(w and len(r | w) > 1 for r, w in users.values())
        return [read_only, written, falsely]


def trace(rng, threads, long):
    """Rows of THREADS threads: random, a loop, strides or few hot places; LONG: offsets are learned."""
    base, span, shape = rng.choice([0, 0x10000, 0x7ffff123]), rng.choice([200, 1000, 4000, 20000]), rng.randrange(4)
    for i in range(6000 if long else 800):
        op = rng.choice(["INSTR", "READ", "READ", "WRITE"])
        at = (rng.randrange(span), i * 8 % span, i * 72 % (3 * span), int(span * rng.paretovariate(1.2)) % (2 * span))
        addr = base + at[shape]
        yield (rng.randrange(threads), op, addr, rng.choice([1, 2, 4, 8, 8, 16, 40]),
               addr if op == "INSTR" else 0x400 + 16 * rng.randrange(6))


def case(trod, seed):
    rng = random.Random(seed)
    m, wrong = Machine(rng, random.Random(-seed) if seed >= VARIED else None), []
    rows = list(trace(rng, m.cores + rng.choice([0, 0, 3]), any(s["prefetch"] == "best-offset" for s in m.spec)))
    with open("slow.csv", "w") as f:
        f.write("kind,stream,addr,size,pc\n")
        for thread, op, addr, size, pc in rows:
            f.write(f"{op},{thread},{addr:#x},{size},{'' if op == 'INSTR' else pc}\n")
    m.run(rows)
    if any(s["policy"] == "opt" for s in m.spec):
        m.build()
        m.run(rows)
    if not m.inclusive:
        wrong.append("inclusion")
    wrong += m.bounds()
    with open("slow.conf", "w") as f:
        f.write(m.text())
    with open("plain.conf", "w") as f:
        f.write(m.text().replace("classify on\n", ""))
    got = json.loads(subprocess.run([trod, "cache", "-q", "--config", "slow.conf", "--format", "json", "--order", "file",
                                     "--sharing", "-j", str(rng.randint(1, 4)), "slow.csv"],
                                    check=True, stdout=subprocess.PIPE).stdout)
    for row in got["caches"]:
        for key in COUNTS:
            want = sum(c.n[key] for c in m.caches[row["cache"]])
            if row[key] is not None and row[key] != want:
                wrong.append((row["cache"], key, want, row[key]))
    for row in got["kinds"]:
        want = [sum(c.kind[row["kind"]][i] for c in m.caches[row["cache"]]) for i in (0, 1)]
        if [row["references"], row["misses"]] != want:
            wrong.append((row["cache"], row["kind"], want, row))
    want = dict(invalidations=m.invalidations, interventions=m.interventions, upgrades=m.upgrades)
    if m.coherent and got["coherence"] != want:
        wrong.append(("coherence", want, got["coherence"]))
    sharing = [got["sharing"][k] for k in ("read_only", "written", "false_sharing")]
    if m.shared_lines() != sharing:
        wrong.append(("sharing", m.shared_lines(), sharing))
    # nobody looks at single references: what is plain goes another way
    got = json.loads(subprocess.run([trod, "cache", "-q", "--config", "plain.conf", "--format", "json", "--order", "file",
                                     "-j", str(rng.randint(1, 4)), "slow.csv"], check=True, stdout=subprocess.PIPE).stdout)
    for row in got["caches"]:
        for key in COUNTS:
            want = sum(c.n[key] for c in m.caches[row["cache"]])
            if row.get(key) is not None and row[key] != want:
                wrong.append(("plain", row["cache"], key, want, row[key]))
    if wrong:
        print(f"seed {seed}:\n{m.text()}", *wrong[:8], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

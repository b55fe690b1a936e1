"""cache_laws.py - what must be true of every run of `trod cache`, whatever the caches.

    cache_laws.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of traces and caches. No policy misses less than the optimal one; what a larger LRU cache of as many sets misses
a smaller one misses too; lines that came are here or have left; of a line one core alone has changes; kinds of misses, and owners, sum up to
all; shares are from 0 to 100, and useful prefetches are some of those asked for; a cache that is the only one has the misses of all references; points of sweeps, of every policy, are single runs; all of it whatever -j.
"""
import csv
import sys

from cache_properties import Case

POLICIES = "lru fifo random lfu tree-plru bit-plru nru srrip brrip drrip".split()
KINDS = ("compulsory", "capacity", "conflict", "coherence", "sector_misses")


class Laws(Case):
    def table(self, *args, table="caches"):
        return self.ask("--config", "p.conf", "--order", "file", *args)[table]

    def geometry(self):
        ways, sets, line = self.rng.choice([1, 2, 4, 8]), self.rng.choice([1, 2, 3, 8]), self.rng.choice([16, 64])
        return ways, sets, f"size={ways * sets * line} ways={ways} line={line}"

    def true(self, what, holds, *told):
        if not holds:
            self.wrong.append((what, *told))

    def belady(self):
        """In front, and behind another cache."""
        shape, front = self.geometry()[2], self.rng.choice(["", "cache L1 size=128 ways=2 line=16\n"])
        misses = {}
        for policy in ["opt"] + POLICIES:
            self.config(f"{front}cache X {shape} policy={policy}\n")
            misses[policy] = self.table()[-1]["misses"]
        self.true("opt", misses["opt"] == min(misses.values()), shape, misses)

    def missed(self):
        self.table("--misses", "laws.csv")
        with open("laws.csv", encoding="ascii") as f:
            return [r["addr"] or r["pc"] for r in csv.DictReader(f) if r["kind"] != "WRITE"]

    def lru_inclusion(self):
        _, sets, _ = self.geometry()
        before = None
        for ways in (1, 2, 3, 4, 7, 8):
            self.config(f"cache X size={64 * sets * ways} ways={ways}\n")
            now = self.missed()
            rest = iter(before or now)
            self.true("what fewer ways miss", all(line in rest for line in now), sets, ways)
            before = now

    def lines_stay(self):
        """Lines that came less those that left are those that are there: no more than there is room for, and no line twice."""
        one, two, victims = self.geometry(), self.geometry(), self.rng.choice([0, 3])
        one, two = ((w, s, f"size={w * s * 64} ways={w} line=64") for w, s, _ in (one, two))
        policy = self.rng.choice(POLICIES[:3])
        self.config(f"policy {policy}\ncache A {one[2]} victims={victims}\ncache B {two[2]} inclusion=exclusive\n")
        a, b = self.table()
        there = b["bytes_in"] // 64 - b["evictions"]
        lines = {addr // 64 for _, _, addr, _, _ in self.rows} | {(addr + size - 1) // 64 for _, _, addr, _, size in self.rows}
        self.true("exclusive", 0 <= there <= min(one[0] * one[1] + victims + two[0] * two[1], len(lines)), there, one, two, victims)
        self.true("dirty lines leave once", b["writebacks"] <= b["evictions"] and b["bytes_out"] == 64 * b["writebacks"], b)
        self.true("a victim hit asks nobody", a["bytes_in"] == 64 * (a["misses"] - (a["victim_hits"] or 0)), a)
        self.config(f"policy {policy}\ncache A {one[2]} victims={victims}\n")
        a, = self.table()
        there = a["misses"] - (a["victim_hits"] or 0) - a["evictions"]
        self.true("victims", 0 <= there <= min(one[0] * one[1] + victims, len(lines)), there, one, victims)

    def one_has_changes(self):
        """Caches that are never full: who has a line, and who has changed it, is all there is to know."""
        cores = self.rng.randint(2, 4)
        self.config(f"cores {cores}\ncoherence on\ncache D data size=16M ways=full\n")
        core_of, have, owner, n = {}, {}, {}, dict(invalidations=0, interventions=0, upgrades=0)
        for op, thread, addr, _, size in self.rows:
            core = core_of.setdefault(thread, len(core_of) % cores)
            for line in range(addr // 64, (addr + size - 1) // 64 + 1) if op != "INSTR" else ():
                others = have.get(line, set()) - {core}
                n["interventions"] += owner.get(line, core) in others
                if op == "WRITE":
                    n["invalidations"] += len(others)
                    n["upgrades"] += bool(others) and core in have[line]
                    have[line], owner[line] = {core}, core
                else:
                    have.setdefault(line, set()).add(core)
                    owner.pop(line, None) if owner.get(line) != core else None
        self.same("coherence", n, self.table(table="coherence"))

    def sums(self):
        """Kinds of misses, and owners; shares."""
        rng = self.rng
        ahead = ["", "prefetch=next", "prefetch=stream degree=3", "prefetch=stride", "prefetch=best-offset"]
        extra = rng.choice(["sector=16", "victims=2"] + 2 * ahead)
        self.config(f"cores {rng.randint(1, 3)}\n{rng.choice(['', 'coherence on'])}\nclassify on\npolicy {rng.choice(POLICIES)}\n"
                    f"cache I code size=512 ways=2 {rng.choice(ahead)}\ncache D data size=512 ways=4 {extra}\n"
                    f"cache L2 shared size=2K ways=4 {rng.choice(ahead)}\n")
        for more in ([], ["--warmup", 50], ["--windows", "20,5,10"]):
            for row in self.table(*more):
                self.true("useful prefetches", (row["useful"] or 0) <= (row["prefetches"] or 0), more, row)
                self.true("coverage", row["coverage_percent"] is None or row["prefetches"] is not None, more, row)
        for row in self.table():
            self.true("3C", row["misses"] == sum(row[k] or 0 for k in KINDS), row)
            self.true("of all references", row["cache"] == "L2" or row["total_percent"] <= row["percent"], row)
            for share in ("percent", "accuracy_percent", "coverage_percent"):
                self.true("a share", row[share] is None or 0 <= row[share] <= 100, share, row)
        for by in ("instruction", "page", "line", "thread", "data", "block", "region"):
            got = self.ask("--config", "p.conf", "--order", "file", "--by", by, "--top", 0)
            first = sum(r["references"] for r in got["caches"][:2])
            self.same(("by", by), [first] + [r["misses"] for r in got["caches"]],
                      [sum(r[c] for r in got["by"]) for c in ("references", "I", "D", "L2")])

    def alone(self):
        """The only cache: what comes to it is all there is, parts of references and page walks too."""
        self.config(f"{self.rng.choice(['', 'cores 2'])}\ncache X shared {self.geometry()[2]}\n"
                    + self.rng.choice(["", "tlb T entries=4 ways=2\nwalk X\n"]))
        for more in ([], ["-j", 1], ["--skip", 9, "--warmup", 50], ["--by", "line"]):
            row, = self.table(*more)
            self.same(("alone", more), row["percent"], row["total_percent"])

    def sweeps(self):
        """A point of each policy and stream."""
        rng, asked = self.rng, f"size=512..2K,ways=1..4,line={self.rng.choice(['16', '32..64'])},policy={'+'.join(POLICIES)}"
        points = self.ask("--sweep", asked, "-j", 1)["sweep"]
        for j in (2, 3, 4):
            self.same(("sweep", asked, j), points, self.ask("--sweep", asked, "-j", j)["sweep"])
        for policy in POLICIES:
            for stream in ("code", "data"):
                p = rng.choice([p for p in points if (p["policy"], p["stream"]) == (policy, stream)])
                self.config(f"cache X {stream} size={p['size']} ways={p['ways']} line={p['line']} policy={policy}\n")
                row, = self.table()
                self.same(("sweep", p), [p["references"], p["misses"]], [row["references"], row["misses"]])

    def all_jobs(self):
        rng = self.rng
        self.config(f"cores {rng.randint(1, 3)}\n{rng.choice(['', 'coherence on'])}\npolicy {rng.choice(POLICIES)}\ncache I code size=512 ways=2\n"
                    f"cache D data size=1K ways=2 write={rng.choice(['back', 'through'])}\ncache L2 shared size=4K ways=4 "
                    f"inclusion={rng.choice(['none', 'inclusive', 'exclusive', 'data'])}\n")
        for more in ([], ["--by", "line", "--sharing"], ["--interval", "20"], ["--windows", "30,5,10"], ["--skip", "9", "--warmup", "rows:70"]):
            one = self.ask("--config", "p.conf", "--order", "file", *more, "-j", 1)
            for j in (2, 3, 4):
                self.same(("-j", j, more), one, self.ask("--config", "p.conf", "--order", "file", *more, "-j", j))

    def run(self):
        self.write(self.rows)
        for law in (self.belady, self.lru_inclusion, self.lines_stay, self.one_has_changes, self.sums, self.alone, self.sweeps, self.all_jobs):
            law()
        if self.wrong:
            print(f"seed {self.seed}", *self.wrong[:6], open("p.conf", encoding="ascii").read(), sep="\n", file=sys.stderr)
        return not self.wrong


if __name__ == "__main__":
    sys.exit(sum(not Laws(sys.argv[1], seed).run() for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

"""locality_slow_sample.py - samples of `trod locality` against docs/locality.md, "Long traces: samples": the same lines, chosen and
weighed one by one.

    locality_slow_sample.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds as those of locality_slow.py.
"""
import math
import sys

import locality_slow
from locality_slow import REFS, TOP, Case

FIXED, EACH, LEAST, LOOK = 1712128, 128, 64, 4096
GROUPS = 16


def hash_of(line):
    h = line * 0xff51afd7ed558ccd % TOP
    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53 % TOP
    return h ^ h >> 29


def begin(d):
    """Where the range of distance D begins, and the next one."""
    width = 1 << max(0, d.bit_length() - 8)
    return d // width * width, d // width * width + width


class Sample:
    """References of one thread, or of all: scaled distance (None: the first) and weight of each in the sample."""

    def __init__(self, refs, rate, most):
        self.refs, self.limit, self.lines = refs, (TOP - 1 if rate == 1 else int(rate * TOP)), 0
        self.seen = []  # (class, group, distance, weight)
        stack = []
        for i, (of, line, *_) in enumerate(refs):
            h, weight = hash_of(line), TOP / (self.limit + 1)
            if h <= self.limit:
                d = stack.index(line) if line in stack else None
                if d is not None:
                    stack.remove(line)
                else:
                    self.lines += weight
                stack.insert(0, line)
                self.seen.append((of, h % GROUPS, None if d is None else int(d * weight), weight))
            if most and (i + 1) % min(most, LOOK) == 0 and len(stack) > most:
                self.limit = sorted(map(hash_of, stack))[most - most // 16 - 1]
                stack = [line for line in stack if hash_of(line) <= self.limit]
        self.stack = stack


class Sampled(Case):
    def make(self, limit=0):
        super().make()
        rng = self.rng
        self.rate, self.most, self.how = 1, 0, []
        if rng.random() < .5:
            n = rng.choice([1, 2, 3, 10])
            self.rate, self.how = 1 / n, ["--sample", str(n)]
        else:
            each = rng.choice([LEAST, 70, 100, 1000])
            self.how = ["--memory", str(FIXED + EACH * each if self.shared else 2 * (FIXED + EACH * LEAST))]
            self.most = each if self.shared else LEAST
        self.samples = [Sample(l.refs, self.rate, self.most) for l in self.of if l.refs]

    def misses(self, of, size, lowest=None):
        """Of samples of classes OF, from SIZE on; LOWEST: not the part of a range, but all of it."""
        total = 0
        for of_row, _, d, weight in self.seen:
            if of_row not in of:
                continue
            if d is None:
                total += weight
                continue
            low, high = begin(d)
            total += weight if low >= size else 0 if high <= size else weight * (1 if lowest else (high - size) / (high - low))
        return total

    def error(self, size, rate, n):
        groups = [0] * GROUPS
        for _, group, d, weight in self.seen:
            groups[group] += weight * (d is None or d >= begin(size)[0])
        mean = sum(groups) / GROUPS
        across = (sum((g - mean) ** 2 for g in groups) * GROUPS / (GROUPS - 1)) ** .5 / n
        v = (size * (1 - rate) / rate) ** .5
        along = (self.misses(REFS["all"], max(1, size - v)) - self.misses(REFS["all"], size + v)) / 2 / n
        return (across ** 2 * (1 - rate) + along ** 2) ** .5

    def sampled(self):
        each = self.rng.random() < .5
        got = self.ask(*self.how, *["--histogram"] * each)
        refs = [r[0] for l in self.of for r in l.refs]
        self.same("references", len(refs), got.get("references", 0))
        if not refs:
            return
        self.seen = [s for sample in self.samples for s in sample.seen]
        lowest = min(s.limit for s in self.samples)
        rate = (lowest + 1) / TOP
        self.same("rate", rate, got["sampling_rate"], 6)
        self.same("sampled references", len(self.seen), got["sampled_references"])
        union = {line for s in self.samples for line in s.stack}
        self.same("sampled lines", len(union), got["sampled_lines"])
        lines = self.samples[0].lines if self.shared else sum(hash_of(line) <= lowest for line in union) / rate
        self.near("lines", lines, got["lines"])
        self.same("too small", rate < 1, "sample" in got)
        sizes, size = [1], 1
        while size < int(lines):
            sizes += [size + size // 2] * (size > 1) + [2 * size]
            size *= 2
        sizes = [c for c in sizes if c * rate >= 1]
        self.same("sizes", [(c, c * self.line) for c in sizes], [(r["lines"], r["bytes"]) for r in got["miss_ratio_curve"]])
        for row in got["miss_ratio_curve"]:
            for key, of in (("miss_ratio", REFS["all"]), ("instr", ("instr",)), ("data", REFS["data"])):
                n = sum(r in of for r in refs)
                misses = min(n, self.misses(of, row["lines"]))
                self.same((key, row["lines"]), misses / n if n else None, row[key], 6)
                if key == "miss_ratio":
                    self.near(("misses", row["lines"]), misses, row["misses"])
            self.same(("error", row["lines"]), self.error(row["lines"], rate, len(refs)), row["error"], 6)
        self.ranges(got["distances"], refs, each)

    def near(self, what, want, got):
        """A number that is rounded to a whole one."""
        if abs(want - got) > .5 + 1e-6:
            self.same(what, want, got)

    def ranges(self, got, refs, each):
        rows = {0: {of: refs.count(of) - sum(w for o, _, _, w in self.seen if o == of) for of in REFS["all"]}}
        for of, _, d, weight in self.seen:
            if d is not None:
                low = begin(d)[0] if each or d < 2 else 1 << d.bit_length() - 1
                rows.setdefault(low, dict.fromkeys(REFS["all"], 0))[of] += weight
        rows = {low: row for low, row in sorted(rows.items()) if sum(row.values()) > 1e-9}
        self.same("ranges", [(low, begin(low)[1] - 1 if each else max(low, 2 * low - 1)) for low in rows],
                  [(r["from"], r["to"]) for r in got])
        for r in got:
            row = rows.get(r["from"], {})
            for of, n in row.items():
                self.near(("distances", r["from"], of), max(0, n), r[of])
            self.same(("share", r["from"]), 100 * sum(row.values()) / len(refs), r["share"], 4)

    def owned(self):
        """Pages: what the references of the sample stand for."""
        size = self.line * self.rng.choice([1, 8, 64])
        got = self.ask(*self.how, "--per", "page", "--size", str(size), "--top", "100000")
        want = {}
        for lane, sample in zip([l for l in self.of if l.refs], self.samples):
            seen = iter(sample.seen)
            for _, line, *_ in lane.refs:
                row = want.setdefault(f"{line * self.line >> max(12, self.line.bit_length() - 1) << 12:#x}", [0, 0])
                row[0] += 1
                if not self.most and hash_of(line) <= sample.limit:
                    _, _, d, weight = next(seen)
                    row[1] += weight * (d is None or d >= size // self.line)
        rows = {r["address"]: [r["references"], r["misses"]] for r in got.get("owners", [])}
        self.same("owners", {k: v[0] for k, v in want.items()}, {k: v[0] for k, v in rows.items()})
        total = sum(s[3] * (s[2] is None or s[2] >= size // self.line) for sample in self.samples for s in sample.seen)
        if abs(total - sum(m for _, m in rows.values())) > len(rows) * .51 + .001 * total:
            self.same("all owners", total, sum(m for _, m in rows.values()))
        for address, (_, misses) in want.items() if not self.most else ():
            if abs(misses - rows.get(address, [0, 0])[1]) > .5 + .01 * (misses + 1):
                self.same(("owner", address), misses, rows.get(address))

    def touched_lines(self):
        lines = self.rng.choice([4, 20, 100])
        got = self.ask(*self.how, "--touched", str(lines * self.line))
        if self.most or not self.samples:
            return
        all_of = []
        for lane, sample in zip([l for l in self.of if l.refs], self.samples):
            some = locality_slow.Lane([r for r in lane.refs if hash_of(r[1]) <= sample.limit])
            all_of += some.residencies(math.ceil(lines * ((sample.limit + 1) / TOP)))
        self.same("touched", [[n, all_of.count(n)] for n in sorted(set(all_of))],
                  [[r["touched"], r["residencies"]] for r in got.get("touched", [])])

    def run(self):
        for check in (self.sampled, self.owned, self.touched_lines):
            check()
        if self.wrong:
            print(f"seed {self.seed}", self.how, self.which, *self.wrong[:6], sep="\n", file=sys.stderr)
        return not self.wrong


if __name__ == "__main__":
    sys.exit(sum(not Sampled(sys.argv[1], seed).run() for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

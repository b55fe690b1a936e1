"""cache_slow_few.py - hierarchies that random ones seldom come to, against the simulator of cache_slow.py.

    cache_slow_few.py TROD

`opt` behind a cache so small that what was just referenced is asked for again behind a prefetch; best offsets that are learned in
full, whose scores stay low; sectors of a line that an inclusive level takes away while they come; what is plain enough for a way of its
own, and what looks like it.
"""
import sys

import cache_slow
from cache_slow import Machine

LINES = dict(inclusion="none", victims=0, sector=0, prefetch="none", degree=1, shared=False, write="back", allocate="yes", seed=0,
             policy="lru", side="", line=64, ways=1, size=64)


def few(*levels):
    """A class of machines with these levels; words are those of LINES."""
    class Few(Machine):
        def __init__(self, rng, _=None):
            self.rng, self.cores, self.coherent, self.sharing = rng, 1, False, {}
            self.spec = [dict(LINES, name=f"L{i + 1}", **level) for i, level in enumerate(levels)]
            self.build()
    return Few


def rows(n, lines, ops=("READ", "READ", "WRITE"), size=(4,)):
    """N references to random places of so many lines."""
    def trace(rng, _threads, _long):
        for _ in range(n):
            yield 0, rng.choice(ops), 64 * rng.randrange(lines) + 8 * rng.randrange(7), rng.choice(size), 0x400
    return trace


CASES = [
    (few(dict(prefetch="next"), dict(size=128, ways=2, policy="opt")), rows(300, 5)),
    (few(dict(prefetch="next", degree=2), dict(size=512, ways=2, policy="opt")), rows(600, 12)),
    (few(dict(prefetch="next"), dict(size=256, ways=4, policy="opt")), rows(600, 9)),
    (few(dict(size=1024, ways=4, prefetch="best-offset")), rows(6500, 1500)),
    (few(dict(size=1024, ways=4, prefetch="best-offset", degree=2), dict(size=8192, ways=8)), rows(6500, 1500)),
    (few(dict(size=256, ways=4, sector=16), dict(inclusion="inclusive", prefetch="stride")), rows(2000, 3, size=(4, 16, 40))),
    (few(dict(size=256, ways=4, sector=8, write="through"), dict(size=128, inclusion="inclusive", prefetch="stride", degree=2)),
     rows(2000, 5, size=(4, 16, 40))),
    (few(dict(side="code", size=512, ways=2), dict(side="data", size=512, ways=4), dict(size=4096, ways=4, policy="fifo")),
     rows(1500, 90, ("INSTR", "READ", "WRITE"))),
    (few(dict(side="code", size=512, ways=2), dict(side="data", size=512, ways=4, sector=16), dict(size=4096, ways=4)),
     rows(1500, 90, ("INSTR", "READ", "WRITE"))),
    (few(dict(side="code", size=512, ways=2, sector=8), dict(side="data", size=1024, ways=16)), rows(1500, 40, ("INSTR", "READ", "WRITE"))),
]


def run(trod):
    wrong = 0
    for i, (machine, trace) in enumerate(CASES):
        cache_slow.Machine, cache_slow.trace = machine, trace
        wrong += sum(not cache_slow.case(trod, 100 * i + seed) for seed in range(4 if "best" not in machine(None).text() else 1))
    return wrong


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]) > 0)

"""cache_slow_misses.py - the trace of misses in every format that has a place for it, read back, against the rows of cache_world.py.

    cache_slow_misses.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of cache_slow_report.py. What a format has no place for is left out on both sides: kinds, sizes, threads,
instructions.
"""
import os
import random
import shutil
import subprocess
import sys

from cache_slow_report import Shape, memory_rows, put_case, trace
from cache_world import World

DATA, ALL = ("READ", "WRITE"), ("INSTR", "READ", "WRITE", "PREFETCH")
FORMATS = {  # kinds, columns behind them: thread, address, size, pc
    "csv": (ALL, "tasp"), "drmemtrace": (ALL, "tas"), "gem5packet": (ALL[:3], "tas"), "dinerox": (ALL[:3], "as"), "dinerob": (ALL[:3], "as"),
    "dinero": (ALL[:3], "a"), "lackey": (ALL[:3], "as"), "memtrace_simple": (ALL[:3], "as"), "memtrace_x86": (DATA, "as"), "pinatrace": (DATA, "a"),
    "ramulator": (DATA, "a"), "dramsim3": (DATA, "a")}


# Bits of addresses that there is a place for; what is lost is told. Of drmemtrace the others are copies of the highest one.
BITS = {"drmemtrace": 48, "dinerob": 32}


def kept(rows, name):
    """What FORMAT keeps of ROWS, thread by thread where it knows them: each has a file, or a number, of its own."""
    kinds, columns = FORMATS[name]
    of_thread = {}
    for kind, thread, addr, size, pc in rows:
        if kind in kinds:
            values = dict(a=addr % 2 ** BITS.get(name, 64), s=size, p=pc)
            of_thread.setdefault(thread if "t" in columns else 0, []).append((kind, *(values[c] for c in columns if c != "t")))
    return sorted(of_thread.values())


def case(trod, seed):
    rng, wrong = random.Random(seed), []
    shape = Shape(rng)
    shape.c["flush"] = ""
    rows = list(trace(rng, shape))
    asked = dict(by=None, sharing=False, interval=0, skip=0, warm=0, warm_rows=0, full=False, windows=None)
    put_case(shape, rows, "memory")
    world = World(shape.c, asked)
    world.run(rows)
    for name in FORMATS:
        shutil.rmtree("memory.out", ignore_errors=True)
        if os.path.exists("memory.out"):
            os.remove("memory.out")
        want = kept(world.memory, name)
        for args in (["cache", "-q", "--config", "memory.conf", "--order", "file", "--misses", "memory.out", "--to", name, "memory.csv"],
                     ["convert", "-q", "--allow-loss", "--from", name, "--to", "csv", "memory.out", "memory.back.csv"]):
            subprocess.run([trod, *args], check=True, stdout=subprocess.DEVNULL)
        got = kept(memory_rows("memory.back.csv"), name)
        if want != got:
            wrong.append((name, [next(((w, g) for w, g in zip(a, b) if w != g), (len(a), len(b))) for a, b in zip(want, got) if a != b][:2]))
    if wrong:
        print(f"seed {seed}:\n{shape.text()}", *wrong, sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

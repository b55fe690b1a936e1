"""state_slow.py - `trod state` and `trod who` against lists that are made anew for each question.

    state_slow.py TROD SEED MANY TRACE...

The rows are what `trod view` prints. At MANY random places the bytes of memory are worked out by going through all rows
(docs/navigating.md, "Memory"), and so are the rows that write and read them. Traces have an index or not.
"""
import json
import random
import subprocess
import sys

TROD = sys.argv[1]


def told(*args):
    out = subprocess.run([TROD, *args], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


class Access:
    def __init__(self, row, order):
        self.row, self.kind = row["record"], row["kind"]
        self.lo = int(row["address"], 16)
        self.hi = self.lo + row["size"] - 1
        self.bytes = int(row["value"], 16).to_bytes(row["size"], order) if "value" in row else None

    def writes(self):
        return self.kind in ("WRITE", "ATOMIC")

    def reads(self):
        return self.kind in ("READ", "ATOMIC")

    def says(self, at):
        return None if self.bytes is None else self.bytes[at - self.lo]


def byte_at(accesses, place, at):
    """(known_from, row, since, value) of byte AT behind row PLACE."""
    here = [a for a in accesses if a.lo <= at <= a.hi and (a.writes() or a.bytes is not None)]
    before = [a for a in here if a.row <= place]
    write = next((a for a in reversed(before) if a.writes()), None)
    since = [a for a in before if not a.writes() and (write is None or a.row > write.row)]
    if write and write.bytes is None and not since:
        return "unknown", write.row, None, None
    if write and (not since or since[-1].says(at) == write.says(at)):
        return "written", write.row, None, write.says(at)
    if write:
        return "untraced", since[-1].row, write.row, since[-1].says(at)
    if since:
        return "read", since[-1].row, None, since[-1].says(at)
    later = next((a for a in here if a.row > place), None)
    if later and later.reads() and not later.writes():
        return "read later", later.row, None, later.says(at)
    return "unknown", None, None, None


def state(trace, accesses, place, lo, hi):
    part = told("state", "--no-calls", "--format", "json", "--at", str(place), "--memory", f"{lo:#x}..{hi:#x}",
                trace)["memory"][0]
    dump = {}
    for line in part["dump"]:
        for i in range(0, len(line["bytes"]), 3):
            dump[int(line["address"], 16) + i // 3] = line["bytes"][i:i + 2]
    sources = {}
    for run in part["sources"]:
        for i in range(run["bytes"]):
            sources[int(run["address"], 16) + i] = (run["known_from"], run["row"], run["since"])
    for at in range(lo, hi + 1):
        *source, value = byte_at(accesses, place, at)
        want = "--" if value is None else f"{value:02x}"
        if (tuple(source), want) != (sources[at], dump[at]):
            sys.exit(f"{trace}: byte {at:#x} behind row {place}: {sources[at]} {dump[at]}, not {source} {want}")


def who(trace, accesses, place, lo, hi, k):
    hits = told("who", "--format", "json", "--memory", f"{lo:#x}..{hi:#x}", "--before", str(place), "--after",
                str(place), "--count", str(k), trace)["who"]
    for when in ("before", "after"):
        for what in ("writes", "reads"):
            rows = [a.row for a in accesses if a.lo <= hi and a.hi >= lo and getattr(a, what)()]
            rows = [r for r in reversed(rows) if r < place] if when == "before" else [r for r in rows if r > place]
            got = [h["row"] for h in hits if (h["when"], h["what"]) == (when, what)]
            if got != rows[:k]:
                sys.exit(f"{trace}: who {what} {lo:#x}..{hi:#x} {when} row {place}: {got}, not {rows[:k]}")


def main():
    draw = random.Random(int(sys.argv[2]))
    many = int(sys.argv[3])
    for trace in sys.argv[4:]:
        order = told("info", "--format", "json", trace)["files"][0].get("endian", "little")
        out = subprocess.run([TROD, "view", "--format", "json", trace], check=True, capture_output=True, text=True)
        rows = [json.loads(line) for line in out.stdout.splitlines()]
        accesses = [Access(r, order) for r in rows if r["kind"] in ("READ", "WRITE", "ATOMIC")]
        if len(accesses) < 20:
            sys.exit(f"{trace}: only {len(accesses)} accesses")
        touched = sorted({a.lo for a in accesses})
        # of more rows than a step of an index has, more questions: each step may be wrong by itself
        for i in range(many if len(rows) < 4096 else 6 * many):
            near = draw.choice(touched)
            if i < many:
                state(trace, accesses, draw.randrange(len(rows)), near - draw.randrange(24), near + draw.randrange(40))
            # anywhere, and where the row of the place itself, or the one beside it, is an access to the range
            here = draw.choice([a.row for a in accesses if a.lo == near])
            place = draw.randrange(len(rows)) if i % 2 else min(max(here + i // 2 - 1, 0), len(rows) - 1)
            who(trace, accesses, place, near - draw.randrange(3), near + draw.randrange(12), draw.randrange(1, 6))


main()

"""Rows a second from a file to arrays: python3 python/tests/bench.py FILE...

Prints JSON lines: whole columns (rows), and batches without a copy, the best of five by processor time
of all threads; beside it, where TROD names the command, the time of `trod count -j 1` of the file."""

import json
import os
import resource
import subprocess
import sys

import trod

COLUMNS = (["kind", "addr"], ["kind", "addr", "size"], ["kind", "addr", "size", "pc", "flags"])
TIMES = 5


def whole(path, columns):
    return len(trod.open(path, columns=columns).rows()["kind"])


def batches(path, columns):
    n = 0
    for batch in trod.open(path, columns=columns):
        for name in columns:
            getattr(batch, name)
        n += len(batch)
    return n


def processor(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def least(who, function, *arguments):
    """The least processor time of WHO that FUNCTION took, and what it returned."""
    best = float("inf")
    for _ in range(TIMES):
        began = processor(who)
        result = function(*arguments)
        best = min(best, processor(who) - began)
    return best, result


def count(path):
    subprocess.run([os.environ["TROD"], "count", "-q", "-j1", path], check=True, stdout=subprocess.DEVNULL)


def main():
    for path in sys.argv[1:]:
        counting = least(resource.RUSAGE_CHILDREN, count, path)[0] if os.environ.get("TROD") else None
        for columns in COLUMNS:
            for way in (whole, batches):
                best, n = least(resource.RUSAGE_SELF, way, path, columns)
                line = {"file": path, "columns": columns, "way": way.__name__, "rows": n,
                        "million_rows_per_second": round(n / best / 1e6, 1)}
                if counting:
                    line["times_count"] = round(best / counting, 2)
                print(json.dumps(line))


if __name__ == "__main__":
    main()

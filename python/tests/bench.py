"""Rows a second from a file to arrays: python3 python/tests/bench.py FILE...

Prints JSON lines: whole columns (rows) and batches without a copy, the best of three."""

import json
import sys
import time

import trod

COLUMNS = (["kind", "addr"], ["kind", "addr", "size"], ["kind", "addr", "size", "pc", "flags"])


def whole(path, columns):
    return len(trod.open(path, columns=columns).rows()["kind"])


def batches(path, columns):
    n = 0
    for batch in trod.open(path, columns=columns):
        for name in columns:
            getattr(batch, name)
        n += len(batch)
    return n


def main():
    for path in sys.argv[1:]:
        for columns in COLUMNS:
            for way in (whole, batches):
                best, n = float("inf"), 0
                for _ in range(3):
                    began = time.perf_counter()
                    n = way(path, columns)
                    best = min(best, time.perf_counter() - began)
                print(json.dumps({"file": path, "columns": columns, "way": way.__name__, "rows": n,
                                  "million_rows_per_second": round(n / best / 1e6, 1)}))


if __name__ == "__main__":
    main()

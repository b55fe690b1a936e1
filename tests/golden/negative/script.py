#!/usr/bin/env python3
"""Add up the columns of a table."""
import sys


def total(lines):
    sums = {}
    for line in lines:
        for i, cell in enumerate(line.rstrip("\n").split("\t")):
            try:
                sums[i] = sums.get(i, 0.0) + float(cell)
            except ValueError:
                continue
    return sums


if __name__ == "__main__":
    for key, value in sorted(total(sys.stdin).items()):
        print(f"{key:4d} {value:12.3f}")

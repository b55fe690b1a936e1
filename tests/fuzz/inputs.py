#!/usr/bin/env python3
"""inputs.py OUT NUMBER SEED FOLDER... - NUMBER inputs for a fuzz target, the same ones on every machine.

Each is a file of one of the FOLDERs (those that exist) changed in some places, or bytes at random.
What libFuzzer tries depends on what it saw of the program's addresses; a check must not.
"""
import os
import random
import sys

LONGEST = 8192
ODD = (0, 1, 2, 4, 8, 0x0A, 0x20, 0x7F, 0x80, 0xFF)


def place(r, data):
    return r.randrange(len(data) + 1)


def stretch(r, data):
    """Where a part of DATA begins and ends; most parts are short."""
    start = place(r, data)
    return start, min(len(data), start + 1 + int(r.expovariate(1 / 8)))


def flip(r, data, _):
    if data:
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)


def change(r, data, _):
    if data:
        data[r.randrange(len(data))] = r.choice(ODD) if r.randrange(2) else r.randrange(256)


def number(r, data, _):
    """A number of 2, 4 or 8 bytes: small, or near a power of two."""
    size = r.choice((2, 4, 8))
    value = (r.choice((0, 1 << r.randrange(8 * size))) + r.randrange(-2, 3)) % (1 << 8 * size)
    start = place(r, data)
    data[start : start + size] = value.to_bytes(size, r.choice(("little", "big")))


def insert(r, data, _):
    start = place(r, data)
    data[start:start] = r.randbytes(1 + int(r.expovariate(1 / 6)))


def remove(r, data, _):
    start, end = stretch(r, data)
    del data[start:end]


def repeat(r, data, _):
    start, end = stretch(r, data)
    at = place(r, data)
    data[at:at] = data[start:end] * r.randrange(1, 4)


def cut(r, data, _):
    del data[place(r, data) :]


def splice(r, data, other):
    start, end = stretch(r, other)
    at = place(r, data)
    data[at:at] = other[start : end + r.randrange(64)]


def cross(r, data, other):
    data[place(r, data) :] = other[place(r, other) :]


CHANGES = (flip, flip, change, change, number, number, insert, remove, repeat, cut, splice, splice, cross)


def seeds_of(folders):
    paths = [os.path.join(f, name) for f in folders if os.path.isdir(f) for name in os.listdir(f)]
    files = []
    for path in sorted(paths):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                files.append(f.read(LONGEST))
    return files


def one(r, seeds):
    if not seeds or r.randrange(10) == 0:
        return r.randbytes(int(r.expovariate(1 / 200)))
    data = bytearray(r.choice(seeds))
    for _ in range(1 + int(r.expovariate(1 / 3))):
        r.choice(CHANGES)(r, data, r.choice(seeds))
    return data[:LONGEST]


def main():
    out, count, seed, folders = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    r = random.Random(f"{seed} {os.path.basename(out)}")
    seeds = seeds_of(folders)
    os.makedirs(out)
    for i in range(count):
        with open(os.path.join(out, f"{i:06}"), "wb") as f:
            f.write(one(r, seeds))


main()

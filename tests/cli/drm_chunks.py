#!/usr/bin/env python3
"""Checks the chunks of drmemtrace archives: drm_chunks.py N ARCHIVE...

Written from docs/formats/drmemtrace.md: each member but the last holds N instructions and ends with its
number; each begins with the number of records before it, a time and a cpu; before the first execution of an
instruction in a member stands its encoding, and not again while that stays the same.
"""
import struct
import sys
import zipfile

MARKER, ENCODING, NO_FETCH, INSTRS = 28, 47, 29, {10, 11, 12, 13, 14, 15, 16, 31, 48, 49}
HIDDEN = {22, 24, 25, 26, ENCODING}
TIMESTAMP, CPU, CHUNK_SIZE, FOOTER, ORDINAL, TARGET = 2, 3, 20, 21, 22, 29


def chunks(path, most):
    with zipfile.ZipFile(path) as z:
        members = [z.read(i) for i in z.infolist()]
    records = 0
    for number, data in enumerate(members):
        entries = list(struct.iter_unpack("<HHQ", data))
        known, code, n = {}, b"", 0
        if number:
            head = [e[:2] for e in entries[:3]]
            if head != [(MARKER, ORDINAL), (MARKER, TIMESTAMP), (MARKER, CPU)] or entries[0][2] != records:
                yield f"member {number} begins with {entries[:3]}, {records} records are before it"
            entries = entries[3:]
        for kind, size, addr in entries:
            if kind == MARKER and size == CHUNK_SIZE and addr != most:
                yield f"the header says {addr} instructions a chunk"
            if kind == ENCODING:
                code += struct.pack("<Q", addr)[:size]
                continue
            if (kind in INSTRS or kind == NO_FETCH) and size:
                n += kind in INSTRS
                if not code and addr not in known:
                    yield f"member {number}: instruction at {addr:#x} without its encoding"
                if code and known.get(addr) == code:
                    yield f"member {number}: encoding of {addr:#x} once more"
                known[addr] = code or known.get(addr, b"")
            if not (kind == MARKER and size == TARGET):
                code = b""
            records += kind not in HIDDEN and not (kind == MARKER and size in (TARGET, ORDINAL))
        last = number + 1 == len(members)
        if not last and (n != most or entries[-1] != (MARKER, FOOTER, number)):
            yield f"member {number}: {n} instructions, and its end is {entries[-1]}"
        if last and n > most:
            yield f"the last member has {n} instructions"


def main(args):
    most, bad = int(args[0]), 0
    for path in args[1:]:
        for what in chunks(path, most):
            print(f"{path}: {what}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""drm_entries.py - drmemtrace files entry by entry, for tests: made, taken apart, compared.

It knows the entries of the format and nothing of trod.
"""

import struct

READ, WRITE, INSTR, JUMP, INDIRECT, COND, CALL, RETURN = 0, 1, 10, 11, 12, 13, 14, 16
THREAD, EXIT, PID, HEADER, FOOTER, MARKER, NO_FETCH, SYSENTER = 22, 23, 24, 25, 26, 28, 29, 31
ENCODING, TAKEN, UNTAKEN = 47, 48, 49
BRANCHES = {JUMP, INDIRECT, COND, CALL, 15, RETURN, TAKEN, UNTAKEN}
INSTRUCTIONS = BRANCHES | {INSTR, NO_FETCH, SYSENTER}
EVENT, XFER, TIME, CPU, FUNC, RETADDR, ARG, RETVAL, FILETYPE, COUNT = 0, 1, 2, 3, 4, 5, 6, 7, 9, 11
WINDOW, ENDPOINT, SYSCALL, TARGET, HW_EVENT, HW_RETURN = 14, 23, 25, 29, 43, 44
PREFETCHES, FLUSHES = {*range(2, 10), *range(32, 47)}, {18, 20}
NOP = b"\x90"


class Trace:
    """A file of one thread, WIDTH bytes an entry."""

    def __init__(self, filetype, version=7, width=12, time=1000, cpu=1, tid=100, chunk=10000000):
        self.width, self.entries, self.known, self.tid = width, [], {}, tid
        self.put(HEADER, 0, version)
        self.mark(12, version)
        self.mark(FILETYPE, filetype)
        self.put(THREAD, 4, tid)
        self.put(PID, 4, 99)
        for number, value in ((10, 64), (20, chunk), (18, 4096)):
            self.mark(number, value)
        self.time(time, cpu)

    def put(self, kind, size, value):
        self.entries.append((kind, size, value % (1 << (64 if self.width == 12 else 32))))

    def mark(self, number, value):
        self.put(MARKER, number, value)

    def time(self, time, cpu=1):
        self.mark(TIME, time)
        self.mark(CPU, cpu)

    def run(self, pc, code=NOP, kind=INSTR, target=None):
        """An instruction, with its encoding where that is new."""
        if self.known.get(pc) != code:
            for i in range(0, len(code), self.width - 4):
                piece = code[i : i + self.width - 4]
                self.put(ENCODING, len(piece), int.from_bytes(piece, "little"))
        self.known[pc] = code
        if target is not None:
            self.mark(TARGET, target)
        self.put(kind, len(code), pc)

    def save(self, path):
        form = "<HHQ" if self.width == 12 else "<HHI"
        end = [(EXIT, 4, self.tid), (FOOTER, 0, 0)]
        with open(path, "wb") as f:
            f.write(b"".join(struct.pack(form, *e) for e in self.entries + end))


def load(path, width=12):
    with open(path, "rb") as f:
        return list(struct.iter_unpack("<HHQ" if width == 12 else "<HHI", f.read()))


def markers(entries, number):
    return [value for kind, size, value in entries if kind == MARKER and size == number]


def flow(entries):
    """Instructions, accesses, targets and places of events; of addresses how far they are, within 4 GiB, from the first."""
    first, out = {}, []
    for kind, size, value in entries:
        if kind in INSTRUCTIONS or (kind == MARKER and size in (TARGET, EVENT, HW_EVENT)):
            what = "code"
        elif kind < INSTR or kind in PREFETCHES or kind in FLUSHES:
            what = "data"
        else:
            continue
        at = first.setdefault((what, value >> 32), value)
        out.append((2 if kind in PREFETCHES else kind, size, (value - at) & 0xFFFFFFFF))
    return out


def cut_branches(entries):
    """Branches behind which a time stands before the next instruction or event."""
    last, time, out = None, False, []
    for kind, size, value in entries:
        if kind in INSTRUCTIONS and size:
            if last and time:
                out.append(last)
            last, time = (kind, value) if kind in BRANCHES else None, False
        elif kind == MARKER and size == EVENT:
            last = None
        elif kind == MARKER and size == TIME:
            time = True
    return out

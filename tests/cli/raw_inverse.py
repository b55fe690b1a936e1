#!/usr/bin/env python3
"""Turns a final drmemtrace trace back into a raw directory, and compares final traces.

    raw_inverse.py make [--full] [--version N] FINAL... RAWDIR     a thread file for each FINAL
    raw_inverse.py same [--but-types] FINAL... MADE...             as many of each: record by record
    raw_inverse.py random SEED N FINAL                             the trace of N random A64 instructions

The inverse of drraw2trace as docs/formats/drmemtrace-raw.md tells it, written from that page and
not from trod's sources: instructions are taken apart by objdump. With --full no address is left out
(file type NO_OPTIMIZATIONS); otherwise those that follow from others of the block are, and operands
with a base register are stored as that register's value. The code goes into ELF files that
modules.log names; code that changes while the program runs goes to encodings.bin.
"""
import gzip
import io
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

from raw_a64 import InsnA64

HEADER, FOOTER, MARKER, THREAD, EXIT, PID, ENCODING, NO_FETCH = 25, 26, 28, 22, 23, 24, 47, 29
INSTRS = {10, 11, 12, 13, 14, 15, 16, 31, 48, 49, NO_FETCH}
ACCESSES = {*range(10), *range(18, 22), *range(32, 47)}
BRANCHES = {11, 12, 13, 14, 15, 16, 48, 49}
UNKNOWN = {12, 15, 16, 48, 49}
XFER, ABORT = 1, 13
EVENT, TIMESTAMP, CPU, FILETYPE, LINE, VERSION = 0, 2, 3, 9, 10, 12
LINE_BYTES = 64
CHUNK, CHUNK_END, ORDINAL, TARGET, MAYBE, UNCOMPLETED = 20, 21, 22, 29, 26, 41
NO_OPT, AARCH64, IFILTERED, DFILTERED, ENCODINGS = 2, 8, 0x80, 0x100, 0x200
OBJDUMP = {False: ["objdump", "-m", "i386:x86-64"],
           True: ["aarch64-linux-gnu-objdump", "-m", "aarch64", "-M", "no-aliases"]}
STAND_INS = {29: b"\xf3\xa4", 16: b"\xc3", 14: b"\xe8\0\0\0\0", 15: b"\xff\x10", 12: b"\xff\x20"}
NO_MODULE, MOST = 0xFFFF, 126


def bytes_of(path):
    data = open(path, "rb").read()
    if data[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            return b"".join(z.read(i) for i in z.infolist())
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def entries(path):
    """The entries of a final trace without what chunks add: (type, size, address, raw bytes)."""
    data = bytes_of(path)
    known, pending, first, skip = {}, [], b"", 0
    for at in range(0, len(data) - 11, 12):
        kind, size, addr = struct.unpack_from("<HHQ", data, at)
        if kind == ENCODING:
            pending.append((kind, size, addr))
            first += data[at + 4:at + 4 + size]
            continue
        if kind == MARKER and size in (CHUNK, CHUNK_END):
            skip = 3 if size == CHUNK_END else 0
            continue
        if skip and kind == MARKER and size in (ORDINAL, TIMESTAMP, CPU):
            skip -= 1
            continue
        if kind in INSTRS and size:
            if first and known.get(addr) != first:
                known[addr] = first
                yield from ((*e, b"") for e in pending)
            pending, first = [], b""
            yield kind, size, addr, known.get(addr, b"")
            continue
        yield kind, size, addr, b""


# ---- what objdump says ----

class Insn:
    """Memory operand (base, disp), None where there is an index or segment; registers written."""
    NAMES = {}
    for i, r in enumerate("ax cx dx bx sp bp si di".split()):
        for n in ("r" + r, "e" + r, r):
            NAMES[n] = i
    for n, i in (("al", 0), ("ah", 0), ("cl", 1), ("ch", 1), ("dl", 2), ("dh", 2), ("bl", 3),
                 ("bh", 3), ("spl", 4), ("bpl", 5), ("sil", 6), ("dil", 7)):
        NAMES[n] = i
    for i in range(8, 16):
        for s in ("", "d", "w", "b"):
            NAMES[f"r{i}{s}"] = i
    MEMORY = re.compile(r"(%[c-gs]s:)?(-?0x[0-9a-f]+|-?\d+)?\((%\w+)?(?:,(%\w+)(?:,\d)?)?\)")
    IMPLICIT = {"cltq": [0], "cwtl": [0], "cbtw": [0], "cqto": [2], "cltd": [2], "cwtd": [2],
                "cpuid": [0, 1, 2, 3], "rdtsc": [0, 2], "rdtscp": [0, 1, 2], "xgetbv": [0, 2],
                "leave": [4, 5], "lahf": [0], "syscall": [1, 11]}
    NO_DEST = ("cmp", "test", "push", "j", "bt", "ucomis", "comis", "ptest", "vptest", "vucomis",
               "vcomis", "call", "ret", "nop", "prefetch", "clflush", "clwb", "vtest", "fld", "fi")

    def __init__(self, pc, size, text):
        words = text.split("#")[0].split(None, 1)
        while words and words[0] in ("lock", "rep", "repz", "repnz", "bnd", "notrack", "cs", "ds",
                                     "data16", "rex.W", "xacquire", "xrelease", "addr32"):
            self.rep = words[0].startswith("rep") or getattr(self, "rep", False)
            words = words[1].split(None, 1) if len(words) > 1 else [""]
        self.rep = getattr(self, "rep", False)
        self.name = words[0]
        rest = words[1].strip() if len(words) > 1 else ""
        self.base = self.disp = None
        self.fixed = False
        m = self.MEMORY.search(rest)
        self.string = re.fullmatch(r"(movs|cmps|stos|lods|scas|ins|outs)[bwlq]?", self.name) and m
        self.string = bool(self.string)
        self.rep = self.rep and self.string
        if m and not m.group(1) and not m.group(4) and not self.string:
            disp = int(m.group(2) or "0", 0)
            if m.group(3) == "%rip":
                self.fixed, self.disp = True, pc + size + disp
            elif m.group(3) and m.group(3)[1] == "r":
                self.base, self.disp = self.NAMES[m.group(3)[1:]], disp
        self.elements = "gather" in self.name or "scatter" in self.name
        self.conditional = (self.name.startswith("cmov") or "maskmov" in self.name or
                            re.match(r"bs[fr]", self.name) is not None or self.elements)
        self.writes = self.written(rest)

    def written(self, rest):
        n = self.name
        out = set(self.IMPLICIT.get(n, []))
        last = [self.NAMES.get(w[1:]) for w in re.sub(r"\([^)]*\)", "", rest).split(",")
                if w.strip().startswith("%") for w in [w.strip()]]
        ends = rest.rstrip().endswith(")")
        if re.match(r"(push|pop(?!cnt)|call|ret|enter)", n):
            out.add(4)
        if re.match(r"(i?div|mul|imul)[bwlq]?$", n) and "," not in rest:
            out |= {0, 2}
        if n.startswith("cmpxchg"):
            out |= {0, 2} if n[7:8] in ("8", "1") else {0}
        if n.startswith(("xchg", "xadd")):
            out |= set(last)
        if n.startswith("mulx"):
            out |= set(last[-2:])
        if self.string:
            out |= {1, 6, 7} | ({0} if n.startswith("lods") else set())
        if last and not ends and (not n.startswith(self.NO_DEST) or n.startswith(("bts", "btr", "btc"))):
            out.add(last[-1])
        return out - {None}

    def operand(self, write, size):
        """Base, displacement and whether it is an address, of a read or a write of SIZE bytes."""
        if re.match(r"(push|call|enter)", self.name) and write:
            return 4, -size, False
        if re.match(r"(pop(?!cnt)|ret)", self.name) and not write:
            return 4, 0, False
        if self.name.startswith("leave"):
            return 5, 0, False
        return self.base, self.disp, self.fixed


def take_apart(codes, a64=False):
    """Insn of each (pc, bytes)."""
    codes = sorted(codes)
    blob = b"".join(c.ljust(16, b"\x90") for _, c in codes)
    with tempfile.NamedTemporaryFile() as f:
        f.write(blob)
        f.flush()
        text = subprocess.run([*OBJDUMP[a64], "-D", "-z", "-w", "-b", "binary", "--no-show-raw-insn", f.name],
                              stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    lines = {}
    for line in text.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if m:
            lines[int(m.group(1), 16)] = m.group(2)
    if a64:
        return {key: InsnA64(key[0], 16 * i, lines.get(16 * i, "(bad)")) for i, key in enumerate(codes)}
    return {key: Insn(key[0], len(key[1]), lines.get(16 * i, "(bad)"))
            for i, key in enumerate(codes)}


# ---- making raw files ----

def ext(sub, b, a):
    return 6 << 61 | sub << 56 | b << 48 | a


def marker(number, value):
    if value >> 48:
        return [ext(2, 8, value >> 32), ext(2, number, value & 0xFFFFFFFF)]
    return [ext(2, number, value)]


class Image:
    """Code by address, as ELF files and encodings.bin."""

    def __init__(self, a64):
        self.code, self.changing, self.generated, self.bases = {}, set(), [], []
        self.machine = 183 if a64 else 62

    def learn(self, pc, code):
        if self.code.setdefault(pc, code) != code:
            self.changing.add(pc)

    def place(self):
        """Stretches of pages that lie near each other become a module each."""
        pages = sorted({p for pc, c in self.code.items() for p in (pc >> 12, (pc + len(c) - 1) >> 12)})
        for page in pages:
            if self.bases and page - self.bases[-1][1] < 4096:
                self.bases[-1][1] = page + 1
            else:
                self.bases.append([page, page + 1])

    def entry(self, pc, block):
        """The PC entry of the instructions BLOCK: (pc, bytes)."""
        count = len(block)
        if any(p in self.changing for p, _ in block):
            code = b"".join(c for _, c in block)
            if (pc, code) not in self.generated:
                self.generated.append((pc, code))
            return 5 << 61 | count << 49 | NO_MODULE << 33 | self.generated.index((pc, code)) << 12
        for i, (first, last) in enumerate(self.bases):
            if first <= pc >> 12 < last:
                return 5 << 61 | count << 49 | 2 * i << 33 | pc - (first - 1 << 12)
        raise ValueError(hex(pc))

    def module_offset(self, pc):
        """What versions 4 to 6 have for an address; as it is where no module has it."""
        for i, (first, last) in enumerate(self.bases):
            if first <= pc >> 12 < last:
                return 2 * i << 33 | pc - (first - 1 << 12)
        return pc

    def write(self, raw, beside):
        lines = []
        for i, (first, last) in enumerate(self.bases):
            memory = bytearray((last - first) << 12)
            for pc, code in self.code.items():
                at = pc - (first << 12)
                if 0 <= at < len(memory):
                    memory[at:at + len(code)] = code[:len(memory) - at]
            size = len(memory)
            head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
                "<HHIQQQIHHHHHH", 3, self.machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
            head += struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, 4096, 4096, 4096)
            head += struct.pack("<IIQQQQQQ", 1, 5, 4096, 4096, 4096, size, size, 4096)
            with open(f"{beside}/image{i}.so", "wb") as f:
                f.write(head.ljust(4096, b"\0") + bytes(memory))
            start = first - 1 << 12
            lines.append(f"{2 * i:3}, {2 * i:3}, 0x{start:016x}, 0x{start + 4096:016x}, "
                         f"0x{0:016x}, {0:016x}, 0x{0:016x}, v#1,0, /gone/image{i}.so\n")
            lines.append(f"{2 * i + 1:3}, {2 * i:3}, 0x{start + 4096:016x}, "
                         f"0x{start + 4096 + size:016x}, 0x{0:016x}, {4096:016x}, 0x{0:016x}, "
                         f"v#1,0, /gone/image{i}.so\n")
        with open(f"{raw}/modules.log", "w") as f:
            f.write(f"Module Table: version 5, count {len(lines)}\nColumns: id, containing_id, start, "
                    "end, entry, offset, preferred_base, (custom fields), path\n" + "".join(lines))
        if self.generated:
            with open(f"{raw}/encodings.bin", "wb") as f:
                f.write(struct.pack("<QQ", 1, 0))
                for i, (pc, code) in enumerate(self.generated):
                    f.write(struct.pack("<QQQ", 24 + len(code), i << 12, pc) + code)


class Maker:
    def __init__(self, records, image, insns, full, version):
        self.records, self.image, self.insns = records, image, insns
        self.full, self.version, self.out = full, version, []

    def header(self, filetype, tid, pid, line):
        if self.version < 5:
            self.out.append(ext(0, filetype & 0xFF, self.version))
        else:
            self.out.append(ext(4, self.version, filetype))
        self.out += [2 << 61 | tid, 3 << 61 | pid] + marker(LINE, line)

    def block(self, insns):
        """Instructions with their accesses: [(pc, bytes, [(type, address, size)])]."""
        self.out.append(self.image.entry(insns[0][0], [(pc, code) for pc, code, _ in insns]))
        known = [self.insns[pc, code] for pc, code, _ in insns]
        elides = (not self.full and self.version >= 3 and not self.filetype & DFILTERED and
                  not any(n.rep or n.elements for n in known))
        saw = set()
        for n, (pc, code, accesses) in zip(known, insns):
            if n.conditional:
                saw = set()
            for write in (False, True):
                for _, addr, size in (a for a in accesses if (a[0] == 1) == write):
                    if self.filetype & DFILTERED: # whose access it is
                        self.out.append(self.image.entry(pc, [(pc, code)]) & ~(0xFFF << 49))
                    self.access(n, write, addr, size, elides and not n.conditional, saw)
                saw -= n.writes
            if n.conditional:
                saw = set()

    def access(self, n, write, addr, size, elides, saw):
        base, disp, fixed = n.operand(write, size)
        if n.elements or n.string:
            base, fixed = None, False
        if elides and (fixed or base in saw):
            return
        if elides and base is not None:
            saw.add(base)
        if base is not None and not self.full:
            addr -= disp
        self.out.append(addr & (1 << 64) - 1)

    def make(self):
        records, i, block = self.records, 0, []

        def flush():
            if block:
                self.block(block)
                block.clear()
        filtered = any(k == MARKER and s == FILETYPE and a & IFILTERED for k, s, a, _ in records[:8])
        while i < len(records):
            kind, size, addr, code = records[i]
            i += 1
            if kind in INSTRS:
                accesses = []
                while i < len(records) and records[i][0] in ACCESSES:
                    accesses.append((records[i][0], records[i][2], records[i][1]))
                    i += 1
                if filtered:
                    self.filtered(size, addr, code, accesses)
                    continue
                n = self.insns[addr, code]
                alone = n.rep or n.elements
                if block and (alone or len(block) == MOST or
                              block[-1][0] + len(block[-1][1]) != addr):
                    flush()
                block.append((addr, code, accesses))
                if kind in BRANCHES or alone or n.name.startswith(("syscall", "sysenter", "int ", "svc")):
                    flush()
            elif kind == MARKER and size in (TARGET, MAYBE, VERSION):
                pass
            elif kind == MARKER and size == FILETYPE:
                self.full = self.full or bool(addr & NO_OPT)
                self.filetype = (addr & ~ENCODINGS) | (NO_OPT if self.full else 0)
            elif kind == MARKER and size == UNCOMPLETED:
                flush()
                pc = records[i][2]
                self.out.append(self.image.entry(pc, [(pc, self.image.code[pc])]))
            elif kind == MARKER and size == LINE:
                self.header(self.filetype, self.tid, self.pid, addr)
            elif kind == MARKER and size == TIMESTAMP:
                flush()
                self.out.append(4 << 61 | addr)
            elif kind == MARKER:
                flush()
                if 4 <= self.version < 7 and size in (EVENT, XFER, ABORT):
                    addr = self.image.module_offset(addr)
                self.out += marker(45 if size == EVENT and self.version > 7 else size, addr)
            elif kind == THREAD:
                self.tid = addr
            elif kind == PID:
                self.pid = addr
            elif kind == EXIT:
                flush()
                self.out.append(ext(1, 0, 0))
        return struct.pack(f"<{len(self.out)}Q", *self.out)

    def filtered(self, size, pc, code, accesses):
        code = code or self.image.code[pc]
        entry = self.image.entry(pc, [(pc, code)])
        self.out.append(entry if size else entry & ~(0xFFF << 49))
        for kind, addr, length in accesses:
            self.out += [ext(3, kind, length), addr]


def make(args):
    full = "--full" in args
    version = int(args[args.index("--version") + 1]) if "--version" in args else 8
    paths = [a for i, a in enumerate(args) if not a.startswith("--") and args[i - 1] != "--version"]
    finals, outdir = paths[:-1], paths[-1]
    raw = f"{outdir}/raw"
    os.makedirs(raw)
    threads = [list(entries(p)) for p in finals]
    a64 = any(k == MARKER and s == FILETYPE and v & AARCH64 for k, s, v, _ in threads[0][:8])
    image = Image(a64)
    for records in threads:
        for i, (kind, size, addr, code) in enumerate(records):
            if kind in INSTRS and code:
                image.learn(addr, code)
    for records in threads: # what did not complete may be nowhere else
        for i, (kind, size, addr, code) in enumerate(records):
            if kind == MARKER and size == UNCOMPLETED and i + 1 < len(records):
                image.code.setdefault(records[i + 1][2], struct.pack("<Q", addr))
    for records in threads: # of filtered traces: something that accesses memory like it
        for kind, size, addr, _ in sorted(records, key=lambda r: r[0] != NO_FETCH):
            if kind in INSTRS and not size:
                image.code.setdefault(addr, STAND_INS.get(kind, b"\x58"))
    codes = {(addr, code) for r in threads for k, s, addr, code in r if k in INSTRS and code}
    codes |= set(image.code.items())
    insns = take_apart(codes, a64)
    image.place()
    for path, records in zip(finals, threads):
        m = Maker(records, image, insns, full, version)
        data = m.make()
        name = re.sub(r"\.trace.*", ".raw.gz", os.path.basename(path))
        with gzip.open(f"{raw}/{name}", "wb", 1) as f:
            f.write(data)
    image.write(raw, outdir)


def without_last_branch(records):
    """Where the last branch of a thread went a raw file does not say: it is left out."""
    end = next((i for i, r in enumerate(records) if r[0] == EXIT), len(records))
    at = end
    while at and (records[at - 1][0] in ACCESSES or records[at - 1][0] == ENCODING):
        at -= 1
    if at and records[at - 1][0] in UNKNOWN:
        at -= 1
        while at and records[at - 1][:2] == (MARKER, TARGET) or records[at - 1][0] == ENCODING:
            at -= 1
        return records[:at] + records[end:]
    return records


def same(args):
    mask = ~NO_OPT if "--but-types" in args else ~0
    paths = [a for a in args if not a.startswith("--")]
    half = len(paths) // 2
    bad = 0
    for final, made in zip(paths[:half], paths[half:]):
        a, b = without_last_branch(list(entries(final))), list(entries(made))
        for records in (a, b):
            for i, (k, s, v, c) in enumerate(records):
                if k == MARKER and s == FILETYPE:
                    records[i] = (k, s, v & mask, c)
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                print(f"{final}: record {i}: {x[0]} {x[1]} {x[2]:#x} {x[3].hex()} was made "
                      f"{y[0]} {y[1]} {y[2]:#x} {y[3].hex()}")
                bad += 1
                break
        else:
            if len(a) != len(b):
                print(f"{final}: {len(a)} records, made {len(b)}")
                bad += 1
    return 1 if bad else 0


# ---- random A64 code ----

# of loads and stores: bits that must be 0 and 1, for each kind about as often
KINDS = [(0x02000000, 0x08000000), (0x37000000, 0x08000000), (0xB3000000, 0x0C000000), (0x22000000, 0x28000000),
         (0x22000000, 0x38000000), (0x07000C00, 0x38200000), (0x26200C00, 0x19000000)]


def some_word(rng):
    word = rng.getrandbits(32)
    if rng.random() < 0.7:
        zeros, ones = rng.choice(KINDS)
        return word & ~zeros | ones
    if rng.random() < 0.5:
        return word
    kind = rng.randrange(4)
    if kind == 0: # caches
        return (0xD5080020 | rng.choice((3, 3, 0)) << 16 | 7 << 12 | word & 31 |
                rng.choice((4, 5, 6, 10, 11, 12, 13, 14)) << 8)
    if kind == 1:
        return 0xD503201F | word & 0xFE0
    return word & 0xE0DF03FF | 0x1E200000 if kind == 2 else word & 0x401F7BFF | 0x0E002C00


def some_words(rng, n):
    """Loads and stores of all kinds, and some of what else there is."""
    while n:
        word = some_word(rng)
        if word >> 25 & 15 not in (0, 1, 2, 3): # reserved, SVE, SME
            yield struct.pack("<I", word)
            n -= 1


def put_access(out, n, write, values, rng):
    size = LINE_BYTES if n.data in (1, 18, 20) else n.size
    kind = n.data if n.data is not None else int(write)
    base, disp, fixed = n.operand(write, size)
    addr = disp if fixed else (values[base] + disp if base is not None else rng.getrandbits(46)) & (1 << 64) - 1
    out.append((kind, size, addr - addr % LINE_BYTES if n.data == 1 else addr))


def random_code(args):
    """Accesses as objdump's text tells them, from registers that hold random values."""
    rng, count, path = random.Random(int(args[0])), int(args[1]), args[2]
    start = 0x400000
    words = list(some_words(rng, 4 * count))
    insns = take_apart([(i, code) for i, code in enumerate(words)], True)
    words = [code for i, code in enumerate(words) if usable(insns[i, code])][:count]
    codes = [(start + 4 * i, code) for i, code in enumerate(words)]
    insns = take_apart(codes, True)
    out = [(HEADER, 0, 7), (MARKER, VERSION, 7), (MARKER, FILETYPE, ENCODINGS | AARCH64), (THREAD, 4, 5),
           (PID, 4, 5), (MARKER, LINE, LINE_BYTES), (MARKER, CHUNK, 10000000), (MARKER, TIMESTAMP, 99),
           (MARKER, CPU, 0)]
    # whole lines: DC ZVA does not tell where in its line it points
    values = [rng.getrandbits(40) * LINE_BYTES for _ in range(32)]
    for pc, code in codes:
        n = insns[pc, code]
        out.append((ENCODING, 4, struct.unpack("<I", code)[0]))
        if n.kind in UNKNOWN:
            out.append((MARKER, TARGET, pc + 4))
        out.append((n.kind if n.kind != 13 else 48 if n.target == pc + 4 else 49, 4, pc))
        for write in (False, True):
            if n.stores if write else n.reads:
                put_access(out, n, write, values, rng)
        for reg in n.writes:
            values[reg] = rng.getrandbits(40) * LINE_BYTES
    out += [(EXIT, 4, 5), (FOOTER, 0, 0)]
    with open(path, "wb") as f:
        f.write(b"".join(struct.pack("<HHQ", *e) for e in out))


def usable(n):
    return n.known and not n.name.startswith(("undefined", "(bad)", "svc", "udf")) and "undefined" not in n.ops


if __name__ == "__main__":
    modes = {"make": make, "same": same, "random": random_code}
    if len(sys.argv) < 4 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    sys.exit(modes[sys.argv[1]](sys.argv[2:]) or 0)

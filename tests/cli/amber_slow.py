#!/usr/bin/env python3
"""Random Amber traces (tt6, tt6e, full), each with the rows that docs/formats/amber.md says it has.

usage: amber_slow.py gen FORMAT SEED RECORDS TRACE ROWS    write a trace and the rows it must become
       amber_slow.py same ROWS VIEW                         compare them with `trod view --format json`

Instructions are drawn from the class macros of the document, whose operand fields are drawn too; bytes of the
trace and the rows are made of the same numbers. Texts (disassembly) are not looked at.
"""

import json
import random
import struct
import sys

READ, WRITE, PREFETCH, FLUSH, CACHE_OP = "READ", "WRITE", "PREFETCH", "FLUSH", "CACHE_OP"

# The class macros: mnemonic, major, minor (or None), what it does, bytes (or how to find them)
TABLE = [
    ("lbz", 34, None, READ, 1), ("lbzu", 35, None, READ, 1), ("lfd", 50, None, READ, 8), ("lfdu", 51, None, READ, 8),
    ("lfs", 48, None, READ, 4), ("lfsu", 49, None, READ, 4), ("lha", 42, None, READ, 2), ("lhau", 43, None, READ, 2),
    ("lhz", 40, None, READ, 2), ("lhzu", 41, None, READ, 2), ("lmw", 46, None, READ, "multiple"), ("lwz", 32, None, READ, 4),
    ("lwzu", 33, None, READ, 4), ("lswi", 31, 597, READ, "nb"), ("lbzux", 31, 119, READ, 1), ("lbzx", 31, 87, READ, 1),
    ("lfdux", 31, 631, READ, 8), ("lfdx", 31, 599, READ, 8), ("lfsux", 31, 567, READ, 4), ("lfsx", 31, 535, READ, 4),
    ("lhaux", 31, 375, READ, 2), ("lhax", 31, 343, READ, 2), ("lhbrx", 31, 790, READ, 2), ("lhzux", 31, 311, READ, 2),
    ("lhzx", 31, 279, READ, 2), ("lwarx", 31, 20, READ, 4), ("lwbrx", 31, 534, READ, 4), ("lwzux", 31, 55, READ, 4),
    ("lwzx", 31, 23, READ, 4), ("lvebx", 31, 7, READ, 1), ("lvehx", 31, 39, READ, 2), ("lvewx", 31, 71, READ, 4),
    ("lvx", 31, 103, READ, 16), ("lvxl", 31, 359, READ, 16), ("eciwx", 31, 310, READ, 4), ("ecowx", 31, 438, WRITE, 4),
    ("stb", 38, None, WRITE, 1), ("stbu", 39, None, WRITE, 1), ("stfd", 54, None, WRITE, 8), ("stfdu", 55, None, WRITE, 8),
    ("stfs", 52, None, WRITE, 4), ("stfsu", 53, None, WRITE, 4), ("sth", 44, None, WRITE, 2), ("sthu", 45, None, WRITE, 2),
    ("stmw", 47, None, WRITE, "multiple"), ("stw", 36, None, WRITE, 4), ("stwu", 37, None, WRITE, 4), ("stbux", 31, 247, WRITE, 1),
    ("stbx", 31, 215, WRITE, 1), ("stfdux", 31, 759, WRITE, 8), ("stfdx", 31, 727, WRITE, 8), ("stfiwx", 31, 983, WRITE, 4),
    ("stfsux", 31, 695, WRITE, 4), ("stfsx", 31, 663, WRITE, 4), ("sthbrx", 31, 918, WRITE, 2), ("sthux", 31, 439, WRITE, 2),
    ("sthx", 31, 407, WRITE, 2), ("stswi", 31, 725, WRITE, "nb"), ("stwbrx", 31, 662, WRITE, 4), ("stwcx.", 31, 150, WRITE, 4),
    ("stwux", 31, 183, WRITE, 4), ("stwx", 31, 151, WRITE, 4), ("stvebx", 31, 135, WRITE, 1), ("stvehx", 31, 167, WRITE, 2),
    ("stvewx", 31, 199, WRITE, 4), ("stvx", 31, 231, WRITE, 16), ("stvxl", 31, 487, WRITE, 16), ("ld", 58, None, READ, "ds"),
    ("std", 62, None, WRITE, "ds"), ("ldx", 31, 21, READ, 8), ("ldux", 31, 53, READ, 8), ("ldarx", 31, 84, READ, 8),
    ("lwax", 31, 341, READ, 4), ("lwaux", 31, 373, READ, 4), ("stdx", 31, 149, WRITE, 8), ("stdux", 31, 181, WRITE, 8),
    ("stdcx.", 31, 214, WRITE, 8),
]
CACHE = [
    ("dcba", 758, CACHE_OP), ("dcbf", 86, FLUSH), ("dcbi", 470, CACHE_OP), ("dcbst", 54, CACHE_OP), ("dcbt", 278, PREFETCH),
    ("dcbtst", 246, PREFETCH), ("dcbz", 1014, WRITE), ("icbi", 982, FLUSH),
]
EXTENDED = [("lswx", 533, READ), ("stswx", 661, WRITE), ("dst", 342, PREFETCH), ("dstst", 374, PREFETCH)]
COMPUTE = [0x7C632214, 0x38210010, 0x7C0802A6, 0x60000000, 0x2C030000, 0xFC01102A, 0x10000484, 0x7C0004AC, 0x4C00012C, 0x0FE00000]
REGISTERS = (
    ["srr1"] + ["r%d" % i for i in range(32)] + ["cr", "xer", "lr", "ctr", "mq", "vrsave"]
)
ALIGNED = {"lvebx": 1, "lvehx": 2, "lvewx": 4, "lvx": 16, "lvxl": 16, "stvebx": 1, "stvehx": 2, "stvewx": 4, "stvx": 16, "stvxl": 16}
M32 = 0xFFFFFFFF


def words(*of):
    return struct.pack(">%dI" % len(of), *of)


class Maker:
    def __init__(self, form, seed):
        self.form, self.r = form, random.Random(seed)
        self.pc = self.r.randrange(0x1000, 0xF0000000, 4)
        self.out, self.rows = bytearray(), []
        self.given = {}

    def field(self):
        return self.r.randrange(32)

    def row(self, kind, **more):
        row = {"kind": kind, "thread": "0"}
        row.update((k, v) for k, v in more.items() if v is not None)
        self.rows.append(row)
        return row

    # ---- instructions: an opcode and what it does, (name, what, size) with operands

    def memory(self):
        """An instruction with an access: opcode, name, what, size, and the fields for its address."""
        if self.r.randrange(6) == 0:
            name, minor, what = self.r.choice(CACHE)
            return self.indexed(minor), name, what, 32
        if self.r.randrange(8) == 0:
            name, minor, what = self.r.choice(EXTENDED)
            return self.indexed(minor), name, what, None
        name, major, minor, what, size = self.r.choice(TABLE)
        if minor is not None:
            opcode = self.indexed(minor)
            if size == "nb":
                size = (opcode >> 11 & 31) or 32
            return opcode | (1 if name.endswith(".") else 0), name, what, size
        rt = self.field()
        opcode = major << 26 | rt << 21 | self.field() << 16 | self.r.randrange(1 << 16)
        if size == "multiple":
            size = 4 * (32 - rt)
        elif size == "ds":
            form = self.r.randrange(3 if name == "ld" else 2)
            opcode = (opcode & ~3) | form
            size = 4 if form == 2 else 8
        return opcode, name, what, size

    def indexed(self, minor):
        return 31 << 26 | self.field() << 21 | self.field() << 16 | self.field() << 11 | minor << 1

    def flow(self):
        """A change of flow: opcode, next address, kind as JSON has it."""
        pc, far = self.pc, self.r.randrange(0, 1 << 32, 4)
        which = self.r.randrange(8)
        link = self.r.randrange(2)
        if which <= 1:
            absolute = self.r.randrange(2)
            offset = self.r.randrange(-(1 << 25), 1 << 25, 4) or 8
            if absolute == 0 and offset == 0:
                offset = 8
            target = (offset if absolute else pc + offset) & M32
            opcode = 18 << 26 | (offset & 0x03FFFFFC) | absolute << 1 | link
            return opcode, target, "call" if link else "direct"
        bo, bi = self.r.choice([0, 2, 4, 8, 10, 12, 16, 18, 20]), self.field()
        always = bo == 20
        if which <= 3:
            offset = self.r.randrange(-(1 << 15), 1 << 15, 4)
            if offset in (0, 4):
                offset = 8
            taken = always or self.r.randrange(2)
            target = pc + offset & M32
            kind = "untaken" if not taken else "call" if link else "direct" if always else "taken"
            return 16 << 26 | bo << 21 | bi << 16 | (offset & 0xFFFC) | link, target if taken else pc + 4 & M32, kind
        if which <= 5:
            minor = 16 if which == 4 else 528
            if minor == 528:
                bo |= 4  # bcctr does not count CTR down
                always = bo & 20 == 20
            taken = always or self.r.randrange(2)
            if far == (pc + 4 & M32):
                far ^= 64
            kind = "untaken" if not taken else "indirect-call" if link else "return" if minor == 16 else "indirect"
            return 19 << 26 | bo << 21 | bi << 16 | minor << 1 | link, far if taken else pc + 4 & M32, kind
        if which == 6:
            return 17 << 26 | 2, far, "syscall"
        return 19 << 26 | self.r.choice([50, 18]) << 1, far, "exception-return"

    # ---- rows

    def access(self, name, what, size, ea, third, physical=None):
        details, flags, addr = {}, [], ea
        if name in ALIGNED:
            addr = ea & ~(ALIGNED[name] - 1)
        elif size == 32 and any(name == c[0] for c in CACHE):
            addr = ea & ~31
        if size is None:
            if name in ("lswx", "stswx"):
                size = third & 0x7F
                details["xer"] = hex(third)
            else:
                size = 16 * ((third >> 24 & 31) or 32)
                stride = third & 0xFFFF
                details.update(rb=hex(third), count=(third >> 16 & 255) or 256)
                details["stride"] = stride - 0x10000 if stride & 0x8000 else stride
        if addr != ea:
            details["ea"] = hex(ea)
        if name in ("stwcx.", "stdcx.", "lwarx", "ldarx"):
            flags.append("exclusive")
        if name in ("eciwx", "ecowx"):
            flags.append("io")
        if name == "icbi":
            flags.append("fetch")
        self.row(what, address=hex(addr), physical=physical, size=size, pc=hex(self.pc), flags=flags or None,
                 details=details or None, text=name if what == CACHE_OP else None)

    def instr(self, opcode, **more):
        return self.row("INSTR", address=hex(self.pc), pc=hex(self.pc), size=4, opcode="%08x" % opcode, **more)

    # ---- tt6, tt6e

    def escape(self):
        r = self.r
        code = r.choice([0, 1, 2, 3, 4, 5, 0x20, 0x21, 0x30, 0x31, 0x22, 0x3F, 6, 0x1FF, 0x3FF])
        names = {
            0: "segment register", 1: "optional data address", 2: "condition register value", 3: "real address of branch target",
            4: "real data address", 5: "real address of instruction",
            0x20: "SYNC_SIGNAL", 0x21: "SYNC_BROADCAST_SIGNAL", 0x30: "SYNC_WAIT", 0x31: "SYNC_TRY_WAIT",
        }
        count = 2 if code in (0x20, 0x21, 0x30, 0x31) and r.randrange(4) else r.choice([1, 1, 2, 0, 3, 70])
        data = [r.randrange(1 << 32) for _ in range(count)]
        self.out += words(code << 16 | count, *data)
        text = names.get(code, "reserved for thread synchronization" if 0x20 <= code < 0x40 else None)
        if count == 2 and code in (0x20, 0x21, 0x30, 0x31):
            self.row("SYNC", address=hex(data[0]), value="%d" % data[1], text=text, sub=code, pc=hex(self.pc))
            return
        value = hex(data[0]) if count == 1 else hex(data[0] << 32 | data[1]) if count == 2 else None
        if value is None and count:
            value = "".join("%08x" % w for w in data)
        self.row("MARKER", value=value, text=text, sub=code, pc=hex(self.pc))
        if code in (1, 3, 4, 5) and count in (1, 2):
            self.given[code] = hex(data[0]) if count == 1 else hex(data[0] << 32 | data[1])

    def record(self):
        r = self.r
        given, self.given = self.given, {}
        physical = given.get(5)
        details = {"target_pa": given[3]} if 3 in given else None
        kind = r.randrange(10)
        if kind < 3:
            opcode, target, branch = self.flow()
            self.out += words(opcode, target)
            self.instr(opcode, physical=physical, details=details, target=hex(target), branch=branch)
            self.pc = target
        elif kind < 5:
            opcode = r.choice(COMPUTE)
            self.out += words(opcode)
            self.instr(opcode, physical=physical, details=details)
            self.pc = self.pc + 4 & M32
        else:
            opcode, name, what, size = self.memory()
            ea, third = r.randrange(1 << 32), r.randrange(1 << 32) if size is None else None
            cache = any(name == c[0] for c in CACHE)
            self.instr(opcode, physical=physical, details=details)
            if cache and self.form == "tt6":
                self.out += words(opcode)
                if 1 in given and len(given[1]) <= 10:
                    self.access(name, what, size, int(given[1], 16), None, given.get(4))
            elif size is None:
                self.out += words(opcode, ea, third)
                self.access(name, what, None, ea, third, given.get(4))
            else:
                self.out += words(opcode, ea)
                self.access(name, what, size, ea, None, given.get(4))
            self.pc = self.pc + 4 & M32

    def trap(self):
        """A twi with its synthetic return."""
        opcode = 3 << 26 | self.field() << 21 | self.field() << 16 | self.r.randrange(1 << 16)
        branch, back = 18 << 26 | 0x700 | self.r.choice([0, 2]), self.r.randrange(0, 1 << 32, 4)
        self.out += words(opcode, branch, 0x700, 19 << 26 | 50 << 1, back)
        self.instr(opcode)
        self.pc = self.pc + 4 & M32
        self.instr(branch, target="0x700", branch="direct", flags=["synthetic"])
        self.pc = 0x700
        self.instr(19 << 26 | 50 << 1, target=hex(back), branch="exception-return", flags=["synthetic"])
        self.pc = back

    def tt6(self, records):
        self.out += words(self.pc)
        self.row("MARKER", value=hex(self.pc), text="INITIAL_PC", sub=0x400, pc=hex(self.pc))
        for _ in range(records):
            which = self.r.randrange(12)
            if which == 0:
                self.escape()
            elif which == 1 and self.form == "tt6e" and not self.given:
                self.trap()
            else:
                self.record()

    # ---- full

    def full(self, records):
        r = self.r
        self.out += words(0xA1118E17)
        state = bytearray(r.randbytes(1000))
        steps = []
        for _ in range(records):
            kind = r.randrange(10)
            struct.pack_into(">I", state, 0, self.pc)
            step = {"pc": self.pc, "state": bytes(state), "branch": None}
            if kind < 3:
                step["opcode"], target, step["branch"] = self.flow()
                self.pc = target
            elif kind < 5:
                step["opcode"] = r.choice(COMPUTE)
                self.pc = self.pc + 4 & M32
            else:
                step["opcode"], *step["access"] = self.memory()
                self.pc = self.pc + 4 & M32
            if r.randrange(15) == 0:
                self.pc = r.randrange(0, 1 << 32, 4)
                if step["branch"]:
                    step["branch"] = "?"
            steps.append(step)
            for _ in range(r.randrange(4)):
                at = r.randrange(4, 1000)
                state[at] ^= r.randrange(1, 256)
        for i, step in enumerate(steps):
            self.full_step(step, steps[i + 1] if i + 1 < len(steps) else None)

    def full_step(self, step, after):
        opcode, state = step["opcode"], step["state"]
        self.pc = step["pc"]
        self.out += words(opcode) + state
        target = None
        if after and (step["branch"] or after["pc"] != (self.pc + 4 & M32)):
            target = hex(after["pc"])
        # which way a branch went is not known at the end, nor where something else intervened
        branch = step["branch"] if after and step["branch"] != "?" else "?" if step["branch"] else None
        self.instr(opcode, target=target, branch=branch)
        self.row("STATE", address=hex(self.pc), pc=hex(self.pc), size=1000, value=state.hex())
        if "access" in step:
            gpr = struct.unpack_from(">32I", state, 8)
            name, what, size = step["access"]
            ra, rb = opcode >> 16 & 31, opcode >> 11 & 31
            base = gpr[ra] if ra or name.endswith("u") or name.endswith("ux") else 0
            major = opcode >> 26
            if name in ("ld", "std") and opcode & 3 == 1:
                base = gpr[ra]
            if name in ("lswi", "stswi"):
                ea = base
            elif name in ("dst", "dstst"):
                ea = base
            elif major == 31:
                ea = base + gpr[rb]
            else:
                d = opcode & (0xFFFC if major in (58, 62) else 0xFFFF)
                ea = base + (d - 0x10000 if d & 0x8000 else d)
            third = gpr[rb] if name.startswith("dst") else struct.unpack_from(">I", state, 8 + 4 * 33)[0]
            self.access(name, what, size, ea & M32, third if size is None else None)
        if after:
            for name, size, value in changed(state, after["state"]):
                self.row("REG", pc=hex(self.pc), size=size, text=name, value="0x%0*x" % (2 * size, value))


def changed(before, after):
    """Registers that differ between two states: name, bytes, value."""
    places = [(name, 4 + 4 * i, 4) for i, name in enumerate(REGISTERS)]
    places += [("f%d" % i, 160 + 8 * i, 8) for i in range(32)] + [("fpscr", 160 + 260, 4)]
    places += [("v%d" % i, 424 + 16 * i, 16) for i in range(32)] + [("vscr", 424 + 512, 16), ("vrvalid", 424 + 544, 4)]
    for name, at, size in places:
        if before[at : at + size] != after[at : at + size]:
            yield name, size, int.from_bytes(after[at : at + size], "big")


def same(rows, seen):
    bad = len(rows) != len(seen)
    if bad:
        print("%d rows instead of %d" % (len(seen), len(rows)))
    for at, (want, got) in enumerate(zip(rows, seen)):
        got.pop("record")
        if want["kind"] == "INSTR":
            got.pop("text", None)
        if want.get("branch") == "?":
            want["branch"] = got.get("branch")
        if want != got:
            bad = True
            print("row %d of kind %s" % (at, want["kind"]))
            for key in sorted(set(want) | set(got)):
                if want.get(key) != got.get(key):
                    print("  %s: is %s, not %s" % (key, str(got.get(key))[:200], str(want.get(key))[:200]))
            print("  whole: %s" % str(got)[:300])
            if at > 5000:
                break
    return bad


def main():
    if sys.argv[1] == "gen":
        form = sys.argv[2]
        m = Maker(form, int(sys.argv[3]))
        (m.full if form == "full" else m.tt6)(int(sys.argv[4]))
        with open(sys.argv[5], "wb") as f:
            f.write(m.out)
        with open(sys.argv[6], "w") as f:
            json.dump(m.rows, f)
        return 0
    with open(sys.argv[2]) as f:
        rows = json.load(f)
    with open(sys.argv[3], encoding="utf-8") as f:
        seen = [json.loads(line) for line in f]
    return same(rows, seen)


if __name__ == "__main__":
    sys.exit(main())

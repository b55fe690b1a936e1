#!/usr/bin/env python3
"""Random Tarmac lines, each with the rows that docs/formats/tarmac.md says it has.

usage: tarmac_slow.py gen SEED LINES TRACE ROWS        write a trace and the rows it must become
       tarmac_slow.py matcher SEED LINES TRACE ROWS    a trace of Trace Matcher's three records
       tarmac_slow.py same ROWS VIEW                   compare them with what `trod view --format json` printed

Nothing is parsed here: a line and its rows are made of the same drawn fields, so that no mistake of a
reader can hide in both. Every record kind of the manual is drawn, with the variations of its fields that
producers have, lines that mean nothing, blanks, tabs and ends of lines of either kind.
"""

import json
import random
import sys

UNITS = ["clk", "ps", "ns", "us", "ms", "s", "cs", "cyc", "cycles", "tic", "fs", "ticks"]
CPUS = ["cpu0", "cpu1", "css.cluster0.cpu1", "cpu0.thread1", "CPU2", "system.cpu"]
SECURITY = {"": "s", "_NS": "ns", "_S": "s", "_RT": "root", "_RL": "realm"}
MODES = ["svc_s", "usr_ns", "hyp_n", "EL3h_s", "EL1h_n", "EL0t", "EL2t_n", "mon_s", "abt_ns", "thread", "thrd_s", "el3t_rt", "---_-"]
TEXTS = [
    "NOP", "LDR      x0,[x1,#8]!", "B.NE     {pc}-0x14 ; 0x8000", "LDM      r0,{r1,r2}^", "{ odd }",
    "MOV r0,#1 // \u00e9\u4e2d", "DCI.W 0xf7ff : ? undefined", "a:b", '"quoted" \\ back', "UDF #0",
]
REGISTERS = [
    "r0", "r13", "r13_mon", "r14_svc", "cpsr", "spsr_hyp", "X30", "W5", "SP_EL0", "SP_EL3", "ELR_EL1", "FPSR", "fpcr", "nzcv", "S31",
    "d0", "S3_3_C15_C2_0", "CP15_SCTLR_ns", "MSP_NS", "PRIMASK", "FPEXC", "VBAR_EL3", "ICC_PMR_EL1", "xpsr", "LR",
]
WIDE = ["z31", "Z0", "V7", "q15", "ZT0", "ZA"]


class Drawn:
    """Numbers and words, and what they are written as."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def once_in(self, n):
        return self.r.randrange(n) == 0

    def one(self, of):
        return self.r.choice(of)

    def case(self, text):
        return text.upper() if self.once_in(4) else text

    def number(self, bits):
        """A number that is small, large or has all bits set, more often than chance would have it."""
        kind = self.r.randrange(6)
        if kind == 0:
            return self.r.randrange(16)
        if kind == 1:
            return (1 << bits) - 1 - self.r.randrange(3)
        if kind == 2:
            return 1 << self.r.randrange(bits)
        return self.r.getrandbits(bits)

    def address(self):
        bits = self.one([32, 32, 32, 64])
        value = self.number(bits)
        return value, self.case("%0*x" % (bits // 4, value))

    def physical(self, row, text):
        """TEXT with a physical address behind it, or not."""
        if self.once_in(2):
            return text
        value, security = self.number(48), self.one(list(SECURITY))
        row["physical"] = hex(value)
        row["security"] = SECURITY[security]
        return "%s:%s%s" % (text, self.case("%012x" % value), security)

    def virtual(self, row, key="address"):
        value, text = self.address()
        row[key] = hex(value)
        return self.physical(row, text)

    def logical(self, size, divided):
        """A number of SIZE bytes in logical order: its digits as JSON has them, and as a line does."""
        value = self.number(8 * size)
        digits = "%0*x" % (2 * size, value)
        if not divided or size < 8:
            return "0x" + digits, self.case(digits)
        sign = divided if divided != " " or size > 8 else "_"
        groups = 16 if sign == " " and self.once_in(2) else 8
        return "0x" + digits, self.case(sign.join(digits[i : i + groups] for i in range(0, len(digits), groups)))

    def hidden(self, size):
        """A value with digits that are not known: at least one that is, at least one that is not."""
        digits = list("%0*x" % (2 * size, self.number(8 * size)))
        gone = self.r.sample(range(len(digits)), self.r.randrange(1, len(digits)))
        shown = digits[:]
        for i in gone:
            digits[i] = self.one("xX?" if i != 1 or digits[0] != "0" else "?") # 0x would be a prefix
            shown[i] = "?"
        return "0x" + "".join(shown), "".join(digits)


def instr(d, row, details):
    sets = {"A": "A32", "T": "T32", "X": "T32EE", "O": "A64", "J": "Jazelle"}
    kind, letter = d.one(["IT", "IT", "IT", "IS", "IF"]), d.one(list(sets))
    form = d.one(["index", "index", "index", "index", "address", "both", "es"])
    value, text = d.address()
    row.update(kind="INSTR", address=hex(value), pc=hex(value), iset=sets[letter])
    size = d.one([2, 4]) if letter in "TX" else 4
    opcode = "%0*x" % (2 * size, d.number(8 * size))
    mode, what = d.one(MODES), d.one(TEXTS)
    row.update(size=size, opcode=opcode, text=what)
    details["mode"] = mode
    if form == "es":
        skipped = d.once_in(4)
        if skipped:
            row["flags"] = ["skipped"]
        return "ES  (%s:%s) %s %s:%s%s" % (
            text, d.case(opcode), letter, mode, " CCFAIL " if skipped else d.one(["         ", " "]), what)
    if kind == "IS":
        row["flags"] = ["skipped"]
    if kind == "IF":
        details["folded"] = True
    index = d.number(d.one([16, 63]))
    if form == "address":
        place = "(%s)" % text
    elif form == "both":
        index &= 0xFFFFFFFF
        row["index"] = index
        place = "(%s:%08x) %s" % (text, index, text)
    else:
        row["index"] = index
        text = d.physical(row, text)
        if "physical" in row and letter == "T" and size == 4 and d.once_in(2):
            other, security = d.number(48), d.one(list(SECURITY))
            details["pa2"], details["pa2_security"] = hex(other), SECURITY[security]
            text += ",%012x%s" % (other, security)
        place = "(%d) %s" % (index, text)
    opcode = d.case(opcode)
    if size == 4 and letter in "TX" and d.once_in(5):
        opcode = opcode[:4] + d.one("_" if form == "address" else "_ ") + opcode[4:]
    return "%s %s %s %s %s :%s%s" % (kind, place, opcode, letter, mode, d.one([" ", "   "]), what)


def branch(d, row, details):
    kinds = {"FD": "direct", "FI": "indirect", "FR": "exception-return"}
    kind, index = d.one(list(kinds)), d.number(32)
    row.update(kind="BRANCH", branch=kinds[kind], index=index)
    place = d.virtual(row)
    row["pc"] = row["address"]
    value, target = d.address()
    row["target"] = hex(value)
    if d.once_in(3):
        value, security = d.number(48), d.one(list(SECURITY))
        details["target_pa"], details["target_security"] = hex(value), SECURITY[security]
        target += ":%012x%s" % (value, security)
    letter = d.one(["A", "T", "X", "O"])
    row["iset"] = {"A": "A32", "T": "T32", "X": "T32EE", "O": "A64"}[letter]
    return "%s (%d) %s %s %s" % (kind, index, place, target, letter)


def register(d, row, details):
    row["kind"] = "REG"
    if d.once_in(4):
        name, size = d.one(WIDE), d.one([16, 32, 64, 128, 256])
        value, text = d.logical(size, d.one(["_", "_", " ", ":"]))
    elif d.once_in(6):
        name, size = "p%d" % d.r.randrange(16), d.one([2, 4, 8, 32])
        value, text = d.logical(size, "_")
    else:
        name, size = d.one(REGISTERS), d.one([4, 8])
        value, text = d.logical(size, d.one(["", "", "_", ":"]))
        if d.once_in(8):
            value, text = d.hidden(size)
            row["flags"] = ["unknown"]
        elif d.once_in(8):
            text = "0x" + text.replace("_", "").replace(":", "")
        elif size == 8 and d.once_in(6):
            low = d.one([0, 64])
            name, details["hi"], details["lo"] = "V3", low + 63, low
            row["flags"] = ["partial"]
            row.update(text=name, size=size, value=value)
            return "R V3<%d:%d> %s" % (low + 63, low, text)
    row.update(text=name, size=size, value=value)
    if d.once_in(6) and name not in WIDE:
        details["note"] = d.one(["USR", "AARCH32", "USR NS"])
        name += " (%s)" % details["note"]
    if d.once_in(6):
        details["comment"] = d.one(["(MSP)", "__C_", "(nZCv)"])
        text += " " + details["comment"]
    return "R %s %s" % (name, text)


def access(d, row, details):
    write, size = d.once_in(2), d.one([1, 2, 4, 4, 8, 8, 16, 32, 64])
    row.update(kind="WRITE" if write else "READ", size=size)
    mark = {"": None, "X": "exclusive", "T": "unprivileged", "L": "locked"}
    letter = d.one(["", "", "", "X", "T", "L"])
    flags = [mark[letter]] if letter else []
    value, text = d.logical(size, d.one(["_", "_", "", ":"]))
    if d.once_in(10):
        value, text = d.hidden(size)
        flags.append("unknown")
    row["value"] = value
    if d.once_in(12):
        del row["value"]
        text = d.one(["(ABORTED)", "(abort)"])
        flags = [f for f in flags if f != "unknown"] + ["aborted"]
        details["note"] = text[1:-1]
    if flags:
        row["flags"] = sorted(flags)
    place = d.virtual(row)
    return "M%s%d%s %s %s" % ("RW"[write], size, letter, place, text)


def atomic(d, row, details):
    name = d.one(["ADD", "BIC", "CAS", "EOR", "ORR", "SMAX", "SMIN", "SWP", "UMAX", "UMIN", "LDADD", "SWPA", "CASAL", "LDCLR", "STSET"])
    size = d.one([1, 2, 4, 8, 16])
    value, text = d.logical(size, d.one(["_", ""]))
    row.update(kind="ATOMIC", text=name, size=size, value=value)
    place = d.virtual(row)
    return "MU%d_%s %s %s" % (size, name, place, text)


def bus(d, row, details):
    write, size, fetch = d.once_in(2), d.one([1, 2, 4, 8, 16, 32, 64]), d.once_in(3)
    lock, privileged, secure = d.one("LX_"), d.once_in(2), d.once_in(2)
    data = "".join("%02x" % d.r.randrange(256) for _ in range(size))
    paddr, master = d.number(48), d.one(["0", "1", "0x1f", "17", "M2"])

    def attributes():
        return "".join(c if d.once_in(2) else "_" for c in "WRCBS")

    inner, outer = attributes(), attributes()
    flags = (["fetch"] if fetch else []) + {"L": ["locked"], "X": ["exclusive"], "_": []}[lock] + (["privileged"] if privileged else [])
    row.update(kind="BUS", physical=hex(paddr), security="s" if secure else "ns", size=size, value=data)
    if flags:
        row["flags"] = sorted(flags)
    details.update(direction="write" if write else "read", inner=inner.lower().replace("_", "-"), outer=outer.lower().replace("_", "-"), master=master)
    shown = data if size < 8 or d.once_in(2) else "_".join(data[i : i + 8] for i in range(0, len(data), 8))
    return "B%s%d%s%s%s%s I%s O%s %s %012x %s" % (
        "RW"[write], size, "DI"[fetch], lock, "_P"[privileged], "NS"[secure], inner, outer, master, paddr, d.case(shown))


def maintenance(d, row, details):
    what = "%s cache %s" % (d.one(["Data", "Instruction", "Instruction and Data"]), d.one(["Clean", "Invalidate", "Clean and Invalidate"]))
    row["kind"] = "CACHE_OP"
    if d.once_in(2):
        value = d.number(32)
        row.update(text=what + " by set/way to PoC", value=hex(value))
        return "CACHE MAINTENANCE %s %08x" % (row["text"], value)
    row["text"] = what + d.one([" by MVA to PoC", " by MVA to PoU Inner Sharable"])
    place = d.virtual(row)
    line = "CACHE MAINTENANCE %s %s" % (row["text"], place)
    if d.once_in(2):
        details["pagesize"], details["memtype"] = d.one(["4K", "64K", "2M"]), memory_type(d)
        line += " %s %s" % (details["pagesize"], details["memtype"])
    return line


def cache_line(d, row, details):
    number, paddr, security = d.number(16), d.number(48), d.one(["", "_NS"])
    what, name = d.one(["ALLOC", "INVAL", "DIRTY", "CLEAN", "FILL", "EVICT"]), d.one(["l1d", "L2", "cpu0.l1icache", "7"])
    row.update(kind="CACHE_LINE", text=name, value="0x%04x" % number, sub=what.lower(), physical=hex(paddr), security=SECURITY[security])
    return "CACHE %s LINE %04x %s 0x%012x%s" % (name, number, what, paddr, security)


def memory_type(d):
    def cached():
        return d.one(["NonCacheable", "WriteBack", "WriteThrough"]) + d.one(["", "NonReadAllocate"]) + d.one(["", "WriteAllocate", "NonWriteAllocate"])

    if d.once_in(2):
        return "Device-%s%s%s" % (d.one(["G", "nG"]), d.one(["R", "nR"]), d.one(["E", "nE"])) + d.one(["", " (StronglyOrdered)"])
    return "Normal %s Inner=%s Outer=%s" % (d.one(["NonShareable", "Shareable"]), cached(), cached())


def walk(d, row, details):
    update, paddr, value = d.once_in(3), d.number(48), d.number(64)
    result = d.one(["ABORTED", "FAULT", "RESERVED", "TABLE", "BLOCK", "SUPERSECTION", "SECTION", "PAGETABLE", "LARGEPAGE", "SMALLPAGE"])
    row.update(kind="WALK", physical=hex(paddr), value=hex(value), text=result, security="s")
    details.update(side=d.one(["DTLB", "ITLB", "Data"]), format=d.one(["VMSA", "LPAE"]), stage=d.r.randrange(1, 3), level=d.r.randrange(1, 4))
    if update:
        details["update"] = True
    if result == "ABORTED":
        row["flags"] = ["aborted"]
    line = "TT%s %s %s %d:%d %012x %016x : %s" % (
        "WU"[update], details["side"], details["format"], details["stage"], details["level"], paddr, value, result)
    if result not in ("ABORTED", "FAULT", "RESERVED"):
        details["attrs"] = d.one(["NS=0", "ATTRIDX=3 NS=1 AP=2 SH=3 AF=1", "XN=1"])
        line += " " + details["attrs"]
    return line


def tlb(d, row, details):
    cache, evict, shift = d.once_in(3), d.once_in(3), d.r.randrange(10, 31)
    base, ns = d.number(48), d.once_in(3)
    name = d.one(["l1", "utlb", "ITLB", "3"])
    row.update(kind="TLB", text=name, size=1 << shift, address=hex(base))
    row["sub"] = ("walkcache-" if cache else "") + ("evict" if evict else "fill")
    details.update(region=1 << shift, virtual_security="ns" if ns else "s", el=d.one(["EL1_n", "EL2_n", "EL1_s", "EL3_s"]))
    regime = "0x%010x%s %s" % (base, "_NS" if ns else "", details["el"])
    if d.once_in(2):
        details["vmid"] = d.r.randrange(256)
        regime += " vmid=%d" % details["vmid"]
    if d.once_in(2):
        details.update(asid=d.r.randrange(65536), nonglobal=True)
        regime += ", nG asid=%d" % details["asid"]
    for letter, bits in (("G", 30), ("M", 20), ("K", 10)):
        if shift >= bits:
            size = "%d%s" % (1 << (shift - bits), letter)
            break
    line = "%s %s %s %s %s" % ("WALKCACHE" if cache else "TLB", "EVICT" if evict else "FILL", name, size, regime)
    if evict:
        return line
    paddr, security = d.number(40), d.one(["", "_NS"])
    row.update(physical=hex(paddr), security=SECURITY[security])
    line += ":0x%010x%s" % (paddr, security)
    if not cache or d.once_in(2):
        details["memtype"] = memory_type(d)
        line += " " + details["memtype"]
    details["attrs"] = d.one(["xn=0", "xn=0 pxn=1 contiguous=0", "ap=3 ns=1"])
    return line + " " + details["attrs"]


def event(d, row, details):
    names = {
        1: "CoreEvent_Reset", 2: "CoreEvent_UndefinedInstr", 3: "CoreEvent_SWI", 4: "CoreEvent_PrefetchAbort", 5: "CoreEvent_DataAbort",
        7: "CoreEvent_IRQ", 8: "CoreEvent_FIQ", 14: "CoreEvent_ImpDataAbort", 0x19: "CoreEvent_ModeChange",
        0x80: "CoreEvent_CURRENT_SP0_SYNC", 0x84: "CoreEvent_CURRENT_SPx_SYNC", 0x88: "CoreEvent_LOWER_64_SYNC", 0x8F: "CoreEvent_LOWER_32_ABORT",
    }
    number = d.one(list(names))
    row.update(kind="MODE" if number == 0x19 else "EXCEPTION", value=hex(number), text=names[number])
    place, second = d.virtual(row), ""
    if number == 0x19:
        details["mode"] = d.one(["abt", "irq", "EL1h", "EL3h", "hyp"])
        second += details["mode"] + " "
    if d.once_in(2):
        value = d.number(32)
        details["value1"] = hex(value)
        second += "%08x " % value
    return "E %s %s%08x %s" % (place, second, number, names[number])


def note(d, row, details):
    """A type that is not known: kept as it is. Returns None where the whole line is drawn here."""
    row["kind"] = "NOTE"
    return d.one([
        "INFO_EXCEPTION_REASON 0x12 reason", "SW_TRACE \u00fcml\u00e4ut \u4e2d\u6587", "WFI_START", "SYNC 0 1", "P 0 -> 1",
        "EXCEPTION_RETURN (7) 00001000", "MARKER x", "MRS 1", "XYZZY \\ \"'", "INFO_HYP 1\t2",
    ])


KINDS = [instr] * 6 + [register] * 4 + [access] * 4 + [branch, atomic, bus, maintenance, cache_line, walk, tlb, event, note]
INHERITS = ("REG", "READ", "WRITE", "ATOMIC") # rows that have the cpu of the line before where they name none


def generate(seed, lines):
    d = Drawn(seed)
    cpus = d.r.sample(CPUS, d.r.randrange(1, 4)) if d.once_in(2) else []
    own = d.sample_units = d.r.sample(UNITS, 3)
    end = d.one(["\n", "\n", "\r\n"])
    out, rows, time, unit, cpu = [], [], None, None, None
    for i in range(lines):
        if i and d.once_in(20):
            text = d.one(["# a comment", "; 1 clk", "// x", "====", "Tarmac Text", "Date: x", "@x", "\u4e2d\u6587"])
            rows.append({"kind": "NOTE", "raw": text})
            out.append(text + end)
            continue
        row, details = {}, {}
        body = d.one(KINDS if i else [instr])(d, row, details)
        head, lost = [], i > 0 and d.once_in(10) and row["kind"] != "NOTE"
        if not lost:
            decimals = d.once_in(8)
            time = "%d" % d.number(d.one([16, 32, 32 if decimals else 63]))
            if decimals:
                time += "." + "".join(d.one("0123456789") for _ in range(d.r.randrange(1, 7)))
            unit = d.one(own)
            glued = d.once_in(6) and unit != "ticks"
            head.append(time + unit if glued else time + " " + unit)
        source = None
        if cpus and (i == 0 or not d.once_in(6)):
            source = d.one(cpus)
            head.append(source)
        if row["kind"] == "NOTE" and not source and cpus:
            source = d.one(cpus)
            head.append(source)
        if source:
            cpu = source
        blank = d.one([" ", " ", " ", "  ", "\t"])
        line = blank.join(head + [body])
        row.update(time=time, unit=unit)
        if source:
            row["cpu"] = source
        elif cpu and row["kind"] in INHERITS:
            row["cpu"] = cpu
        if details:
            row["details"] = details
        rows.append(row)
        line = d.one(["", "", "", "  ", "\t"]) + line + d.one(["", "", " ", "\t "])
        if row["kind"] == "NOTE":
            row["raw"] = line
        out.append(line + end)
    if d.once_in(3):
        out[-1] = out[-1].rstrip("\r\n")
    return "".join(out), rows


def matcher(seed, lines):
    """Trace Matcher: a decimal cpu on instructions only, opcodes of 16 to 64 bits, undivided data."""
    d = Drawn(seed)
    out, rows, cpu = [], [], None
    unit = d.one(["clk", "ns", "cycles", "ticks"])
    for i in range(lines):
        time, kind = d.number(d.one([16, 63])), d.r.randrange(3) if i else 0
        row = {"time": str(time), "unit": unit}
        if kind == 0:
            cpu, index, letter, size = str(d.r.randrange(4)), d.number(32), d.one("ATX"), d.one([2, 4, 4, 8])
            place, code, text = d.number(d.one([32, 64])), d.number(8 * size), d.one(TEXTS)
            mode = d.one(["svc", "irq", "fiq", "usr", "mon", "sys", "abt", "und"]) + d.one(["", "_s", "_ns"])
            skipped = d.once_in(4)
            row.update(kind="INSTR", address=hex(place), pc=hex(place), size=size, opcode="%0*x" % (2 * size, code), text=text,
                       index=index, iset={"A": "A32", "T": "T32", "X": "T32EE"}[letter], details={"mode": mode})
            if skipped:
                row["flags"] = ["skipped"]
            line = "%s I%s (%d) %08x %s %s %s : %s" % (cpu, "TS"[skipped], index, place, row["opcode"], letter, mode, text)
        elif kind == 1:
            write, size, letter = d.once_in(2), d.one([1, 2, 4, 8]), d.one(["", "", "X", "T"])
            place, value = d.number(d.one([32, 64])), d.number(8 * size)
            row.update(kind="WRITE" if write else "READ", address=hex(place), size=size, value="0x%0*x" % (2 * size, value))
            if letter:
                row["flags"] = ["privileged" if letter == "X" else "unprivileged"]
            line = "M%s%d%s %08x %0*x" % ("RW"[write], size, letter, place, 2 * size, value)
        else:
            size = d.one([4, 8])
            value = d.number(8 * size)
            row.update(kind="REG", size=size, value="0x%0*x" % (2 * size, value), text=d.one(["r8", "t0", "hi", "f31", "cp0_status"]))
            line = "R %s %0*x" % (row["text"], 2 * size, value)
        row["cpu"] = cpu
        rows.append(row)
        out.append("%d %s %s\n" % (time, unit, line))
    return "".join(out), rows


def same(rows, seen):
    bad = 0
    if len(rows) != len(seen):
        print("%d rows instead of %d" % (len(seen), len(rows)))
        bad = 1
    for at, (want, got) in enumerate(zip(rows, seen)):
        got.pop("record")
        if want["kind"] == "NOTE":
            if got["kind"] != "NOTE" or want["raw"] not in (got.get("raw"), got.get("text")):
                print("row %d: %s\n  is    %s" % (at, want, got))
                bad = 1
            continue
        if "flags" in got:
            got["flags"] = sorted(got["flags"])
        if want != got:
            bad = 1
            print("row %d of kind %s" % (at, want["kind"]))
            for key in sorted(set(want) | set(got)):
                if want.get(key) != got.get(key):
                    print("  %s: is %s, not %s" % (key, got.get(key), want.get(key)))
    return bad


def main():
    if sys.argv[1] != "same":
        text, rows = (matcher if sys.argv[1] == "matcher" else generate)(int(sys.argv[2]), int(sys.argv[3]))
        with open(sys.argv[4], "wb") as f:
            f.write(text.encode())
        with open(sys.argv[5], "w") as f:
            json.dump(rows, f)
        return 0
    with open(sys.argv[2]) as f:
        rows = json.load(f)
    with open(sys.argv[3], encoding="utf-8") as f:
        seen = [json.loads(line, parse_float=str, parse_int=int) for line in f]
    for row in seen + rows:
        if "time" in row:
            row["time"] = str(row["time"])
    return same(rows, seen)


if __name__ == "__main__":
    sys.exit(main())

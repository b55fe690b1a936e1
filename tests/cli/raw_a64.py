"""A64 instructions as objdump writes them (-M no-aliases), for raw_inverse.py: what they access, which general
registers they write, how they branch. Written from the architecture manual's names of instructions and not from
trod's sources, which look at bits."""
import re

REG = re.compile(r"([wxbhsdq])(\d+|zr)$|(w?sp)$")
SIZES = {"w": 4, "x": 8, "b": 1, "h": 2, "s": 4, "d": 8, "q": 16}
ATOMIC = re.compile(r"(ldadd|ldclr|ldeor|ldset|ldsmax|ldsmin|ldumax|ldumin|swp|casp?)(al|a|l)?(b|h)?$")
PLAIN = re.compile(r"(ldapur|ldapr|ldlar|ldar|ldaxr|ldxr|ldur|ldtr|ldr|stlur|stllr|stlxr|stxr|stlr|stur|sttr|str)"
                   r"(sw|sb|sh|b|h)?$")
PAIR = re.compile(r"(ldn?p|stn?p|lda?xp|stl?xp|ldpsw)$")
STRUCTURE = re.compile(r"(ld|st)([1-4])(r?)$")
# memory tags, 64-byte accesses, copies and fills of memory, SVE: not known to trod either
OTHERS = re.compile(r"(st2?z?2?g|stgp|stz?gm|ldgm?|ld64b|st64bv?0?|cpy|set[pmeg]|irg|gmi|\.inst)")
NO_RESULT = re.compile(r"(ccmn|ccmp|msr|sys|rmif|setf|cmpp|hint|svc|hvc|smc|brk|hlt|dcps|udf|nop|yield|wf|sev|isb|"
                       r"dsb|dmb|sb$|clrex|tcommit|tcancel|cfinv|xaflag|axflag|ssbb|pssbb|csdb|bti|esb|psb|tsb|drps|"
                       r"b\.|bc\.|b$|br|cb|tb|ret|eret|prfu?m|dgh|at|tlbi|dc|ic|cfp|cpp|dvp)")
PREFETCHES = {"pld": (3, 32), "pli": (35, 36), "pst": (41, 42)}


def number(reg):
    """The general register REG, None of others and of the zero register and sp."""
    m = REG.match(reg)
    return int(m.group(2)) if m and m.group(1) and m.group(1) in "wx" and m.group(2) != "zr" else None


def split(text):
    """Operands: commas within brackets and braces are parts of them."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += (c in "[{") - (c in "]}")
        if c == "," and depth == 0:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


class InsnA64:
    string = rep = elements = conditional = False

    def __init__(self, pc, at, text):
        """At address PC; objdump was told it lies at AT."""
        text = re.sub(r"\s*(//.*|<.*>)$", "", text.strip())
        words = text.split(None, 1)
        self.name, rest = words[0], words[1] if len(words) > 1 else ""
        self.ops = split(rest)
        self.base = self.disp = self.index = None
        self.fixed = self.back = False
        self.reads = self.stores = self.size = 0
        self.kind, self.data, self.target, self.writes = 10, None, None, set()
        self.known = not OTHERS.match(self.name)
        self.move = pc - at
        if self.known:
            self.memory()
            self.branch()
            self.results()

    def place(self):
        for i, op in enumerate(self.ops):
            m = re.match(r"\[([^\]]*)\](!?)$", op)
            if not m:
                continue
            inner = [w.strip() for w in m.group(1).split(",")]
            self.base, self.disp = inner[0], 0
            if len(inner) > 1 and inner[1].startswith("#"):
                self.disp = int(inner[1][1:], 0)
            elif len(inner) > 1:
                self.index = inner[1]
            self.back = m.group(2) == "!" or i + 1 < len(self.ops)
            return self.ops[:i]
        if self.ops and re.match(r"0x[0-9a-f]+$", self.ops[-1]):
            self.fixed, self.disp = True, int(self.ops[-1], 16) + self.move & (1 << 64) - 1
            return self.ops[:-1]
        return None

    def memory(self):
        name = self.name
        if name in ("prfm", "prfum"):
            before = self.place()
            self.reads, self.size = 1, 1
            m = re.match(r"(pld|pli|pst)l([123])(keep|strm)$", before[0])
            self.data = 2
            if m:
                keep, stream = PREFETCHES[m.group(1)]
                level, stays = int(m.group(2)) - 1, m.group(3) == "keep"
                self.data = (keep if stays else stream) + (level if m.group(1) == "pld" else 2 * level)
            return
        if name in ("dc", "ic", "sys"):
            self.maintain()
            return
        atomic, plain, pair, many = (p.match(name) for p in (ATOMIC, PLAIN, PAIR, STRUCTURE))
        if not (atomic or plain or pair or many or name in ("ldraa", "ldrab")):
            return
        regs = self.place()
        if many:
            self.structure(regs[0], int(many.group(2)), many.group(3))
        else:
            exclusive = re.match(r"stl?x", name)
            self.size = SIZES[regs[1 if exclusive else 0][0]] if not regs[0].startswith("v") else 0
            suffix = atomic.group(3) if atomic else plain.group(2) if plain else None
            if suffix and regs[0][0] in "wx":
                self.size = {"b": 1, "sb": 1, "h": 2, "sh": 2, "sw": 4}[suffix]
            if name == "ldpsw":
                self.size = 4
            if pair or name.startswith("casp"):
                self.size *= 2
        self.reads = name.startswith("ld") or bool(atomic)
        self.stores = name.startswith("st") or bool(atomic)
        if self.back:
            self.writes.add(number(self.base))
        if atomic:
            got = regs[:2] if name.startswith("casp") else regs[:1] if name.startswith("cas") else regs[1:2]
        elif name.startswith("ld") and not many:
            got = regs[:2]
        else:
            got = regs[:1] if re.match(r"stl?x", name) else []
        self.writes |= {number(r) for r in got}

    def structure(self, regs, count, repeated):
        m = re.match(r"\{([^}]*)\}(\[\d+\])?$", regs)
        first = re.match(r"v\d+\.(\d*)([bhsd])", m.group(1))
        element = SIZES[first.group(2)]
        if m.group(2) or repeated:
            self.size = count * element
            return
        if "-" in m.group(1):
            low, high = (int(w.strip()[1:].split(".")[0]) for w in m.group(1).split("-"))
            count = (high - low) % 32 + 1
        else:
            count = len(m.group(1).split(","))
        self.size = count * element * int(first.group(1))

    def maintain(self):
        """DC and IC by address, also as "sys #3, C7, C4, #1, x0"."""
        codes = {"#3, C7, C4, #1": 1, "#3, C7, C5, #1": 18, "#0, C7, C6, #1": 20, "#3, C7, C10, #1": 20,
                 "#3, C7, C11, #1": 20, "#3, C7, C12, #1": 20, "#3, C7, C13, #1": 20, "#3, C7, C14, #1": 20}
        names = {"zva": 1, "ivau": 18, "ivac": 20, "cvac": 20, "cvau": 20, "cvap": 20, "cvadp": 20, "civac": 20}
        what = codes.get(", ".join(self.ops[:4])) if self.name == "sys" else names.get(self.ops[0])
        if not what:
            return
        self.base, self.disp, self.data = self.ops[-1] if REG.match(self.ops[-1]) else "xzr", 0, what
        self.reads, self.stores = what != 1, what == 1

    def branch(self):
        n = self.name
        self.kind = (14 if n == "bl" else 11 if n == "b" else 15 if n.startswith("blr") else
                     12 if re.match(r"br(aa|ab)?z?$", n) else 16 if re.match(r"e?ret(aa|ab)?$", n) else
                     13 if re.match(r"(bc?\.|cbn?z|tbn?z)", n) else 10)
        if self.kind in (11, 13, 14):
            self.target = int(self.ops[-1], 16) + self.move & (1 << 64) - 1
        if self.kind in (14, 15):
            self.writes.add(30)

    def results(self):
        n = self.name
        if re.match(r"(paci|auti)[ab](sp|z)$|xpaclri", n):
            self.writes.add(30)
        elif re.match(r"(paci|auti|pac|aut)[ia]*[ab]?1716$", n):
            self.writes.add(17)
        elif n == "hint":
            code = int(self.ops[0][1:], 0)
            self.writes |= {30} if code == 7 or 24 <= code < 32 else {17} if code in (8, 10, 12, 14) else set()
            self.writes |= {16} if code == 40 else set()
        elif not self.reads and not self.stores and not NO_RESULT.match(n) and self.ops:
            self.writes.add(number(self.ops[0]))
        self.writes.discard(None)

    def operand(self, write, size):
        """Base, displacement and whether it is an address."""
        if self.fixed:
            return None, self.disp, True
        base = number(self.base) if self.base and not self.index else None
        disp = 0 if self.back and self.after() else self.disp
        return base, disp, False

    def after(self):
        """Is the base changed behind the access?"""
        return not any(op.endswith("]!") for op in self.ops)

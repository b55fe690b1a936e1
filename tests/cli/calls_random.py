"""calls_random.py - random programs whose stacks are known, against `trod profile`, `flame` and `state`.

    calls_random.py TROD SEED FEATURES

Writes a Tarmac trace of A64 on one to three cpus. Each function has fixed code: calls that are jumped over or not, system
calls with a handler, a tail call, exceptions that are thrown through several frames; with stack pointers in the trace
or without. FEATURES has letters: s (system calls), t (tail calls), x (exceptions thrown). The stack at each instruction is
written down while the program runs; from it costs are added up, of all rows and of parts.
"""
import collections
import itertools
import json
import random
import subprocess
import sys

TROD, SEED, FEATURES = sys.argv[1], int(sys.argv[2]), sys.argv[3]
random.seed(SEED)
sys.setrecursionlimit(20000)
NOP, SVC, ERET, RET, BR, SKIP = 0xD503201F, 0xD4000001, 0xD69F03E0, 0xD65F03C0, 0xD61F00C0, 0x54000040
NUMBERS = itertools.count()
MAIN, HANDLER, UNWINDER, PAD = 0x1000, 0x80000, 0x90000, 0x400
FUNCTIONS = [0x10000 + 0x1000 * i for i in range(random.randrange(2, 9))]
KINDS = ["nop", "call", "call"] + ["call", "system"] * ("s" in FEATURES) + ["throw"] * ("x" in FEATURES)
BODY = {f: [(random.choice(KINDS), random.choice(FUNCTIONS)) for _ in range(random.randrange(1, 5))] for f in FUNCTIONS}
TAIL = {f: random.choice(FUNCTIONS) if "t" in FEATURES and random.random() < 0.4 else None for f in FUNCTIONS}
FRAME = {f: 16 * random.randrange(1, 4) for f in FUNCTIONS}
FROM_HANDLER, SHOWS_SP, LANDS = random.choice(FUNCTIONS), random.random() < 0.5, random.choice([RET, BR])


def branch(pc, to, link):
    return (0x94000000 if link else 0x14000000) | ((to - pc) >> 2 & 0x3FFFFFF)


class Thrown(Exception):
    pass


class Cpu:
    """What a cpu does: (stack, line without time and cpu). A stack is a tuple of (kind, function)."""

    def __init__(self, number):
        self.lines, self.called, self.live = [], set(), []
        self.sp, self.left = 0x7F000000 - 0x100000 * number, random.choice([30, 300, 3000, 10000])
        self.stack_pointer()
        top = self.enter((), "root", MAIN)
        self.step(top, MAIN, NOP)
        pc = MAIN + 4
        while self.left > 0:
            self.call(top, pc, random.choice(FUNCTIONS), 1)
            pc += 4
        self.step(top, pc, NOP)

    def enter(self, stack, kind, function):
        return stack + ((kind, function, next(NUMBERS)),)  # two calls are two stacks

    def step(self, stack, pc, opcode):
        self.lines.append((stack, f"IT (%d) {pc:08x} {opcode:08x} O EL1h_n : X"))
        self.left -= 1

    def stack_pointer(self):
        if SHOWS_SP:
            self.lines.append((None, f"R SP_EL1 {self.sp:016x}"))

    def call(self, stack, pc, function, depth):
        self.step(stack, pc, branch(pc, function, True))
        self.lines.append((None, f"R X30 {pc + 4:016x}"))
        self.called.add(function)
        self.run(self.enter(stack, "call", function), depth)

    def run(self, stack, depth):
        self.live.append(stack)
        try:
            self.body(stack, stack[-1][1], depth)
        finally:
            self.live.pop()

    def body(self, stack, f, depth):
        self.step(stack, f, NOP)
        pc = f + 4
        self.sp -= FRAME[f]
        self.stack_pointer()
        for kind, g in BODY[f]:
            self.step(stack, pc, NOP if kind == "nop" else SKIP)
            pc += 4
            if kind == "nop":
                continue
            if self.left > 0 and depth < 40 and random.random() < 0.5:
                self.do(kind, stack, pc, g, depth)
            pc += 4
        self.step(stack, pc, NOP)
        self.sp += FRAME[f]
        self.stack_pointer()
        pc += 4
        g = TAIL[f]
        if g is not None:
            self.step(stack, pc, SKIP)
            pc += 4
            if self.left > 0 and depth < 40 and g in self.called and g not in chain(stack) and random.random() < 0.5:
                self.step(stack, pc, branch(pc, g, False))
                self.live[-1] = ()  # it is not there any more
                self.run(self.enter(stack, "tail", g), depth + 1)
                return
            pc += 4
        self.step(stack, pc, RET)

    def do(self, kind, stack, pc, g, depth):
        f, sp = stack[-1][1], self.sp
        if kind == "system":
            self.system(stack, pc)
        elif kind == "throw":
            self.throw(stack, pc)
        else:
            try:
                self.call(stack, pc, g, depth + 1)
            except Thrown:
                if self.target is not stack:
                    raise
                self.sp = sp
                self.step(self.unwinder, UNWINDER + 4 * 24, NOP)
                self.stack_pointer()
                self.step(self.unwinder, UNWINDER + 4 * 25, LANDS)
                self.step(stack, f + PAD, NOP)
                self.step(stack, f + PAD + 4, branch(f + PAD + 4, pc + 4, False))

    def system(self, stack, pc):
        self.step(stack, pc, SVC)
        self.lines.append((None, f"E {pc + 4:08x} 00000000 CoreEvent_CURRENT_SPx_SYNC"))
        inner = self.enter(stack, "exception", HANDLER)
        self.step(inner, HANDLER, SKIP)
        if self.left > 0 and random.random() < 0.4:
            self.call(inner, HANDLER + 4, FROM_HANDLER, 36)
        self.step(inner, HANDLER + 8, ERET)

    def catchers(self, stack):
        """Who can catch; without stack pointers the innermost activation of its function only."""
        for catcher in reversed(self.live[:-1]):
            above = stack[len(catcher):]
            if not catcher or stack[:len(catcher)] != catcher or any(a[0] == "exception" for a in above):
                return
            if SHOWS_SP or catcher[-1][1] not in [a[1] for a in above]:
                yield catcher

    def throw(self, stack, pc):
        catchers = list(self.catchers(stack))
        if not catchers:
            return
        self.target = random.choice(catchers)
        self.step(stack, pc, branch(pc, UNWINDER, True))
        self.lines.append((None, f"R X30 {pc + 4:016x}"))
        self.unwinder = self.enter(stack, "call", UNWINDER)
        self.step(self.unwinder, UNWINDER, NOP)
        self.sp -= 64
        self.stack_pointer()
        for i in range(1, 24):
            self.step(self.unwinder, UNWINDER + 4 * i, NOP)
        raise Thrown


def chain(stack):
    """The functions of the chain of tail calls that ends STACK."""
    for kind, function, _ in reversed(stack):
        yield function
        if kind != "tail":
            return


def write(path):
    """The trace; the stack of each row, None where it is no instruction."""
    cpus, stacks, time, number = [Cpu(c).lines for c in range(random.choice([1, 1, 2, 3]))], [], 5, 0
    rest = [list(reversed(lines)) for lines in cpus]
    with open(path, "w", encoding="ascii") as out:
        while any(rest):
            c = random.choice([c for c, lines in enumerate(rest) if lines])
            for _ in range(min(random.randrange(1, 6), len(rest[c]))):
                stack, line = rest[c].pop()
                number += stack is not None
                time += random.choice([0, 0, 1, 3])
                name = f"cpu{c} " if len(cpus) > 1 else ""
                out.write(f"{time} clk {name}{line.replace('%d', str(number))}\n")
                stacks.append(stack)
    return stacks


def truth(stacks, lo, hi):
    """Of rows LO to HI: exclusive, inclusive, calls by function; folded stacks."""
    exclusive, inclusive, calls, folded = (collections.Counter() for _ in range(4))
    seen = set()
    for row, stack in enumerate(stacks):
        if stack is None:
            continue
        new = stack[-1][2] not in seen
        seen.add(stack[-1][2])
        if not lo <= row <= hi:
            continue
        handlers = [i for i, a in enumerate(stack) if a[0] == "exception"]
        root = stack[handlers[-1] if handlers else 0:]
        names = [hex(a[1]) for a in root]
        exclusive[names[-1]] += 1
        calls[names[-1]] += new
        for name in set(names):
            inclusive[name] += 1
        folded[("exception " if handlers else "") + ";".join(names)] += 1
    return exclusive, inclusive, calls, folded


def told(*args):
    return subprocess.run([TROD, *args], check=True, capture_output=True, text=True).stdout


def ask(path, stacks, part):
    lo, hi = part or (0, len(stacks))
    option = random.choice([["--region", f"{lo}..{hi}:rows"], ["--range", f"{lo}..{hi}"]]) if part else []
    exclusive, inclusive, calls, folded = truth(stacks, lo, hi)
    result = json.loads(told("profile", "--top", "0", "--format", "json", *option, path))
    got = {f["function"].strip(): f for f in result["functions"]}
    for name in set(got) | set(exclusive) | set(inclusive):
        want = (calls[name], inclusive[name], exclusive[name])
        f = got.get(name, {"calls": 0, "inclusive": 0, "exclusive": 0})
        assert (f["calls"], f["inclusive"], f["exclusive"]) == want, (SEED, FEATURES, option, name, want, f)
    lines = [line.rsplit(" ", 1) for line in told("flame", *option, path).splitlines()]
    flame = {stack: int(n) for stack, n in lines if int(n)}
    assert flame == dict(folded), (SEED, FEATURES, option)
    if part and stacks[lo] is not None:
        calls_there = json.loads(told("state", "--at", str(lo), "--format", "json", path))["calls"]
        assert [c["pc"] for c in reversed(calls_there)] == [hex(a[1]) for a in stacks[lo]], (SEED, FEATURES, lo)


def main():
    path = f"random-{SEED}-{FEATURES}.tarmac"
    stacks = write(path)
    parts = [None]
    for _ in range(3):
        lo = random.randrange(len(stacks))
        parts.append((lo, min(len(stacks) - 1, lo + random.randrange(1, len(stacks)))))
    for indexed in (False, True):
        if indexed:
            told("index", "-q", path)
        for part in parts:
            ask(path, stacks, part)


main()

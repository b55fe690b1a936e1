"""index_same.py - all commands that take a part of a trace, with all options that bear on where reading begins, answer
with an index what they answer without.

    index_same.py TROD [FORMAT]

Writes a trace of two cpus that call, return, jump, are interrupted and touch memory, in Tarmac, and what other formats
make of it; of each (or of FORMAT alone) an index. Output, messages and exit status of each question must be the same
with the index and with --no-index. In the folder that it is called in.
"""
import concurrent.futures
import itertools
import json
import os
import random
import subprocess
import sys

from elf_functions import elf

TROD = sys.argv[1]
FEWER = int(os.environ.get("TROD_TEST_FEWER", "1"))  # of how many questions one is asked (tests/common/fewer.h)
CODES = ["94000004"] * 3 + ["d65f03c0"] * 3 + ["d61f0020", "d63f0020", "14000002", "d69f03e0", "d4000001"] + ["d503201f"] * 12


def program(path, n):
    random.seed(11)
    pc, sp, time = [0x1000, 0x2000], [0x8000, 0x9000], 100
    with open(path, "w") as out:
        for i in range(n):
            cpu = random.random() < 0.3
            code = CODES[pc[cpu] // 4 * 7919 % 997 % len(CODES)]
            time += random.randrange(3)
            head = f"{time} clk cpu{int(cpu)} "
            out.write(f"{head}IT ({i + 1}) {pc[cpu]:016x} {code} O EL1h_n : x\n")
            if code in ("94000004", "d63f0020"):
                out.write(f"{head}R X30 {pc[cpu] + 4:016x}\n")
            if random.random() < 0.1:
                out.write(f"{head}R X{random.randrange(4)} {random.randrange(1 << 32):016x}\n")
            if random.random() < 0.2:
                sp[cpu] = 0x8000 + 0x1000 * cpu - 16 * random.randrange(6)
                out.write(f"{head}R SP_EL1 {sp[cpu]:016x}\n")
            if random.random() < 0.5:
                kind = random.choice("RW")
                out.write(f"{head}M{kind}8 {random.choice([sp[cpu], 0x20000 + 8 * random.randrange(999)]):016x} {i:016x}\n")
            if random.random() < 0.01:
                out.write(f"{head}E {pc[cpu] + 4:016x} 00000005 IRQ\n")
            straight = code == "d503201f" and random.random() < 0.95
            pc[cpu] = pc[cpu] + 4 if straight else 0x1000 + 4 * random.randrange(40) + 0x400 * cpu


def calm(path, n):
    """N times the same calls of three functions on each of two cpus, here and there with an interrupt."""
    random.seed(12)
    time = count = 0
    with open(path, "w") as out:
        def put(cpu, pc, code, *rest):
            nonlocal time, count
            time, count = time + random.randrange(3), count + 1
            out.write(f"{time} clk cpu{cpu} IT ({count}) {pc:016x} {code} O EL1h_n : x\n")
            for line in rest:
                out.write(f"{time} clk cpu{cpu} {line}\n")

        def call(cpu, at, depth):
            put(cpu, at, "d503201f")
            if random.random() < 0.02:
                put(cpu, at + 4, "d503201f", f"E {at + 8:016x} 00000005 IRQ")
                put(cpu, 0x9000, "d503201f")
                put(cpu, 0x9004, "d69f03e0")
            else:
                put(cpu, at + 4, "d503201f")
            for k in range(depth):
                put(cpu, at + 8 + 4 * k, "94000004", f"R X30 {at + 12 + 4 * k:016x}")
                call(cpu, 0x2000 + 0x100 * (depth - k), depth - 1)
            put(cpu, at + 8 + 4 * depth, "d65f03c0")

        for i in range(n):
            cpu = i % 3 == 0
            put(int(cpu), 0x1000, "94000004", f"R X30 {0x1004:016x}")
            call(int(cpu), 0x2400, 3)
            put(int(cpu), 0x1004, "17ffffff")


def trod(*args):
    p = subprocess.run([TROD, *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return p.returncode, p.stdout, p.stderr


ANALYSES = ["count", "mix", "hot", "branches", "locality", "functions", "deps", "phases", "schedule", "syscalls",
            "run calls,profile", "calls", "calls --list --final-stack", "calls --function 0x1010", "profile", "flame",
            "calls --weight loads,misses", "calls --like tarmac", "profile --like tarmac", "flame --like tarmac",
            "calls --like tarmac --function 0x1010"]
PLAIN = ["view", "convert --to csv -", "export --to speedscope -o -", "waves", "truncate", "find {file} kind==instr"]


def parts(rows, insns, last):
    lo, hi = rows // 2, rows // 2 + 700
    return {"range": f"--range {lo}..{hi}", "end": f"--range {rows - 300}..{rows + 5}",
            "time": f"--time {last // 2}..{last // 2 + 300}", "numbers": f"--instructions {insns // 2}..{insns // 2 + 300}",
            "where": f"--where row>={lo}&&row<{hi}", "region": f"--region {insns // 2}..{insns // 2 + 400}",
            "rows": f"--region {lo}..{hi}:rows", "times": f"--region {last // 2}..{last // 2 + 300}:time"}


MORE = ["", "--strict", "--by thread", "--by core", "--interval 100", "--interval 90:time --by thread", "--warmup 150",
        "--warmup 40:rows --interval 100:rows", "--kind instr", "--symbols f.elf", "--symbols f.elf --kind instr --by thread",
        "--by function --symbols f.elf", "-j1", "--limit 200"]
CACHE = ["", "--warmup 100", "--by line", "--by thread --interval 100", "--windows 200,20,50", "--by data", "--by block",
         "--by region", "--by function --symbols f.elf", "--classify", "--strict", "--sweep size=1K..4K", "--misses -"]


FIND = ["size==8", "size==8&&kind==write", "taken", "untaken||call", "kernel", "user&&size>2", "stream==1", "!(stream==0)", "has(value)&&has(time)",
        "time>=3000", "time<2000&&kind==read", "addr>=0x20000", "addr<0x9000&&size==8", "value==7", "value!=7", "value\tin\t{0,1,2}",
        "flags&0xf==1", "kind==read&&disasm~/x/"]


def some(*lists, few):
    """Pairs of LISTS; FEW: one of them in eighteen."""
    pairs = list(itertools.product(*lists))
    return random.sample(pairs, max(1, len(pairs) // 18)) if few else pairs


def questions(rows, insns, last, few):
    random.seed(rows)
    for name, part in parts(rows, insns, last).items():
        for analysis, more in some(ANALYSES, MORE, few=few or name != "range"):
            if "--like" in analysis or analysis.startswith("flame"):
                yield f"{analysis} {part} {more}"
            else:
                yield f"{analysis} --format json {part} {more}"
        if name not in ("region", "rows", "times"):
            for command, more in some(PLAIN, ["", "--strict", "--kind instr"], few=few):
                yield f"{command} {part} {more}"
            for command, more in some(["cache --format json"], CACHE, few=name != "time"):
                yield f"{command} {part} {more}"
    for expression in FIND:
        for more in ["--count", "--first", f"--count --range {rows // 3}..", "--limit 9 --format csv"]:
            yield f"find {{file}} {expression} {more}"
    for more in CACHE:
        yield f"cache --format json --skip {insns // 2} {more}"
    for more in ["", "--strict"]:
        for row in (rows // 2, rows - 10):
            yield f"state --format json --at {row} --memory 0x20000..0x200ff {more}"
            yield f"state --format json --diff {row - 5000} {row} {more}"
            yield f"who --format json --memory 0x20000..0x20100 --before {row} {more}"
            yield f"who --format json --kind exception --after {rows // 4} --count 3 {more}"
            yield f"view --at {row} {more}"


def whole(other):
    """Questions about all calls of the trace; OTHER is another one."""
    asks = [f"calls {o}" for o in ["", "--depth 2", "--top 3", "--top 0", "--weight time", "--weight instructions,time", "--list", "--list --depth 2",
                                   "--final-stack", "--function 0x2100"]]
    asks += [f"profile {o}" for o in ["", "--top 2", "--top 0", "--sort inclusive", "--sort calls", "--sort address", "--exceptions inline",
                                      "--exceptions inline --weight time,instructions"]]
    asks += ["run calls:top=4,profile,flame", "run profile:exceptions=inline,calls:weight=time"]
    for question, more in itertools.product(asks, ["", "--symbols f.elf", "--strict", "-j1", "-j3", "--by thread"]):
        yield f"{question} --format json {more}"
    for question, form in itertools.product(asks, ["text", "csv"]):
        yield f"{question} --format {form}"
    for how, more in itertools.product(["", "--reverse", "--exceptions inline", "--weight time", "--svg", "--svg --reverse", f"--against {other}",
                                        f"--against {other} --normalize", f"--svg --against {other}"], ["", "--symbols f.elf", "-j1", "-j3"]):
        yield f"flame {how} {more}"


def stacks(file, *args):
    """Makes an index of FILE with ARGS; stacks that it has sums of."""
    status, _, err = trod("index", "-q", *args, file)
    if status:
        sys.exit(f"{file}: {err.decode()}")
    return json.loads(trod("index", "--info", "--format", "json", file)[1])["traces"][0]["call_stacks"]


def verdict(what, asked, wrong):
    """How many things are wrong about WHAT, that too few questions were answered as one of them."""
    print(f"{what}: {asked} questions answered, {len(wrong)} differ")
    print("\n".join(wrong), end="\n" if wrong else "")
    return len(wrong) + (asked < 150 // FEWER)


def all_calls(pool):
    """The whole trace, of few stacks: with an index made without symbols and with them, also when the trace grows."""
    calm("g.tarmac", 300)
    with open("g.tarmac") as f:
        text = f.readlines()
    with open("w.tarmac", "w") as f:
        f.writelines(text[:len(text) // 2])
    calm("o.tarmac", 200)
    wrong, asked = [], 0
    if not stacks("o.tarmac"):
        wrong.append("o.tarmac: no sums")
    for step, args in enumerate([[], ["--symbols", "f.elf"], [], ["--again"]]):
        if step == 2:
            with open("w.tarmac", "w") as f:
                f.writelines(text)
        if not 10 < stacks("w.tarmac", *args) < 1000:
            wrong.append("w.tarmac: no sums")
        asks = list(whole("o.tarmac"))
        answers = list(pool.map(lambda q: differ("w.tarmac", q), random.sample(asks, len(asks) // (2 if step == 1 else 6) // FEWER)))
        asked += sum(ok for ok, _ in answers)
        wrong += [text for _, text in answers if text]
    return verdict("all calls", asked, wrong)


def first_calls(pool):
    """The first calls of a list, of a trace of few stacks that begins with its first call, and in the midst of one."""
    calm("g.tarmac", 150)
    with open("g.tarmac") as f:
        text = f.readlines()
    wrong, asked = [], 0
    for dropped, args in itertools.product([0, 9], [[], ["--symbols", "f.elf"]]):
        with open("b.tarmac", "w") as f:
            f.writelines(text[dropped:])
        if not stacks("b.tarmac", *args):
            wrong.append("b.tarmac: no sums")
        asks = [f"calls {' '.join(words)} {' '.join(args)}" for words in itertools.product(
            ["--list", "--function 0x2100", "--function 0x2104", "--function 0x1000,0x2200,0x9000", "--function 0x7000"],
            ["", "--depth 1", "--depth 2"], ["", "--most 1", "--most 9", "--most 0"])]
        answers = list(pool.map(lambda q: differ("b.tarmac", q), random.sample(asks, len(asks) // FEWER)))
        asked += sum(ok for ok, _ in answers)
        wrong += [answer for _, answer in answers if answer]
    return verdict("first calls", asked, wrong)


def ask(file, question):
    words = question.split(" ")
    words = [file if w == "{file}" else w for w in words if w] + ["-q"]  # how many rows were read is told
    operands = [] if file in words else [file]
    if words[0] == "convert" or "--misses" in words:
        at = words.index("-")
        words[at] = "/dev/stdout"
        if words[0] == "convert":
            operands += [words.pop(at)]
    return [words[0], *operands[:1], *words[1:], *operands[1:]]


def differ(file, question):
    words = ask(file, question)
    want, got = trod(*words, "--no-index"), trod(*words)
    if want == got:
        return want[0] == 0, None
    lines = [(a.decode(errors="replace").splitlines() + b.decode(errors="replace").splitlines()) for _, a, b in (want, got)]
    at = next((i for i, (a, b) in enumerate(itertools.zip_longest(*lines)) if a != b), 0)
    return False, "\n".join([f"{file}: trod {question}: {want[0]}, {got[0]}"] +
                            [f"    {(side + [''] * at + [''])[at][:150]}" for side in lines])


def strangers(file, rows):
    """Rows that calls among chosen rows are said to begin with, and that are no instructions of these addresses."""
    part = ["--range", f"{rows // 4}..{rows // 2}", "--format", "json"]
    seen = [json.loads(line) for line in trod("view", *part, file)[1].splitlines()]
    seen = {(row["record"], row["address"]) for row in seen if row["kind"] == "INSTR"}
    calls = json.loads(trod("calls", "--list", "--kind", "instr", *part, file)[1])["list"]
    if len(calls) < 100:
        sys.exit(f"{file}: {len(calls)} calls")
    return [call for call in calls if (call["row"], call["function"].strip()) not in seen]


def main():
    program("t.tarmac", 10000)
    elf("f.elf", [("f", 0x1000, 0x40), ("g", 0x1040, 0x30), ("h", 0x1400, 0x50)], 0x1000, 0x1000)
    subprocess.run(["gzip", "-kf", "t.tarmac"], check=True)
    files = {"tarmac": "t.tarmac", "gz": "t.tarmac.gz"}
    for name in sys.argv[2:] or ["drmemtrace", "csv", "champsim", "stf"]:
        if name in files:
            continue
        files[name] = f"t.{name}"
        status, _, err = trod("convert", "-q", "--allow-loss", "--to", name, "t.tarmac", files[name])
        if status:
            sys.exit(f"{name}: {err.decode()}")
    failed = asked = 0
    if not sys.argv[2:]:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failed += all_calls(pool) + first_calls(pool)
    for name in sys.argv[2:] or files:
        status, _, err = trod("index", "-q", files[name])
        if status:
            sys.exit(f"{name}: {err.decode()}")
        info = json.loads(trod("index", "--info", "--format", "json", files[name])[1])["traces"][0]
        rows, insns = info["rows"], info["instructions"]
        last = json.loads(trod("view", "--format", "json", "--range", f"{rows - 200}..{rows}", files[name])[1].splitlines()[-1])
        asks = list(questions(rows, insns, last.get("time", rows), name != "tarmac"))
        asks = random.sample(asks, len(asks) // FEWER)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda q: differ(files[name], q), asks))
        wrong = [text for _, text in answers if text]
        if name in ("tarmac", "gz"):
            wrong += [f"{files[name]}: {call} is none" for call in strangers(files[name], rows)]
        print(f"{name}: {len(asks)} questions, {sum(ok for ok, _ in answers)} of them answered, {len(wrong)} differ")
        print("\n".join(wrong), end="\n" if wrong else "")
        failed += len(wrong)
        asked += sum(ok for ok, _ in answers)
    sys.exit(failed > 0 or asked == 0)


main()

"""cache_slow_dr.py - `trod cache --like drcachesim` against lists of the rules of DynamoRIO's cache simulator and TLB simulator.

    cache_slow_dr.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies (of options, or of a configuration file with inclusive and exclusive levels and coherence),
of warm-ups, and of traces of several threads. Each line of the result must be that of the rules.
"""
import random
import re
import struct
import subprocess
import sys

TOP = 7  # of RRIP, 3 bits
KINDS = dict(INSTR="fetch", READ="read", WRITE="write", PREFETCH="prefetch")
AHEAD = ("prefetch", "hardware")  # by the program, by a cache


class Ways:
    """What the policy knows of a set."""

    def __init__(self, cache):
        n = cache.ways
        self.cache, self.n, self.policy = cache, n, cache.policy
        self.count = [dict(LRU=1, LFU=0, FIFO=0, RRIP=TOP)[self.policy]] * n
        self.queue = list(range(n))

    def age(self, way):
        c = self.count[way]
        if c:
            self.count = [v + (v <= c) for v in self.count]
            self.count[way] = 0

    def hit(self, way):
        if self.policy == "LRU":
            self.age(way)
        elif self.policy == "LFU":
            self.count[way] += 1
        elif self.policy == "RRIP":
            self.count[way] = 0

    def insert(self, way):
        if self.policy == "RRIP":
            self.count[way] = TOP - 1 if self.cache.fills % 64 == 0 else TOP
            self.cache.fills += 1
        else:
            self.hit(way)

    def victim(self):
        if self.policy == "LRU":
            return self.count.index(max(self.count))
        if self.policy == "LFU":
            return self.count.index(min(self.count))
        if self.policy == "FIFO":
            return self.queue[0]
        return self.count.index(TOP if TOP in self.count else max(self.count))

    def evict(self, way):
        if self.policy == "LFU":
            self.count[way] = 0
        elif self.policy == "FIFO":
            self.queue.remove(way)
            self.queue.append(way)
        elif self.policy == "RRIP":
            self.count = [v + max(TOP - self.count[way], 0) for v in self.count]  # where it was flushed others are beyond the top

    def invalidate(self, way):
        if self.policy == "LRU":
            self.count[way] = max(self.count) + 1
        elif self.policy != "FIFO":
            self.count[way] = TOP if self.policy == "RRIP" else 0


class Cache:
    def __init__(self, name, size, ways, line, policy, **flags):
        self.name, self.size, self.ways, self.line, self.policy = name, size, ways, line, policy
        self.prefetches, self.inclusive, self.exclusive = (flags.get(k, False) for k in ("prefetches", "inclusive", "exclusive"))
        self.fills, self.last, self.parent, self.children = 0, None, None, []
        self.place = [[None] * ways for _ in range(size // line // ways)]
        self.state = [Ways(self) for _ in self.place]
        self.missed = lambda kind, addr: None
        self.seen, self.served, self.loaded, self.warm, self.coherent, self.snooped = set(), set(), 0, None, False, None
        self.anew()

    def anew(self):
        self.n = dict.fromkeys("hits misses compulsory inclusive exclusive coherence prefetch_hits prefetch_misses child_hits flushes".split(), 0)

    def set_of(self, line):
        return line % len(self.place)

    def way_of(self, line):
        places = self.place[self.set_of(line)]
        return places.index(line) if line in places else None

    def count_hit(self, kind):
        self.n["prefetch_hits" if kind in AHEAD else "hits"] += 1
        up = self.parent
        while up:
            up.n["child_hits"] += 1
            up = up.parent

    def count_miss(self, kind, line, addr=None):
        self.n["compulsory"] += line not in self.seen
        self.seen.add(line)
        self.n["prefetch_misses" if kind in AHEAD else "misses"] += 1
        self.missed(kind, addr)

    def request(self, kind, addr, size):
        first, last = addr // self.line, (addr + size - 1) // self.line
        if first == last and self.last and self.last[0] == first and kind != "write":
            self.count_hit(kind)
            self.state[self.set_of(first)].hit(self.last[1])
            return
        end = addr + size
        for line in range(first, last + 1):
            size = (line + 1) * self.line - addr if line < last else size
            if self.part(kind, addr, size, line):  # else the next line is asked for at the same address
                addr, size = (line + 1) * self.line, end - (line + 1) * self.line

    def part(self, kind, addr, size, line):
        way, state = self.way_of(line), self.state[self.set_of(line)]
        miss = way is None
        if not miss:
            self.count_hit(kind)
            if self.coherent and kind == "write":
                if self.snooped:
                    self.snooped.snoop(line, self, True)
                elif self.parent:
                    self.parent.written_below(line, self)
            if self.exclusive and self.children:
                self.invalidate(line, "exclusive")
                self.served.add(line)
                return False
            state.hit(way)
        elif self.exclusive:
            self.count_miss(kind, line, addr)
            if self.parent:
                self.parent.request(kind, addr, size)
            return False
        else:
            way = self.choose(line)
            self.count_miss(kind, line, addr)
            if self.parent:
                self.parent.request(kind, addr, size)
            self.insert(line, way, kind == "write")
            state.insert(way)
        if self.prefetches and kind not in AHEAD and miss:
            self.request("hardware", addr + self.line, size)
        self.last = (line, way)
        return True

    def flush(self, addr, size):
        """Here and behind; the policy hears of a set whose number is that many times the ways."""
        self.last = None
        for line in range(addr // self.line, (addr + size - 1) // self.line + 1):
            way, told = self.way_of(line), self.set_of(line) * self.ways
            if way is not None:
                self.place[self.set_of(line)][way] = None
                if told < len(self.place):
                    self.state[told].invalidate(way)
        self.n["flushes"] += 1
        if self.parent:
            self.parent.flush(addr, size)

    def choose(self, line):
        places, state = self.place[self.set_of(line)], self.state[self.set_of(line)]
        way = places.index(None) if None in places else state.victim()
        state.evict(way)
        return way

    def insert(self, line, way, write):
        if self.snooped:
            self.snooped.snoop(line, self, write)
        places = self.place[self.set_of(line)]
        old = places[way]
        if old is None:
            self.loaded += 1
        else:
            if self.inclusive:
                for child in self.children:
                    child.invalidate(old, "inclusive")
            above = self.parent and self.parent.exclusive
            if (self.coherent or above) and not any(c.contains(old) for c in self.children):
                if self.coherent and self.snooped:
                    self.snooped.evicted(old, self)
                if self.parent and (self.coherent and not self.snooped or above):
                    self.parent.take(old, self)
        places[way] = line

    def invalidate(self, line, why):
        way = self.way_of(line)
        if way is not None:
            self.place[self.set_of(line)][way] = None
            self.loaded -= 1
            self.n[why] += 1
            self.state[self.set_of(line)].invalidate(way)
            if self.last and self.last[0] == line:
                self.last = None
            if why == "inclusive" and self.inclusive:
                for child in self.children:
                    child.invalidate(line, why)
        if self.exclusive and why != "exclusive":
            self.served.discard(line)
        if why == "coherence":
            for child in self.children:
                child.invalidate(line, why)

    def contains(self, line):
        return self.way_of(line) is not None or not self.inclusive and any(c.contains(line) for c in self.children)

    def take(self, line, child):
        if self.way_of(line) is not None or any(c is not child and c.contains(line) for c in self.children):
            return
        if not self.exclusive:
            if self.snooped:
                self.snooped.evicted(line, self)
            elif self.parent:
                self.parent.take(line, self)
            return
        way = self.choose(line)
        self.insert(line, way, False)
        state = self.state[self.set_of(line)]
        (state.hit if line in self.served else state.insert)(way)
        self.served.discard(line)

    def written_below(self, line, child):
        for other in self.children:
            if other is not child:
                other.invalidate(line, "coherence")
        if self.snooped:
            self.snooped.snoop(line, self, True)
        elif self.parent:
            self.parent.written_below(line, self)


class Tlb(Cache):
    """Entries are pages of a process; first references are those of a page, whoever makes them."""

    def __init__(self, name, entries, ways, policy, page):
        super().__init__(name, entries, ways, 1, policy)
        self.page = page

    def set_of(self, line):
        return line[0] % len(self.place)

    def look(self, addr, size, process):
        first, last = addr // self.page, (addr + size - 1) // self.page
        if first == last and self.last and self.last[0] == (first, process):
            self.count_hit("read")
            self.state[self.set_of(self.last[0])].hit(self.last[1])
            return
        for number in range(first, last + 1):
            key, start = (number, process), max(addr, number * self.page)
            way, state = self.way_of(key), self.state[self.set_of(key)]
            if way is None:
                way = self.choose(key)
                self.count_miss("read", number)
                if self.parent:
                    self.parent.look(start, min(addr + size, (number + 1) * self.page) - start, process)
                self.place[self.set_of(key)][way] = key
                state.insert(way)
            else:
                self.count_hit("read")
                state.hit(way)
            self.last = (key, way)


class Filter:
    """The snoop filter."""

    def __init__(self):
        self.sharers, self.dirty, self.writes, self.invalidations, self.writebacks = {}, set(), 0, 0, 0

    def snoop(self, line, cache, write):
        sharers = self.sharers.setdefault(line, [])
        if line in self.dirty and cache not in sharers:
            self.writebacks += 1
            self.dirty.discard(line)
        if write:
            self.writes += 1
            self.dirty.add(line)
            for other in [c for c in self.caches if c in sharers and c is not cache]:
                other.invalidate(line, "coherence")
                self.invalidations += 1
                sharers.remove(other)
        if cache not in sharers:
            sharers.append(cache)

    def evicted(self, line, cache):
        if line in self.dirty:
            self.writebacks += 1
            self.dirty.discard(line)
        if cache in self.sharers.get(line, []):
            self.sharers[line].remove(cache)


def hierarchy(rng):
    """Cores, first caches by core (code, data), all caches, the filter or none, options, the text of a configuration file or none."""
    cores, line, policy = rng.choice([1, 2, 3]), rng.choice([16, 64]), rng.choice(["LRU", "LRU", "FIFO", "LFU", "RRIP"])
    coherent, from_file = rng.random() < .4, rng.random() < .6

    def shape(most):
        ways = rng.choice([1, 2, 3, 4])
        return ways * line << rng.randrange(most), ways
    text = f"num_cores {cores}\nline_size {line}\n" + "coherence true\n" * coherent
    caches, first = [], []
    (isize, iways), (dsize, dways), (lsize, lways), ahead = shape(4), shape(4), shape(6), rng.random() < .5
    middle = from_file and rng.random() < .5
    kind = rng.choice(["", "inclusive", "exclusive"]) if from_file else ""
    last = Cache("LL", lsize, lways, line, policy, **({kind: True} if kind else {}))
    for k in range(cores):
        code = Cache(f"L1I{k}", isize, iways, line, policy)
        data = Cache(f"L1D{k}", dsize, dways, line, policy, prefetches=ahead)
        chain = [last]
        if middle:
            how = rng.choice(["", "inclusive", "exclusive"])
            size, ways = shape(5)
            chain.insert(0, Cache(f"L2{k}", size, ways, line, policy, **({how: True} if how else {})))
            text += f"L2{k} {{ type unified size {size} assoc {ways} parent LL replace_policy {policy} " + (f"{how} true " if how else "") + "}\n"
            chain[0].parent = last
            last.children.append(chain[0])
        for cache, side in ((code, "instruction"), (data, "data")):
            cache.parent = chain[0]
            chain[0].children.append(cache)
            text += (f"{cache.name} {{ type {side} core {k} size {cache.size} assoc {cache.ways} parent {chain[0].name} replace_policy {policy} "
                     f"prefetcher {'nextline' if cache.prefetches else 'none'} }}\n")
        first.append((code, data))
        caches += [code, data] + chain[:-1]
    caches.append(last)
    text += f"LL {{ type unified size {lsize} assoc {lways} parent memory replace_policy {policy} " + (f"{kind} true " if kind else "") + "}\n"
    options = [f"-cores {cores} -line_size {line} -L1I_size {isize} -L1I_assoc {iways} -L1D_size {dsize} -L1D_assoc {dways} -LL_size {lsize}",
               f"-LL_assoc {lways} -replace_policy {policy} -data_prefetcher {'nextline' if ahead else 'none'}" + " -coherence" * coherent]
    return cores, first, caches, protect(last, caches) if coherent else None, ["-config_file dr.conf"] if from_file else options, text


def protect(last, caches):
    """The filter is on the children of the first cache, down from the last, that has several."""
    snoop, at = Filter(), last
    while len(at.children) == 1:
        at = at.children[0]
    snoop.caches = at.children

    def below(cache):
        cache.coherent = True
        for child in cache.children:
            below(child)
    for cache in snoop.caches:
        cache.snooped = snoop
        below(cache)
    return snoop if caches else None


def expected(cache, warmed):
    """Label: text."""
    n, warm = cache.n, cache.warm or cache.n
    want = {"Warmup hits": warm["hits"] if cache.warm else 0, "Warmup misses": warm["misses"] if cache.warm else 0} if warmed else {}
    want.update({"Hits": n["hits"], "Misses": n["misses"], "Compulsory misses": n["compulsory"]})
    invalidations = n["inclusive"] + n["exclusive"]
    want.update({"Parent invalidations": invalidations, "Write invalidations": n["coherence"]} if cache.coherent else {"Invalidations": invalidations})
    want.update({"Flushes": n["flushes"]} if n["flushes"] else {})
    if n["prefetch_hits"] + n["prefetch_misses"]:
        want.update({"Prefetch hits": n["prefetch_hits"], "Prefetch misses": n["prefetch_misses"]})

    def rate(whole):
        m, w = (struct.unpack("f", struct.pack("f", v))[0] for v in (n["misses"] * 100, whole))
        return f"{struct.unpack('f', struct.pack('f', m / w))[0]:.2f}%"
    if n["hits"] + n["misses"]:
        want["Local miss rate" if n["child_hits"] else "Miss rate"] = rate(n["hits"] + n["misses"])
    if n["child_hits"]:
        want.update({"Child hits": n["child_hits"], "Total miss rate": rate(n["hits"] + n["misses"] + n["child_hits"])})
    return {k: str(v) for k, v in want.items()}


def told(trod, *options, trace="dr.csv"):
    done = subprocess.run([trod, "cache", "-q", "--order", "file", "--like", "drcachesim", "--with", "-no_core_sharded " + " ".join(options), trace],
                          check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def with_fewest(core_of, thread, cores):
    """The core of THREAD: at first that with the fewest threads."""
    if thread not in core_of:
        core_of[thread] = min(range(cores), key=lambda k: sum(c == k for c in core_of.values()))
    return core_of[thread]


def run(rows, touch, caches, skip, warm, most):
    """ROWS are given to TOUCH as far as they are simulated; after the warm-up counts begin anew."""
    left, to_warm = most or 2**63, warm
    for row in rows[skip:]:
        if left == 0 and not to_warm:
            break
        touch(*row)
        if to_warm:
            to_warm -= 1
            if not to_warm:
                for cache in caches:
                    cache.warm = cache.n
                    cache.anew()
                continue
        left -= 1


def differences(done, caches, warm, core_of):
    """Caches whose lines in the text DONE are not those of the rules."""
    for cache in caches:
        block = re.search(rf"^ *{cache.name} \(.*?stats:\n(.*?)(?=^\S|^ +\S+ \(|\Z)", done, re.S | re.M)
        got = dict(re.findall(r"^ +([^:]+): +(\S+)$", block[1], re.M)) if block else None
        used = cache.name == "LL" or not cache.name.startswith("L1") or int(cache.name[3:]) in core_of.values()
        want = expected(cache, warm) if used else None
        if got != want:
            yield cache.name, want, got


def tlb_case(trod, rng, rows):
    """TLBs of the same rows, over wide addresses."""
    cores, page, policy = rng.choice([1, 2, 3]), rng.choice([64, 256, 4096]), rng.choice(["LFU", "LFU", "LRU", "FIFO", "RRIP"])
    skip, warm, most = rng.choice([0, 7]), rng.choice([0, 30]), rng.choice([0, 200])
    shapes = [(ways << rng.randrange(4), ways) for ways in (rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 4]), rng.choice([2, 4]))]
    tlbs = []
    for _ in range(cores):
        code, data, both = (Tlb(name, *shape, policy, page) for name, shape in zip(("L1I", "L1D", "LL"), shapes))
        code.parent = data.parent = both
        tlbs.append((code, data, both))
    core_of, left, to_warm = {}, most or 2**63, warm
    for t, op, addr, size in rows[skip:]:
        if left == 0 and not to_warm:
            break
        core = with_fewest(core_of, t, cores)
        if op != "PREFETCH":
            tlbs[core][op != "INSTR"].look(addr, size, t)
        to_warm, left = (to_warm - 1, left) if to_warm else (0, left - 1)
        for tlb in sum(tlbs, ()) if warm and not to_warm and left == (most or 2**63) else ():
            tlb.anew()
    names = [f"-TLB_{n}_{w} {v}" for n, shape in zip(("L1I", "L1D", "L2"), shapes) for w, v in zip(("entries", "assoc"), shape)]
    text = told(trod, f"-tool TLB -cores {cores} -page_size {page} -TLB_replace_policy {policy} -skip_refs {skip}",
                f"-warmup_refs {warm}", *names, *[f"-sim_refs {most}"] * (most > 0))
    for k, block in enumerate(re.split(r"^Core #\d+.*\n", text, flags=re.M)[1:]):
        for tlb in tlbs[k]:
            lines = re.search(rf"^  {tlb.name} stats:\n((?:    .*\n)*)", block, re.M)
            got = dict(re.findall(r"^ +([^:]+): +(\S+)$", lines[1], re.M)) if lines else None
            if got != (expected(tlb, 0) if k in core_of.values() else None):
                yield "tlb", k, tlb.name, expected(tlb, 0), got, page, policy, names


def case(trod, seed):
    rng = random.Random(seed)
    cores, first, caches, snoop, options, text = hierarchy(rng)
    threads, base, span, how = cores + rng.choice([0, 2]), rng.choice([0x1000, 0x7ffff123]), rng.choice([100, 900, 5000]), rng.randrange(4)
    skip, warm, most = rng.choice([0, 0, 7]), rng.choice([0, 0, 30]), rng.choice([0, 0, 200])
    rows = []
    for i in range(500):
        at = (rng.randrange(span), i * 8 % span, i * 36 % (2 * span), int(span * rng.paretovariate(1.2)) % (2 * span))[how]
        rows.append((rng.randrange(threads), rng.choice(["INSTR", "READ", "READ", "WRITE", "PREFETCH"]), base + at, rng.choice([1, 4, 8, 40])))
    with open("dr.csv", "w", encoding="ascii") as f:
        f.write("kind,stream,addr,size,pc\n" + "".join(f"{op},{t},{a:#x},{s},{'' if op == 'INSTR' else 4096}\n" for t, op, a, s in rows))
    names = [w for n, w in ((skip, "skip"), (warm, "warmup"), (most, "sim")) if n]
    with open("dr.conf", "w", encoding="ascii") as f:
        f.write("".join(f"{w}_refs {dict(skip=skip, warmup=warm, sim=most)[w]}\n" for w in names) + text)
    if "config_file" not in options[0]:
        options += [f"-{w}_refs {dict(skip=skip, warmup=warm, sim=most)[w]}" for w in names]
    core_of = {}
    run(rows, lambda t, op, addr, size: first[with_fewest(core_of, t, cores)][op != "INSTR"].request(KINDS[op], addr, size), caches, skip, warm, most)
    done = told(trod, *options)
    wrong = list(tlb_case(trod, rng, rows)) + list(differences(done, caches, warm, core_of))
    if snoop:
        got = re.search(r"Coherence stats:\n(.*)", done, re.S)
        got = [int(v) for v in re.findall(r"(\d+)$", got[1], re.M)] if got else None
        if got != [snoop.writes, snoop.invalidations, snoop.writebacks]:
            wrong.append(("coherence", snoop.writes, snoop.invalidations, snoop.writebacks, got))
    if wrong:
        print(f"seed {seed}: {options}\n{text}", *wrong[:6], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

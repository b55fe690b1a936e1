"""cache_slow.py - `trod cache` against a simulator of docs/caches.md that is nothing but lists.

    cache_slow.py TROD FIRST LAST

Numbers FIRST to LAST - 1 are seeds of hierarchies, of one to four cores, and of traces: all counts must be equal.
"""
import json
import random
import subprocess
import sys

COUNTS = ("references misses sector_misses victim_hits evictions writebacks bytes_in bytes_out prefetches useful "
          "back_invalidations coherence_invalidations compulsory capacity conflict coherence").split()
KINDS = {"INSTR": "fetch", "READ": "read", "WRITE": "write"}
TOP = 3  # of the RRIP family: 2 bits


class Ways:
    """What a policy knows of one set."""

    def __init__(self, cache, number):
        self.cache, self.number, self.n, self.policy = cache, number, cache.ways, cache.policy
        self.order, self.uses, self.bits = [], [0] * self.n, [0] * self.n
        self.value, self.node = [TOP] * self.n, [0] * 2 * self.n

    def path(self, way, away):
        """Turn the nodes of the tree on the path to WAY away from it or towards it."""
        node, low, high = 1, 0, self.n
        while high - low > 1:
            upper = way >= (low + high) // 2
            self.node[node] = upper != away
            low, high = ((low + high) // 2, high) if upper else (low, (low + high) // 2)
            node = 2 * node + upper

    def forget(self, way):
        if way in self.order:
            self.order.remove(way)
        self.uses[way], self.bits[way], self.value[way] = 0, 0, TOP
        self.path(way, False)

    def touch(self, way, fill):
        if self.policy == "lru" or fill:
            if way in self.order:
                self.order.remove(way)
            self.order.insert(0, way)
        self.uses[way] = 1 if fill else self.uses[way] + 1
        self.bits[way] = 1
        if self.policy == "bit-plru" and all(self.bits):
            self.bits = [0] * self.n
            self.bits[way] = 1
        self.path(way, True)
        self.value[way] = self.cache.first_value(self.number) if fill else 0

    def victim(self):
        if self.policy in ("lru", "fifo"):
            return self.order[-1]
        if self.policy == "lfu":
            return self.uses.index(min(self.uses))
        if self.policy == "tree-plru":
            node, low, high = 1, 0, self.n
            while high - low > 1:
                low, high = ((low + high) // 2, high) if self.node[node] else (low, (low + high) // 2)
                node = 2 * node + self.node[node]
            return low
        if self.policy in ("nru", "bit-plru"):
            if all(self.bits):
                self.bits = [0] * self.n
            return self.bits.index(0)
        way = self.value.index(max(self.value))
        self.value = [v + TOP - self.value[way] for v in self.value]
        return way


class Line:
    def __init__(self, number, dirty, prefetched):
        self.number, self.dirty, self.prefetched = number, dirty, prefetched
        self.valid, self.written = set(), set()  # sectors


class Cache:
    def __init__(self, spec):
        self.__dict__.update(spec)
        self.sets = self.size // self.line // self.ways
        self.fills, self.selector = 0, 512
        self.place = [[None] * self.ways for _ in range(self.sets)]
        self.state = [Ways(self, i) for i in range(self.sets)]
        self.victim = []  # newest first
        self.n = dict.fromkeys(COUNTS, 0)
        self.kind = {k: [0, 0] for k in KINDS.values()}
        self.full, self.seen, self.lost = [], set(), set()  # 3C
        self.next, self.before = None, []
        self.strides, self.streams, self.oldest = {}, [], 0

    # replacement of the RRIP family
    def first_value(self, number):
        if self.policy not in ("brrip", "drrip"):
            return TOP - 1
        leaders = min(self.sets, max(8, self.sets // 32))
        rare = self.policy == "brrip" or self.selector >= 512
        if self.policy == "drrip" and number % leaders == 0:
            rare, self.selector = False, min(1023, self.selector + 1)
        elif self.policy == "drrip" and number % leaders == leaders // 2:
            rare, self.selector = True, max(0, self.selector - 1)
        self.fills += rare
        return TOP if rare and self.fills % 32 != 1 else TOP - 1

    # what is where
    def way_of(self, number):
        ways = [w for w, l in enumerate(self.place[number % self.sets]) if l and l.number == number]
        return ways[0] if ways else None

    def here(self, number):
        way = self.way_of(number)
        return None if way is None else self.place[number % self.sets][way]

    def anywhere(self, addr):
        number = addr // self.line
        return self.here(number) or next((l for l in self.victim if l.number == number), None)

    def remove(self, number):
        line = self.here(number)
        if line:
            way = self.way_of(number)
            self.place[number % self.sets][way] = None
            self.state[number % self.sets].forget(way)
        return line

    def leave_victims(self, number):
        line = next((l for l in self.victim if l.number == number), None)
        if line:
            self.victim.remove(line)
        return line

    def sectors(self, addr, size):
        return set(range(addr % self.line // self.sector, (addr + size - 1) % self.line // self.sector + 1))

    # what leaves
    def drop(self, addr, size, why="back_invalidations"):
        dirty = False
        for number in range(addr // self.line, (addr + size - 1) // self.line + 1):
            for line in (self.remove(number), self.leave_victims(number)):
                if line:
                    dirty |= line.dirty
                    self.n[why] += 1
                    if why == "coherence_invalidations":
                        self.lost.add(number)
        for cache in self.before:
            dirty |= cache.drop(addr, size, why)
        return dirty

    def put(self, number, dirty, prefetched):
        places, state = self.place[number % self.sets], self.state[number % self.sets]
        way = places.index(None) if None in places else state.victim()
        old, places[way] = places[way], Line(number, dirty, prefetched)
        state.touch(way, True)
        if old and self.victims:
            self.victim.insert(0, old)
            old = self.victim.pop() if len(self.victim) > self.victims else None
        if old:
            self.push_out(old)
        return places[way]

    def push_out(self, line):
        addr, dirty = line.number * self.line, line.dirty
        self.n["evictions"] += 1
        if self.inclusion == "inclusive":
            for cache in self.before:
                dirty |= cache.drop(addr, self.line)
        self.n["writebacks"] += dirty
        if self.next and self.next.inclusion == "exclusive":
            self.n["bytes_out"] += self.line
            if not self.next.anywhere(addr):
                self.next.put(line.number, dirty, False)
            elif dirty:
                self.next.written_back(addr, self.line)
        elif dirty:
            self.write_line(line)

    def write_line(self, line):
        addr = line.number * self.line
        for at, size in ([(addr + k * self.sector, self.sector) for k in sorted(line.written)] if self.sector
                         else [(addr, self.line)]):
            self.n["bytes_out"] += size
            if self.next:
                self.next.written_back(at, size)

    def written_back(self, addr, size):
        line = self.anywhere(addr)
        if line and self.write == "back" and (not self.sector or self.sectors(addr, size) <= line.valid):
            line.dirty = True
            if self.sector:
                line.written |= self.sectors(addr, size)
            return
        self.n["bytes_out"] += size
        if self.next:
            self.next.written_back(addr, size)

    # coherence
    def take_away(self, addr):
        start, any_dirty = addr // self.line * self.line, False
        for cache in self.before:
            for at in range(start, start + self.line, cache.line):
                any_dirty |= cache.take_away(at)
        line = self.anywhere(addr)
        if not self.drop(start, self.line, "coherence_invalidations"):
            return any_dirty
        self.n["writebacks"] += 1
        self.write_line(line)
        return True

    def clean(self, addr):
        line = self.anywhere(addr)
        if not line or not line.dirty:
            return False
        line.dirty = False
        self.n["writebacks"] += 1
        self.write_line(line)
        line.written = set()
        return True

    # what comes
    def write_on(self, addr, size, pc):
        self.n["bytes_out"] += size
        if self.next:
            self.next.reference("write", addr, size, pc)

    def fetch(self, kind, addr, pc, demand):
        """Bring a line in; is it dirty?"""
        self.n["bytes_in"] += self.line
        if not self.next:
            return False
        if self.next.inclusion != "exclusive":
            start = addr // self.line * self.line
            if demand:
                self.next.reference("read" if kind == "write" else kind, start, self.line, pc)
            else:
                self.next.prefetch_into(start, pc)
            return False
        number = addr // self.next.line
        if demand:
            self.next.count(kind, number, self.next.here(number) is None)
        line = self.next.remove(number)
        if not line:
            line = self.next.leave_victims(number)
            self.next.n["victim_hits"] += bool(line and demand)
        return line.dirty if line else self.next.fetch(kind, addr, pc, demand)

    def fetch_sectors(self, kind, addr, pc, want):
        for k in sorted(want):
            self.n["bytes_in"] += self.sector
            if self.next:
                self.next.reference("read" if kind == "write" else kind,
                                    addr // self.line * self.line + k * self.sector, self.sector, pc)

    def prefetch_into(self, addr, pc):
        if not self.anywhere(addr) and self.inclusion != "exclusive":
            self.put(addr // self.line, self.fetch("read", addr, pc, False), True)

    def count(self, kind, number, miss):
        self.n["references"] += 1
        self.n["misses"] += miss
        self.kind[kind][0] += 1
        self.kind[kind][1] += miss
        why = "conflict" if number in self.full else "capacity" if number in self.seen else "compulsory"
        self.full = [number] + [l for l in self.full if l != number][:self.sets * self.ways - (number not in self.full)]
        self.seen.add(number)
        if miss:
            self.n["coherence" if number in self.lost else why] += 1
            self.lost.discard(number)

    def reference(self, kind, addr, size, pc):
        number, write = addr // self.line, kind == "write"
        line = self.here(number)
        self.count(kind, number, line is None)
        if line and self.sector and not self.sectors(addr, size) <= line.valid:
            absent = self.sectors(addr, size) - line.valid
            self.n["misses"] += 1
            self.kind[kind][1] += 1
            self.n["sector_misses"] += 1
            if write and self.allocate == "no":
                return self.write_on(addr, size, pc)
            self.fetch_sectors(kind, addr, pc, absent)
            line.valid |= absent
        if line:
            self.state[number % self.sets].touch(self.way_of(number), False)
            self.n["useful"] += line.prefetched
            line.prefetched = False
        elif not self.victim_hit(number) and not self.bring_in(kind, addr, size, pc):
            return self.prefetches(addr, pc, True)
        if write and self.write == "back":
            self.here(number).dirty = True
            if self.sector:
                self.here(number).written |= self.sectors(addr, size)
        elif write:
            self.write_on(addr, size, pc)
        return self.prefetches(addr, pc, line is None)

    def victim_hit(self, number):
        line = self.leave_victims(number)
        if line:
            self.n["victim_hits"] += 1
            self.n["useful"] += line.prefetched
            self.put(number, line.dirty, False)
        return line

    def bring_in(self, kind, addr, size, pc):
        if kind == "write" and self.allocate == "no":
            self.write_on(addr, size, pc)
            return False
        if self.sector:
            self.fetch_sectors(kind, addr, pc, self.sectors(addr, size))
        dirty = not self.sector and self.fetch(kind, addr, pc, True)
        line = self.put(addr // self.line, dirty or (kind == "write" and self.write == "back"), False)
        if self.sector:
            line.valid = self.sectors(addr, size)
        return True

    # prefetchers
    def ask(self, addr, pc):
        self.n["prefetches"] += 1
        self.prefetch_into(addr % 2**64, pc)

    def prefetches(self, addr, pc, miss):
        getattr(self, "prefetch_" + self.prefetch)(addr, pc, miss)

    def prefetch_none(self, addr, pc, miss):
        pass

    def prefetch_next(self, addr, pc, miss):
        for i in range(1, self.degree + 1 if miss else 1):
            self.ask(addr + i * self.line, pc)

    def prefetch_stream(self, addr, pc, _):
        page, number = addr >> 12, addr // self.line
        stream = next((s for s in self.streams if s["page"] == page), None)
        if not stream:
            self.streams[self.oldest % 32:self.oldest % 32 + 1] = [dict(page=page, last=number, way=0, run=1)]
            self.oldest += 1
        elif number != stream["last"]:
            way = 1 if number > stream["last"] else -1
            stream.update(run=stream["run"] + 1 if way == stream["way"] else 1, way=way, last=number)
            for i in range(1, self.degree + 1 if stream["run"] > 1 else 1):
                if (number + way * i) * self.line >> 12 == page:
                    self.ask((number + way * i) * self.line, pc)

    def prefetch_stride(self, addr, pc, _):
        entry = self.strides.get((pc ^ pc >> 8) % 256)
        if not entry or entry["pc"] != pc:
            self.strides[(pc ^ pc >> 8) % 256] = dict(pc=pc, last=addr, step=0, sure=False)
            return
        step, entry["last"] = addr - entry["last"], addr
        if step:
            entry.update(sure=step == entry["step"], step=step)
            for i in range(1, self.degree + 1 if entry["sure"] else 1):
                if (addr + step * i) // self.line != addr // self.line:
                    self.ask(addr + step * i, pc)


class Machine:
    """Cores with caches of their own, behind them those that are shared."""

    def __init__(self, rng):
        self.rng, self.cores = rng, rng.choice([1, 1, 1, 2, 3, 4])
        self.coherent, self.sharing = self.cores > 1, {}
        self.spec, self.invalidations, self.interventions, self.upgrades = [], 0, 0, 0
        line = rng.choice([16, 32, 64, 64, 128])
        if self.cores == 1 and rng.random() < .6:
            self.add("I", line, "code")
            self.add("D", line, "data")
        else:
            self.add("U", line, "")
        for level in range(2, 2 + rng.randrange(3)):
            line *= rng.choice([1, 1, 2])
            self.add(f"L{level}", line, "", True)
            self.spec[-1]["shared"] = self.cores > 1 and (self.spec[-2]["shared"] or rng.random() < .6)
        self.caches = {s["name"]: [Cache(s) for _ in range(1 if s["shared"] else self.cores)] for s in self.spec}
        for i, s in enumerate(self.spec):
            behind = next((t for t in self.spec[i + 1:] if t["side"] == ""), None)
            for k in range(self.cores if behind else 0):
                cache, after = (self.caches[t["name"]][0 if t["shared"] else k] for t in (s, behind))
                if not cache.next:
                    cache.next = after
                    after.before.append(cache)

    def add(self, name, line, side, behind=False):
        rng = self.rng
        ways, sets = rng.choice([1, 2, 3, 4, 5, 7, 8, 16]), rng.choice([1, 1, 2, 3, 5, 7, 8, 12, 16, 33, 64])
        s = dict(name=name, line=line, side=side, inclusion="none", victims=0, sector=0, prefetch="none", degree=1,
                 shared=False, write=rng.choice(["back"] * 4 + ["through"]), allocate=rng.choice(["yes"] * 4 + ["no"]),
                 policy=rng.choice("lru lru fifo lfu tree-plru bit-plru nru srrip brrip drrip".split()))
        if s["policy"] == "tree-plru":
            ways = 1 << rng.randrange(4)
        s.update(ways=ways, size=ways * sets * line)
        extra = rng.random()
        if extra < .15:
            s["victims"] = rng.choice([1, 2, 7])
        elif extra < .25:
            s["sector"] = line // rng.choice([1, 2, 4])
        if not s["sector"] and rng.random() < .35:
            s.update(prefetch=rng.choice(["next", "next", "stream", "stride"]), degree=rng.choice([1, 1, 2, 3]))
        if behind and not s["sector"]:
            s["inclusion"] = rng.choice(["none", "inclusive", "exclusive"])
        if s["inclusion"] == "exclusive" and any(t["sector"] or t["line"] != line for t in self.spec):
            s["inclusion"] = "none"
        self.spec.append(s)

    def text(self):
        words = "size ways line policy write allocate inclusion victims prefetch degree sector".split()
        return f"cores {self.cores}\nclassify on\n" + "coherence on\n" * self.coherent + "".join(
            f"cache {s['name']} {s['side']} {'shared' if s['shared'] else ''} "
            + " ".join(f"{w}={s[w]}" for w in words if s[w] != 0) + "\n" for s in self.spec)

    def chain(self, core):
        """Caches of CORE's own that data go through."""
        own = [self.caches[s["name"]][core] for s in self.spec if s["side"] != "code" and not s["shared"]]
        return own if self.coherent else []

    def cohere(self, core, addr, write):
        others = [k for k in range(self.cores) if k != core and any(c.anywhere(addr) for c in self.chain(k))]
        if not others:
            return
        self.upgrades += write and any(c.anywhere(addr) for c in self.chain(core))
        disturbed = set()
        for level in range(len(self.chain(core))):
            for k in others:
                if (Cache.take_away if write else Cache.clean)(self.chain(k)[level], addr):
                    disturbed.add(k)
        self.interventions += len(disturbed)
        self.invalidations += len(others) if write else 0

    def reference(self, core, thread, op, addr, size, pc):
        first = next(s["name"] for s in self.spec if s["side"] != ("data" if op == "INSTR" else "code"))
        cache = self.caches[first][core]
        while size:
            part = min(size, cache.line - addr % cache.line)
            if op != "INSTR":
                for at in range(addr, addr + part):
                    users = self.sharing.setdefault(at // 64, {}).setdefault(at % 64, (set(), set()))
                    users[op == "WRITE"].add(thread)
            if self.coherent and (op != "INSTR" or not cache.anywhere(addr)):
                self.cohere(core, addr, op == "WRITE")
            cache.reference(KINDS[op], addr, part, pc)
            addr, size = addr + part, size - part

    def shared_lines(self):
        """Lines only read, lines written, lines falsely shared."""
        read_only = written = falsely = 0
        for users in self.sharing.values():
            if len(set().union(*(r | w for r, w in users.values()))) > 1:
                any_written = any(w for _, w in users.values())
                read_only += not any_written
                written += any_written
                falsely += any_written and not any(w and len(r | w) > 1 for r, w in users.values())
        return [read_only, written, falsely]


def trace(rng, threads):
    """Rows of THREADS threads: random, a loop, strides or few hot places."""
    span, shape = rng.choice([200, 1000, 4000, 20000]), rng.randrange(4)
    for i in range(800):
        op = rng.choice(["INSTR", "READ", "READ", "WRITE"])
        at = (rng.randrange(span), i * 8 % span, i * 72 % (3 * span), int(span * rng.paretovariate(1.2)) % (2 * span))
        addr = 0x10000 + at[shape]
        yield (rng.randrange(threads), op, addr, rng.choice([1, 2, 4, 8, 8, 16, 40]),
               addr if op == "INSTR" else 0x400 + 16 * rng.randrange(6))


def case(trod, seed):
    rng = random.Random(seed)
    m, core_of = Machine(rng), {}
    with open("slow.csv", "w") as f:
        f.write("kind,stream,addr,size,pc\n")
        for thread, op, addr, size, pc in trace(rng, m.cores + rng.choice([0, 0, 3])):
            f.write(f"{op},{thread},{addr:#x},{size},{'' if op == 'INSTR' else pc}\n")
            m.reference(core_of.setdefault(thread, len(core_of) % m.cores), thread, op, addr, size, pc)
    with open("slow.conf", "w") as f:
        f.write(m.text())
    got = json.loads(subprocess.run([trod, "cache", "-q", "--config", "slow.conf", "--format", "json", "--order", "file",
                                     "--sharing", "-j", str(rng.randint(1, 4)), "slow.csv"],
                                    check=True, stdout=subprocess.PIPE).stdout)
    wrong = []
    for row in got["caches"]:
        for key in COUNTS:
            want = sum(c.n[key] for c in m.caches[row["cache"]])
            if row[key] is not None and row[key] != want:
                wrong.append((row["cache"], key, want, row[key]))
    for row in got["kinds"]:
        want = [sum(c.kind[row["kind"]][i] for c in m.caches[row["cache"]]) for i in (0, 1)]
        if [row["references"], row["misses"]] != want:
            wrong.append((row["cache"], row["kind"], want, row))
    want = dict(invalidations=m.invalidations, interventions=m.interventions, upgrades=m.upgrades)
    if m.coherent and got["coherence"] != want:
        wrong.append(("coherence", want, got["coherence"]))
    sharing = [got["sharing"][k] for k in ("read_only", "written", "false_sharing")]
    if m.shared_lines() != sharing:
        wrong.append(("sharing", m.shared_lines(), sharing))
    if wrong:
        print(f"seed {seed}:\n{m.text()}", *wrong[:8], sep="\n", file=sys.stderr)
    return not wrong


if __name__ == "__main__":
    sys.exit(sum(not case(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))) > 0)

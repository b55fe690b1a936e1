"""cache_model.py - caches by the rules of docs/caches.md that are nothing but lists, for cache_slow.py and others."""
COUNTS = ("references misses sector_misses victim_hits evictions writebacks bytes_in bytes_out prefetches useful "
          "back_invalidations coherence_invalidations compulsory capacity conflict coherence").split()
KINDS = {"INSTR": "fetch", "READ": "read", "WRITE": "write"}
TOP = 3  # of the RRIP family: 2 bits
OFFSETS = [n for n in range(1, 61) if 60 ** 9 % n == 0]  # of best-offset: no factor but 2, 3 and 5


class Numbers:
    """xoshiro256**, seeded by splitmix64."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9e3779b97f4a7c15) % 2**64
            z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9 % 2**64
            z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
            self.s.append(z ^ z >> 31)

    def next(self):
        def turn(v, k):
            return (v << k | v >> 64 - k) % 2**64
        a, b, c, d = self.s
        c, d = c ^ a, d ^ b
        self.s = [a ^ d, b ^ c, (c ^ b << 17) % 2**64, turn(d, 45)]
        return turn(b * 5 % 2**64, 7) * 9 % 2**64

    def below(self, n):
        """The lowest numbers, which would be too likely, are left out."""
        v = self.next()
        while v < 2**64 % n:
            v = self.next()
        return v % n


def belady(lines, sets, ways, may_pass=False):
    """Misses of the optimal policy; MAY_PASS: a line need not be brought in."""
    held, misses = {}, 0
    coming = [len(lines)] * len(lines)
    last = {}
    for i in range(len(lines) - 1, -1, -1):
        coming[i] = last.get(lines[i], len(lines))
        last[lines[i]] = i
    for i, line in enumerate(lines):
        there = held.setdefault(line % sets, {})  # line: when it comes again
        misses += line not in there
        if line not in there and len(there) == ways:
            late = max(there, key=there.get)
            if may_pass and coming[i] >= there[late]:
                continue
            del there[late]
        there[line] = coming[i]
    return misses


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
        if self.policy == "random":
            return self.cache.numbers.below(self.n)
        if self.policy == "opt":
            return self.cache.comes_last(self.number)
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


def evicted(rng, specs):
    """Some of the levels SPECS that are behind others take what those push out."""
    for i, s in enumerate(specs):
        before = [t for t in specs[:i] if t["side"] != "code"]
        if (s["side"] == "" and before and not s["sector"] and s["policy"] != "opt" and rng.random() < .7
                and all(t["line"] == s["line"] and not t["sector"] for t in before)):
            s.update(inclusion="evicted", victims=0, prefetch="none", degree=1)


class Line:
    def __init__(self, number, dirty, prefetched):
        self.number, self.dirty, self.prefetched = number, dirty, prefetched  # by this cache itself
        self.earlier = False  # prefetched before what counts
        self.valid, self.written = set(), set()  # sectors


class Cache:
    coherent = "yes"  # SPEC may say no

    def __init__(self, spec, future=None):
        """FUTURE: the lines that will be asked for, for policy opt."""
        self.__dict__.update(spec)
        self.future, self.asked, self.demanded, self.tell = future, [], [], lambda cache: None
        self.numbers = Numbers(self.seed)
        self.sets = self.size // self.line // self.ways
        self.fills, self.selector = 0, 512
        self.place = [[None] * self.ways for _ in range(self.sets)]
        self.state = [Ways(self, i) for i in range(self.sets)]
        self.victim = []  # newest first
        self.n = dict.fromkeys(COUNTS, 0)
        self.kind = {k: [0, 0] for k in KINDS.values()}
        self.full, self.seen, self.lost = [], set(), set()  # 3C
        self.next, self.before, self.handed, self.counting = None, [], False, True
        self.strides, self.streams, self.oldest = {}, [], 0
        self.offset, self.trying, self.rounds, self.recent = 0, 0, 0, {}
        self.scores = [0] * len(OFFSETS)

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

    # the optimal policy
    def ask_for(self, number):
        self.asked.append(number)

    def comes_last(self, number):
        def coming(line):
            rest = range(len(self.asked), len(self.future))
            return next((i for i in rest if self.future[i] == line.number), len(self.future))
        when = [coming(line) for line in self.place[number]] if self.future else [0]
        return when.index(max(when))

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

    def holds(self, addr, size):
        """All of it, in one line."""
        line = self.anywhere(addr)
        return line is not None and (not self.sector or self.sectors(addr, size) <= line.valid)

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
    def drop(self, addr, size, why="back_invalidations", data=False):
        """DATA: a level that is inclusive of data alone wants it; caches for code keep the line."""
        dirty = False
        for number in range(addr // self.line, (addr + size - 1) // self.line + 1):
            for line in (self.remove(number), self.leave_victims(number)):
                if line:
                    dirty |= line.dirty
                    self.n[why] += 1
                    if why == "coherence_invalidations":
                        self.lost.add(number)
        return self.drop_before(addr, size, why, data) or dirty

    def drop_before(self, addr, size, why="back_invalidations", data=False):
        return any([cache.drop(addr, size, why, data) for cache in self.before
                    if not (data and cache.side == "code" or why == "coherence_invalidations" and cache.coherent == "no")])

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

    def takes_what_leaves(self, cache):
        return self.inclusion == "exclusive" or self.inclusion == "evicted" and cache.side != "code"

    def push_out(self, line):
        addr, dirty = line.number * self.line, line.dirty
        self.n["evictions"] += 1
        if self.inclusion in ("inclusive", "data"):
            dirty |= self.drop_before(addr, self.line, data=self.inclusion == "data")
        self.n["writebacks"] += dirty
        if self.next and self.next.takes_what_leaves(self):
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
            if cache.coherent == "no":
                continue
            for at in range(start, start + self.line, cache.line):
                any_dirty |= cache.take_away(at)
        line = self.anywhere(addr)
        dirty = self.drop(start, self.line, "coherence_invalidations")
        if dirty:
            self.n["writebacks"] += 1
            self.write_line(line)
        if self.inclusion == "inclusive":  # of code that is not kept coherent, too
            self.drop_before(start, self.line)
        return dirty or any_dirty

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
            self.next.handed = self.next.takes_what_leaves(self)
            self.next.reference("write", addr, size, pc)
            self.next.handed = False

    def fetch(self, kind, addr, pc, demand):
        """Bring a line in; is it dirty?"""
        self.n["bytes_in"] += self.line
        if not self.next:
            return False
        start, number = addr // self.line * self.line, addr // self.next.line
        if self.next.inclusion == "evicted" and kind != "fetch" and self.side != "code" and not self.next.here(number):
            if demand:  # what comes from behind goes past it
                self.next.count("read", number, True)
            return self.next.fetch("read", addr, pc, demand)
        if self.next.inclusion != "exclusive":
            if demand:
                self.next.reference("read" if kind == "write" else kind, start, self.line, pc)
            else:
                self.next.prefetch_into(start, pc)
            return False
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

    def prefetch_into(self, addr, pc, own=False):
        self.ask_for(addr // self.line)
        if not self.anywhere(addr):
            self.put(addr // self.line, self.fetch("read", addr, pc, False), own).earlier = not self.counting

    def count(self, kind, number, miss):
        self.n["references"] += 1
        self.kind[kind][0] += 1
        if miss:
            self.miss(kind)
        why = "conflict" if number in self.full else "capacity" if number in self.seen else "compulsory"
        self.full = [number] + [l for l in self.full if l != number][:self.sets * self.ways - (number not in self.full)]
        self.seen.add(number)
        if miss:
            self.n["coherence" if number in self.lost else why] += 1
            self.lost.discard(number)

    def miss(self, kind):
        self.n["misses"] += 1
        self.kind[kind][1] += 1
        self.tell(self)

    def reference(self, kind, addr, size, pc):
        number, write = addr // self.line, kind == "write"
        self.ask_for(number)
        self.demanded.append(number)
        line = self.here(number)
        self.count(kind, number, line is None)
        if line and self.sector and not self.sectors(addr, size) <= line.valid:
            absent = self.sectors(addr, size) - line.valid
            self.miss(kind)
            self.n["sector_misses"] += 1
            if write and self.allocate == "no":
                return self.write_on(addr, size, pc)
            self.fetch_sectors(kind, addr, pc, absent)
            if self.here(number) is not line:
                return self.write_on(addr, size, pc) if write else None
            line.valid |= absent
        first = line is not None and line.prefetched
        if line:
            self.state[number % self.sets].touch(self.way_of(number), False)
            self.use(line)
        elif not self.victim_hit(number) and not self.bring_in(kind, addr, size, pc):
            return self.prefetches(addr, pc, True, False)
        if write and self.write == "back":
            self.here(number).dirty = True
            if self.sector:
                self.here(number).written |= self.sectors(addr, size)
        elif write:
            self.write_on(addr, size, pc)
        if not line:
            self.keep_included(addr)
        return self.prefetches(addr, pc, line is None, first)

    def keep_included(self, addr):
        """Prefetches of an inclusive level may have pushed a line out before it came here."""
        behind, line, start = self.next, self.here(addr // self.line), addr // self.line * self.line
        kept = ("inclusive",) if self.side == "code" else ("inclusive", "data")
        while behind and (behind.inclusion not in kept or behind.anywhere(addr)):
            behind = behind.next
        if behind and self.drop(start, self.line, data=behind.inclusion == "data"):
            self.n["writebacks"] += 1
            self.write_line(line)

    def use(self, line):
        self.n["useful"] += line.prefetched and not line.earlier
        line.prefetched = False

    def victim_hit(self, number):
        line = self.leave_victims(number)
        if line:
            self.n["victim_hits"] += 1
            self.use(line)
            self.put(number, line.dirty, False)
        return line

    def bring_in(self, kind, addr, size, pc):
        if kind == "write" and (self.allocate == "no" or self.handed):  # an exclusive level takes in what is pushed out alone
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
        self.prefetch_into(addr % 2**64, pc, True)

    def prefetches(self, addr, pc, miss, first):
        getattr(self, "prefetch_" + self.prefetch.replace("-", "_"))(addr, pc, miss, first)

    def prefetch_none(self, addr, pc, miss, first):
        pass

    def prefetch_next(self, addr, pc, miss, _):
        for i in range(1, self.degree + 1 if miss else 1):
            self.ask(addr + i * self.line, pc)

    def prefetch_stream(self, addr, pc, *_):
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

    def prefetch_stride(self, addr, pc, *_):
        entry = self.strides.get((pc ^ pc >> 8) % 256)
        if not entry or entry["pc"] != pc:
            self.strides[(pc ^ pc >> 8) % 256] = dict(pc=pc, last=addr, step=0, sure=False)
            return
        step, entry["last"] = (addr - entry["last"]) % 2**64, addr  # round the top of the addresses too
        if step:
            entry.update(sure=step == entry["step"], step=step)
            for i in range(1, self.degree + 1 if entry["sure"] else 1):
                if (addr + step * i) % 2**64 // self.line != addr // self.line:
                    self.ask(addr + step * i, pc)

    def prefetch_best_offset(self, addr, pc, miss, first):
        if not miss and not first:
            return
        number = addr // self.line
        before = number - OFFSETS[self.trying]
        self.scores[self.trying] += self.recent.get(before % 256) == before
        self.trying += 1
        if self.trying == len(OFFSETS):
            self.trying, self.rounds = 0, self.rounds + 1
            best = max(self.scores)
            if self.rounds == 100 or best == 31:
                self.offset = OFFSETS[self.scores.index(best)] if best > 1 else 0
                self.rounds, self.scores = 0, [0] * len(OFFSETS)
        self.recent[number % 256] = number
        for i in range(1, self.degree + 1 if self.offset else 1):
            if addr + i * self.offset * self.line >> 12 == addr >> 12:
                self.ask(addr + i * self.offset * self.line, pc)

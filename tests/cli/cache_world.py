"""cache_world.py - hierarchies of any shape, and all that is told of them, as lists: for cache_slow_report.py.

Rules are those of docs/caches.md. A world has cores whose caches and TLBs are their own, of a cluster, of some cores or of all; it runs the
rows of a trace in phases, and knows the whole report, and what goes to memory.
"""
from cache_model import COUNTS, KINDS, Cache
from cache_slow_who import Tlb

PAGE = 4096
BARE = -1  # instead of a physical address: the address is that, and there is no virtual one
WALKED = "walks reads".split()
SCALARS = "instructions references line_references switches without_physical invalidations interventions upgrades walks reads".split()


class Told(Cache):
    """A cache whose requests to memory are noted."""

    def __init__(self, spec, memory):
        super().__init__(spec)
        self.memory = memory
        self.n["flushed"] = 0

    def to_memory(self, kind, addr, size, pc=0):
        if not self.next:
            self.memory(kind, addr, size, pc)

    def fetch(self, kind, addr, pc, demand):
        what = "PREFETCH" if not demand else "INSTR" if kind == "fetch" else "READ"
        self.to_memory(what, addr // self.line * self.line, self.line, pc)
        return super().fetch(kind, addr, pc, demand)

    def fetch_sectors(self, kind, addr, pc, want):
        for k in sorted(want):
            self.to_memory("INSTR" if kind == "fetch" else "READ", addr // self.line * self.line + k * self.sector, self.sector, pc)
        super().fetch_sectors(kind, addr, pc, want)

    def write_line(self, line):
        start = line.number * self.line
        for at, size in [(start + k * self.sector, self.sector) for k in sorted(line.written)] if self.sector else [(start, self.line)]:
            self.to_memory("WRITE", at, size)
        super().write_line(line)

    def written_back(self, addr, size):
        before = self.n["bytes_out"]
        super().written_back(addr, size)
        if self.n["bytes_out"] != before:
            self.to_memory("WRITE", addr, size)

    def write_on(self, addr, size, pc):
        self.to_memory("WRITE", addr, size, pc)
        super().write_on(addr, size, pc)

    def flush(self):
        for number, places in enumerate(self.place):
            for way, line in enumerate(places):
                if line:
                    places[way] = None
                    self.state[number].forget(way)
                    self.leave(line)
        while self.victim:
            self.leave(self.victim.pop())

    def leave(self, line):
        self.n["flushed"] += 1
        if line.dirty:
            self.n["writebacks"] += 1
            self.write_line(line)

    def is_full(self):
        return all(all(places) for places in self.place)


class Entries(Tlb):
    """A TLB that can be emptied."""

    def __init__(self, spec):
        super().__init__(spec)
        self.n["flushed"] = 0

    def flush(self):
        for number, places in enumerate(self.place):
            for way, entry in enumerate(places):
                if entry:
                    places[way] = None
                    self.state[number].forget(way)
                    self.n["flushed"] += 1


class Home:
    """Which instance a core has of what SPEC says."""

    def __init__(self, spec, cores):
        self.members = spec["on"] or list(range(cores))
        self.together = cores if spec["shared"] else spec["cluster"] or 1
        self.own = not spec["shared"] and spec["cluster"] < 2

    def of(self, core):
        return self.members.index(core) // self.together if core in self.members else None

    def instances(self):
        return -(-len(self.members) // self.together)


class World:
    """CONFIG: cores, coherent, classify, flush, physical, writebacks, caches, tlbs, ranges, page, walk, levels; ASKED: by, sharing,
    interval and what counts: skip, warm, warm_rows, full, windows."""

    def __init__(self, config, asked):
        self.__dict__.update(config)
        self.asked, self.memory, self.thread, self.bare = asked, [], 0, False
        self.home = {s["name"]: Home(s, self.cores) for s in self.caches + self.tlbs}
        self.cache = {s["name"]: [Told(s, self.note_memory) for _ in range(self.home[s["name"]].instances())] for s in self.caches}
        self.tlb = {s["name"]: [Entries(s) for _ in range(self.home[s["name"]].instances())] for s in self.tlbs}
        for cache in sum(self.cache.values(), []):
            cache.tell = self.note
        self.connect(self.caches, self.cache)
        self.connect(self.tlbs, self.tlb)
        self.path = {(k, op): list(self.follow(k, op)) for k in range(self.cores) for op in ("INSTR", "READ")}
        self.used = [self.path[k, "READ"] + self.path[k, "INSTR"] for k in range(self.cores)]
        self.leader = [next(j for j in range(k + 1) if j == k or self.path[k, "READ"] and self.path[j, "READ"][:1] == self.path[k, "READ"][:1])
                       for k in range(self.cores)]  # the first core with the same first cache of data
        self.core_of, self.runs, self.frames = {}, {}, {}
        self.n = dict.fromkeys(SCALARS, 0)
        self.owners, self.lines, self.owner = {}, {}, {}
        self.counting, self.kept, self.base, self.rows = True, None, None, []

    def note_memory(self, kind, addr, size, pc):
        self.memory.append((kind, self.thread, addr, size, 0 if kind == "INSTR" else pc))

    # who has what
    def connect(self, specs, all_of):
        for i, s in enumerate(specs):
            for core in range(self.cores):
                here = self.have(all_of, s, core)
                behind = [t for t in specs[i + 1:] if self.have(all_of, t, core)]
                after = next((t for t in behind if (t["name"] == s["next_name"] if s["next_name"] else t["side"] == "")), None)
                if here and after and not here.next:
                    here.next = self.have(all_of, after, core)
                    here.next.before.append(here)

    def have(self, all_of, spec, core):
        number = self.home[spec["name"]].of(core)
        return None if number is None else all_of[spec["name"]][number]

    def first(self, specs, all_of, core, op):
        return next((c for s in specs if s["side"] != ("data" if op == "INSTR" else "code") and (c := self.have(all_of, s, core))), None)

    def follow(self, core, op):
        """Caches that data of CORE go through, or code."""
        cache = self.first(self.caches, self.cache, core, op)
        while cache:
            yield cache
            cache = cache.next

    def apart(self, core, other, op):
        return [c for c in self.path[other, op] if not any(c is m for m in self.used[core])]

    # coherence
    def counted(self, others, core, true):
        """Leaders of OTHERS with caches that CORE does not use for which TRUE is so, those of data first; a cluster's counts for one of its
        cores."""
        found = []
        for op in ("READ", "INSTR"):
            for level in range(len(self.caches)):
                for k in (k for k in range(self.cores) if self.leader[k] in others):
                    for cache in self.apart(core, k, op)[level:level + 1]:
                        if cache.coherent == "yes" and true(cache) and not any(
                                c is cache for j in range(self.cores) if self.leader[j] in found for c in self.used[j]):
                            found.append(self.leader[k])
        return found

    def on_line(self, act, addr):
        """ACT on all lines of a cache that the line of ADDR in first caches of data is in, or that are in it."""
        unit = next((c.line for k in range(self.cores) for c in self.path[k, "READ"]), 1)
        start = addr // unit * unit
        return lambda cache: any([act(cache, at) for at in (range(start, start + unit, cache.line) if cache.line < unit else [addr])])

    def cohere(self, core, addr, write):
        others = self.counted(set(self.leader), core, self.on_line(Cache.anywhere, addr))
        if not others:
            return
        own = [c for s in self.caches if self.home[s["name"]].own and (c := self.have(self.cache, s, core))]
        mine = [c for i, c in enumerate(self.path[core, "READ"]) if i == 0 or any(c is o for o in own)]
        self.n["upgrades"] += write and any(c.anywhere(addr) for c in mine)
        self.n["interventions"] += len(self.counted(others, core, self.on_line(Cache.take_away if write else Cache.clean, addr)))
        if write:
            self.n["invalidations"] += len(others)
            if self.counting and addr // 64 in self.lines:
                self.lines[addr // 64]["lost"] += len(others)

    # owners
    def note(self, cache=None):
        if self.counting and self.asked["by"]:
            row = self.owners.setdefault(self.owner[self.asked["by"]], {})
            row[cache.name if cache else ""] = row.get(cache.name if cache else "", 0) + 1

    def share(self, op, addr, size):
        while size and self.counting:
            part = min(size, 64 - addr % 64)
            line = self.lines.setdefault(addr // 64, dict(refs=0, lost=0, users=[set() for _ in range(64)], writers=[set() for _ in range(64)]))
            line["refs"] += 1
            for at in range(addr % 64, addr % 64 + part):
                line["writers" if op == "WRITE" else "users"][at].add(self.thread)
            addr, size = addr + part, size - part

    # references
    def in_cache(self, core, op, addr, size, pc):
        cache = self.first(self.caches, self.cache, core, op)
        while cache and size:
            part = min(size, cache.line - addr % cache.line)
            if op != "INSTR":
                self.share(op, addr, part)
            if self.coherent and self.cores > 1 and (op != "INSTR" or not cache.holds(addr, part)):
                self.cohere(core, addr, op == "WRITE")
            self.owner.update(page=f"{addr // PAGE * PAGE:#x}", line=f"{addr // 64 * 64:#x}")
            self.note()
            self.n["line_references"] += 1
            cache.reference(KINDS[op], addr, part, pc)
            addr, size = (addr + part) % 2**64, size - part

    def page_bits(self, addr):
        return next((b for b, low, high in self.ranges if low <= addr < high), self.page)

    def look_up(self, core, op, addr, pc):
        bits, tlb = self.page_bits(addr), self.first(self.tlbs, self.tlb, core, op)
        if not tlb or tlb.look(KINDS[op], addr >> bits, bits):
            return
        self.n["walks"] += 1
        for level in range(self.levels - 1, (bits - 12) // 9 - 1, -1):
            self.n["reads"] += 1
            cache = self.walk and self.have(self.cache, next(s for s in self.caches if s["name"] == self.walk), core)
            if cache:
                at = 0xff << 56 | (level << 52) + 8 * (addr % 2 ** (12 + 9 * self.levels) // (4096 * 512 ** level))
                self.owner.update(page=f"{at // PAGE * PAGE:#x}", line=f"{at // 64 * 64:#x}")
                self.note()
                self.n["line_references"] += 1
                cache.reference("read", at, 8, pc)

    def place(self, addr):
        if not self.physical or self.bare:
            return addr
        frame = self.frames.get(addr // PAGE)
        self.n["without_physical"] += frame is None
        return addr if frame is None else frame * PAGE + addr % PAGE

    def reference(self, core, op, addr, size, pc, paddr):
        self.bare = paddr == BARE
        if self.flush and self.runs.setdefault(core, self.thread) != self.thread:
            self.runs[core] = self.thread
            self.n["switches"] += 1
            for specs, all_of, what in ((self.tlbs, self.tlb, "tlbs"), (self.caches, self.cache, "caches")):
                for s in specs if self.flush in (what, "all") else []:
                    if self.home[s["name"]].own and self.have(all_of, s, core):
                        self.have(all_of, s, core).flush()
        if self.writebacks and op == "WRITE" and size >= self.writebacks and addr % self.writebacks == 0:
            return self.wrote_back(self.first(self.caches, self.cache, core, op), addr, size, paddr)
        self.n["references"] += 1
        self.owner = dict(instruction=f"{pc:#x}", thread=str(self.thread), core=core)
        if self.physical and paddr is not None and not self.bare:
            self.frames[addr // PAGE] = paddr // PAGE
        while size:
            bits = self.page_bits(addr) if self.tlbs and not self.bare else 63
            if self.tlbs and not self.bare:
                self.look_up(core, op, addr, pc)
            part = min(size, (1 << bits) - addr % (1 << bits))
            size -= part
            while part:
                n = min(part, PAGE - addr % PAGE) if self.physical else part
                self.in_cache(core, op, self.place(addr), n, pc)
                addr, part = (addr + n) % 2**64, part - n
        return None

    def wrote_back(self, cache, addr, size, paddr):
        if self.physical and paddr is not None and not self.bare:
            self.frames[addr // PAGE] = paddr // PAGE
        while cache and size:
            part = min(size, cache.line - addr % cache.line, PAGE - addr % PAGE if self.physical else size)
            cache.written_back(self.place(addr), part)
            addr, size = (addr + part) % 2**64, size - part

    # what counts
    def counts(self):
        """All counters, each with a name of its own."""
        all_of = dict(self.n)
        for name, some in list(self.cache.items()) + list(self.tlb.items()):
            for key in some[0].n:
                all_of[name, key] = sum(c.n[key] for c in some)
            for kind in KINDS.values():
                for i, what in enumerate(("references", "misses")):
                    all_of[name, kind, what] = sum(c.kind[kind][i] for c in some)
        return all_of

    def begin(self):
        """Counting begins."""
        self.count(True)
        self.base = self.counts()

    def count(self, on):
        self.counting = on
        for cache in sum(self.cache.values(), []):
            cache.counting = on

    def stop(self):
        """Counting stops."""
        now = self.counts()
        self.count(False)
        for key, count in now.items():
            self.kept[key] += count - self.base[key]

    def so_far(self):
        now = self.counts()
        return {k: self.kept[k] + (now[k] - self.base[k] if self.counting else 0) for k in now}

    def anew(self):
        """Nothing has counted yet."""
        self.kept = dict.fromkeys(self.counts(), 0)
        self.base, self.owners, self.lines, self.rows, self.windows = self.counts(), {}, {}, [], 0
        for cache in sum(self.cache.values(), []):
            for line in filter(None, sum(cache.place, cache.victim)):
                line.earlier = True

    def mark(self):
        got = self.so_far()
        self.rows.append((got["instructions"], {s["name"]: got[s["name"], "misses"] for s in self.caches}))

    def mode(self, number):
        """Of instruction NUMBER from 0 on: is it simulated, does it count, which window is it in?"""
        a = self.asked
        if number < a["skip"]:
            return False, False, -1
        if not a["windows"]:
            return True, True, 0
        every, warm, count = a["windows"]
        at = (number - a["skip"]) % every
        return at >= every - count - warm, at >= every - count, (number - a["skip"]) // every

    def run(self, rows):
        a, number, window, is_full = self.asked, -1, -1, False
        self.threads = [str(t) for t in dict.fromkeys(thread for thread, *_ in rows)]
        self.anew()
        self.count(False)
        warm = a["warm"] + a["skip"] if a["warm"] else 0
        waits = bool(warm or a["warm_rows"])
        for i, (thread, op, addr, size, pc, paddr) in enumerate(rows):
            number += op == "INSTR"
            if waits and i >= a["warm_rows"] and (not warm or number >= warm):
                waits = False
                self.anew()
            simulated, counts, at = self.mode(max(number, 0))
            if self.counting and (not counts or at != window):
                self.stop()
                self.windows += 1
                if a["windows"]:
                    self.mark()
            if counts and not self.counting:
                window = at
                self.begin()
            if op == "INSTR":
                so_far = self.so_far()["instructions"]
                if a["interval"] and self.counting and so_far and so_far % a["interval"] == 0:
                    self.mark()
                self.n["instructions"] += 1
            if not simulated:
                continue
            for one in ("READ", "WRITE") if op == "ATOMIC" else (op,) if op in KINDS else ():
                self.thread = thread
                self.reference(self.core_of.setdefault(thread, len(self.core_of) % self.cores), one, addr, size, pc, paddr)
                last = [c for c in sum(self.cache.values(), []) if not c.next and c.n["references"]]
                if a["full"] and not is_full and last and all(c.is_full() for c in last):
                    is_full, self.full_after = True, self.so_far()["instructions"]  # of an atomic access the write counts then
                    self.anew()
        if waits:
            self.anew()
        if a["full"] and not is_full:
            self.full_after = "never"
        self.windows += self.counting and bool(rows)
        if not a["windows"] or self.counting:
            self.mark()

    # the report
    def report(self):
        n = self.so_far()
        r = dict(instructions=n["instructions"], references=n["references"], cores=self.cores)
        r.update(dict(windows=self.windows) if self.asked["windows"] else {}, **(dict(full_after=self.full_after) if self.asked["full"] else {}))
        r.update(dict(switches=n["switches"]) if self.flush else {}, **(dict(without_physical=n["without_physical"]) if self.physical else {}))
        r["caches"] = [self.cache_row(s, n) for s in self.caches]
        r["kinds"] = [dict(cache=s["name"], kind=kind, references=refs, misses=n[s["name"], kind, "misses"],
                           percent=share(n[s["name"], kind, "misses"], refs))
                      for s in self.caches for kind in KINDS.values() if (refs := n[s["name"], kind, "references"])]
        if self.tlbs:
            r["tlbs"] = [self.tlb_row(s, n) for s in self.tlbs]
            r["walks"] = dict(walks=n["walks"], reads=n["reads"], into=self.walk or "memory")
        if self.coherent:
            r["coherence"] = {k: n[k] for k in ("invalidations", "interventions", "upgrades")}
        if self.asked["by"]:
            names = [s["name"] for s in self.caches]
            r["missing"] = sum(any(row.get(x) for x in names) for row in self.owners.values())
            r["by"] = [[owner, row.get("", 0)] + [row.get(x, 0) for x in names] for owner, row in self.owners.items()]
            r["by"].sort(key=lambda row: ([-n for n in row[:0:-1]], self.number_of(row[0])))
        if self.asked["sharing"]:
            r["sharing"] = self.shared()
        if self.asked["interval"] or self.asked["windows"]:
            before = dict.fromkeys((s["name"] for s in self.caches), 0)
            r["intervals"] = []
            for count, misses in self.rows:
                r["intervals"].append(dict(instructions=count, **{k: misses[k] - before[k] for k in misses}))
                before = misses
        return r

    def number_of(self, owner):
        """What equal rows are in the order of: threads in that of the trace."""
        by = self.asked["by"]
        return self.threads.index(owner) if by == "thread" else owner if by == "core" else int(owner, 16)

    def cache_row(self, s, n):
        def of(key, shown=True):
            return n[s["name"], key] if shown else None
        prefetches = s["prefetch"] != "none"
        row = dict(cache=s["name"], instances=self.home[s["name"]].instances())
        row.update({k: of(k) for k in ("references", "misses", "evictions", "writebacks", "bytes_in", "bytes_out")})
        row.update({k: of(k, self.classify) for k in ("compulsory", "capacity", "conflict")}, coherence=of("coherence", self.classify and self.coherent),
                   sector_misses=of("sector_misses", s["sector"]), victim_hits=of("victim_hits", s["victims"]),
                   prefetches=of("prefetches", prefetches), useful=of("useful", prefetches),
                   back_invalidations=of("back_invalidations") or None, coherence_invalidations=of("coherence_invalidations", self.coherent and not s["shared"]),
                   flushed=of("flushed", self.flush in ("caches", "all")))
        row.update(percent=share(of("misses"), of("references")), mpki=share(10 * of("misses"), n["instructions"]),
                   total_percent=share(of("misses"), n["line_references"]),
                   accuracy_percent=share(of("useful"), of("prefetches")) if prefetches else None,
                   coverage_percent=share(of("useful"), of("useful") + of("misses")) if prefetches else None)
        return row

    def tlb_row(self, s, n):
        refs, misses = n[s["name"], "references"], n[s["name"], "misses"]
        return dict(tlb=s["name"], instances=self.home[s["name"]].instances(), references=refs, misses=misses, percent=share(misses, refs),
                    mpki=share(10 * misses, n["instructions"]), code_misses=n[s["name"], "fetch", "misses"], read_misses=n[s["name"], "read", "misses"],
                    write_misses=n[s["name"], "write", "misses"], evictions=n[s["name"], "evictions"],
                    flushed=n[s["name"], "flushed"] if self.flush in ("tlbs", "all") else None)

    def shared(self):
        read_only, rows = 0, []
        for number, line in self.lines.items():
            threads = set().union(*line["users"], *line["writers"])
            if len(threads) < 2:
                continue
            if not any(line["writers"]):
                read_only += 1
                continue
            true = any(w and len(w | u) > 1 for w, u in zip(line["writers"], line["users"]))
            rows.append(dict(line=f"{number * 64:#x}", threads=len(threads), references=line["refs"], invalidations=line["lost"],
                             sharing="true" if true else "false"))
        rows.sort(key=lambda r: (-r["invalidations"], -r["references"], int(r["line"], 16)))
        return dict(read_only=read_only, written=len(rows), false_sharing=sum(r["sharing"] == "false" for r in rows), lines=rows)


def share(part, whole):
    return f"{part * 100 / whole:.3f}" if whole else None


assert set(COUNTS)  # the names of cache_model.py are those of the report

"""The package trod against what `trod view`, `trod run` and `trod convert` say of the same traces."""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy (python3-numpy)")
    sys.exit(77)

import trod
from trod import Column, Kind

SOURCE = os.environ["TROD_SOURCE"]
COMMAND = os.environ["TROD"]
EXAMPLES = os.path.join(SOURCE, "examples")
FILES = ["hello.tarmac", "mips.trace", "boot.byu6", "boot.byu12", "records.tt6e", "sum.tt6",
         "sum.full.gz", "sum.trace.zip"]


def example(name):
    return os.path.join(EXAMPLES, name)


def setUpModule():
    """A trace of many batches."""
    global FOLDER, LONG
    FOLDER = tempfile.TemporaryDirectory()
    LONG = os.path.join(FOLDER.name, "long.tarmac")
    with open(example("hello.tarmac"), "rb") as f:
        text = f.read()
    with open(LONG, "wb") as f:
        f.write(text * 400)


def tearDownModule():
    FOLDER.cleanup()


def command(*args, check=True):
    return subprocess.run([COMMAND, *args], capture_output=True, check=check).stdout


def viewed(*args):
    return [json.loads(line) for line in command("view", "--format", "json", *args).splitlines()]


class Names(unittest.TestCase):
    """The enumerations here are those of the library."""

    def test_kinds(self):
        self.assertEqual([k.name for k in Kind], trod._trod.kinds)
        self.assertEqual([k.value for k in Kind], list(range(len(trod._trod.kinds))))

    def test_columns(self):
        names = [c.name.lower() for c in Column]
        self.assertEqual(names, trod._trod.columns)
        self.assertEqual([int(c) for c in Column], [1 << i for i in range(len(names))])
        unknown = set(names) - set(trod.NUMBERS) - set(trod.SLICES)
        self.assertEqual(unknown, {"site", "detail"})

    def test_branches(self):
        self.assertEqual(len(trod.Branch), len(trod._trod.branches))
        self.assertEqual(trod._trod.branches[trod.Branch.COND_TAKEN], "taken")


class Reading(unittest.TestCase):
    def check_row(self, rows, i, want, words):
        self.assertEqual(Kind(rows["kind"][i]).name, want["kind"])
        said = int(rows["has"][i])
        for ours, theirs in (("addr", "address"), ("paddr", "physical"), ("pc", "pc")):
            if theirs in want:
                self.assertEqual(int(rows[ours][i]), int(want[theirs], 16))
            else:
                self.assertFalse(said & Column[ours.upper()], ours)
                self.assertEqual(rows[ours][i], 0)
        for ours, theirs in (("size", "size"), ("index", "index")):
            if theirs in want:
                self.assertEqual(int(rows[ours][i]), want[theirs])
        if "opcode" in want:  # words are shown as numbers where the machine is of fixed words
            opcode = bytes.fromhex(want["opcode"])
            self.assertIn(rows["code"][i], (opcode, opcode[::-1]) if words else (opcode,))
        else:
            self.assertIsNone(rows["code"][i])

    def test_rows_are_those_of_view(self):
        for name in FILES:
            with self.subTest(name):
                want = viewed(example(name))
                with trod.open(example(name)) as trace:
                    columns = ["has", "kind", "addr", "paddr", "pc", "size", "index", "code"]
                    rows = trace.rows(columns)
                self.assertEqual(len(rows["kind"]), len(want))
                for i, row in enumerate(want):
                    self.check_row(rows, i, row, name.endswith(("tarmac", "mips.trace")))

    def test_text(self):
        rows = trod.open(example("hello.tarmac"), kind="REG").rows(["text", "value"])
        want = viewed("--kind", "REG", example("hello.tarmac"))
        self.assertEqual(rows["text"], [r["text"] for r in want])
        self.assertEqual([int(v) for v in rows["value"]], [int(r["value"], 16) for r in want])

    def test_batches_are_the_rows(self):
        for name in FILES:
            for rows in (1, 5, None):
                with self.subTest(name, rows=rows):
                    whole = trod.open(example(name)).rows(["kind", "addr", "text"])
                    kinds, addrs, texts, first = [], [], [], 0
                    for b in trod.open(example(name), batch_rows=rows):
                        self.assertEqual(b.first, first)
                        first += len(b)
                        kinds.append(b.kind)
                        addrs.append(b.filled("addr"))
                        texts += b.text
                    self.assertTrue((np.concatenate(kinds) == whole["kind"]).all())
                    self.assertTrue((np.concatenate(addrs) == whole["addr"]).all())
                    self.assertEqual(texts, whole["text"])

    def test_limit(self):
        rows = trod.open(example("hello.tarmac")).rows(["kind"], limit=7)
        self.assertEqual(len(rows["kind"]), 7)

    def test_long_columns(self):
        """Columns that are moved while they grow: more rows follow than the beginning of the file says, or fewer."""
        n = 700_000
        rare = np.arange(n) > n // 2
        kind = np.where(rare | (np.arange(n) % 5 == 0), Kind.READ, Kind.WRITE).astype(np.uint8)
        addr = np.arange(n, dtype=np.uint64) * 8
        path = os.path.join(FOLDER.name, "long.din")
        trod.write(path, "dinero", {"kind": kind, "addr": addr, "size": np.full(n, 4)}, allow_loss=True)
        for want, options in ((np.ones(n, bool), {}), (kind == Kind.READ, {"kind": ["READ"]}),
                              (kind == Kind.WRITE, {"kind": ["WRITE"]})):
            for limit in (None, 300_001):
                with self.subTest(limit=limit, **options):
                    rows = trod.open(path, **options).rows(["kind", "addr", "size"], limit=limit)
                    self.assertTrue((rows["kind"] == kind[want][:limit]).all())
                    self.assertTrue(np.array_equal(rows["addr"], addr[want][:limit]))
                    self.assertEqual(len(rows["size"]), len(rows["kind"]))

    def test_columns_wanted(self):
        with trod.open(example("hello.tarmac"), columns=["addr"]) as trace:
            with self.assertRaises(KeyError):
                trace.rows(["pc"])
            self.assertEqual(list(trace.rows()), ["addr"])
        with self.assertRaises(KeyError):
            trod.open(example("hello.tarmac"), columns=["address"])
        with self.assertRaises(AttributeError):
            next(iter(trod.open(example("hello.tarmac")))).address

    def test_filters(self):
        for given, option in (
            ({"kind": [Kind.READ, "WRITE"]}, ["--kind", "READ,WRITE"]),
            ({"range": (3, 9)}, ["--range", "3..9"]),
            ({"address": [(0x6000, 0x7000)]}, ["--address", "0x6000..0x7000"]),
            ({"pc": 0x800c}, ["--pc", "0x800c"]),
            ({"register": ["x2", "cpsr"]}, ["--register", "x2,cpsr"]),
            ({"without_pc": (0x8000, 0x800c)}, ["--without-pc", "0x8000..0x800c"]),
            ({"text": "^MOV"}, ["--text", "^MOV"]),
            ({"instructions": (None, 3)}, ["--instructions", "..3"]),
        ):
            with self.subTest(given):
                want = [r["kind"] for r in viewed(*option, example("hello.tarmac"))]
                self.assertTrue(want)
                for rows in (2, None):
                    trace = trod.open(example("hello.tarmac"), batch_rows=rows, **given)
                    got = [Kind(k).name for b in trace for k in b.kind]
                    self.assertEqual(got, want)
        with self.assertRaises(TypeError):
            trod.open(example("hello.tarmac"), adress=1)
        with self.assertRaises(trod.Error) as e:
            trod.open(example("hello.tarmac"), kind="NOTHING")
        self.assertEqual(e.exception.status, "usage")

    def test_orders(self):
        with tempfile.TemporaryDirectory() as folder:
            parts = []
            for i in range(3):
                parts.append(os.path.join(folder, f"{i}.tarmac"))
                trod.convert(example("hello.tarmac"), parts[i])
            want = [r["kind"] for r in viewed("--order", "time", *parts)]
            got = [Kind(k).name for b in trod.open(parts, order="time") for k in b.kind]
            self.assertEqual(got, want)
            whole = trod.open(parts, order="time").rows(["kind", "text"])
            self.assertEqual([Kind(k).name for k in whole["kind"]], want)
            kept = list(trod.open(parts, order="time"))
            self.assertEqual([t for b in kept for t in b.text], whole["text"])
        with self.assertRaises(ValueError):
            trod.open(parts, order="random")

    def test_rows_in_parts(self):
        """Whatever is asked for, batches or so many rows, the next answer goes on behind it."""
        with tempfile.TemporaryDirectory() as folder:
            parts = [os.path.join(folder, f"{i}.tarmac") for i in range(2)]
            for part in parts:
                trod.convert(LONG, part, range=(0, 4999))
            for given in ({}, {"kind": ["READ", "WRITE"]}, {"batch_rows": 100}, {"order": "time"}):
                with self.subTest(given):
                    want = trod.open(parts, **given).rows(["addr", "text", "kind"])
                    trace = trod.open(parts, **given)
                    got, at = {name: [] for name in want}, 0
                    for turn in range(12):
                        if turn % 3 == 2:
                            b = next(iter(trace))
                            part = {"addr": b.filled("addr"), "text": b.text, "kind": b.kind}
                        else:
                            columns = ["addr", "kind", "text"][:2 + turn % 2]
                            part = trace.rows(columns, limit=7 + turn)
                            self.assertEqual(len(part["kind"]), 7 + turn)
                            part.setdefault("text", want["text"][at:at + 7 + turn])
                        at += len(part["kind"])
                        for name in want:
                            got[name].extend(part[name])
                    rest = trace.rows(["addr", "text", "kind"])
                    for name in want:
                        self.assertEqual(got[name] + list(rest[name]), list(want[name]))

    def test_how_many_rows(self):
        for wrong in (-1, 2**64, 2**64 + 3):
            with self.assertRaises(OverflowError):
                trod.open(example("hello.tarmac")).rows(["kind"], limit=wrong)
        trace = trod.open(example("hello.tarmac"))
        self.assertEqual(len(trace.rows(["kind"], limit=0)["kind"]), 0)
        self.assertEqual(len(trace.rows(["kind"], limit=np.int64(3))["kind"]), 3)
        want = command("view", example("hello.tarmac")).splitlines()
        self.assertEqual(len(trace.rows(["kind"], limit=2**64 - 1)["kind"]), len(want) - 3)

    def test_number_of_the_first_row(self):
        for low in (20, 5000):
            b = next(iter(trod.open(LONG, range=(low, low + 10))))
            self.assertEqual((b.first, len(b)), (low, 11))
        kinds = trod.open(LONG).rows(["kind"])["kind"]
        reads = np.flatnonzero(kinds == Kind.READ)
        trace, at = trod.open(LONG, kind="READ", batch_rows=100), 0
        for batch in trace:
            self.assertEqual(batch.first, reads[at])
            at += len(batch)
        trace = trod.open(LONG, kind="READ")
        trace.rows(["kind"], limit=5)
        self.assertEqual(next(iter(trace)).first, reads[5])

    def test_meta(self):
        with trod.open(example("hello.tarmac")) as trace:
            self.assertEqual(trace.format, "tarmac")
            list(trace)
            self.assertEqual(trace.meta["isa"], "A64")
            self.assertEqual([s["name"] for s in trace.streams], ["cpu0"])
            self.assertEqual(trace.files, [example("hello.tarmac")])


class Lifetime(unittest.TestCase):
    """Arrays upon batches never change and never dangle."""

    def test_arrays_stay(self):
        path = LONG
        whole = trod.open(path).rows(["addr", "kind", "has"])
        for hold_batch in (False, True):
            trace = trod.open(path, batch_rows=100)
            kept, arrays = [], []
            for b in trace:
                arrays.append((b.addr, b.kind, b.says("addr")))
                if hold_batch:
                    kept.append(b)
            trace.close()
            del trace, b
            gc.collect()
            addr = np.concatenate([np.where(s, a, 0) for a, _, s in arrays])
            self.assertTrue((addr == whole["addr"]).all())
            self.assertTrue((np.concatenate([k for _, k, _ in arrays]) == whole["kind"]).all())
            del kept, arrays

    def test_without_a_copy_and_read_only(self):
        b = next(iter(trod.open(example("hello.tarmac"))))
        again = np.asarray(b._b.column("addr"))
        self.assertEqual(b.addr.__array_interface__["data"][0],
                         again.__array_interface__["data"][0])
        self.assertFalse(b.addr.flags.writeable)
        with self.assertRaises(ValueError):
            b.addr[0] = 1
        with self.assertRaises(ValueError):
            b.addr.flags.writeable = True
        whole = trod.open(example("hello.tarmac")).rows(["addr"])["addr"]
        whole[0] = 1  # this one is the caller's

    def test_bytes_are_of_the_current_batch(self):
        trace = iter(trod.open(LONG))
        first = next(trace)
        second = next(trace)
        with self.assertRaises(ValueError):
            first.text
        self.assertEqual(len(second.text), len(second))

    def test_batches_outlive_the_trace(self):
        with trod.open(example("hello.tarmac")) as trace:
            b = next(iter(trace))
            kind = b.kind.copy()
        self.assertTrue((b.kind == kind).all())
        with self.assertRaises(ValueError):
            b.text
        with self.assertRaises(ValueError):
            next(iter(trace))
        with self.assertRaises(ValueError):
            trace.rows()
        trace.close()

    def test_threads(self):
        path = LONG
        want = trod.open(path).rows(["addr"])["addr"].sum()
        sums, wrong = [], []

        def work():
            for _ in range(5):
                sums.append(sum(int(b.filled("addr").sum()) for b in trod.open(path)))

        shared = trod.open(path, batch_rows=100)

        def quarrel():  # one trace, many threads: rows are parted or it is refused; nothing breaks
            try:
                for b in shared:
                    b.addr.sum()
            except (RuntimeError, ValueError) as e:
                wrong.append(e)

        threads = [threading.Thread(target=t) for t in (work, work, quarrel, quarrel, quarrel)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(set(sums), {int(want)})


class Damage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "damaged.tarmac")
        with open(example("hello.tarmac"), "rb") as f:
            text = f.read()
        with open(self.path, "wb") as f:
            f.write(text.replace(b"X1 00000000000", b"X1 0000000g000"))

    def tearDown(self):
        self.folder.cleanup()

    def test_what_is_good_is_read(self):
        with self.assertWarns(trod.DamageWarning):
            rows = trod.open(self.path).rows(["kind"])
        self.assertEqual(len(rows["kind"]), len(viewed_damaged(self.path)))
        trace = trod.open(self.path)
        with self.assertWarns(trod.DamageWarning):
            n = sum(len(b) for b in trace)
        self.assertEqual(n, len(rows["kind"]))
        problem = trace.problems[0]
        self.assertEqual((problem["severity"], problem["line"], problem["path"]),
                         ("error", 4, self.path))

    def test_strict(self):
        with self.assertRaises(trod.Error) as e:
            trod.open(self.path, strict=True).rows()
        self.assertEqual(e.exception.status, "corrupt")
        self.assertIn("damaged.tarmac:4", str(e.exception))
        self.assertEqual(e.exception.problems[0]["line"], 4)
        with self.assertRaises(trod.Error):
            trod.run(self.path, "count", strict=True)

    def test_run(self):
        with self.assertWarns(trod.DamageWarning):
            found = trod.run(self.path, "count")
        self.assertEqual(found["count"]["total"]["fetched_instructions"], 12)

    def test_what_is_no_trace(self):
        for path in (os.path.join(self.folder.name, "nowhere"), os.devnull, __file__):
            for call in (lambda: trod.open(path), lambda: trod.run(path, "count"),
                         lambda: trod.convert(path, os.path.join(self.folder.name, "x.tarmac"))):
                with self.assertRaises(trod.Error):
                    call()
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "x.tarmac")))


def viewed_damaged(path):
    return command("view", "--format", "json", path, check=False).splitlines()


class Running(unittest.TestCase):
    def same(self, ours, theirs):
        """A result is the command's JSON, where addresses are texts."""
        if isinstance(theirs, dict):
            self.assertEqual(list(ours), list(theirs))
            for key in theirs:
                self.same(ours[key], theirs[key])
        elif isinstance(theirs, list):
            self.assertEqual(len(ours), len(theirs))
            for a, b in zip(ours, theirs):
                self.same(a, b)
        elif isinstance(theirs, str) and isinstance(ours, int):
            self.assertEqual(ours, int(theirs, 16))
        elif isinstance(theirs, float):
            self.assertAlmostEqual(ours, theirs, places=2)
        else:
            self.assertEqual(ours, theirs)

    def test_results_are_those_of_the_command(self):
        names = ["count", "mix", "hot", "cache", "locality", "branches"]
        for name in ("hello.tarmac", "sum.trace.zip"):
            want = json.loads(command("run", "--format", "json", ",".join(names), example(name)))
            for jobs in (1, 2):
                got = trod.run(example(name), names, jobs=jobs)
                self.assertEqual(list(got), names)
                for analysis in names:
                    with self.subTest(name, analysis=analysis):
                        self.same(got[analysis], want[analysis])

    def test_options(self):
        want = json.loads(command("hot", "--top", "3", "--format", "json",
                                  example("sum.trace.zip")))
        for analyses in ("hot:top=3", {"hot": {"top": 3}}, {"hot": "top=3"}, ["hot:top=3"]):
            got = trod.run(example("sum.trace.zip"), analyses)["hot"]
            for key in got:
                self.same(got[key], want[key])
        got = trod.run(example("sum.trace.zip"), "count,hot:top=1,count")
        self.assertEqual(list(got), ["count", "hot", "count#2"])
        for wrong in ("nothing", "hot:nothing=1", "count:top", {"hot": {"top": "x"}}):
            with self.assertRaises((ValueError, trod.Error)):
                trod.run(example("sum.trace.zip"), wrong)

    def test_parts_of_a_trace(self):
        path = example("sum.trace.zip")
        got = trod.run(path, "count", interval=20)["count"]
        want = json.loads(command("run", "--interval", "20", "--format", "json", "count", path))
        self.assertEqual(len(got["intervals"]), len(want["intervals"]))
        got = trod.run(path, "count", region=(1, 10))["count"]
        self.assertEqual(got["total"]["fetched_instructions"], 10)
        got = trod.run(path, "count", kind="READ")["count"]
        self.assertEqual(got["total"]["data_loads"], 10)
        self.assertEqual(got["total"]["fetched_instructions"], 0)


class Converting(unittest.TestCase):
    def test_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, options, args in (
                ("hello.tarmac", {"range": (0, 9)}, ["--range", "0..9"]),
                ("sum.trace.zip", {"to": "byu12", "allow_loss": True},
                 ["--to", "byu12", "--allow-loss"]),
            ):
                ours, theirs = (os.path.join(folder, f"{who}.out") for who in ("ours", "theirs"))
                options.setdefault("to", "tarmac")
                args = args if "--to" in args else [*args, "--to", "tarmac"]
                summary = trod.convert(example(name), ours, **options)
                command("convert", *args, example(name), theirs)
                with open(ours, "rb") as a, open(theirs, "rb") as b:
                    self.assertEqual(a.read(), b.read())
                self.assertEqual(summary["rows_lost"], sum(
                    n for kind, n in summary["lost"].items() if "." not in kind))

    def test_nothing_that_is_read_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link = (os.path.join(folder, name) for name in ("t.tarmac", "link.tarmac"))
            shutil.copy(example("hello.tarmac"), path)
            os.symlink(path, link)
            for source, out in ((path, path), (folder, path), (path, link), ([path, link], link)):
                with self.assertRaises(trod.Error) as e:
                    trod.convert(source, out, kind="READ")
                self.assertEqual(e.exception.status, "usage")
                self.assertIn("input and output at once", str(e.exception))
            with self.assertRaises(trod.Error):
                trod.run(path, {"phases": {"bb": path}})
            with open(path, "rb") as a, open(example("hello.tarmac"), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_loss_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "x.byu6")
            with self.assertRaises(trod.Error) as e:
                trod.convert(example("hello.tarmac"), out)
            self.assertEqual(e.exception.status, "loss")
            self.assertFalse(os.path.exists(out))


class Writing(unittest.TestCase):
    def test_opcodes_that_do_not_fit(self):
        """A trace of DynamoRIO has an encoding of each instruction, of the size that it has."""
        nop = b"\x90"
        for codes, sizes, want, lost in (
            ([nop, None, nop], [1, 4, 1], [1, 1], {"INSTR": 1}),
            ([nop, b"", nop], [1, 4, 1], [1, 1], {"INSTR": 1}),
            ([nop, nop, nop], [1, 4, 1], [1, 1, 1], {"INSTR.size": 1}),
        ):
            with self.subTest(codes=codes), tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "t.memtrace")
                rows = {"kind": ["INSTR"] * len(codes), "size": sizes, "code": codes,
                        "addr": [0x1000 + 32 * i for i in range(len(codes))]}
                done = trod.write(out, "drmemtrace", rows, isa="x86-64", allow_loss=True)
                self.assertEqual(done["lost"], lost)
                trace = trod.open(out, kind="INSTR")
                self.assertEqual(list(trace.rows(["size"])["size"]), want)
                self.assertEqual(trace.problems, [])

    def test_what_is_lost_is_counted(self):
        """Byu's records of data have an address and a size, and no value."""
        rows = {"kind": ["READ", "READ", "WRITE"], "paddr": [4096, 8192, 4096], "size": [4, 4, 4],
                "value": [3, 4, 5]}
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "w.byu12")
            done = trod.write(out, "byu12", rows, allow_loss=True)
            self.assertEqual(done["lost"], {"READ.value": 2, "WRITE.value": 1})
            self.assertEqual((done["rows"], done["rows_lost"]), (3, 0))
            del rows["value"]
            self.assertEqual(trod.write(out, "byu12", rows)["lost"], {})

    def test_arrays_come_back(self):
        rng = np.random.default_rng(1)
        n = 10000
        kind = rng.choice([Kind.READ, Kind.WRITE], n).astype(np.uint8)
        addr = rng.integers(0, 2**40, n, dtype=np.uint64)
        with tempfile.TemporaryDirectory() as folder:
            for form in ("drmemtrace", "tarmac"):
                path = os.path.join(folder, f"{form}.out")
                pc = (0x1000 + 2 * np.arange(n)).astype(np.uint64)
                columns = {"kind": np.where(np.arange(n) % 2, kind, Kind.INSTR), "size": np.full(n, 4),
                           "addr": np.where(np.arange(n) % 2, addr, pc)}
                options = {"allow_loss": True, "isa": "A64"}
                if form == "tarmac":
                    columns["time"] = np.arange(n)
                    columns["value"] = np.arange(n)
                    options |= {"streams": ["cpu0"], "time_unit": "clk"}
                columns["code"] = [b"\x1f\x20\x03\xd5" if k == Kind.INSTR else None
                                   for k in columns["kind"]]
                done = trod.write(path, form, columns, **options)
                self.assertEqual(done["rows"], n)
                back = trod.open(path, kind=["INSTR", "READ", "WRITE"]).rows(["kind", "addr", "size"])
                self.assertTrue((back["kind"] == columns["kind"]).all())
                self.assertTrue((back["addr"] == columns["addr"]).all())
                self.assertTrue((back["size"] == 4).all())

    def test_names_of_kinds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.byu12")
            trod.write(path, "byu12", {"kind": ["READ", "WRITE"], "addr": [16, 32], "paddr": [16, 32],
                                       "size": [4, 4]}, allow_loss=True)
            rows = trod.open(path).rows(["kind", "paddr"])
            self.assertEqual([Kind(k).name for k in rows["kind"]], ["READ", "WRITE"])
            self.assertEqual(list(rows["paddr"]), [16, 32])

    def test_what_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.trace")
            with self.assertRaises(trod.Error):
                trod.write(path, "nothing", {"kind": ["READ"]})
            for columns, error in (
                ({"addr": [1]}, ValueError),
                ({"kind": ["READ"], "addr": [1, 2]}, ValueError),
                ({"kind": ["READ"], "addr": [-1]}, ValueError),
                ({"kind": ["READ"], "addr": [1.5]}, TypeError),
                ({"kind": [200], "addr": [1]}, ValueError),
                ({"kind": ["READ"], "stream": [3]}, ValueError),
                ({"kind": ["INSTR"], "code": [b"x" * (2 << 20)]}, ValueError),
                ({"kind": ["INSTR"], "data": [b"x" * (1 << 19)], "code": [b"x" * (3 << 18)]},
                 ValueError),
                ({"kind": ["INSTR"], "code": [1]}, TypeError),
            ):
                with self.subTest(columns.keys()), self.assertRaises(error):
                    trod.write(path, "drmemtrace", columns, allow_loss=True)
                self.assertFalse(os.path.exists(path))

    def test_an_error_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.trace")
            with self.assertRaises(ZeroDivisionError):
                with trod.writer(path, "drmemtrace") as w:
                    w.put({"kind": ["READ"], "addr": [1], "size": [4]})
                    1 // 0
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()

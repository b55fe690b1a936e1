"""Program-execution traces as NumPy arrays.

    import trod

    with trod.open("run.trace.zip", columns=["kind", "addr"]) as trace:
        for batch in trace:
            print(batch.addr[batch.kind == trod.Kind.READ])

docs/python.md of trod has recipes. Formats, columns, filters and analyses are those of the command:
trod(1), trod-view(1), trod-run(1).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _trod

if TYPE_CHECKING:
    import pandas

__version__: str = _trod.version
Error = _trod.Error

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Paths = Union[PathLike, Sequence[PathLike]]
Analyses = Union[str, Sequence[str], Mapping[str, Union[Mapping[str, Any], str, None]]]


class DamageWarning(UserWarning):
    """A trace is damaged: what could be read of it is there, the rest is not."""


class Kind(IntEnum):
    """What a row is: the column kind."""

    NOTE = 0
    INSTR = 1
    READ = 2
    WRITE = 3
    ATOMIC = 4
    PREFETCH = 5
    FLUSH = 6
    REG = 7
    BRANCH = 8
    EXCEPTION = 9
    MODE = 10
    SYNC = 11
    MARKER = 12
    STATE = 13
    CACHE_OP = 14
    CACHE_LINE = 15
    WALK = 16
    TLB = 17
    BUS = 18
    THREAD = 19


class Column(IntFlag):
    """Columns, as bits: what the column has and Batch.have are made of."""

    KIND = 1 << 0
    FLAGS = 1 << 1
    SIZE = 1 << 2
    STREAM = 1 << 3
    TIME = 1 << 4
    UNIT = 1 << 5
    INDEX = 1 << 6
    ADDR = 1 << 7
    PADDR = 1 << 8
    PC = 1 << 9
    TARGET = 1 << 10
    VALUE = 1 << 11
    SUB = 1 << 12
    SITE = 1 << 13
    CODE = 1 << 14
    DATA = 1 << 15
    TEXT = 1 << 16
    DETAIL = 1 << 17
    RAW = 1 << 18
    CORE = 1 << 19


class Branch(IntEnum):
    """Kinds of branches: flags & BRANCH_MASK of rows INSTR and BRANCH."""

    NONE = 0
    DIRECT = 1
    INDIRECT = 2
    COND = 3
    COND_TAKEN = 4
    COND_UNTAKEN = 5
    CALL = 6
    ICALL = 7
    RETURN = 8
    SYSCALL = 9
    ERET = 10
    OTHER = 11


BRANCH_MASK = 0xF

NUMBERS: dict[str, "np.dtype[Any]"] = {
    "has": np.dtype(np.uint32),
    "kind": np.dtype(np.uint8),
    "flags": np.dtype(np.uint32),
    "size": np.dtype(np.uint32),
    "stream": np.dtype(np.uint32),
    "time": np.dtype(np.uint64),
    "unit": np.dtype(np.uint8),
    "index": np.dtype(np.uint64),
    "addr": np.dtype(np.uint64),
    "paddr": np.dtype(np.uint64),
    "pc": np.dtype(np.uint64),
    "target": np.dtype(np.uint64),
    "value": np.dtype(np.uint64),
    "sub": np.dtype(np.uint16),
    "core": np.dtype(np.uint16),
}
"""Columns of numbers and their types."""

SLICES = ("code", "data", "text", "raw")
"""Columns of bytes (text: of str): lists, with None where a row says nothing."""

ORDERS = ("file", "time", "sync", "recorded", "dynamic")
_MEASURES = ("instructions", "rows", "time")


# ---- arguments


def _paths(path: Paths) -> list[bytes]:
    if isinstance(path, (str, bytes, os.PathLike)):
        return [os.fsencode(path)]
    return [os.fsencode(p) for p in path]


def _span(value: Any) -> str:
    """A range, as the command has it: (1, 9), 5, (None, 9), "1..9"."""
    if isinstance(value, tuple):
        low, high = value
        return f"{'' if low is None else int(low)}..{'' if high is None else int(high)}"
    return str(value)


def _item(value: Any) -> str:
    if isinstance(value, Kind):
        return value.name
    if isinstance(value, (tuple, int, np.integer)):
        return _span(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _filters(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The options that choose rows, as pairs of texts."""
    chosen = []
    for key, value in given.items():
        name = key.replace("_", "-")
        form = _trod.filters.get(name)
        if form is None:
            raise TypeError(f"there is no option '{key}'; rows are chosen by "
                            + ", ".join(n.replace("-", "_") for n in _trod.filters))
        if value is None:
            continue
        if form == "range":
            text = _span(value)
        elif form == "list" and isinstance(value, Iterable) and not isinstance(value, (str, tuple)):
            text = ",".join(_item(v) for v in value)
        else:
            text = _item(value)
        chosen.append((name, text))
    return chosen


def _options(order: str | None, **given: Any) -> dict[str, Any]:
    options = {key: value for key, value in given.items() if value is not None}
    for key in ("modules", "module_dir", "schedule"):
        if key in options:
            options[key] = os.fsdecode(options[key])
    if order is not None:
        if order not in ORDERS:
            raise ValueError(f"no order is called '{order}'; there are {', '.join(ORDERS)}")
        options["order"] = ORDERS.index(order)
    return options


def _names(columns: Iterable[str]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    return tuple(dict.fromkeys(names))


def _mask(columns: Iterable[str]) -> int:
    want = int(Column.KIND)
    for name in columns:
        if name not in NUMBERS and name not in SLICES:
            raise KeyError(f"no column is called '{name}'")
        if name != "has":
            want |= Column[name.upper()]
    return want


def _warn(problems: list[dict[str, Any]], errors: int) -> None:
    if errors:
        first = next((p for p in problems if p["severity"] == "error"), None)
        place = f"{first['path']}: " if first and first["path"] else ""
        more = f" (and {errors - 1} more)" if errors > 1 else ""
        what = first["message"] if first else "damaged"
        warnings.warn(f"{place}{what}{more}", DamageWarning, stacklevel=3)


# ---- reading


class Batch:
    """Up to 4,096 rows. Columns of numbers are attributes, read-only arrays upon the library's own
    memory: addr, kind, ... They stay as they are for as long as somebody holds them. Elements that
    a row does not say are unspecified: see says(). Columns of bytes (code, data, text, raw) are
    lists, and must be read before the next batch."""

    __slots__ = ("_b", "_arrays")

    def __init__(self, native: "_trod.Batch") -> None:
        self._b = native
        self._arrays: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._b)

    def __getattr__(self, name: str) -> Any:
        if name not in NUMBERS and name not in SLICES:
            raise AttributeError(f"no column is called '{name}'")
        if name not in self._arrays:
            self._arrays[name] = (np.asarray(self._b.column(name)) if name in NUMBERS
                                  else self._b.slices(name))
        return self._arrays[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *NUMBERS, *SLICES]

    @property
    def first(self) -> int:
        """Number in the trace of the first of these rows, from 0; where rows were filtered, others
        than those that follow it in the trace may follow it here."""
        return self._b.first

    @property
    def have(self) -> Column:
        """Columns that rows of this batch say something in."""
        return Column(self._b.have)

    def says(self, column: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """By row, whether it says something in this column."""
        bit = Column[column.upper()]
        if not self.have & bit:
            return np.zeros(len(self), dtype=bool)
        return (self.has & int(bit)) != 0

    def filled(self, column: str, absent: int = 0) -> "np.ndarray[Any, Any]":
        """A copy of a column with ABSENT where a row says nothing."""
        return np.where(self.says(column), getattr(self, column), NUMBERS[column].type(absent))


class Trace:
    """A trace that is being read: see open()."""

    def __init__(self, native: "_trod.Trace", columns: tuple[str, ...] | None) -> None:
        self._t = native
        self._columns = columns
        self._warned = 0

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its files. Batches and arrays stay."""
        self._t.close()

    def __iter__(self) -> Iterator[Batch]:
        while (batch := self._t.next()) is not None:
            yield Batch(batch)
            del batch
        self._tell()

    def _tell(self) -> None:
        if self._t.errors > self._warned:
            self._warned = self._t.errors
            _warn(self._t.problems, self._t.errors)

    @property
    def meta(self) -> dict[str, Any]:
        """What is known of the trace: format, isa, addr_bits, time_unit, streams, ..."""
        return self._t.meta

    @property
    def format(self) -> str:
        return self._t.meta["format"]

    @property
    def streams(self) -> list[dict[str, Any]]:
        """What the column stream counts: threads, cpus or agents; grows while rows are read."""
        return self._t.meta["streams"]

    @property
    def files(self) -> list[str]:
        return self._t.files

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What was wrong with the trace so far: severity, status, kind, path, line, message."""
        return self._t.problems

    def rows(self, columns: Iterable[str] | None = None,
             limit: int | None = None) -> dict[str, Any]:
        """All rows that are left, at most LIMIT, as whole columns: arrays of numbers, with 0 where
        a row says nothing, and lists of bytes. What is read next goes on behind them. Columns must be among those the trace was opened
        with. The result is what pandas.DataFrame takes."""
        wanted = self._wanted(columns)
        got = self._t.gather(wanted, 2**64 - 1 if limit is None else limit)
        self._tell()
        return {name: np.asarray(v) if name in NUMBERS else v for name, v in got.items()}

    def _wanted(self, columns: Iterable[str] | None) -> tuple[str, ...]:
        if columns is not None:
            wanted = _names(columns)
            missing = [c for c in wanted if self._columns is not None
                       and c not in self._columns and c not in ("kind", "has")]
            if missing:
                raise KeyError(f"the trace was opened without the columns {', '.join(missing)}")
            return wanted
        if self._columns is not None:
            return self._columns
        known = self._t.meta["columns"]
        return tuple(c for c in NUMBERS if c == "has" or known & Column[c.upper()])

    def frame(self, columns: Iterable[str] | None = None,
              limit: int | None = None) -> "pandas.DataFrame":
        """rows() as a pandas.DataFrame; the kind is a category."""
        import pandas

        rows = self.rows(columns, limit)
        if "kind" in rows:
            rows["kind"] = pandas.Categorical.from_codes(rows["kind"], _trod.kinds)
        return pandas.DataFrame(rows)


def open(path: Paths, *, columns: Iterable[str] | None = None, format: str | None = None,
         order: str | None = None, cores: int | None = None, schedule: PathLike | None = None,
         strict: bool = False, batch_rows: int | None = None, skip_rows: int | None = None,
         skip_instructions: int | None = None, modules: PathLike | None = None,
         module_dir: PathLike | None = None, **filters: Any) -> Trace:
    """Open a file, several files or a directory as one trace.

    COLUMNS: those that are wanted (all that the format has); fewer are read faster.
    FORMAT: "name" or "name:option=value,...", where it should not be recognised by content.
    ORDER, CORES, SCHEDULE, MODULES, MODULE_DIR: as the options of the command, trod-run(1).
    STRICT: the first damage is an Error; otherwise what is good is read, and a DamageWarning given.
    FILTERS: which rows, as trod-view(1) has it: kind=["READ", Kind.WRITE], address=(lo, hi),
    pc=..., range=(0, 99), stream=..., text="...", symbols=...; lists of what is wanted.
    """
    names = None if columns is None else _names(columns)
    options = _options(order, format=format, cores=cores, schedule=schedule, strict=strict,
                       batch_rows=batch_rows, skip_rows=skip_rows,
                       skip_instructions=skip_instructions, modules=modules, module_dir=module_dir,
                       want=None if names is None else _mask(names))
    return Trace(_trod.Trace(_paths(path), _filters(filters), options), names)


# ---- conversion and analyses


def convert(source: Paths, target: PathLike, to: str | None = None, *, allow_loss: bool = False,
            compress: str | None = None, level: int | None = None, format: str | None = None,
            order: str | None = None, cores: int | None = None, strict: bool = False,
            **filters: Any) -> dict[str, Any]:
    """Write a trace, or the rows that FILTERS choose, in the format TO (by the name of TARGET).

    Rows that stay in their format are copied byte for byte. What the target cannot hold is an Error
    (status "loss") unless ALLOW_LOSS is given. Returns the account: rows_read, rows_chosen,
    rows_lost, lost (by kind, or "KIND.column"), bytes, files, errors, problems.
    """
    options = _options(order, to=to, allow_loss=allow_loss, compress=compress, level=level,
                       format=format, cores=cores, strict=strict)
    done = _trod.convert(_paths(source), _filters(filters), options, os.fsencode(target))
    _warn(done["problems"], done["errors"])
    return done


def _split(text: str) -> list[tuple[str, str | None]]:
    """Analyses as the command names them: "count,cache:preset=x,top=3,mix"."""
    known = {name for name, _ in _trod.analyses()}
    found: list[tuple[str, str | None]] = []
    for part in text.split(","):
        name, colon, spec = part.partition(":")
        if name in known:
            found.append((name, spec if colon else None))
        elif found and found[-1][1] is not None:
            found[-1] = (found[-1][0], f"{found[-1][1]},{part}")
        else:
            raise ValueError(f"no analysis is called '{name}'; analyses() names them")
    return found


def _setting(key: str, value: Any) -> str:
    name = key.replace("_", "-")
    if value is True:
        return name
    if isinstance(value, (list, tuple)):
        return ",".join(f"{name}={v}" for v in value)
    return f"{name}={value}"


def _planned(wanted: Analyses) -> list[tuple[str, str | None]]:
    if isinstance(wanted, str):
        return _split(wanted)
    if isinstance(wanted, Mapping):
        return [(name, spec if spec is None or isinstance(spec, str)
                 else ",".join(_setting(k, v) for k, v in spec.items() if v is not False))
                for name, spec in wanted.items()]
    return [one for text in wanted for one in _split(text)]


def _as_json(name: str, spec: str | None) -> tuple[str, str | None]:
    """What the command prints of threads as JSON: all columns, not those of its text alone."""
    if name == "count" and "detail=" not in (spec or ""):
        spec = f"{spec},detail=wide" if spec else "detail=wide"
    return name, spec


def _measured(name: str, value: Any) -> dict[str, Any]:
    """1000, (1000, "rows"): a count and what is counted."""
    if value is None:
        return {}
    number, measure = value if isinstance(value, tuple) else (value, "instructions")
    if measure not in _MEASURES:
        raise ValueError(f"{name} is counted in {', '.join(_MEASURES)}")
    return {name: number, f"{name}_in": _MEASURES.index(measure)}


def run(path: Paths, analyses: Analyses, *, jobs: int | None = None, by_thread: bool = False,
        interval: int | tuple[int, str] | None = None, warmup: int | tuple[int, str] | None = None,
        region: tuple[int, int] | tuple[int, int, str] | None = None, format: str | None = None,
        order: str | None = None, cores: int | None = None, schedule: PathLike | None = None,
        strict: bool = False, modules: PathLike | None = None, module_dir: PathLike | None = None,
        **filters: Any) -> dict[str, Any]:
    """Run analyses over a trace, in one pass, on JOBS processors (all).

    ANALYSES: "count,mix", ["count", "cache:preset=small"] or {"cache": {"preset": "small"}}.
    Returns a dict by name (a second one of the same name is "name#2"), of what `trod run --format
    json` prints, with tables as lists of dicts and addresses as numbers.
    INTERVAL, WARMUP: a count of instructions, or (count, "rows" or "time"). REGION: (from, to) or
    (from, to, measure), both included.
    """
    options = _options(order, jobs=jobs, by_thread=by_thread, format=format, cores=cores,
                       schedule=schedule, strict=strict, modules=modules, module_dir=module_dir)
    options.update(_measured("interval", interval))
    options.update(_measured("warmup", warmup))
    if region is not None:
        measure = region[2] if len(region) == 3 else "instructions"
        options.update(_measured("region_from", (region[0], measure)))
        options.update(_measured("region_to", (region[1], measure)))
    planned = [_as_json(*one) for one in _planned(analyses)]
    results, problems, errors = _trod.run(_paths(path), _filters(filters), options, planned)
    _warn(problems, errors)
    named: dict[str, Any] = {}
    for (name, _), result in zip(planned, results):
        key, n = name, 2
        while key in named:
            key, n = f"{name}#{n}", n + 1
        named[key] = result
    return named


def analyses() -> dict[str, str]:
    """The analyses there are, with their titles."""
    return dict(_trod.analyses())


def formats() -> dict[str, str]:
    """The formats there are, with their titles."""
    return {name: title for name, title, _ in _trod.formats()}


# ---- writing


class Writer:
    """A trace that is being written: see writer()."""

    def __init__(self, native: "_trod.Writer") -> None:
        self._w = native
        self.summary: dict[str, Any] | None = None

    def put(self, columns: Mapping[str, Any]) -> None:
        """Write rows: arrays, or what NumPy makes arrays of; "kind" is needed, names do as well.
        Columns of bytes are sequences with None where a row says nothing; "has" says by row which
        columns count. Instructions need only one of addr and pc."""
        self._w.put({name: self._ready(name, v) for name, v in columns.items()})

    @staticmethod
    def _ready(name: str, value: Any) -> Any:
        if name in SLICES:
            return value if isinstance(value, (list, tuple)) else list(value)
        if name not in NUMBERS:
            raise KeyError(f"no column is called '{name}'")
        if name == "kind" and hasattr(value, "cat"):  # a pandas category
            value = value.astype(str)
        array = np.asarray(value)
        if name == "kind" and array.dtype.kind in "UO":
            array = np.array([Kind[str(k)] for k in array])
        wanted = NUMBERS[name]
        if array.size and array.dtype != wanted and array.dtype.kind != "b":
            if array.dtype.kind not in "iu":
                raise TypeError(f"column '{name}' has {array.dtype}, not whole numbers")
            if int(array.min()) < 0 or int(array.max()) > np.iinfo(wanted).max:
                raise ValueError(f"column '{name}' has numbers that {wanted} does not hold")
        return np.ascontiguousarray(array, dtype=wanted)

    def commit(self) -> dict[str, Any]:
        """End the trace: the file appears. Returns rows, rows_lost, lost, bytes, files."""
        self.summary = self._w.commit()
        return self.summary

    def discard(self) -> None:
        """Throw it away: no file appears."""
        self._w.discard()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self.discard()
        elif self.summary is None:
            self.commit()


def writer(path: PathLike, format: str, *, columns: Iterable[str] = ("kind",),
           isa: str | None = None, endian: str | None = None, addr_bits: int | None = None,
           time_unit: str | None = None, streams: Sequence[int | str] = (),
           allow_loss: bool = False, compress: str | None = None,
           level: int | None = None) -> Writer:
    """A new trace in the format "name[:option=value,...]".

    COLUMNS: that rows will have: what the format cannot hold of them is an Error unless ALLOW_LOSS
    is given. ISA: "A64", "x86-64", ...; STREAMS: what the column stream counts, thread ids or names
    (it counts from the first of them, number 0; without the column all rows are of the first).
    """
    ends = {None: 0, "little": 1, "big": 2}
    if endian not in ends:
        raise ValueError("endian is 'little' or 'big'")
    options = _options(None, to=format, isa=isa, addr_bits=addr_bits, time_unit=time_unit,
                       endian=ends[endian], allow_loss=allow_loss, compress=compress, level=level)
    return Writer(_trod.Writer(os.fsencode(path), options, list(streams or ("0",)),
                               _names(columns)))


def write(path: PathLike, format: str, columns: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Write a trace from whole columns: writer() and put() in one. Returns the account."""
    w = writer(path, format, columns=list(columns), **options)
    with w:
        w.put(columns)
    assert w.summary is not None
    return w.summary


__all__ = ["Batch", "Branch", "Column", "DamageWarning", "Error", "Kind", "Trace", "Writer",
           "analyses", "convert", "formats", "open", "run", "write", "writer"]

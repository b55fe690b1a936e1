"""cache_layouts.py - the same result as JSON, as CSV and as text: what one says the others say, in the same order. For cache_slow_report.py.

Rules are those of docs/results.md: tables of CSV have all columns, those of text leave out columns that no row has; numbers of text are grouped.
"""
import csv
import re


def parts(result, path=()):
    """Scalars, as path and value, and tables, as lists, in order."""
    for key, value in result.items():
        if isinstance(value, dict):
            yield from parts(value, path + (key,))
        else:
            yield path + (key,), value


def scalars(result):
    return [(path, str(value)) for path, value in parts(result) if not isinstance(value, list)]


def tables(result):
    return [rows for _, rows in parts(result) if isinstance(rows, list)]


def of_csv(text):
    """What a result in CSV says: scalars and tables."""
    named, rest = [], []
    for block in text.rstrip("\n").split("\n\n"):
        rows = list(csv.reader(block.splitlines()))
        if rows[0] == ["name", "value"]:
            named += [(tuple(name.split(".")), value) for name, value in rows[1:]]
        else:
            rest.append(rows)
    return named, rest


def csv_differences(result, text):
    named, got = of_csv(text)
    # no part of the report: that nothing is counted, what the trace is
    named = [n for n in named if n[0] not in (("note",), ("format",), ("files",))]
    if named != scalars(result):
        yield "csv", scalars(result), named
    want = [[list(rows[0])] + [["" if v is None else str(v) for v in row.values()] for row in rows] for rows in tables(result) if rows]
    if want != [t for t in got if len(t) > 1]:
        yield from (("csv", w, g) for w, g in zip(want, got) if w != g)


def plain(word):
    return word.replace(",", "")


def text_differences(result, text):
    lines = text.splitlines()
    got = [(m[1].strip(), plain(m[2])) for m in (re.fullmatch(r" *([a-z][a-z ]*): +(\S+)", line) for line in lines) if m]
    want = [(path[-1].replace("_", " "), value) for path, value in scalars(result)]
    if want != got:
        yield "text", want, got
    at = 0
    for rows in tables(result):
        if not rows:
            continue
        columns = [c for c in rows[0] if any(r[c] is not None for r in rows)]
        at = next((i + 1 for i, line in enumerate(lines) if i >= at and line.split() == columns), None)
        if at is None:
            yield "text", "no table of", columns
            return
        for row, line in zip(rows, lines[at:] + [""] * len(rows)):
            want = ["-" if row[c] is None else str(row[c]) for c in columns]
            if want != [plain(w) for w in line.split()]:
                yield "text", want, line
        after = lines[at + len(rows)] if at + len(rows) < len(lines) else ""
        if after and ": " not in after:
            yield "text", "end of table", after

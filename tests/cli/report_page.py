"""report_page.py PAGE JSON [drawn]: is every number of the page that of the JSON?

The tables, fields and lists of the page carry the path that they have in the JSON. All that it has must
stand in the page, and the JSON in the page must be JSON. "drawn": the page is what a browser made of it,
whose marks in drawings are compared too. Prints what differs, and how much was compared.
"""
import html.parser
import json
import sys

VOID = {"meta", "br", "hr", "img", "link", "input"}
ADDRESSES = ("src", "href", "action", "data", "poster", "background", "formaction", "srcset", "xlink:href")


class Page(html.parser.HTMLParser):
    """Cells by path, and what must not be there."""

    def __init__(self, drawn):
        super().__init__()
        self.drawn, self.marks, self.mark = drawn, [], None
        self.tables, self.fields, self.wrong = {}, {}, []
        self.table = self.path = self.cell = self.small = None
        self.scripts, self.script = [], None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for name, value in attrs.items():
            if name.startswith("on") or (name in ADDRESSES and not value.startswith("#")):
                self.wrong.append(f"<{tag} {name}={value!r}>")
        if tag in ("iframe", "object", "embed", "link", "base", "form", "img") or (tag == "svg" and not self.drawn):
            self.wrong.append(f"<{tag}>")
        if self.drawn and tag in ("text", "g", "polyline", "rect") and "data-path" in attrs:
            self.marks.append([tag, attrs, ""])
            self.mark = tag == "text"
        if tag == "script":
            self.scripts.append((attrs, ""))
            self.script = True
        elif tag == "figure" and attrs.get("class") == "plot":
            self.path = None
        elif tag == "figure":
            self.path = attrs["data-path"]
            self.table = self.tables[self.path] = {"columns": [], "rows": []}
        elif tag == "th":
            self.table["columns"].append(attrs["data-column"])
        elif tag == "tr" and self.table is not None:
            self.table["rows"].append([])
        elif tag == "td":
            self.table["rows"][-1].append("")
            self.cell = "td"
        elif tag in ("dd", "li") and "data-path" in attrs:
            self.path = attrs["data-path"]
            self.fields[self.path] = ""
            self.cell = "field"
        elif tag == "small":
            self.small = True

    def handle_endtag(self, tag):
        if tag == "script":
            self.script = None
        elif tag == "small":
            self.small = None
        elif tag == "text":
            self.mark = None
        elif tag in ("dd", "li", "tbody", "figure", "dt"):
            self.cell = None
            if tag == "figure":
                self.table = None

    def handle_data(self, data):
        if self.script:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif self.small:
            pass
        elif self.mark:
            self.marks[-1][2] += data
        elif self.cell == "td":
            self.table["rows"][-1][-1] += data
        elif self.cell == "field":
            self.fields[self.path] += data


def shown(value):
    """What the JSON's text of a value looks like in the page, without commas."""
    if value is None:
        return ""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, Number):
        return value.text
    out = ""
    for c in value:
        out += f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else c
    return out.replace("\\x09", " ")


class Number:
    def __init__(self, text):
        self.text = text


def same(value, text):
    text = text.rstrip("\n")
    if isinstance(value, Number):
        return value.text == text.replace(",", "")
    return shown(value) == text


def plain(v):
    return not isinstance(v, (dict, list))


class Comparison:
    def __init__(self, page):
        self.page, self.compared, self.wrong = page, 0, list(page.wrong)

    def value(self, value, text, where):
        self.compared += 1
        if text is None or not same(value, text):
            self.wrong.append(f"{where}: the JSON has {shown(value)!r}, the page {text!r}")

    def rows(self, rows, path):
        table = self.page.tables.get(path)
        if table is None:
            self.wrong.append(f"{path}: no such table in the page")
            return
        body = [r for r in table["rows"] if r]
        if len(body) != len(rows):
            self.wrong.append(f"{path}: {len(rows)} rows, the page has {len(body)}")
            return
        for i, (row, cells) in enumerate(zip(rows, body)):
            seen = dict(zip(table["columns"], cells))
            for name, value in row.items():
                if value is None and name not in seen:
                    continue
                self.value(value, seen.get(name), f"{path}.{i}.{name}")

    def node(self, value, path):
        dot = path + "." if path else ""
        if isinstance(value, list):
            if value and all(isinstance(v, dict) and all(map(plain, v.values())) for v in value):
                self.rows(value, path)
            else:
                for i, v in enumerate(value):
                    self.node(v, f"{dot}{i}")
        elif isinstance(value, dict):
            for key, v in value.items():
                if plain(v) and key != "absent":
                    self.value(v, self.page.fields.get(dot + key), dot + key)
                elif not plain(v):
                    self.node(v, dot + key)
        else:
            self.value(value, self.page.fields.get(path), path)


    def marks(self, wanted):
        """Each mark of a drawing stands for what is at its path."""
        for tag, attrs, text in self.page.marks:
            value = wanted
            for key in attrs["data-path"].split("."):
                value = value[int(key)] if isinstance(value, list) else value.get(key)
            self.compared += 1
            if tag == "polyline":
                points = [r for r in value if r[attrs["data-y"]] is not None]
                right = len(points) == len(attrs["points"].split()) == int(attrs["data-n"])
            elif tag == "rect":
                right = isinstance(value, dict)
            else:
                right = float(value.text) == float(attrs.get("data-value", text or "nan"))
            if not right:
                self.wrong.append(f"<{tag}> of {attrs['data-path']}: {text or attrs}")


def main():
    drawn = sys.argv[3:] == ["drawn"]
    with open(sys.argv[1], encoding="utf-8") as f:
        page = Page(drawn)
        page.feed(f.read())
    with open(sys.argv[2], encoding="utf-8") as f:
        wanted = json.load(f, parse_int=Number, parse_float=Number)
    k = Comparison(page)
    k.node(wanted, "")
    k.marks(wanted)
    if drawn and not page.marks:
        k.wrong.append("nothing is drawn")
    embedded = [t for a, t in page.scripts if a.get("type") == "application/json"]
    if len(page.scripts) != 2 or len(embedded) != 1:
        k.wrong.append(f"{len(page.scripts)} scripts")
    else:
        with open(sys.argv[2], encoding="utf-8") as f:
            if json.loads(embedded[0]) != json.load(f):
                k.wrong.append("the JSON in the page is not that of --format json")
    for w in k.wrong[:20]:
        print(w)
    print(f"{k.compared} values compared, {len(k.wrong)} wrong")
    return 1 if k.wrong or not k.compared else 0


sys.exit(main())

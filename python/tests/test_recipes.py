"""The recipes of docs/python.md run as they stand and print what stands below them."""

import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec

SOURCE = os.environ["TROD_SOURCE"]
NEEDS = {"numpy": ["numpy"], "pandas": ["numpy", "pandas"], "matplotlib": ["numpy", "matplotlib"]}


def recipes():
    with open(os.path.join(SOURCE, "docs/python.md"), encoding="utf-8") as page:
        found = re.findall(r"### ([^\n]+)\n(?:(?!###).)*?<!-- recipe: (\w+) -->\n```python\n(.*?)```\n\n"
                           r"```\n(.*?)```", page.read(), re.DOTALL)
    assert len(found) >= 5, "recipes are missing"
    return found


def lines(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def main():
    wrong, skipped = 0, 0
    for title, needs, code, expected in recipes():
        missing = [m for m in NEEDS[needs] if find_spec(m) is None]
        if missing:
            print(f"skipped: {title}: no {', '.join(missing)}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(SOURCE, "examples"), os.path.join(folder, "examples"))
            ran = subprocess.run([sys.executable, "-B", "-W", "error::UserWarning", "-c", code],
                                 cwd=folder, capture_output=True, text=True, check=False,
                                 env={**os.environ, "HOME": folder, "MPLCONFIGDIR": folder})
        if ran.returncode != 0 or lines(ran.stdout) != lines(expected):
            print(f"{title}: printed\n{ran.stdout}{ran.stderr}expected\n{expected}")
            wrong += 1
    if wrong:
        return 1
    return 77 if skipped == len(recipes()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""What docs/schema/ says of the results of analyses, held against results.

    schema.py SCHEMAS   does what the lines of its standard input say:
        check NAME FILE...   each FILE, a result of analysis NAME, is valid
        alter NAME FILE      a result with one mistake is not: a key that is missing where
                             the schema wants it, one too many, a value of another type

Prints what is wrong, nothing where all is as it should be.
"""

import copy
import functools
import json
import pathlib
import sys

import jsonschema


@functools.lru_cache
def validator(folder, name):
    schema = json.loads((pathlib.Path(folder) / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(schema, name, files):
    for file in files:
        result = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        for error in schema.iter_errors(result):
            place = "/".join(map(str, error.absolute_path))
            print(f"{name}: {file}: {place}: {error.message[:200]}")


def places(value, path=()):
    """Every value below VALUE, by its path; of lists the first and the last item."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, path + (key,))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1}) if value else ():
            yield from places(value[i], path + (i,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def other(value):
    """A value of a type that no schema allows where VALUE is."""
    return {"unexpected": 1} if not isinstance(value, dict) else ["unexpected"]


def with_item(holder, key, value):
    """HOLDER with VALUE at KEY, a shallow copy."""
    holder = copy.copy(holder)
    holder[key] = value
    return holder


def mistakes(result, schema):
    """Results with one mistake each: where, what, and the result."""
    for path in places(result):
        here = at(result, path)
        yield path, "another type", put(result, path, other(here))
        if isinstance(here, dict):
            yield path, "a key too many", put(result, path, with_item(here, "unexpected", ["value"]))
            for key in here:
                if key in required(schema, path):
                    less = {k: v for k, v in here.items() if k != key}
                    yield path, f"no {key}", put(result, path, less)


def put(value, path, item):
    """VALUE with ITEM at PATH; what lies beside the path is shared."""
    return with_item(value, path[0], put(value[path[0]], path[1:], item)) if path else item


def alter(schema, name, file):
    result = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    for path, what, altered in mistakes(result, schema.schema):
        if schema.is_valid(altered):
            print(f"{name}: {file}: {'/'.join(map(str, path))}: {what} is not noticed")


def required(schema, path):
    """The keys that SCHEMA wants of the object at PATH."""
    here = schema
    for step in path:
        here = here.get("items", {}) if isinstance(step, int) else here.get("properties", {}).get(step, {})
        if here.get("$ref") == "#":
            here = schema
    return here.get("required", [])


for line in sys.stdin:
    what, name, *files = line.split()
    if what == "check":
        check(validator(sys.argv[1], name), name, files)
    else:
        alter(validator(sys.argv[1], name), name, files[0])

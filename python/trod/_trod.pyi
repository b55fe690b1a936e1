from collections.abc import Sequence
from typing import Any

class Error(Exception):
    status: str
    problems: list[dict[str, Any]]

class Array:
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Batch:
    have: int
    first: int
    def __len__(self) -> int: ...
    def column(self, name: str, /) -> Array: ...
    def slices(self, name: str, /) -> list[Any]: ...

class Trace:
    meta: dict[str, Any]
    files: list[str]
    problems: list[dict[str, Any]]
    errors: int
    def __init__(
        self, paths: list[bytes], filters: list[tuple[str, str]], options: dict[str, Any], /
    ) -> None: ...
    def next(self) -> Batch | None: ...
    def gather(self, columns: Sequence[str], limit: int, /) -> dict[str, Any]: ...
    def close(self) -> None: ...

class Writer:
    def __init__(
        self, path: bytes, options: dict[str, Any], streams: list[int | str], columns: Sequence[str], /
    ) -> None: ...
    def put(self, columns: dict[str, Any], /) -> None: ...
    def commit(self) -> dict[str, Any]: ...
    def discard(self) -> None: ...

kinds: list[str]
columns: list[str]
branches: list[str]
isas: list[str]
filters: dict[str, str]
version: str

def run(
    paths: list[bytes],
    filters: list[tuple[str, str]],
    options: dict[str, Any],
    analyses: list[tuple[str, str | None]],
    /,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]: ...
def convert(
    paths: list[bytes], filters: list[tuple[str, str]], options: dict[str, Any], out: bytes, /
) -> dict[str, Any]: ...
def analyses() -> list[tuple[str, str]]: ...
def formats() -> list[tuple[str, str, bool]]: ...

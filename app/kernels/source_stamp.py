"""Source stamps: what makes the cached machine code of a kernel stale."""

import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pkgutil import get_data

PACKAGE = "app.kernels"
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+app\b(?:\\\n|[^\n(]|\([^)]*\))*", re.MULTILINE)
"""A whole import statement, also over several lines. Parsing the sources by `ast` instead would
take a twentieth of a second whenever a service starts."""
NAME = re.compile(r"[\w.]+")


@cache
def source_stamp(name: str) -> str:
    """A hash of the sources of `app.kernels.<name>` and of all modules here that it is built of."""
    digest = sha256()
    for module in sorted(built_of(name)):
        digest.update(_source(module).encode())
    return digest.hexdigest()


def built_of(name: str) -> set[str]:
    """The module itself and what it imports of this package, directly or not; circles end."""
    modules, waiting = {name}, [name]
    while waiting:
        new = imported(_source(waiting.pop())) - modules
        modules |= new
        waiting += new
    return modules


def imported(source: str) -> set[str]:
    """The modules of this package that are named in the import statements of a source."""
    statements = IMPORT.findall(source)
    return {module for names in map(NAME.findall, statements) for module in _modules(names)}


def _modules(names: list[str]) -> Iterator[str]:
    """Which of a statement's names are modules here, or become one after its `from <package>`."""
    for name in (*names, *(f"{names[1]}.{name}" for name in names[3:])):
        module = name.removeprefix(f"{PACKAGE}.")
        if module != name and _source(module):
            yield module


@cache
def _source(name: str) -> str:
    """The source of a module of this package; empty where there is no such module."""
    try:
        return (get_data(PACKAGE, name.replace(".", "/") + ".py") or b"").decode()
    except FileNotFoundError:
        return ""

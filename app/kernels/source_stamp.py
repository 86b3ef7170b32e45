"""Source stamps: what makes the cached machine code of a kernel stale."""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pkgutil import get_data

PACKAGE = "app.kernels"


@cache
def source_stamp(name: str) -> str:
    """A hash of the sources of `app.kernels.<name>` and of all modules here that it is built of."""
    digest = sha256()
    for module in sorted(_built_of(name)):
        digest.update(_source(module) or b"")
    return digest.hexdigest()


def _built_of(name: str) -> set[str]:
    """The module itself and what it imports of this package, directly or not; circles end."""
    found, waiting = {name}, [name]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return found


@cache
def _imported(name: str) -> frozenset[str]:
    """The modules of this package that a module imports, in whatever form and over any lines."""
    nodes = ast.walk(ast.parse(_source(name) or b""))
    return frozenset(module for node in nodes for module in _named(node) if _source(module))


def _named(node: ast.AST) -> Iterator[str]:
    """What an import statement may name in this package: a module, or something in a module."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)]
    for name in names:
        if name.startswith(f"{PACKAGE}."):
            yield name.removeprefix(f"{PACKAGE}.")


@cache
def _source(name: str) -> bytes | None:
    """The source of a module of this package; None where there is no such module."""
    try:
        return get_data(PACKAGE, name.replace(".", "/") + ".py")
    except FileNotFoundError:
        return None

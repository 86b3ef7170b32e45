"""Cells of a label column → label names: split at a separator, or read as a list."""

import re
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import msgspec

from app.datasets.cells.label_names import names_of

AUTO, WHOLE, LIST = "auto", "none", "list"
"""Words for a separator: detect it, there is none, the cells are lists."""
SPELLED = {"tab": "\t", "newline": "\n"}
SEPARATORS = "`|` or other characters, tab, newline, none (a cell is one label), list or auto"
ITEM = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([-+.\w]++))\s*(?:,|(?=[\s'"\])}])|$)""", re.S
)
BARE = re.compile(r"[-+]?\d+(\.\d*)?|True|False")
BRACKETS = {"[": "]", "(": ")", "{": "}"}
ESCAPED = re.compile(r"\\(.)", re.S)


class _Choices(msgspec.Struct):
    """How Label Studio writes several choices into one cell of a table."""

    choices: list[str]


_decoded = msgspec.json.Decoder(list[str | int | float | None] | _Choices).decode


class LabelCells:
    """Turns a cell (a string, a list, a number or nothing) into names, before they are checked."""

    def __init__(self, separator: str, label_names: Sequence[str] = ()) -> None:
        self._split = _splitter(separator)
        self._label_names = label_names

    def __call__(self, cell: Any) -> Sequence[str]:
        """The names in their order; ids and marks of a list become names where names are given."""
        if isinstance(cell, str) and not self._label_names:
            return self._split(cell)
        values = self._split(cell) if isinstance(cell, str) else _values(cell)
        if self._label_names:
            return names_of(values, self._label_names)
        return ["" if value is None else str(value) for value in values]


def label_list(cell: str) -> list[str] | None:
    """The items of a cell that is a JSON array, or a list as Python or NumPy print it; else None.

    Nothing is evaluated: items are quoted strings or numbers.

    >>> label_list('["a", "b, c"]'), label_list("['a' 'b']"), label_list("[urgent]")
    (['a', 'b, c'], ['a', 'b'], None)
    """
    cell = cell.strip()
    if not cell or BRACKETS.get(cell[0]) != cell[-1]:
        return None
    try:
        items = _decoded(cell)
    except (msgspec.DecodeError, RecursionError):
        return _printed_list(cell[1:-1])
    items = items.choices if isinstance(items, _Choices) else items
    return [str(item) for item in items if item is not None]


def _printed_list(body: str) -> list[str] | None:
    items, at, end = [], 0, len(body.rstrip())
    while at < end:
        item = ITEM.match(body, at)
        if item is None or (item[3] and not BARE.fullmatch(item[3])):
            return None
        quoted = item[1] if item[1] is not None else item[2]
        items.append(item[3] if quoted is None else ESCAPED.sub(r"\1", quoted))
        at = item.end()
    return items


def _splitter(separator: str) -> Callable[[str], Sequence[str]]:
    if separator == WHOLE:
        return lambda cell: (cell,)
    if separator == LIST:
        return _listed
    return methodcaller("split", SPELLED.get(separator, separator))


def _listed(cell: str) -> Sequence[str]:
    items = label_list(cell)
    return (cell,) if items is None else items


def _values(cell: Any) -> Sequence[Any]:
    if isinstance(cell, list | tuple):
        return cell
    return () if cell is None else (cell,)

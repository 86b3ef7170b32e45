"""Where a JSON line is wrong: the column and what is accepted there. Only for lines refused."""

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

import msgspec

from app.datasets.base import ReadOptions
from app.datasets.formats.column_hints import text_hint

SURROGATE = re.compile(
    r"\\u[dD][89aAbB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89aAbB]..)\\u[dD][c-fC-F].."
)
KEY = re.compile(r"`\$\.([^`\[\]]+)")
MISSING = re.compile(r"missing required field `([^`]+)`")
BYTE = re.compile(r"\(byte (\d+)\)")


class BadJson(NamedTuple):
    """A fault without its line."""

    problem: str
    column: int
    found: str
    accepted: str
    hint: str = ""


def bad_json(line: str, error: Exception, options: ReadOptions) -> BadJson:
    """What is wrong with a line that could not be decoded."""
    message, column, hint = str(error), 1, ""
    names = dict.fromkeys((options.id_column, options.order_column, *options.text_columns))
    keys = ", ".join(f'"{name}": "…"' for name in names if name)
    accepted = f'{{{keys}, "{options.label_column}": ["…"]}}'
    if isinstance(error, RecursionError):
        problem = "JSON that is nested too deeply"
    elif missing := MISSING.search(message):
        problem, hint = f'no key "{missing[1]}"', text_hint(_keys(line))
    elif key := KEY.search(message):
        problem, column = f'a wrong value of "{key[1]}"', place(line, key[1])
    elif message.startswith("Expected `object`"):
        problem = "a line that is no JSON object"
    else:
        problem, column = _malformed(line, message)
    return BadJson(problem, column, line[column - 1 : column + 39], accepted, hint)


def place(line: str, key: str) -> int:
    """The column at which the value of a key of the object begins; 1 if it is not found.

    >>> place('{"text": "labels", "labels": [3]}', "labels")
    30
    """
    column, at, decoder = 1, line.find("{") + 1, JSONDecoder()
    try:
        while True:
            name, at = decoder.raw_decode(line, line.index('"', at))
            at = _skip(line, line.index(":", at) + 1)
            if name == key:
                column = at + 1
            _, at = decoder.raw_decode(line, at)
    except (ValueError, RecursionError, StopIteration):
        return column


def _keys(line: str) -> list[str]:
    try:
        return list(msgspec.json.decode(line, type=dict[str, Any]))
    except (msgspec.DecodeError, RecursionError):
        return []


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in " \t":
        at += 1
    return at


def _malformed(line: str, message: str) -> tuple[str, int]:
    """Python's decoder knows most places, but lets surrogates without their pair pass."""
    try:
        JSONDecoder().decode(line)
    except JSONDecodeError as error:
        return "malformed JSON", error.pos + 1
    except (ValueError, RecursionError):
        pass
    if lone := SURROGATE.search(line):
        return "half a surrogate pair in JSON", lone.start() + 1
    byte = BYTE.search(message)
    before = line.encode()[: int(byte[1]) if byte else 0]
    return "malformed JSON", len(before.decode(errors="ignore")) + 1

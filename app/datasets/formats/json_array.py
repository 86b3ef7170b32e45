"""The elements of a JSON array, each with the line it begins on."""

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any

from app.datasets.faults import Faults
from app.datasets.input.lines import lines
from app.datasets.input.source import Source

SPACE = re.compile(r"[ \t\r\n]*")


def elements(source: Source, faults: Faults) -> Iterator[tuple[int, Any]]:
    """The numbered elements of a source that holds one array; it is read as a whole."""
    text = "\n".join(line for _, line in lines(source, faults))
    try:
        at = _expect("[", text, 0)
        yield from _until_end(text, at)
    except JSONDecodeError as error:
        raise faults.fatal("malformed JSON", line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise faults.fatal("JSON that is nested too deeply", line=1) from None


def _until_end(text: str, at: int) -> Iterator[tuple[int, Any]]:
    decode, line, counted = JSONDecoder().raw_decode, 1, 0
    is_first = True
    while text[at : at + 1] != "]":
        at = at if is_first else _expect(",", text, at)
        value, end = decode(text, at)
        line, counted = line + text.count("\n", counted, at), at
        yield line, value
        at, is_first = _after_space(text, end), False
    if _expect("]", text, at) < len(text):
        raise JSONDecodeError("more after the array", text, at)


def _expect(mark: str, text: str, at: int) -> int:
    """Where the text goes on behind a mark."""
    at = _after_space(text, at)
    if text[at : at + 1] != mark:
        raise JSONDecodeError(f"no {mark}", text, at)
    return _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at

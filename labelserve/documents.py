"""Texts and label sets as Python programs have them, checked one by one, and as JSON lines."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Protocol, TypeAlias, runtime_checkable

LabelSets: TypeAlias = Iterable[Iterable[str]]
"""The labels of each document: lists, tuples or sets of names; empty ones for none."""

MISSING = object()


@runtime_checkable
class DataTable(Protocol):
    """What a pandas DataFrame looks like: iterating it would give the names of its columns."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""
        ...


@runtime_checkable
class LabelledTexts(Protocol):
    """What `labelserve.read` gives: texts beside their labels."""

    @property
    def texts(self) -> list[str]:
        """The texts."""
        ...

    @property
    def labels(self) -> list[tuple[str, ...]]:
        """The labels of each."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Its documents."""
        ...


def checked_texts(texts: Iterable[str]) -> Iterator[str]:
    """The texts in their order: a list's, a generator's, a pandas Series'.

    What is no text is a TypeError that names its position, counted from 0 as Python does.
    """
    if isinstance(texts, str | bytes):
        raise TypeError("one text was given, where a list of texts is expected: write [text]")
    if isinstance(texts, DataTable | Mapping):
        raise TypeError("a table was given, where a list of texts is expected: write table['text']")
    return (checked_text(text, position) for position, text in enumerate(texts))


def checked_text(text: Any, position: int) -> str:
    """The text; a TypeError where it is none, such as the NaN that pandas has for an empty cell."""
    if not isinstance(text, str):
        raise TypeError(f"texts[{position}] is {_shown(text)}; every text is a str")
    return text


def checked_label_sets(label_sets: LabelSets) -> Iterator[list[str]]:
    """The labels of each document, in their order; what is no label set is a TypeError."""
    if isinstance(label_sets, str | bytes | DataTable | Mapping):
        raise TypeError("labels are a list with one list of labels for each text")
    return (_label_set(labels, position) for position, labels in enumerate(label_sets))


def json_line(text: str, position: int) -> bytes:
    """A text as a line of JSON; `position` is what an error calls it."""
    return _encoded(checked_text(text, position), position)


def json_lines(texts: Iterable[str], label_sets: LabelSets) -> Iterator[bytes]:
    """The documents as lines of `{"text": …, "labels": […]}`.

    Different numbers of texts and label sets are a ValueError.
    """
    pairs = zip_longest(checked_texts(texts), checked_label_sets(label_sets), fillvalue=MISSING)
    for position, (text, labels) in enumerate(pairs):
        if text is MISSING or labels is MISSING:
            more, fewer = ("label sets", "texts") if text is MISSING else ("texts", "label sets")
            raise ValueError(f"there are more {more} than {fewer}, of which there are {position}")
        yield _encoded({"text": text, "labels": labels}, position)


class LineStream(io.RawIOBase):
    """Lines as a binary stream that is read once, so that they are never all in memory."""

    name = "the documents"

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines, self._rest = iter(lines), b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; how many there were, 0 at the end."""
        while not self._rest:
            line = next(self._lines, None)
            if line is None:
                return 0
            self._rest = line
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _label_set(labels: Any, position: int) -> list[str]:
    if isinstance(labels, str):
        raise TypeError(
            f"labels[{position}] is a str; every document has a list of labels: write [label], or "
            "split what is separated by a character"
        )
    if not isinstance(labels, Iterable):
        raise TypeError(f"labels[{position}] is {_shown(labels)}; every document has a list of str")
    names = list(labels)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"labels[{position}] has a label that is {_shown(name)}; every label is a str"
            )
    return names


def _shown(value: Any) -> str:
    """None and NaN, which a table has for an empty cell, as they are; of others only the type."""
    return (
        repr(value)
        if value is None or isinstance(value, float)
        else f"of type {type(value).__name__}"
    )


def _encoded(document: Any, position: int) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        raise ValueError(
            f"document {position} has half of a surrogate pair, which is no character"
        ) from None

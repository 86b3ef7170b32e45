"""SVMlight lines: `l1,l2 index:value …`, features ready-made, no text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import Document, ReadOptions
from app.datasets.faults import Faults
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.lines import lines
from app.datasets.source import Source

PAIR = r"[0-9]{1,10}:[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
LINE = re.compile(rf"([^\s:#]*+)((?:[ \t]++{PAIR})*+)[ \t]*+(?:#.*)?")
HEADER = re.compile(r"([0-9]{1,10}) ([0-9]{1,10}) ([0-9]{1,10})[ \t]*")
ACCEPTED = "l1,l2 index:value … with numbers only, each index once"
LARGEST = float(np.finfo(np.float32).max)


class Header(NamedTuple):
    """What the first line promises; the XMC repository's files have it, and count from 0."""

    documents: int | None = None
    features: int = 2**31 - 1
    labels: int | None = None
    first: int = 1


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Document]:
    """A document a line. Indices begin at 1, or at 0 below a header `documents features labels`.

    Labels stay as written. Text from ` #` on is a comment. Blank lines are passed over; below a
    header they are documents without labels and features, because the header counts them.
    """
    label_sets, header, found = LabelSets(options.label_map), Header(), 0
    for number, line in lines(source, faults):
        if number == 1 and (numbers := HEADER.fullmatch(line)):
            header = Header(int(numbers[1]), int(numbers[2]), int(numbers[3]), first=0)
            continue
        if _is_passed_over(line, found, header):
            continue
        found += 1
        document = _document(line, number, header, label_sets, faults)
        if document:
            yield document
    if header.documents not in (None, found):
        problem = f"the header promises {header.documents} documents, there are {found}"
        raise faults.fatal(problem, line=1)


def _is_passed_over(line: str, found: int, header: Header) -> bool:
    is_blank = not line or line.isspace()
    return line.startswith("#") or (is_blank and found >= (header.documents or 0))


def _document(
    line: str, number: int, header: Header, label_sets: LabelSets, faults: Faults
) -> Document | None:
    """The document of one line; None after a fault."""
    has_labels = ":" not in line.partition(" ")[0]
    parts = LINE.fullmatch(line if has_labels else f" {line}")
    features = _features(parts[2], header) if parts else None
    if parts is None or features is None:
        _explain(line, number, header, faults)
        return None
    try:
        return Document("", label_sets(_names(parts[1], header)), None, number, features)
    except BadLabelError as bad:
        faults.refuse(bad, line=number, column=1)
        return None


def _names(field: str, header: Header) -> list[str]:
    names = field.split(",")
    for position, name in enumerate(names if header.labels is not None else ()):
        if name and not (name.isascii() and name.isdigit() and int(name) < (header.labels or 0)):
            accepted = f"labels from 0, fewer than the {header.labels} of the header"
            raise BadLabelError("an unknown label", name, position, accepted)
    return names


def _features(text: str, header: Header) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
    """Columns from 0, rising, and their values; None if they break a rule."""
    numbers = np.fromstring(text.replace(":", " "), dtype=np.float64, sep=" ")
    columns, values = numbers[0::2] - header.first, numbers[1::2]
    if not len(columns):
        return columns.astype(np.int32), values.astype(np.float32)
    if not (columns[1:] > columns[:-1]).all():
        order = np.argsort(columns, kind="stable")
        columns, values = columns[order], values[order]
    is_right = (
        columns[0] >= 0
        and columns[-1] < header.features
        and bool((columns[1:] > columns[:-1]).all())
        and bool((np.abs(values) <= LARGEST).all())
    )
    return (columns.astype(np.int32), values.astype(np.float32)) if is_right else None


def _explain(line: str, number: int, header: Header, faults: Faults) -> None:
    """Find the first token that breaks a rule, the slow way."""
    seen: set[int] = set()
    indices = range(header.first, header.first + header.features)
    for token in re.finditer(r"\S+", line):
        is_label_field = token.start() == 0 and ":" not in token[0]
        problem = "" if is_label_field else _problem(token[0], indices, seen)
        if problem:
            column = token.start() + 1
            faults.add(problem, line=number, column=column, found=token[0], accepted=ACCEPTED)
            return
    faults.add("a malformed line", line=number, found=line, accepted=ACCEPTED)


def _problem(token: str, indices: range, seen: set[int]) -> str:
    if not re.fullmatch(PAIR, token):
        return "not index:value"
    index, value = int(token.partition(":")[0]), float(token.partition(":")[2])
    if index not in indices:
        return f"an index outside {indices.start} to {indices.stop - 1}"
    if index in seen:
        return "an index that is repeated"
    seen.add(index)
    return "" if abs(value) <= LARGEST else "a value too large for 32 bits"

"""SVMlight lines: `l1,l2 index:value …`, features ready-made, no text."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.input.lines import line_groups
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets

PAIR = r"[0-9]{1,10}:[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
LINE = re.compile(rf"([^\s:#]*+)((?:[ \t]++{PAIR})*+)[ \t]*+(?:#.*)?")
HEADER = re.compile(r"([0-9]{1,10}) ([0-9]{1,10}) ([0-9]{1,10})[ \t]*")
ACCEPTED = "l1,l2 index:value … with numbers only, each index once"
JSON_NUMBERS = msgspec.json.Decoder(list[float])
LARGEST = float(np.finfo(np.float32).max)


Features: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]


class Header(NamedTuple):
    """What the first line promises; the XMC repository's files have it, and count from 0."""

    documents: int | None = None
    features: int = 2**31 - 1
    labels: int | None = None
    first: int = 1


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a line. Indices begin at 1, or at 0 below a header `documents features labels`.

    Labels stay as written. Text from `#` on is a comment. Blank lines are passed over; below a
    header they are documents without labels and features, because the header counts them.
    """
    label_sets, header, found = LabelSets(options.label_map), Header(), 0
    for group in line_groups(source, faults):
        kept: list[tuple[int, str]] = []
        for number, line in group:
            if number == 1 and (numbers := HEADER.fullmatch(line)):
                header = Header(int(numbers[1]), int(numbers[2]), int(numbers[3]), first=0)
            elif not _is_passed_over(line, found, header):
                found += 1
                kept.append((number, line))
        yield from _documents(kept, header, label_sets, faults)
    if header.documents not in (None, found):
        problem = f"the header promises {header.documents} documents, there are {found}"
        raise faults.fatal(problem, line=1)


def _is_passed_over(line: str, found: int, header: Header) -> bool:
    is_blank = not line or line.isspace()
    return line.startswith("#") or (is_blank and found >= (header.documents or 0))


def _documents(
    lines: list[tuple[int, str]], header: Header, label_sets: LabelSets, faults: Faults
) -> Iterator[Record]:
    parts = [LINE.fullmatch(line if _has_labels(line) else f" {line}") for _, line in lines]
    all_features = features_of([part[2] if part else "" for part in parts], header)
    for (number, line), part, features in zip(lines, parts, all_features, strict=True):
        if part is None or features is None:
            _explain(line, number, header, faults)
            continue
        try:
            labels = label_sets(_names(part[1], header))
        except BadLabelError as bad:
            faults.refuse(bad, line=number, column=1)
            continue
        yield Record("", labels, None, number, features)


def _has_labels(line: str) -> bool:
    return ":" not in line.partition(" ")[0]


def _names(field: str, header: Header) -> list[str]:
    names = field.split(",")
    for position, name in enumerate(names if header.labels is not None else ()):
        if name and not (name.isascii() and name.isdigit() and int(name) < (header.labels or 0)):
            accepted = f"labels from 0, fewer than the {header.labels} of the header"
            raise BadLabelError("an unknown label", name, position, accepted)
    return names


def features_of(texts: list[str], header: Header) -> Iterator[Features | None]:
    """For each text of pairs its columns from 0, rising, and values; None if they break a rule.

    All texts are taken at once: numpy's cost is by the call.
    """
    numbers = _numbers(" ".join(texts).replace(":", " ").split())
    columns, values = numbers[0::2] - header.first, numbers[1::2]
    ends = np.cumsum([text.count(":") for text in texts], dtype=np.int64)
    is_good = (columns >= 0) & (columns < header.features) & (np.abs(values) <= LARGEST)
    int_columns = np.where(is_good, columns, 0).astype(np.int32)
    float_values = np.where(is_good, values, 0).astype(np.float32)
    is_rising = np.concatenate(([True], columns[1:] > columns[:-1]))[: len(columns)]
    is_rising[ends[ends < len(columns)]] = True
    bad = set(np.searchsorted(ends, np.flatnonzero(~is_good), side="right").tolist())
    unsorted = set(np.searchsorted(ends, np.flatnonzero(~is_rising), side="right").tolist())
    for row, (start, end) in enumerate(pairwise([0, *ends.tolist()])):
        if row in bad:
            yield None
        elif row in unsorted:
            yield _sorted(int_columns[start:end], float_values[start:end])
        else:
            yield int_columns[start:end], float_values[start:end]


def _numbers(tokens: list[str]) -> NDArray[np.float64]:
    """The tokens as numbers: by the JSON decoder, ten times as fast, where they are JSON."""
    try:
        numbers = JSON_NUMBERS.decode(f"[{','.join(tokens)}]")
    except msgspec.DecodeError:  # .5, +1, 007 and 1e400
        numbers = list(map(float, tokens))
    return np.array(numbers, dtype=np.float64)


def _sorted(columns: NDArray[np.int32], values: NDArray[np.float32]) -> Features | None:
    """The same pairs in rising order; None if a column is repeated."""
    order = np.argsort(columns, kind="stable")
    columns, values = columns[order], values[order]
    return (columns, values) if (columns[1:] > columns[:-1]).all() else None


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

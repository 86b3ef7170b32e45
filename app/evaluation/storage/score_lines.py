"""Scores that any system wrote down: one document a line, in the order of the test set.

Either JSON, `{"id"?: str, "labels": [{"label": str, "score": number, "threshold"?: number}]}`, as
`labelserve predict` and `POST /predict` write it, or `label:score label:score …`, as LibMultiLabel
does. A label that a line does not name has no score there.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.datasets.faults import Faults
from app.datasets.input.lines import lines
from app.datasets.input.source import Limits, Source
from app.errors import InvalidDataError

ACCEPTED = 'a JSON object with "labels", or label:score pairs separated by spaces'


class ScoredLabel(msgspec.Struct):
    """One label of one line."""

    label: str
    score: float
    threshold: float | None = None


class _Line(msgspec.Struct):
    labels: list[ScoredLabel]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """The scores of one document."""

    number: int
    id: str | None
    labels: list[ScoredLabel]


def score_lines(file: str | Path) -> Iterator[ScoreLine]:
    """The lines of a file of scores, plain or compressed; a bad one is named by its number."""
    source = Source(file, Limits())
    faults = Faults(source.name)
    try:
        for number, line in lines(source, faults):
            yield _read(line, number, faults)
    finally:
        source.close()


def _read(line: str, number: int, faults: Faults) -> ScoreLine:
    try:
        if line.startswith("{"):
            found = msgspec.json.decode(line, type=_Line)
            read = ScoreLine(number, found.id, found.labels)
        else:
            read = ScoreLine(number, None, [_pair(pair) for pair in line.split()])
    except (ValueError, msgspec.DecodeError) as error:
        problem = f"no scores can be read: {error}" if line.startswith("{") else "no such pair"
        raise faults.fatal(problem, line=number, found=line, accepted=ACCEPTED) from error
    _check(read, faults)
    return read


def _pair(pair: str) -> ScoredLabel:
    label, colon, score = pair.rpartition(":")
    if not colon or not label:
        raise ValueError(pair)
    return ScoredLabel(label, float(score))


def _check(read: ScoreLine, faults: Faults) -> None:
    names = [one.label for one in read.labels]
    if len(set(names)) != len(names):
        raise faults.fatal("a label is named twice", line=read.number)
    if any(math.isnan(one.score) or one.score == math.inf for one in read.labels):
        raise faults.fatal("a score is not a number", line=read.number, accepted="finite numbers")


def no_match(file: str, line: int, problem: str) -> InvalidDataError:
    """The error where a line of scores does not belong to its document."""
    return InvalidDataError(
        problem, file=file, line=line, accepted="one line a document, in the test set's order"
    )

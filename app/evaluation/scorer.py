"""What is judged: anything that gives scores for documents and can decide on them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.datasets.base import Summary
from app.decisions.base import Basis
from app.decisions.calibration.calibration import Calibration
from app.evaluation.chunks import Reads, TestDocument
from app.hand_rules.rule_set import HandRules
from app.labels import LabelIndex, Relabelling


class Decider(Protocol):
    """Scores of some documents → the labels each gets."""

    @property
    def name(self) -> str:
        """As the user writes it."""
        ...

    @property
    def cuts(self) -> NDArray[np.float32] | None:
        """Per-label thresholds, None for a decision by rank."""
        ...

    def decide(self, scores: Scores) -> Marks:
        """Mark the labels that pass."""
        ...


class Scorer(Reads, Protocol):
    """A classifier, or a file of scores that stands in for one."""

    @property
    def labels(self) -> LabelIndex:
        """The labels it scores, one a column."""
        ...

    @property
    def relabelling(self) -> Relabelling | None:
        """What it answers instead of them; None where that is the same."""
        ...

    @property
    def decision(self) -> Decider:
        """What it decides by itself."""
        ...

    @property
    def effective_decision(self) -> Decider:
        """The same, less what it abstains from; `decision` itself where it never abstains."""
        ...

    @property
    def hand_rules(self) -> HandRules | None:
        """The rules that have the last word on what is decided; None: there are none."""
        ...

    @property
    def basis(self) -> Basis:
        """What a decision may rest on that is asked for by name."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """The probabilities of its scores; None: it has none, and no figures of them."""
        ...

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document (texts, or rows of features)."""
        ...


@runtime_checkable
class SummarizedDocuments(Protocol):
    """Documents read from a file, and what reading them counted."""

    @property
    def summary(self) -> Summary:
        """Final once all documents are read."""
        ...

    def __iter__(self) -> Iterator[TestDocument]:
        """The documents in file order."""
        ...


@runtime_checkable
class DocumentsInParts(Protocol):
    """Documents read from several files."""

    @property
    def part(self) -> int:
        """The number of the file that the last document was in."""
        ...


def part_of(documents: Iterable[TestDocument]) -> Callable[[], int]:
    """What gives the number of the file that the last document was in; 0 where there is one."""
    return (lambda: documents.part) if isinstance(documents, DocumentsInParts) else int


def summary_of(documents: Iterable[TestDocument]) -> Summary:
    """What reading the documents counted; nothing where they come from no file."""
    return documents.summary if isinstance(documents, SummarizedDocuments) else Summary()

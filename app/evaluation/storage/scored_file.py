"""ScoredFile: a file of scores stands in for a model, so that any system can be judged."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.datasets.base import Summary
from app.decisions.base import Basis
from app.evaluation.chunks import TestDocument
from app.evaluation.scorer import summary_of
from app.evaluation.storage.score_lines import ScoredLabel, no_match, score_lines
from app.labels import LabelIndex


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A test document with the line of scores that belongs to it."""

    document: TestDocument
    scored: list[ScoredLabel]

    @property
    def id(self) -> str | None:
        """As in the test set."""
        return self.document.id

    @property
    def text(self) -> str:
        """As in the test set."""
        return self.document.text

    @property
    def labels(self) -> tuple[str, ...]:
        """The true labels."""
        return self.document.labels

    @property
    def line(self) -> int:
        """As in the test set."""
        return self.document.line

    @property
    def features(self) -> Any:
        """As in the test set."""
        return self.document.features


class AsWritten:
    """The decision in the file: what passes its own threshold, or is above 0 where it has none."""

    name = "as written"
    cuts: NDArray[np.float32] | None = None

    def __init__(self) -> None:
        self.marks: Marks = np.zeros((0, 0), np.bool_)

    def decide(self, scores: Scores) -> Marks:
        """The decisions on the chunk that was scored last."""
        return self.marks


class ScoredFile:
    """Labels, scores and decisions as a file gives them."""

    reads_documents = True
    is_ready_made = False
    n_features = 0
    calibration: None = None
    hand_rules: None = None
    relabelling: None = None

    def __init__(self, file: str | Path, test_labels: Iterable[str] = ()) -> None:
        """Look through the file once; labels of the test set count as known to the system."""
        self.file = str(file)
        names: set[str] = set(test_labels)
        self.has_thresholds, lowest = False, np.inf
        for line in score_lines(file):
            names.update(one.label for one in line.labels)
            self.has_thresholds |= any(one.threshold is not None for one in line.labels)
            lowest = min([lowest, *(one.score for one in line.labels)])
        self.is_never_negative = bool(0 <= lowest < np.inf)
        self.labels = LabelIndex(tuple(sorted(names)))
        self.decision = AsWritten()

    @property
    def effective_decision(self) -> AsWritten:
        """The decision in the file, which abstains from nothing."""
        return self.decision

    @property
    def basis(self) -> Basis:
        """The labels alone: nothing is known of what gave the scores."""
        return Basis(len(self.labels))

    def paired(self, documents: Iterable[TestDocument]) -> "Paired":
        """The documents, each with its line of scores."""
        return Paired(documents, self.file)

    def scores(self, documents: Sequence[ScoredDocument], *, jobs: int = 1) -> Scores:
        """The scores in the file as float64, so that none are tied; -inf where it names none."""
        scores: NDArray[Any] = np.full((len(documents), len(self.labels)), -np.inf, np.float64)
        marks = np.zeros(scores.shape, np.bool_)
        columns = self.labels.columns
        for row, document in enumerate(documents):
            for one in document.scored:
                column = columns[one.label]
                scores[row, column] = one.score
                marks[row, column] = one.score > (one.threshold or 0.0)
        self.decision.marks = marks
        return scores

    @property
    def cautions(self) -> list[str]:
        """What to know about decisions taken from this file."""
        if self.has_thresholds or not self.is_never_negative:
            return []
        return [
            "no score in the file is below 0 and none has a threshold: every label it names with "
            "a score above 0 counts as assigned; consider --decision rank:K"
        ]


class Paired:
    """Documents with their lines of scores; keeps the summary of how the documents were read."""

    def __init__(self, documents: Iterable[TestDocument], file: str) -> None:
        self.documents, self.file = documents, file

    @property
    def summary(self) -> Summary:
        """What reading the test set counted."""
        return summary_of(self.documents)

    def __iter__(self) -> Iterator[ScoredDocument]:
        """Pairs in file order; a missing, surplus or foreign line is an error."""
        found, number = score_lines(self.file), 0
        for document in self.documents:
            line = next(found, None)
            if line is None:
                raise no_match(self.file, number + 1, "the file ends before the test set does")
            number = line.number
            if line.id is not None and document.id is not None and line.id != document.id:
                raise no_match(self.file, number, "the id is not that of the test document")
            yield ScoredDocument(document, line.labels)
        if next(found, None) is not None:
            raise no_match(self.file, number + 1, "there are more lines than test documents")

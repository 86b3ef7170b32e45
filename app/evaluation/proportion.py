"""proportion:X over a file of scores: every label gets its share of the whole file's documents."""

from dataclasses import dataclass

import numpy as np

from app.arrays import Marks, Scores
from app.decisions.rules.proportion_cut import ProportionCut, last_place, name_of, read_x, up_to
from app.errors import InvalidRequestError
from app.evaluation.options import JudgedModel
from app.evaluation.storage.score_file import ScoreFile


@dataclass(frozen=True)
class Proportion:
    """What `proportion:X` asks for; it cannot be decided document by document."""

    x: float
    cuts: None = None

    @classmethod
    def read(cls, name: str) -> "Proportion":
        """The decision of that name.

        >>> Proportion.read("proportion:.5").name
        'proportion:0.5'
        """
        return cls(read_x(name))

    @property
    def name(self) -> str:
        """As the user writes it."""
        return name_of(self.x)

    def decide(self, scores: Scores) -> Marks:
        """Refused: all documents must be known first."""
        raise InvalidRequestError("proportion:X decides on a whole file, never on single documents")


class ProportionOfFile:
    """Walks over the same documents again, in their order, and decides as `ProportionCut` does."""

    cuts: None = None
    """None: a tie may be parted by the documents' order."""

    def __init__(self, proportion: Proportion, file: ScoreFile, info: JudgedModel) -> None:
        if info.training_counts is None or not info.n_training_documents:
            raise InvalidRequestError(
                "proportion:X needs the labels' training frequencies, which are not known here"
            )
        self.name = proportion.name
        cut = ProportionCut(proportion.x, info.training_counts / info.n_training_documents)
        sizes = cut.sizes(file.n_documents).tolist()
        self._cut = np.full(file.n_labels, np.inf, np.float32)
        self._last = np.full(file.n_labels, -1, np.int64)
        self._document = 0
        for label, scores, _ in file.columns():
            self._cut[label], self._last[label] = last_place(scores, sizes[label])

    def decide(self, scores: Scores) -> Marks:
        """Mark the next documents' labels."""
        first = self._document
        self._document += len(scores)
        return up_to(scores, self._cut, self._last, first)

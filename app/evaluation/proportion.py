"""Proportional cut (Pcut): every label gets its x·D·P best documents of the whole file."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.errors import InvalidRequestError
from app.evaluation.options import ModelInfo
from app.evaluation.score_file import ScoreFile


@dataclass(frozen=True)
class Proportion:
    """What `proportion:X` asks for; it cannot be decided document by document."""

    x: float
    cuts: None = None

    @classmethod
    def read(cls, argument: str) -> "Proportion":
        """The X of `proportion:X`.

        >>> Proportion.read("0.5").name
        'proportion:0.5'
        """
        if not re.fullmatch(r"\d{1,6}(\.\d{1,12})?", argument) or float(argument) <= 0:
            raise InvalidRequestError("proportion:X needs a number X above 0, as in proportion:1")
        return cls(float(argument))

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"proportion:{self.x:g}"

    def decide(self, scores: Scores) -> Marks:
        """Refused: all documents must be known first."""
        raise InvalidRequestError("proportion:X decides on a whole file, never on single documents")


class ProportionCut:
    """Walks over the same documents again, in their order; ties go to the earlier document."""

    def __init__(self, proportion: Proportion, file: ScoreFile, info: ModelInfo) -> None:
        if info.training_counts is None or not info.n_training_documents:
            raise InvalidRequestError(
                "proportion:X needs the labels' training frequencies, which are not known here"
            )
        self.name = proportion.name
        shares = info.training_counts / info.n_training_documents
        wanted = np.floor(proportion.x * file.n_documents * shares + 0.5).astype(np.int64)
        self._wanted = np.minimum(wanted, file.n_documents)
        self._cut = np.full(file.n_labels, np.inf, np.float32)
        self._last = np.full(file.n_labels, -1, np.int64)
        self._document = 0
        for label, scores, _ in file.columns():
            self._place(label, scores)

    @property
    def cuts(self) -> NDArray[np.float32] | None:
        """None: a tie may be parted by the documents' order."""
        return None

    def decide(self, scores: Scores) -> Marks:
        """Mark the next documents' labels."""
        numbers = np.arange(self._document, self._document + len(scores))
        self._document += len(scores)
        tied = (scores == self._cut) & (numbers[:, None] <= self._last)
        return np.asarray((scores > self._cut) | tied)

    def _place(self, label: int, scores: NDArray[np.float32]) -> None:
        """Where the label's cut lies, and the last document that gets it at the cut itself."""
        wanted = min(int(self._wanted[label]), int(np.count_nonzero(scores > -np.inf)))
        if not wanted:
            return
        cut = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        at_cut = np.flatnonzero(scores == cut)
        room = wanted - int(np.count_nonzero(scores > cut))
        self._cut[label], self._last[label] = cut, at_cut[room - 1]

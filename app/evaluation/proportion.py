"""Proportional cut (Pcut): every label gets its x·D·P best documents of the whole file."""

import re

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.errors import InvalidRequestError
from app.evaluation.options import ModelInfo
from app.evaluation.score_file import ScoreFile


def proportion_of(name: str) -> float | None:
    """The x of `proportion:x`; None for any other decision.

    >>> proportion_of("proportion:0.5"), proportion_of("zero")
    (0.5, None)
    """
    kind, _, argument = name.partition(":")
    if kind != "proportion":
        return None
    if not re.fullmatch(r"\d{1,6}(\.\d{1,12})?", argument) or float(argument) <= 0:
        raise InvalidRequestError("proportion:X needs a number X above 0, as in proportion:1")
    return float(argument)


class ProportionCut:
    """Walks over the same documents again, in their order; ties go to the earlier document."""

    def __init__(self, x: float, file: ScoreFile, info: ModelInfo) -> None:
        if info.training_counts is None or not info.n_training_documents:
            raise InvalidRequestError(
                "proportion:X needs the labels' training frequencies, which are not known here"
            )
        self.name = f"proportion:{x:g}"
        shares = info.training_counts / info.n_training_documents
        wanted = np.floor(x * file.n_documents * shares + 0.5).astype(np.int64)
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

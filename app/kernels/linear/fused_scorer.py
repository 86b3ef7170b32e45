"""Tf-idf and linear weights in one kernel: texts → scores without a feature matrix in between."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DamagedArtifactError
from app.kernels import compiled, kernels
from app.kernels.linear.types import FittedPart, LinearArrays


class FusedScorer:
    """Scores of texts by a kernel a part, where there are both fitted parts and linear weights.

    Either function may give none. They are called with the first text: the kernel is loaded, and
    the weights are checked, no sooner than they are needed.
    """

    def __init__(
        self,
        fitted_parts: Callable[[], Sequence[FittedPart]],
        linear: Callable[[], LinearArrays | None],
    ) -> None:
        self._fitted_parts, self._linear, self._lock = fitted_parts, linear, Lock()
        self._scorer: Any = None
        self._is_tried = False

    def scores(self, texts: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32] | None:
        """Scores (texts, labels), equal to those by way of features; None without a kernel."""
        scorer = self.scorer()
        if scorer is None:
            return None
        if len(texts) == 1:
            row: NDArray[np.float32] = scorer.scores(texts[0])
            return row.reshape(1, -1)
        rows: NDArray[np.float32] = scorer.batch_scores(texts, jobs=jobs)
        return rows

    def scorer(self) -> Any:
        """A `TextScorer`, or the `JoinedScorer` of several; None without a compiler or an input."""
        if not self._is_tried:
            with self._lock:
                if not self._is_tried:
                    self._scorer = self._text_scorer() if compiled() else None
                    self._is_tried = True
        return self._scorer

    def _text_scorer(self) -> Any:
        parts = self._fitted_parts()
        linear = self._linear() if parts else None
        if linear is None:
            return None
        if not linear.fits(sum(part.tfidf.n_columns for part in parts)):
            raise DamagedArtifactError("the weights do not fit the vocabulary or the labels")
        if len(parts) == 1 and parts[0].weight == 1:
            return kernels("linear.text_scorer").TextScorer(parts[0].tfidf, linear)
        return JoinedScorer(parts, linear)


class JoinedScorer:
    """One `TextScorer` a part, each with the weights of its own columns; the bias is added once."""

    def __init__(self, parts: Sequence[FittedPart], linear: LinearArrays) -> None:
        text_scorer, first = kernels("linear.text_scorer").TextScorer, 0
        self._scorers = []
        for part in parts:
            stop = first + part.tfidf.n_columns
            own = linear.of_features(first, stop, part.weight)
            bias = own.bias if first == 0 else np.zeros_like(own.bias)
            self._scorers.append(text_scorer(part.tfidf, own._replace(bias=bias)))
            first = stop
        self._pick = kernels("linear.picking").pick

    def scores(self, text: str) -> NDArray[np.float32]:
        """One text's score for each label."""
        first, *others = self._scorers
        scores: NDArray[np.float32] = first.scores(text)
        for scorer in others:
            scores += scorer.scores(text)
        return scores

    def batch_scores(self, texts: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32]:
        """Each text's score for each label."""
        first, *others = self._scorers
        scores: NDArray[np.float32] = first.batch_scores(texts, jobs=jobs)
        for scorer in others:
            scores += scorer.batch_scores(texts, jobs=jobs)
        return scores

    def picked(self, text: str, labels: Any, k: int) -> tuple[int, list[list[float]]]:
        """How many labels of one text pass their cuts, and the values of the k best.

        `labels` are the `LabelValues` of picking.py.
        """
        columns, best = np.empty(k, np.int64), np.empty(k, np.float32)
        n_passing: int = self._pick(self.scores(text), labels.cuts, columns, best)
        return n_passing, labels.rows(columns[:n_passing], best[:n_passing])

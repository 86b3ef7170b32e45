"""Tf-idf and linear weights in one kernel: texts → scores without a feature matrix in between."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DamagedArtifactError
from app.kernels import compiled, kernels
from app.kernels.linear.types import Linear, Weighing


class FusedScorer:
    """Scores of texts by one kernel, where there are both a weighing and linear weights.

    Either function may give None. They are called with the first text: the kernel is loaded, and
    the weights are checked, no sooner than they are needed.
    """

    def __init__(
        self, weighing: Callable[[], Weighing | None], linear: Callable[[], Linear | None]
    ) -> None:
        self._weighing, self._linear, self._lock = weighing, linear, Lock()
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
        """The `TextScorer` of text_scorer.py, made once; None without a compiler or an input."""
        if not self._is_tried:
            with self._lock:
                if not self._is_tried:
                    self._scorer = self._text_scorer() if compiled() else None
                    self._is_tried = True
        return self._scorer

    def _text_scorer(self) -> Any:
        weighing = self._weighing()
        linear = None if weighing is None else self._linear()
        if weighing is None or linear is None:
            return None
        if not linear.fits(len(weighing.vocabulary)):
            raise DamagedArtifactError("the weights do not fit the vocabulary or the labels")
        return kernels("linear.text_scorer").TextScorer(weighing, linear)

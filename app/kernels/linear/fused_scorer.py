"""A vectorizer and a learner as one: texts → scores without a matrix in between."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DamagedArtifactError
from app.kernels import compiled, kernels
from app.kernels.linear.types import Linear


class FusedScorer:
    """Scores of a fitted pair, where a kernel can give them: tf-idf and linear weights.

    A vectorizer is joined by what its `weighing()` gives, a learner by its `weights.arrays`. The
    kernel is loaded with the first text, so that nothing of it is imported before.
    """

    def __init__(self, vectorizer: Any, learner: Any) -> None:
        self._pair, self._lock = (vectorizer, learner), Lock()
        self._scorer: Any = None
        self._is_tried = False

    def scores(self, texts: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32] | None:
        """Scores (texts, labels), equal to the long way; None where only that is possible."""
        scorer = self.scorer()
        if scorer is None:
            return None
        if len(texts) == 1:
            one: NDArray[np.float32] = scorer.scores(texts[0])
            return one.reshape(1, -1)
        all_of_them: NDArray[np.float32] = scorer.batch_scores(texts, jobs=jobs)
        return all_of_them

    def scorer(self) -> Any:
        """The `TextScorer` of text_scorer.py, made once; None where there cannot be one."""
        if not self._is_tried:
            with self._lock:
                if not self._is_tried:
                    self._scorer = text_scorer(*self._pair) if compiled() else None
                    self._is_tried = True
        return self._scorer


def text_scorer(vectorizer: Any, learner: Any) -> Any:
    """The two as one `TextScorer`, or None where they cannot be joined."""
    weighing = vectorizer.weighing() if hasattr(vectorizer, "weighing") else None
    arrays = getattr(getattr(learner, "weights", None), "arrays", None)
    if weighing is None or arrays is None:
        return None
    linear = Linear.of(arrays)
    if not linear.fits(len(weighing.vocabulary)):
        raise DamagedArtifactError("the weights do not fit the vocabulary or the labels")
    return kernels("linear.text_scorer").TextScorer(weighing, linear)

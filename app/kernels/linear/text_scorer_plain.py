"""TextScorer: texts → scores or best labels in scipy, the definition of text_scorer.py."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.kernels.linear import picking_plain
from app.kernels.linear.types import FittedTfidf, LinearArrays, RankedLabels
from app.kernels.text import tfidf_plain, tokens_plain


class TextScorer:
    """Fitted tf-idf and linear weights, fused: texts in, scores or best labels out."""

    def __init__(self, fitted_tfidf: FittedTfidf, linear: LinearArrays) -> None:
        self._fitted_tfidf, self._linear = fitted_tfidf, linear

    def scores(self, text: str) -> NDArray[np.float32]:
        """One text's score for each label."""
        scored: NDArray[np.float32] = self.batch_scores([text])[0]
        return scored

    def picked(
        self, text: str, values: picking_plain.LabelValues, k: int
    ) -> tuple[int, list[list[float]]]:
        """How many labels of one text pass their cuts, and the values of the k best."""
        labels, scores = np.empty(k, np.int64), np.empty(k, np.float32)
        passing = picking_plain.pick(self.scores(text), values.cuts, labels, scores)
        return passing, values.rows(labels[:passing], scores[:passing])

    def top_k(self, text: str, k: int) -> RankedLabels:
        """One text's k best labels, best first; ties go to the lower label."""
        ranked = self.batch_top_k([text], k)
        return RankedLabels(ranked.labels[0], ranked.scores[0])

    def batch_scores(self, texts: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32]:
        """Each text's score for each label."""
        bias, dense, starts, *_ = self._linear
        rows = self._rows(texts)
        if len(dense):
            return np.asarray(rows @ dense + bias, np.float32)
        labels, values = self._linear.entries()
        weights = csr_array((values, labels, starts), shape=(rows.shape[1], len(bias)))
        return np.asarray((rows @ weights).toarray() + bias, np.float32)

    def batch_top_k(self, texts: Sequence[str], k: int, *, jobs: int = 1) -> RankedLabels:
        """Each text's k best labels, best first; ties go to the lower label."""
        scores = self.batch_scores(texts)
        labels = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
        return RankedLabels(labels, np.take_along_axis(scores, labels, axis=1))

    def _rows(self, texts: Sequence[str]) -> csr_array:
        analysis, vocabulary, idf, scheme, binary, leads = self._fitted_tfidf
        counts = tokens_plain.count_known(texts, analysis, vocabulary, leads=leads)
        if binary:
            counts.counts.fill(1)
        values = tfidf_plain.tfidf_weights(counts, idf, scheme)
        shape = (len(texts), len(idf))
        return csr_array((values, counts.columns, counts.indptr), shape=shape)

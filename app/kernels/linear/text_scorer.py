"""TextScorer: texts → scores or best labels in one kernel, without the GIL or a matrix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import array_table
from app.kernels.linear.answer_values import N_VALUES, NO_CURVES
from app.kernels.linear.picking import LabelValues, pick_text
from app.kernels.linear.text_to_scores import rank_rows, score_texts
from app.kernels.linear.types import FittedTfidf, LinearArrays, RankedLabels
from app.kernels.linear.weight_table import WeightTable, weights_of
from app.kernels.text.tfidf import FREQUENCIES
from app.kernels.text.tokens import each_part, packed, text_table

CHUNK = 256
"""Texts that are ranked together: their scores are in memory at once."""


class TextScorer:
    """Fitted tf-idf and linear weights, fused: texts in, scores or best labels out."""

    def __init__(self, fitted_tfidf: FittedTfidf, linear: LinearArrays) -> None:
        analysis, vocabulary, idf, scheme, binary, leads = fitted_tfidf
        weights = WeightTable(FREQUENCIES[scheme], binary, idf, weights_of(linear))
        # Kept whole, not only as numbers: their arrays live as long as the addresses are used.
        self._held = text_table(analysis, vocabulary, leads), array_table(weights)
        self._tables = self._held[0].numbers, self._held[1].numbers
        self._analysis, self._n_labels = analysis, len(linear.bias)

    def scores(self, text: str) -> NDArray[np.float32]:
        """One text's score for each label."""
        scores = np.empty((1, self._n_labels), np.float32)
        packed_text = self._bytes(text)
        score_texts(packed_text, np.array([len(packed_text)]), (0, 1), *self._tables, scores)
        row: NDArray[np.float32] = scores[0]
        return row

    def picked(self, text: str, labels: LabelValues, k: int) -> tuple[int, list[list[float]]]:
        """How many labels of one text pass their cuts, and the values of the k best."""
        rows = np.empty((k, N_VALUES))
        texts, weights = self._tables
        n_passing: int = pick_text(self._bytes(text), texts, weights, labels.table, rows)
        return n_passing, rows[:n_passing].tolist()

    def top_k(self, text: str, k: int) -> RankedLabels:
        """One text's k best labels, best first; ties go to the lower label."""
        ranked = self._ranked(self.scores(text).reshape(1, -1), k)
        return RankedLabels(ranked.labels[0], ranked.scores[0])

    def batch_scores(self, texts: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32]:
        """Each text's score for each label."""
        scores = np.empty((len(texts), self._n_labels), np.float32)
        if texts:
            text, ends = packed(texts, self._analysis)

            def fill(part: tuple[int, int]) -> None:
                score_texts(text, ends, part, *self._tables, scores[part[0] : part[1]])

            each_part(fill, ends, jobs)
        return scores

    def batch_top_k(self, texts: Sequence[str], k: int, *, jobs: int = 1) -> RankedLabels:
        """Each text's k best labels, best first; ties go to the lower label."""
        chunks = [texts[i : i + CHUNK] for i in range(0, len(texts), CHUNK)] or [texts]
        ranked = [self._ranked(self.batch_scores(chunk, jobs=jobs), k) for chunk in chunks]
        return RankedLabels(*map(np.concatenate, zip(*ranked, strict=True)))

    def _ranked(self, scores: NDArray[np.float32], k: int) -> RankedLabels:
        shape = (len(scores), min(k, self._n_labels))
        ranked = RankedLabels(np.empty(shape, np.int32), np.empty(shape, np.float32))
        rank_rows(scores, *ranked)
        return ranked

    def _bytes(self, text: str) -> NDArray[np.uint8]:
        plain = text.encode() if text.isascii() else self._analysis.cleaned(text).encode()
        return np.frombuffer(plain, np.uint8)


def warm() -> None:
    """Compile everything here."""
    from app.kernels.text.analysis import Analysis
    from app.kernels.vocabulary.vocabulary import Vocabulary

    fitted_tfidf = FittedTfidf(Analysis(), Vocabulary.of(["ab"]), np.ones(1), "tfidf", False)
    one = np.ones(1, np.float32)
    scorer = TextScorer(fitted_tfidf, LinearArrays.of({"weights": one.reshape(1, 1), "bias": one}))
    scorer.scores("ab")
    scorer.top_k("ab", 1)
    scorer.picked("ab", LabelValues(one, NO_CURVES), 1)
    scorer.batch_scores(["ab"])
    scorer.batch_top_k(["ab"], 1)

"""TextScorer: texts → scores or best labels in one kernel, without the GIL or a matrix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import array_table
from app.kernels.linear.answer_values import N_VALUES, NO_CURVES
from app.kernels.linear.picking import LabelValues, pick_text
from app.kernels.linear.text_to_scores import rank_text, rank_texts, score_text, score_texts
from app.kernels.linear.types import Linear, RankedLabels, Weighing
from app.kernels.linear.weight_table import WeightTable, weights_of
from app.kernels.text.tfidf import FREQUENCIES
from app.kernels.text.tokens import each_part, packed, text_table


class TextScorer:
    """Fitted tf-idf and linear weights, fused: texts in, scores or best labels out."""

    def __init__(self, weighing: Weighing, linear: Linear) -> None:
        analysis, vocabulary, idf, scheme, binary = weighing
        weights = WeightTable(FREQUENCIES[scheme], binary, idf, weights_of(linear))
        # Kept whole, not only as numbers: their arrays live as long as the addresses are used.
        self._held = text_table(analysis, vocabulary), array_table(weights)
        self._tables = self._held[0].numbers, self._held[1].numbers
        self._analysis, self._n_labels = analysis, len(linear.bias)

    def scores(self, text: str) -> NDArray[np.float32]:
        """One text's score for each label."""
        scores = np.empty(self._n_labels, np.float32)
        texts, weights = self._tables
        score_text(self._bytes(text), texts, weights, scores)
        return scores

    def picked(self, text: str, labels: LabelValues, k: int) -> tuple[int, list[list[float]]]:
        """How many labels of one text pass their cuts, and the values of the k best."""
        rows = np.empty((k, N_VALUES))
        texts, weights = self._tables
        n_passing: int = pick_text(self._bytes(text), texts, weights, labels.table, rows)
        return n_passing, rows[:n_passing].tolist()

    def top_k(self, text: str, k: int) -> RankedLabels:
        """One text's k best labels, best first; ties go to the lower label."""
        k = min(k, self._n_labels)
        labels, scores = np.empty(k, np.int32), np.empty(k, np.float32)
        texts, weights = self._tables
        rank_text(self._bytes(text), texts, weights, labels, scores)
        return RankedLabels(labels, scores)

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
        shape = (len(texts), min(k, self._n_labels))
        labels, scores = np.empty(shape, np.int32), np.empty(shape, np.float32)
        if texts:
            text, ends = packed(texts, self._analysis)

            def fill(part: tuple[int, int]) -> None:
                rank_texts(text, ends, part, *self._tables, (labels, scores))

            each_part(fill, ends, jobs)
        return RankedLabels(labels, scores)

    def _bytes(self, text: str) -> NDArray[np.uint8]:
        plain = text.encode() if text.isascii() else self._analysis.cleaned(text).encode()
        return np.frombuffer(plain, np.uint8)


def warm() -> None:
    """Compile everything here."""
    from app.kernels.text.analysis import Analysis
    from app.kernels.vocabulary.vocabulary import Vocabulary

    weighing = Weighing(Analysis(), Vocabulary.of(["ab"]), np.ones(1), "tfidf", False)
    one = np.ones(1, np.float32)
    scorer = TextScorer(weighing, Linear.of({"weights": one.reshape(1, 1), "bias": one}))
    scorer.scores("ab")
    scorer.top_k("ab", 1)
    scorer.picked("ab", LabelValues(one, NO_CURVES), 1)
    scorer.batch_scores(["ab"])
    scorer.batch_top_k(["ab"], 1)

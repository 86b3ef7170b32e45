"""Measurement: takes chunks of scores and truth, keeps small sums and records on disk."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Scores, Truth
from app.evaluation.document_values import DocumentValues
from app.evaluation.label_counts import LabelCounts
from app.evaluation.options import EvaluationOptions, ModelInfo
from app.evaluation.pairs import FN, FP, TP, Pairs
from app.evaluation.records import Records, ranking_records, record_type
from app.evaluation.scorer import Decider
from app.evaluation.scratch import ArrayFile
from app.metrics.propensity import inverse_propensities
from app.metrics.ranking import Ranked

BLOCK = 8192


class Measurement:
    """Everything counted while the documents go by."""

    def __init__(self, n_labels: int, options: EvaluationOptions, info: ModelInfo, folder: Path):
        self.options = options
        self.records = ArrayFile(folder / "records", record_type(len(options.k)))
        self.counts = LabelCounts(n_labels)
        self.inverse = _inverse(info, n_labels)

    def add(self, scores: Scores, truth: Truth, lengths: NDArray[Any], decider: Decider) -> None:
        """Measure one chunk."""
        pairs = Pairs.of(decider.decide(scores), truth)
        records = ranking_records(Ranked.of(scores, truth), self.options.k, self.inverse)
        records["length"] = lengths
        for name, kind in (("tp", TP), ("fp", FP), ("fn", FN)):
            records[name] = pairs.counts(kind, len(records))
        self.records.append(records)
        self.counts.add(len(records), *(pairs.columns(kind) for kind in (TP, FP, FN)))

    def values(self, n_columns: int) -> DocumentValues:
        """How records turn into figures, now that the number of columns is known."""
        has_propensity = self.inverse is not None
        return DocumentValues(self.options.k, n_columns, self.options.averaging, has_propensity)

    def sums(self, n_columns: int) -> NDArray[np.float64]:
        """Summed columns of `DocumentValues` over all documents."""
        values = self.values(n_columns)
        total = np.zeros(len(values.names))
        for block in self.records.blocks(BLOCK):
            total += _sum(values, block)
        return total


def _sum(values: DocumentValues, block: Records) -> NDArray[np.float64]:
    return np.asarray(values.matrix(block).sum(axis=0))


def _inverse(info: ModelInfo, n_labels: int) -> NDArray[np.float64] | None:
    """Inverse propensities of the labels, and one more for every zero-shot label."""
    if info.training_counts is None or info.n_training_documents is None:
        return None
    counts = np.append(np.asarray(info.training_counts, np.int64)[:n_labels], 0)
    return inverse_propensities(counts, info.n_training_documents)

"""Measurement: takes chunks of scores and truth, keeps small sums, and records on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.evaluation.measure.certainty import Certainty
from app.evaluation.measure.confusion import Confusion
from app.evaluation.measure.document_groups import DocumentGroups
from app.evaluation.measure.groups import DOCUMENT_LABELS, DOCUMENT_LENGTH
from app.evaluation.measure.label_groups import label_groups
from app.evaluation.measure.resampling import PairFile, Resampler
from app.evaluation.measure.worst import WorstDocuments
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.scorer import Scorer
from app.evaluation.storage.array_file import ArrayFile
from app.evaluation.storage.score_store import ScoreStore
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import FN, FP, TP, Pairs
from app.metrics.counting.records import Records, ranking_records, record_type
from app.metrics.propensity import inverse_propensities
from app.metrics.ranking import TrueRanks
from app.metrics.significance.bootstrap import percentile_interval

BLOCK = 4096


@dataclass(frozen=True)
class ScoredChunk:
    """What is measured of some documents; their texts are no longer needed."""

    ids: list[str | None]
    lengths: NDArray[np.int64]
    scores: Scores
    truth: Truth
    dropped: NDArray[np.int64]
    """Zero-shot labels of each document that the truth leaves out."""


class Measurement:
    """Everything counted while the documents go by."""

    def __init__(
        self,
        scorer: Scorer,
        options: EvaluationOptions,
        info: JudgedModel,
        folder: Path,
        *,
        keeps_pairs: bool = False,
    ) -> None:
        n_labels = len(scorer.labels)
        self.options = options
        self.inverse = _inverse(info, n_labels)
        self.records = ArrayFile(folder / "records", record_type(len(options.k)))
        self.pairs = PairFile(folder / "pairs") if keeps_pairs or options.bootstrap else None
        self.store = ScoreStore(folder, n_labels, options.max_cells)
        self.counts = LabelCounts(n_labels)
        self.label_groups = label_groups(info.training_counts, self.inverse)
        self.by_labels = DocumentGroups("relevant", DOCUMENT_LABELS, n_labels)
        self.by_length = DocumentGroups("length", DOCUMENT_LENGTH, n_labels)
        self.confusion = Confusion(n_labels)
        self.worst = WorstDocuments()
        self.certainty = Certainty(scorer.calibration)

    def add(self, chunk: ScoredChunk, marks: Marks, names: list[str]) -> None:
        """Measure one chunk and the decisions on it."""
        scores, truth = chunk.scores, chunk.truth
        pairs = Pairs.of(marks, truth)
        records = self._recorded(chunk, pairs)
        self.counts.add(len(records), *(pairs.columns(kind) for kind in (TP, FP, FN)))
        for group in self.label_groups:
            group.add(scores, truth, pairs, self.values(0))
        for groups in (self.by_labels, self.by_length):
            groups.add(records, pairs)
        self.confusion.add(scores, truth, pairs)
        self.worst.add(chunk.ids, records, pairs, names)
        self.certainty.add(scores, truth, marks)

    def values(self, n_columns: int) -> DocumentValues:
        """How records turn into figures, given the number of columns."""
        has_propensity = self.inverse is not None
        return DocumentValues(self.options.k, n_columns, self.options.averaging, has_propensity)

    def document_counts(self) -> NDArray[np.int32]:
        """(documents, 3): TP, FP, FN of each; labels that were left out count as missed here."""
        found = np.empty((self.records.length, 3), np.int32)
        for i, block in enumerate(self.records.blocks(BLOCK)):
            rows = found[i * BLOCK : i * BLOCK + len(block)]
            rows[:, 0], rows[:, 1] = block["tp"], block["fp"]
            rows[:, 2] = block["fn"] + block["dropped"]
        return found

    def sums(self, n_columns: int) -> NDArray[np.float64]:
        """Summed columns of `DocumentValues` over all documents, and over their groups."""
        values = self.values(n_columns)
        total = np.zeros(len(values.names))
        for block in self.records.blocks(BLOCK):
            matrix = values.matrix(block)
            total += matrix.sum(axis=0)
            self.by_labels.add_values(block, matrix)
            self.by_length.add_values(block, matrix)
        return total

    def confidence(self, n_columns: int) -> dict[str, list[float]]:
        """Bootstrap intervals; empty where none were asked for."""
        if not self.options.bootstrap:
            return {}
        found = self.resampled(n_columns, self.options.bootstrap)
        return {name: list(percentile_interval(values)) for name, values in found.items()}

    def resampled(self, n_columns: int, resamples: int) -> dict[str, NDArray[np.float64]]:
        """The headline figures of bootstrap samples; equal draws for equal numbers and seeds."""
        assert self.pairs is not None  # noqa: S101 - for the type checker
        resampler = Resampler(self.records, self.pairs, self.values(n_columns), n_columns)
        return resampler.figures(resamples, self.options.seed)

    def partitions(self, cells: Any, n_columns: int) -> dict[str, Any]:
        """The `partitions` part of a report; after `sums`."""
        values = self.values(n_columns)
        return {
            "label_frequency": [group.figures(cells, values) for group in self.label_groups],
            "document_labels": self.by_labels.figures(values),
            "document_length": self.by_length.figures(values),
        }

    def close(self) -> None:
        """Close the files."""
        self.records.close()
        self.store.close()
        if self.pairs is not None:
            self.pairs.close()

    def _recorded(self, chunk: ScoredChunk, pairs: Pairs) -> Records:
        ranked = TrueRanks.of(chunk.scores, chunk.truth)
        records = ranking_records(ranked, self.options.k, self.inverse)
        records["length"] = chunk.lengths
        records["dropped"] = chunk.dropped
        for name, kind in (("tp", TP), ("fp", FP), ("fn", FN)):
            records[name] = pairs.counts(kind, len(records))
        self.records.append(records)
        if self.pairs is not None:
            self.pairs.append(pairs)
        return records


def _inverse(info: JudgedModel, n_labels: int) -> NDArray[np.float64] | None:
    """Inverse propensities of the labels, and one more for every zero-shot label."""
    if info.training_counts is None or info.n_training_documents is None:
        return None
    counts = np.append(np.asarray(info.training_counts, np.int64)[:n_labels], 0)
    return inverse_propensities(counts, info.n_training_documents)

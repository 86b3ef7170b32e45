"""Measurement: takes chunks of scores and truth, keeps small sums, and records on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores, Truth
from app.evaluation.answered_labels import answered_calibration, answered_labels
from app.evaluation.kept.recorder import KeptRecorder
from app.evaluation.measure.certainty import Certainty
from app.evaluation.measure.confusion import Confusion
from app.evaluation.measure.decided_chunk import DecidedChunk, SparseQueue
from app.evaluation.measure.document_groups import DocumentGroups
from app.evaluation.measure.groups import DOCUMENT_LABELS, DOCUMENT_LENGTH
from app.evaluation.measure.hierarchy import Hierarchy
from app.evaluation.measure.label_groups import LabelGroup, branch_groups, label_groups
from app.evaluation.measure.tally import Integers, Tally, joined, part
from app.evaluation.measure.worst_documents import WorstDocuments
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.scorer import Scorer
from app.evaluation.storage.document_records import RECORD, DocumentRecords, Records
from app.evaluation.storage.score_chunks import ScoreChunks, chunks_of
from app.evaluation.storage.score_store import ScoreStore
from app.evaluation.suspects.evaluated import suspect_labels
from app.evaluation.suspects.suspect_list import Places
from app.hand_rules.rule_set import Verdict
from app.metrics.counting.cells import Cells
from app.metrics.counting.document_values import DocumentValues
from app.metrics.counting.label_counts import LabelCounts
from app.metrics.counting.pairs import Pairs
from app.metrics.counting.score_rows import ScoreRows
from app.metrics.counting.true_ranks import TrueRanks
from app.metrics.propensity import inverse_propensities

BLOCK = 4096


@dataclass(frozen=True)
class ScoredChunk:
    """Documents with their scores and truth, ready to be decided on."""

    ids: list[str | None]
    lines: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: Scores
    rows: ScoreRows
    """The same scores in the form that takes less."""
    truth: Truth
    dropped: Truth
    """Zero-shot labels that the truth leaves out."""
    verdicts: list[Verdict] | None = None
    """What hand-written rules say about each document; None: there are none."""
    part: int = 0
    """The number of the file that the documents are of."""


class Measurement:
    """Everything counted while the documents go by."""

    def __init__(
        self,
        scorer: Scorer,
        options: EvaluationOptions,
        info: JudgedModel,
        folder: Path,
        *,
        chunks: ScoreChunks | None = None,
    ) -> None:
        """Files go to a folder; `chunks` take the scores where they are to go elsewhere."""
        n_labels = len(answered_labels(scorer))
        self.options = options
        self.inverse = _inverse(info, n_labels)
        self.values = DocumentValues(options.k, options.averaging, self.inverse is not None)
        self.documents = DocumentRecords(folder)
        is_kept = options.keep is not None or options.bootstrap > 0
        self.recorder = KeptRecorder(options.keep or folder / "kept") if is_kept else None
        self.store = ScoreStore(folder, n_labels, options.max_scores)
        self.chunks = chunks
        self.counts = LabelCounts(n_labels)
        self.label_groups = label_groups(info.training_counts, self.inverse)
        self.branches = branch_groups(info.taxonomy, self.inverse)
        self.hierarchy = Hierarchy.of(info.taxonomy)
        self.by_labels = DocumentGroups("relevant", DOCUMENT_LABELS, n_labels)
        self.by_length = DocumentGroups("length", DOCUMENT_LENGTH, n_labels)
        self._queue = SparseQueue()
        self.confusion = Confusion(n_labels)
        self.worst = WorstDocuments(n_labels)
        calibration = answered_calibration(scorer)
        self.certainty = Certainty(calibration)
        self.suspects = suspect_labels(options.suspects, calibration, info)

    def keep_scores(self, rows: ScoreRows, truth: Truth) -> None:
        """Keep a chunk's scores for what needs all of a label."""
        if self.chunks is None:
            self.store.add(rows, truth)
        else:
            self.chunks.add(rows, truth)

    def add(self, chunk: ScoredChunk, marks: Marks, names: list[str]) -> None:
        """Measure one chunk and the decisions on it, now or together with later ones."""
        pairs = Pairs.of(marks, chunk.truth)
        decided = DecidedChunk(
            *(chunk.ids, chunk.lines, chunk.lengths, chunk.rows, chunk.truth, chunk.dropped),
            pairs=pairs,
        )
        for one in self._queue.add(decided):
            self._measure(one, names)

    def finish(self, names: list[str]) -> None:
        """Measure what still waits; after the last chunk."""
        for one in self._queue.rest():
            self._measure(one, names)

    def end_part(self, names: list[str]) -> None:
        """A file of the data ends: what is counted file by file is added to the rest."""
        self.finish(names)
        self.confusion.end_part()

    def tally(self) -> Tally:
        """What was measured of one file, to be merged into the measurement of all."""
        by_name = {name: one.tally() for name, one in self._tallied().items()}
        groups = {str(n): one.tally() for n, one in enumerate(self._groups())}
        if self.recorder is not None:
            by_name["recorder"] = self.recorder.tally()
        if self.chunks is not None:
            by_name["chunks"] = self.chunks.tally()
        return joined({**by_name, "groups": joined(groups)})

    def merge(self, tally: Tally, columns: Integers, first_line: int) -> None:
        """Add what was measured of a further file.

        `columns` are the places of its columns here, and its lines count on from `first_line`.
        """
        for name in ("documents", "counts", "by_labels", "by_length", "confusion"):
            getattr(self, name).merge(part(tally, name), columns)
        for name in ("worst", "suspects"):
            if getattr(self, name) is not None:
                getattr(self, name).merge(part(tally, name), first_line)
        self.certainty.merge(part(tally, "certainty"))
        if self.hierarchy is not None:
            self.hierarchy.merge(part(tally, "hierarchy"))
        for n, group in enumerate(self._groups()):
            group.merge(part(tally, f"groups/{n}"))
        if self.recorder is not None:
            self.recorder.merge(part(tally, "recorder"), columns, first_line)
        for rows, truth in chunks_of(part(tally, "chunks"), len(self.counts.tp)):
            self.store.add(rows, truth)

    def _groups(self) -> list[LabelGroup]:
        return [*self.label_groups, *self.branches]

    def _tallied(self) -> dict[str, Any]:
        """What has a tally, by name."""
        named = ("documents", "counts", "by_labels", "by_length", "confusion")
        further = ("worst", "certainty", "hierarchy", "suspects")
        found = {name: getattr(self, name) for name in (*named, *further)}
        return {name: one for name, one in found.items() if one is not None}

    def _measure(self, chunk: DecidedChunk, names: list[str]) -> None:
        scores, truth, pairs = chunk.rows, chunk.truth, chunk.pairs
        records = self._recorded(chunk)
        self.counts.add(len(records), pairs)
        if self.hierarchy is not None:
            self.hierarchy.add(pairs, names)
        for group in self._groups():
            group.add(scores, truth, pairs, self.values)
        for groups in (self.by_labels, self.by_length):
            groups.add(records, pairs)
        self.confusion.add(scores, truth, pairs)
        self.worst.add(Places(chunk.ids, chunk.lines), records, pairs, names)
        self.certainty.add(scores, truth, pairs)
        if self.suspects is not None:
            self.suspects.add(scores, truth, Places(chunk.ids, chunk.lines), names)

    def document_counts(self) -> NDArray[np.int32]:
        """(documents, 3): TP, FP, FN of each; labels that were left out count as missed here."""
        counts = np.empty((len(self.documents), 3), np.int32)
        for i, block in enumerate(self.documents.records(BLOCK)):
            rows = counts[i * BLOCK : i * BLOCK + len(block)]
            rows[:, 0], rows[:, 1] = block["tp"], block["fp"]
            rows[:, 2] = block["fn"] + block["dropped"]
        return counts

    def sums(self, n_columns: int) -> NDArray[np.float64]:
        """Summed columns of `DocumentValues` over all documents; those of their groups are kept.

        Done once, when the number of columns is known.
        """
        total = np.zeros(self.values.width)
        for records, ranked, cells in self.documents.blocks(BLOCK, n_columns, self.inverse):
            matrix = self.values.matrix(ranked, cells)
            total += matrix.sum(axis=0)
            for groups in (self.by_labels, self.by_length):
                groups.add_values(records, matrix)
        return total

    def partitions(self, cells: Cells, n_columns: int) -> dict[str, Any]:
        """The `partitions` part of a report; after `sums`."""
        branches = [group.figures(cells, self.values) for group in self.branches]
        return {
            "label_frequency": [group.figures(cells, self.values) for group in self.label_groups],
            "document_labels": self.by_labels.figures(self.values, n_columns),
            "document_length": self.by_length.figures(self.values, n_columns),
            **({"branch": branches} if branches else {}),
        }

    def hierarchical(self) -> dict[str, Any]:
        """The figures of sets extended by their ancestors, for `decisions`; empty without any."""
        if self.hierarchy is None:
            return {}
        return {"hierarchical": self.hierarchy.counts.figures(self.options.averaging)}

    def close(self) -> None:
        """Close the files."""
        for file in (self.documents, self.store, self.recorder):
            if file is not None:
                file.close()

    def _recorded(self, chunk: DecidedChunk) -> Records:
        """The records of a chunk, kept on disk with the ranks of its true labels."""
        ranked, pairs = TrueRanks.of_rows(chunk.rows, chunk.truth), chunk.pairs
        records = np.empty(len(chunk.ids), RECORD)
        cells = pairs.cells(len(records), 0)
        records["tp"], records["fp"], records["fn"] = cells.tp, cells.fp, cells.fn
        records["relevant"] = ranked.relevant
        records["length"], records["dropped"] = chunk.lengths, np.diff(chunk.dropped.indptr)
        self.documents.append(records, ranked)
        if self.recorder is not None:
            self.recorder.add(chunk, ranked)
        return records


def _inverse(info: JudgedModel, n_labels: int) -> NDArray[np.float64] | None:
    """Inverse propensities of the labels, and one more for every zero-shot label."""
    if info.training_counts is None or info.n_training_documents is None:
        return None
    counts = np.append(np.asarray(info.training_counts, np.int64)[:n_labels], 0)
    return inverse_propensities(counts, info.n_training_documents)

"""evaluate: documents are read, scored and counted in chunks; memory does not grow with them."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from app.errors import InvalidDataError
from app.evaluation.chunks import TestDocument, chunks, inputs, length
from app.evaluation.deciders import decider
from app.evaluation.decision_figures import decision_figures
from app.evaluation.measurement import Measurement
from app.evaluation.options import EvaluationOptions, ModelInfo
from app.evaluation.report import Report
from app.evaluation.scorer import Decider, Scorer
from app.evaluation.truth import TruthReader
from app.metrics.contingency import Cells
from app.progress import Progress, silent


def evaluate(
    scorer: Scorer,
    documents: Iterable[TestDocument],
    options: EvaluationOptions | None = None,
    *,
    info: ModelInfo | None = None,
    progress: Progress = silent,
    scratch: Path | None = None,
) -> Report:
    """The report on these documents. Files in `scratch` are removed, also after an error."""
    options, info = options or EvaluationOptions(), info or ModelInfo()
    decision = decider(options.decision, scorer)
    with tempfile.TemporaryDirectory(prefix="evaluation-", dir=scratch) as folder:
        run = Run(scorer, decision, options, info, Path(folder))
        run.read(documents, progress)
        return run.report(documents)


class Run:
    """One evaluation under way."""

    def __init__(
        self,
        scorer: Scorer,
        decision: Decider,
        options: EvaluationOptions,
        info: ModelInfo,
        folder: Path,
    ) -> None:
        self.scorer, self.decision, self.options, self.info = scorer, decision, options, info
        self.truth = TruthReader(scorer.labels, options.include_test_labels)
        self.measurement = Measurement(len(scorer.labels), options, info, folder)
        self.seconds = dict.fromkeys(("read", "vectorize", "score", "measure"), 0.0)

    def read(self, documents: Iterable[TestDocument], progress: Progress) -> None:
        """Measure every document."""
        clock, done = perf_counter(), 0
        for chunk in chunks(self._kept(documents), len(self.scorer.labels)):
            clock = self._took("read", clock)
            scores = self.scorer.scores(inputs(chunk, self.scorer), jobs=self.options.jobs)
            clock = self._took("score", clock)
            truth = self.truth.read([document.labels for document in chunk])
            lengths = np.array([length(document) for document in chunk])
            self.measurement.add(scores, truth, lengths, self.decision)
            done += len(chunk)
            progress("evaluate", done, 0)
            clock = self._took("measure", clock)
        if not done:
            raise InvalidDataError("there are no documents to evaluate")

    def report(self, documents: Any) -> Report:
        """Everything that was found."""
        clock, n = perf_counter(), self.truth.n_columns
        cells = self.measurement.counts.cells(n)
        values, sums = self.measurement.values(n), self.measurement.sums(n)
        total = dict(zip(values.names, sums.tolist(), strict=True))
        n_documents = int(total["documents"])
        subset = total["subset"] / n_documents
        content: dict[str, Any] = {
            "model": self.info.name,
            "version": self.info.version,
            "conventions": self._conventions(),
            "data": self._data(n_documents, documents),
            "ranking": values.ranking(sums),
            "decisions": decision_figures(
                cells, values.samples(sums), subset, self.options.averaging
            ),
            "labels": self._labels(cells),
            "confidence": {},
            "warnings": [],
        }
        self._took("measure", clock)
        return Report({**content, "seconds": self.seconds})

    def _kept(self, documents: Iterable[TestDocument]) -> Iterable[TestDocument]:
        for document in documents:
            if document.labels or self.options.unlabelled == "keep":
                yield document
            else:
                self.truth.unlabelled += 1

    def _took(self, stage: str, since: float) -> float:
        now = perf_counter()
        self.seconds[stage] += now - since
        return now

    def _conventions(self) -> dict[str, Any]:
        zero = self.options.zero_division
        return {
            "labels": "trained and test" if self.options.include_test_labels else "trained",
            "zero_division": zero if zero == "skip" else int(zero),
            "ties": "label order",
            "exact_curves": True,
        }

    def _data(self, n_documents: int, documents: Any) -> dict[str, Any]:
        found = getattr(documents, "summary", None)
        return {
            "documents": n_documents,
            "labels": self.truth.n_columns,
            "pairs": self.truth.pairs,
            "unlabelled": self.truth.unlabelled,
            "zero_shot_labels": len(self.truth.zero_shot),
            "zero_shot_pairs": self.truth.zero_shot.total(),
            "skipped": getattr(found, "skipped", 0),
            "skipped_lines": [fault.line for fault in getattr(found, "skipped_lines", ())],
            "seen_in_training": 0,
            "sha256": getattr(found, "sha256", ""),
        }

    def _labels(self, cells: Cells) -> list[dict[str, Any]]:
        averaging, cuts = self.options.averaging, self.decision.cuts
        columns = {name: averaging.values(name, cells) for name in ("precision", "recall", "f1")}
        return [
            {
                "label": name,
                "training_documents": self._trained(i),
                "support": cells.support[i],
                **{cell: getattr(cells, cell)[i] for cell in ("tp", "fp", "fn", "tn")},
                **{measure: values[i] for measure, values in columns.items()},
                "average_precision": None,
                "threshold": float(cuts[i]) if cuts is not None and i < len(cuts) else None,
            }
            for i, name in enumerate(self.truth.names)
        ]

    def _trained(self, column: int) -> int | None:
        counts = self.info.training_counts
        if counts is None:
            return None
        return int(counts[column]) if column < len(counts) else 0

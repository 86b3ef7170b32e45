"""assemble: what was measured, put together under the names of docs/metrics.md."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from app.datasets.base import Summary
from app.evaluation.deciders import Abstaining
from app.evaluation.measure.columns import ColumnFigures, curves
from app.evaluation.measure.measurement import Measurement
from app.evaluation.measure.truth import TruthReader
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.cautions import cautions
from app.evaluation.report.report import Report, json_safe
from app.evaluation.scorer import Decider
from app.evaluation.storage.score_store import Error
from app.metrics.contingency import Cells
from app.metrics.decision_figures import decision_figures


@dataclass(frozen=True)
class Findings:
    """What a run knows beside its measurement."""

    options: EvaluationOptions
    info: JudgedModel
    truth: TruthReader
    decision: Decider
    seconds: dict[str, float]
    seen: int


def assemble(found: Findings, measurement: Measurement, summary: Summary) -> Report:
    """The report; the summary is of how the documents were read."""
    clock = perf_counter()
    n = found.truth.n_columns
    order = np.array(found.truth.order, np.int64)
    cells = measurement.counts.cells(n)
    columns, error = measurement.store.figures(cells.support)
    values, sums = measurement.values(n), measurement.sums(n)
    decisions = decision_figures(
        cells, values.samples(sums), values.subset_accuracy(sums), found.options.averaging
    )
    content: dict[str, Any] = {
        "model": found.info.name,
        "version": found.info.version,
        "conventions": _conventions(found, error),
        "data": _data(found, measurement.records.length, summary),
        "ranking": values.ranking(sums),
        "decisions": {**decisions, "break_even": columns.break_even._asdict()},
        "curves": curves(columns.hulls),
        "risk_coverage": measurement.certainty.risk_coverage(),
        "calibration": measurement.certainty.calibration_figures(),
        "labels": _labels(found, cells.take(order), columns, order),
        "partitions": measurement.partitions(cells, n),
        "confusion": measurement.confusion.matrix(found.truth.names),
        "confidence": measurement.confidence(n),
    }
    content = json_safe(content)
    content["warnings"] = cautions(content, _beside(found, error))
    found.seconds["measure"] += perf_counter() - clock
    content["seconds"] = dict(found.seconds)
    return Report(
        content,
        decision=found.decision.name,
        most_confused=measurement.confusion.most_confused(found.truth.names),
        worst_documents=measurement.worst.listed(),
        document_counts=measurement.document_counts(),
    )


def _conventions(found: Findings, error: Error | None) -> dict[str, Any]:
    zero = found.options.zero_division
    return {
        "labels": found.info.labels + (" and test" if found.options.include_test_labels else ""),
        "zero_division": zero if zero == "skip" else int(zero),
        "ties": "label order",
        "exact_curves": error is None,
        "decision": found.decision.name,
        "beta": found.options.beta,
        "unlabelled": found.options.unlabelled,
    }


def _data(found: Findings, n_documents: int, summary: Summary) -> dict[str, Any]:
    faults = summary.skipped_lines
    truth = found.truth
    return {
        "documents": n_documents,
        "labels": truth.n_columns,
        "pairs": truth.pairs,
        "unlabelled": max(truth.unlabelled, summary.unlabelled),
        "zero_shot_labels": len(truth.zero_shot),
        "zero_shot_pairs": truth.zero_shot.total(),
        "skipped": summary.skipped,
        "skipped_lines": [{"line": fault.line, "problem": fault.problem} for fault in faults],
        "seen_in_training": found.seen,
        "sha256": summary.sha256,
    }


def _labels(
    found: Findings, cells: Cells, columns: ColumnFigures, order: Any
) -> list[dict[str, Any]]:
    """One entry a column; a zero-shot label has no cut, and is never found."""
    averaging, names, cuts = found.options.averaging, found.truth.names, found.decision.cuts
    known, listed = len(found.truth.labels), order.tolist()
    table = {
        "label": [names[column] for column in listed],
        "training_documents": [_trained(found.info, column) for column in listed],
        "support": cells.support.tolist(),
        **{name: getattr(cells, name).tolist() for name in ("tp", "fp", "fn", "tn")},
        **{name: averaging.values(name, cells).tolist() for name in ("precision", "recall", "f1")},
        "average_precision": [*columns.average_precision, *[0.0] * (len(listed) - known)],
        "threshold": _cuts(cuts, known, len(listed)),
    }
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _cuts(cuts: Any, known: int, n: int) -> list[float | None]:
    if cuts is None:
        return [None] * n
    return [*np.asarray(cuts, np.float64).tolist(), *[None] * (n - known)]


def _trained(info: JudgedModel, column: int) -> int | None:
    if info.training_counts is None:
        return None
    return int(info.training_counts[column]) if column < len(info.training_counts) else 0


def _beside(found: Findings, error: Error | None) -> dict[str, Any]:
    abstained = {}
    if isinstance(found.decision, Abstaining):
        abstained = {"held_back": found.decision.held_back, "assigned": found.decision.assigned}
    return {"error": error, "other": found.info.cautions, **abstained}

"""assemble: what was measured, put together under the names of docs/metrics.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from app.datasets.base import Summary
from app.decisions.tuning.cost import least_cost
from app.decisions.tuning.micro_f import Steps
from app.evaluation.deciders import Abstaining
from app.evaluation.kept.counted_documents import CountedDocuments
from app.evaluation.kept.resampling import resampled_figures
from app.evaluation.measure.columns import ColumnFigures, ErrorBounds
from app.evaluation.measure.measurement import Measurement
from app.evaluation.measure.truth import TruthReader
from app.evaluation.options import EvaluationOptions, JudgedModel
from app.evaluation.report.cautions import cautions
from app.evaluation.report.curves import curves
from app.evaluation.report.report import Report, json_safe
from app.evaluation.scorer import Decider
from app.evaluation.suspects.evaluated import NO_SUSPECTS
from app.metrics.break_even import break_even_per_label
from app.metrics.costs import CostTable, cost_figures
from app.metrics.counting.averages import label_measures, measure
from app.metrics.counting.cells import Cells
from app.metrics.counting.decision_figures import decision_figures
from app.metrics.significance.bootstrap import percentile_interval


@dataclass(frozen=True)
class RunContext:
    """What an evaluation knows besides its measurement: how it was asked, and of what."""

    options: EvaluationOptions
    info: JudgedModel
    truth: TruthReader
    decision: Decider
    seconds: dict[str, float]
    seen: int
    drift: Sequence[dict[str, Any]] = ()
    """How far the documents are from held-out ones, by measure; empty: not known."""


def assemble(run: RunContext, measurement: Measurement, summary: Summary) -> Report:
    """The report; the summary is of how the documents were read."""
    clock = perf_counter()
    n = run.truth.n_columns
    order = np.array(run.truth.order, np.int64)
    cells = measurement.counts.cells(n)
    columns, error = measurement.store.figures(cells.support)
    sums = measurement.sums(n)
    decisions = decision_figures(cells, measurement.values, sums)
    content: dict[str, Any] = {
        "model": run.info.name,
        "version": run.info.version,
        "conventions": _conventions(run, error),
        "data": _data(run, len(measurement.documents), summary),
        "ranking": measurement.values.ranking(sums),
        "decisions": {**decisions, **_break_even(columns), **measurement.hierarchical()},
        "curves": curves(columns.hulls),
        "risk_coverage": measurement.certainty.risk_coverage(),
        "calibration": measurement.certainty.calibration_figures(),
        "labels": _labels(run, cells.take(order), columns, order),
        "partitions": measurement.partitions(cells, n),
        "confusion": measurement.confusion.matrix(run.truth.names),
        "most_confused": measurement.confusion.most_confused(run.truth.names),
        "worst_documents": measurement.worst.listed(),
        "confidence": _confidence(measurement, n),
    }
    if run.drift:
        content["drift"] = list(run.drift)
    if run.options.suspects:
        content["suspects"] = _suspects(measurement)
    _add_costs(content, run, cells, columns)
    content = json_safe(content)
    content["warnings"] = [
        *cautions(content, _unreported(run, measurement, error)),
        *summary.warnings,
    ]
    run.seconds["measure"] += perf_counter() - clock
    content["seconds"] = dict(run.seconds)
    return Report(
        content,
        decision=run.decision.name,
        document_counts=measurement.document_counts(),
    )


def _conventions(run: RunContext, error: ErrorBounds | None) -> dict[str, Any]:
    zero = run.options.zero_division
    return {
        "labels": run.info.labels + (" and test" if run.options.include_test_labels else ""),
        "zero_division": zero if zero == "skip" else int(zero),
        "ties": "label order",
        "exact_curves": error is None,
        "decision": run.decision.name,
        "beta": run.options.beta,
        "unlabelled": run.options.unlabelled,
    }


def _confidence(measurement: Measurement, n_columns: int) -> dict[str, list[float]]:
    """Bootstrap intervals; empty where none were asked for."""
    options, recorder = measurement.options, measurement.recorder
    if recorder is None or not options.bootstrap:
        return {}
    counted = CountedDocuments(
        recorder.documents(), measurement.values, n_columns, measurement.inverse
    )
    resampled, *_ = resampled_figures([counted], options.bootstrap, options.seed)
    return {name: list(percentile_interval(values)) for name, values in resampled.items()}


def _suspects(measurement: Measurement) -> list[dict[str, Any]]:
    found = measurement.suspects
    return [one.as_dict() for one in found.listed()] if found is not None else []


def _break_even(columns: ColumnFigures) -> dict[str, Any]:
    """The break-even point of one cut for all labels, and that of one cut a label."""
    steps = Steps.of(columns.hulls)
    own = break_even_per_label(steps.tp, steps.fp, steps.positives)
    return {"break_even": columns.break_even._asdict(), "break_even_per_label": own._asdict()}


def _data(run: RunContext, n_documents: int, summary: Summary) -> dict[str, Any]:
    faults = summary.skipped_lines
    truth = run.truth
    return {
        "documents": n_documents,
        "labels": truth.n_columns,
        "pairs": truth.pairs,
        "unlabelled": max(truth.unlabelled, summary.unlabelled),
        "zero_shot_labels": len(truth.zero_shot),
        "zero_shot_pairs": truth.zero_shot.total(),
        "skipped": summary.skipped,
        "skipped_lines": [{"line": fault.line, "problem": fault.problem} for fault in faults],
        "seen_in_training": run.seen,
        "sha256": summary.sha256,
        **({"label_separator": summary.label_separator} if summary.label_separator else {}),
    }


def _labels(
    run: RunContext, cells: Cells, columns: ColumnFigures, order: Any
) -> list[dict[str, Any]]:
    """One entry a column; a zero-shot label has no cut, and is never assigned."""
    averaging, names, cuts = run.options.averaging, run.truth.names, run.decision.cuts
    listed = order.tolist()
    table = {
        "label": [names[column] for column in listed],
        **_names(run.info, listed),
        "training_documents": [_trained(run.info, column) for column in listed],
        "support": cells.support.tolist(),
        **{name: getattr(cells, name).tolist() for name in ("tp", "fp", "fn", "tn")},
        **{name: measure(name, cells, averaging).tolist() for name in label_measures()},
        **{name: [values[column] for column in listed] for name, values in columns.labels.items()},
        "threshold": _cuts(cuts, len(run.truth.labels), len(listed)),
    }
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _names(info: JudgedModel, columns: list[int]) -> dict[str, list[str | None]]:
    """What the labels are called; nothing where the model has no labels file."""
    if info.taxonomy is None:
        return {}
    known, names = len(info.taxonomy.labels), info.taxonomy.names
    return {"name": [names[c] or None if c < known else None for c in columns]}


def _add_costs(
    content: dict[str, Any], run: RunContext, cells: Cells, columns: ColumnFigures
) -> None:
    """The part `costs`, and each label's cost, where it is known what errors cost."""
    table = _costs(run)
    if table is None:
        return
    costs = table.of(run.truth.names)
    content["costs"] = cost_figures(cells, costs, least_cost(columns.hulls, costs))
    by_label = costs.of(cells.fp, cells.fn)[run.truth.order].tolist()
    for entry, cost in zip(content["labels"], by_label, strict=True):
        entry["cost"] = cost


def _costs(run: RunContext) -> CostTable | None:
    return run.options.costs or run.info.costs


def _cuts(cuts: Any, known: int, n: int) -> list[float | None]:
    if cuts is None:
        return [None] * n
    return [*np.asarray(cuts, np.float64).tolist(), *[None] * (n - known)]


def _trained(info: JudgedModel, column: int) -> int | None:
    if info.training_counts is None:
        return None
    return int(info.training_counts[column]) if column < len(info.training_counts) else 0


def _unreported(
    run: RunContext, measurement: Measurement, error: ErrorBounds | None
) -> dict[str, Any]:
    abstained = {}
    if isinstance(run.decision, Abstaining):
        abstained = {"held_back": run.decision.held_back, "assigned": run.decision.assigned}
    costs, known = _costs(run), (*run.truth.names, *run.truth.zero_shot)
    unknown = costs.unknown(known) if costs else ()
    other, hidden = (*run.info.cautions, *unknown), run.truth.hidden_pairs
    if run.options.suspects and measurement.suspects is None:
        other = (*other, NO_SUSPECTS)
    return {"error": error, "other": other, "hidden_pairs": hidden, **abstained}

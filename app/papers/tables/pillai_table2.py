"""Pillai et al. (2013), Table 2 and Figure 2: what Algorithm 1 costs, and its value per sweep."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.evaluation.report.svg import line_plot
from app.papers.experiments import Experiments, ScoredRun
from app.papers.pillai import METHODS, SAME_DATA, f1_on_test, runs_of, why_absent
from app.papers.rows import Measured, PaperRow, PaperTable, absent
from app.papers.sweeps import Sweep, sweeps
from app.papers.tables.pillai_table4 import by_frequency

PUBLISHED = {
    "Reuters": ((1.13, 0.0), (4.0, 0.0)),
    "Ohsumed": ((1.46, 0.04), (4.6, 0.5)),
    "RCV1v2": ((1.25, 0.03), (4.2, 0.4)),
    "Yeast": ((1.94, 0.17), (3.3, 0.5)),
    "Scene": ((1.46, 0.05), (3.1, 0.3)),
}
COST, SWEEPS = "thresholds tried / N(n + 1)", "sweeps over all labels"
SHORT_CUT = "maximum less that of the sorted list"


def pillai_table2(experiments: Experiments) -> PaperTable:
    """Both rows of the table for every collection, and that the short cut finds the same maximum"""
    rows: list[PaperRow] = []
    series: dict[str, Any] = {}
    for data, published in PUBLISHED.items():
        why = why_absent(experiments, data)
        if why:
            cells = zip((COST, SWEEPS), published, strict=True)
            rows += [absent(f"{data}, {name}", value, why, sd) for name, (value, sd) in cells]
            continue
        runs = runs_of(experiments, data)
        rows += _rows(data, runs)
        series[data] = _series(runs[0])
    figures = {f"{data}: micro-F1 after each sweep": _figure(own) for data, own in series.items()}
    title = "Pillai et al. 2013, Table 2: the cost of Algorithm 1 (SVM)"
    return PaperTable("pillai-table2", title, rows, NOTES, figures, series)


NOTES = [
    "Algorithm 1 is run as it is printed; the product finds the same maximum by one sorted list, "
    "which has no sweeps",
    "Figure 2 prints no numbers; `series` has the values after each sweep of the first run, on "
    "validation data with labels by number, by rising and by falling frequency, and on test data",
]


def _rows(data: str, runs: Sequence[ScoredRun]) -> list[PaperRow]:
    done = [sweeps(run.held_out) for run in runs]
    size = [run.held_out.n_labels * (run.held_out.n_documents + 1) for run in runs]
    seconds = sum(run.seconds for run in runs)
    values = {
        COST: [own[-1].n_tried / most for own, most in zip(done, size, strict=True)],
        SWEEPS: [float(len(own)) for own in done],
    }
    rows = [
        PaperRow(
            f"{data}, {name}",
            value,
            Measured.over_runs(values[name], seconds),
            SAME_DATA[data],
            METHODS[data]["SVM"].same,
            sd,
            digits=2,
        )
        for name, (value, sd) in zip((COST, SWEEPS), PUBLISHED[data], strict=True)
    ]
    return [*rows, PaperRow(f"{data}, {SHORT_CUT}", 0.0, _short_cut(runs, done), digits=6)]


def _short_cut(runs: Sequence[ScoredRun], done: Sequence[list[Sweep]]) -> Measured:
    """The largest difference of the two maxima over all runs."""
    differences = [
        own[-1].value - micro_f(run.hulls, micro_f_vertices(run.hulls))
        for run, own in zip(runs, done, strict=True)
    ]
    return Measured(max(differences, key=abs))


def _series(run: ScoredRun) -> dict[str, list[float]]:
    falling = by_frequency(np.diff(run.held_out.truth.indptr))
    orders = {"by number": None, "rising": falling[::-1].tolist(), "falling": falling.tolist()}
    done = {name: sweeps(run.held_out, order) for name, order in orders.items()}
    values = {f"validation, {name}": [s.value for s in own] for name, own in done.items()}
    return {**values, "test, by number": [f1_on_test(run, s.cuts) for s in done["by number"]]}


def _figure(series: dict[str, list[float]]) -> str:
    """The values over the sweeps, both axes from 0 to 1: the last sweep is at 1."""
    last = max(len(values) for values in series.values())
    lines = {
        name: [((place + 1) / last, value) for place, value in enumerate(values)]
        for name, values in series.items()
    }
    return line_plot("Micro-F1 after each sweep", f"sweep / {last}", "micro-F1", lines)

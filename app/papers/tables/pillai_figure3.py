"""Pillai et al. (2013), Figures 3 and 4: precision–recall curves on validation and test data."""

import math
from typing import NamedTuple

import numpy as np

from app.arrays import Marks
from app.decisions.tuning.macro_f import macro_f_vertices
from app.decisions.tuning.micro_f import micro_f_vertices
from app.decisions.tuning.pr_curve import macro_figures, micro_figures
from app.evaluation.report.svg import line_plot
from app.papers.experiments import Experiments, ScoredRun
from app.papers.pillai import FOLDERS, METHODS, SAME_DATA, why_absent
from app.papers.rows import Measured, PaperRow, PaperTable, absent

M = 11
"""2M − 1 = 21 values of β between the two fixed ends, as the paper has them."""
DATA = ("Reuters", "Ohsumed", "RCV1v2", "Yeast", "Scene")
LARGEST = {"micro": 0.05, "macro": 0.07}
UNASSIGNED = {
    "": 0.0,
    ", 1 for a label without assignments": 1.0,
    ", labels without assignments left out": math.nan,
}
"""The precision of a label that no test document is given, which the paper does not say."""
BEST = {"micro": (micro_f_vertices, micro_figures), "macro": (macro_f_vertices, macro_figures)}


class CurveOfBetas(NamedTuple):
    """(precision, recall) on validation and on test data for every β, rising."""

    validation: list[tuple[float, float]]
    test: list[tuple[float, float]]

    def largest_gap(self) -> float:
        """The largest difference of the precisions for the same β."""
        pairs = zip(self.validation, self.test, strict=True)
        return max(abs(one[0] - other[0]) for one, other in pairs)


def pillai_figure3(experiments: Experiments) -> PaperTable:
    """The curves of every collection; of Reuters how far validation and test lie apart."""
    rows: list[PaperRow] = []
    figures, series = {}, {}
    for data in DATA:
        why = why_absent(experiments, data)
        for average in LARGEST:
            if why:
                rows.append(absent(_cell(data, average), _published(data, average), why))
                continue
            run = experiments.whole(FOLDERS[data], METHODS[data]["SVM"])
            curve = curve_of_betas(run, average)
            rows += _gaps(run, data, average)
            figures[f"{data}, {average}"] = _figure(data, average, curve)
            series[f"{data}, {average}"] = curve._asdict()
    title = "Pillai et al. 2013, Figures 3 and 4: precision–recall curves (SVM)"
    return PaperTable("pillai-figure3", title, rows, NOTES, figures, series)


NOTES = [
    "One run, fitted to the whole training set; cuts of the highest F_β on validation data, "
    f"{2 * M - 1} values of β. Precision of a label without assignments counts 0, as in every "
    "report of ours, but where a row says otherwise",
    "The paper prints no numbers of its curves but those of Reuters: precision for the same β "
    "differs by at most .05 (micro) and .07 (macro) from validation to test",
]


def _cell(data: str, average: str, how: str = "") -> str:
    return f"{data}, {average}: largest gap in precision{how}"


def _published(data: str, average: str) -> float | None:
    return LARGEST[average] if data == "Reuters" else None


def _gaps(run: ScoredRun, data: str, average: str) -> list[PaperRow]:
    """The largest gap; of macro averages by every precision of a label without assignments."""
    rows = []
    for how, unassigned in UNASSIGNED.items() if average == "macro" else [("", 0.0)]:
        gap = curve_of_betas(run, average, unassigned).largest_gap()
        rows.append(
            PaperRow(
                _cell(data, average, how),
                _published(data, average),
                Measured(gap, seconds=run.seconds),
                SAME_DATA[data],
                METHODS[data]["SVM"].same,
            )
        )
    return rows


def curve_of_betas(run: ScoredRun, average: str, unassigned: float = 0.0) -> CurveOfBetas:
    """Precision and recall at the cuts of every β.

    On validation data every label that has a document is assigned to one.
    """
    vertices_of, figures = BEST[average]
    betas = [math.tan(math.pi / 2 - k * math.pi / (4 * M)) ** 1.5 for k in range(1, 2 * M)]
    validation, test = [], []
    for beta in sorted(betas):
        vertices = vertices_of(run.hulls, beta)
        validation.append(figures(run.hulls, vertices))
        marks = run.scores > run.hulls.cuts[vertices]
        test.append(on_test(marks, run.truth.toarray(), average, unassigned))
    return CurveOfBetas(validation, test)


def on_test(marks: Marks, true: Marks, average: str, unassigned: float) -> tuple[float, float]:
    """Precision and recall on the test set; macro over labels with a test document."""
    tp, assigned, positives = ((cell.sum(axis=0)) for cell in (marks & true, marks, true))
    if average == "micro":
        return tp.sum() / max(assigned.sum(), 1), tp.sum() / max(positives.sum(), 1)
    known = positives > 0
    precision = np.where(assigned > 0, tp / np.maximum(assigned, 1), unassigned)[known]
    counted = precision[~np.isnan(precision)]
    recall = float((tp[known] / positives[known]).mean())
    return float(counted.mean()) if len(counted) else 0.0, recall


def _figure(data: str, average: str, curve: CurveOfBetas) -> str:
    lines = {
        name: [(recall, precision) for precision, recall in points]
        for name, points in curve._asdict().items()
    }
    return line_plot(f"{data}, {average}", "recall", "precision", lines)

"""Lewis (1991), Tables 2 and 3: recall, precision and fallout of one document, worked out."""

import numpy as np

from app.metrics.contingency import fallout, precision, recall
from app.metrics.counting.cells import Averaging, Cells
from app.papers.experiments import Experiments
from app.papers.rows import Measured, PaperRow, PaperTable

CORRECT = "AB"
LETTERS = "ABCDEFGHIJKL"
MEASURES = {"recall": recall, "precision": precision, "fallout": fallout}
PUBLISHED = (
    ("Table 2, 4 categories", 4, "AC", (50, 50, 50)),
    ("Table 2, 8 categories", 8, "AC", (50, 50, 16)),
    ("Table 2, 12 categories", 12, "AC", (50, 50, 10)),
    ("Table 3, 4 categories", 4, "AC", (50, 50, 50)),
    ("Table 3, 8 categories", 8, "ACEF", (50, 25, 50)),
    ("Table 3, 12 categories, six assigned", 12, "ACEFIJ", (50, 16, 50)),
    ("Table 3, 12 categories, seven assigned", 12, "ACEFIJK", (50, 16, 50)),
)
MISPRINT = "differs: seven categories are printed, of which the figures fit six"


def lewis(experiments: Experiments) -> PaperTable:
    """Every cell in per cent, by the metrics of every report. No data are read."""
    rows = [
        PaperRow(
            f"{name}: {measure}",
            float(value),
            Measured(100 * lewis_figure(n_categories, assigned, measure)),
            same_method=MISPRINT if "seven" in name else "yes",
            digits=1,
        )
        for name, n_categories, assigned, published in PUBLISHED
        for measure, value in zip(MEASURES, published, strict=True)
    ]
    return PaperTable("lewis", "Lewis 1991, Tables 2 and 3: one document, per cent", rows, NOTES)


NOTES = ["The paper cuts decimals off: 16.7 is printed as 16"]


def lewis_figure(n_categories: int, assigned: str, measure: str) -> float:
    """A measure of the document's one contingency table.

    >>> lewis_figure(4, "AC", "fallout")
    0.5
    """
    names = LETTERS[:n_categories]
    decided = np.array([name in assigned for name in names])
    true = np.array([name in CORRECT for name in names])
    counts = (decided & true, decided & ~true, ~decided & true, ~decided & ~true)
    cells = Cells(*(np.array([count.sum()]) for count in counts))
    return float(MEASURES[measure](cells, Averaging())[0])

"""Measures of a contingency table: a = TP, b = FP, c = FN, d = TN (Lewis 1991, Yang 1999).

Each is one formula, computed for every table at once. `Averaging` says what 0/0 counts as.
"""

from dataclasses import replace

from app.metrics.base import Measure
from app.metrics.counting.cells import Averaging, Cells, Values


def precision(cells: Cells, averaging: Averaging) -> Values:
    """a / (a + b): the share of assigned pairs that are true; 0/0 where nothing is assigned."""
    return averaging.ratio(cells.tp, cells.tp + cells.fp)


def recall(cells: Cells, averaging: Averaging) -> Values:
    """a / (a + c): the share of true pairs that are assigned; 0/0 where nothing is true."""
    return averaging.ratio(cells.tp, cells.tp + cells.fn)


def f_beta(cells: Cells, averaging: Averaging) -> Values:
    """(1+β²)a / ((1+β²)a + b + β²c); 0/0 where nothing is assigned and nothing true."""
    square = averaging.beta * averaging.beta
    top = (1 + square) * cells.tp
    return averaging.ratio(top, top + cells.fp + square * cells.fn)


def f1(cells: Cells, averaging: Averaging) -> Values:
    """F_β with β = 1, whatever β was asked for."""
    return f_beta(cells, replace(averaging, beta=1.0))


def fallout(cells: Cells, averaging: Averaging) -> Values:
    """b / (b + d): the share of other pairs that are assigned; 0/0 where every pair is true."""
    return averaging.ratio(cells.fp, cells.fp + cells.tn)


def overlap(cells: Cells, averaging: Averaging) -> Values:
    """a / (a + b + c), the Jaccard index; 0/0 where nothing is assigned and nothing true.

    >>> import numpy as np
    >>> overlap(Cells(*(np.array([n]) for n in (1, 1, 1, 1))), Averaging()).round(4).tolist()
    [0.3333]
    """
    return averaging.ratio(cells.tp, cells.tp + cells.fp + cells.fn)


def accuracy(cells: Cells, averaging: Averaging) -> Values:
    """(a + d) / n: the share of right decisions; 0/0 without decisions."""
    right = cells.tp + cells.tn
    return averaging.ratio(right, right + cells.fp + cells.fn)


def error(cells: Cells, averaging: Averaging) -> Values:
    """(b + c) / n: the share of wrong decisions, the Hamming loss; 0/0 without decisions."""
    wrong = cells.fp + cells.fn
    return averaging.ratio(wrong, wrong + cells.tp + cells.tn)


PRECISION = Measure(precision, title="prec.", intervals=("micro",))
RECALL = Measure(recall, intervals=("micro",))
F1 = Measure(f1, title="F1")
F_BETA = Measure(f_beta, title="Fβ", is_per_label=False, intervals=())
FALLOUT = Measure(fallout, is_per_label=False, intervals=(), is_loss=True)
OVERLAP = Measure(overlap, is_per_label=False, intervals=())
ACCURACY = Measure(accuracy, title="acc.", is_per_label=False, intervals=())
ERROR = Measure(error, is_per_label=False, intervals=(), is_loss=True)

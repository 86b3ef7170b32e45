"""Figures of a whole set of decisions that no average of a measure gives."""

import math

import numpy as np

from app.metrics.base import DecisionMetric, DocumentDecisionMetric
from app.metrics.contingency import precision, recall
from app.metrics.counting.averages import label_measures, measure, nan_mean
from app.metrics.counting.cells import Averaging, Cells, Values


def subset_accuracy(cells: Cells) -> Values:
    """1 for each document whose decisions are all right, else 0."""
    return np.asarray((cells.fp == 0) & (cells.fn == 0), np.float64)


def macro_star_f1(cells: Cells, averaging: Averaging) -> float | None:
    """Harmonic mean of macro-precision and macro-recall: less suitable (Opitz & Burst 2021)."""
    macro_precision = nan_mean(precision(cells, averaging))
    macro_recall = nan_mean(recall(cells, averaging))
    if macro_precision is None or macro_recall is None:
        return None
    total = macro_precision + macro_recall
    return 2 * macro_precision * macro_recall / total if total else 0.0


def labels_skipped(cells: Cells, averaging: Averaging) -> dict[str, int]:
    """How many labels each macro figure leaves out because 0/0 is skipped; 0 otherwise."""
    return {name: int(np.isnan(measure(name, cells, averaging)).sum()) for name in label_measures()}


def rejector_accuracy(cells: Cells, averaging: Averaging) -> float | None:
    """Accuracy of never assigning anything (Yang 1999, section 3.4); None without decisions."""
    total = cells.total()
    n = int(total.tp[0] + total.fp[0] + total.fn[0] + total.tn[0])
    return 1 - int(total.support[0]) / n if n else None


MACRO_STAR_F1 = DecisionMetric(macro_star_f1, title="macro*-F1")
SUBSET_ACCURACY = DocumentDecisionMetric(subset_accuracy)
LABELS_SKIPPED = DecisionMetric(labels_skipped, upper=math.inf)
REJECTOR_ACCURACY = DecisionMetric(rejector_accuracy)

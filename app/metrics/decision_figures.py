"""The `decisions` part of a report, for all documents and labels or for a group of them."""

from typing import Any

import numpy as np

from app.metrics.averages import Averaging, Figures, macro, macro_star_f1, micro, weighted
from app.metrics.contingency import Cells


def decision_figures(
    cells: Cells, samples: Figures, subset_accuracy: float | None, averaging: Averaging
) -> dict[str, Any]:
    """Averages of the labels' tables beside the averages over documents."""
    over_labels = macro(cells, averaging)
    return {
        "micro": micro(cells, averaging),
        "macro": over_labels,
        "macro_in_test": macro(cells.take(cells.support > 0), averaging),
        "weighted": weighted(cells, averaging),
        "samples": samples,
        "macro_star_f1": macro_star_f1(over_labels["precision"], over_labels["recall"]),
        "subset_accuracy": subset_accuracy,
        "labels_skipped": labels_skipped(cells, averaging),
        "rejector_accuracy": rejector_accuracy(cells),
    }


def labels_skipped(cells: Cells, averaging: Averaging) -> dict[str, int]:
    """How many labels each macro figure leaves out because 0/0 is skipped; 0 otherwise."""
    names = ("precision", "recall", "f1")
    return {name: int(np.isnan(averaging.values(name, cells)).sum()) for name in names}


def rejector_accuracy(cells: Cells) -> float | None:
    """Accuracy of never assigning anything (Yang 1999, section 3.4)."""
    total = cells.total()
    n = int(total.tp[0] + total.fp[0] + total.fn[0] + total.tn[0])
    return 1 - int(total.support[0]) / n if n else None

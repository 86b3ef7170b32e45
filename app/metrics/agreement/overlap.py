"""Agreement of two label sets for the same documents, neither being the truth (Lewis 1991)."""

import numpy as np

from app.arrays import Truth
from app.metrics.contingency import f1, overlap
from app.metrics.counting.averages import nan_mean
from app.metrics.counting.cells import Averaging, Cells
from app.metrics.overall_decisions import subset_accuracy

ALIKE = Averaging("1")
"""Two empty label sets agree: 0/0 counts 1."""


def agreement(first: Truth, second: Truth) -> dict[str, float | None]:
    """Overlap a/(a+b+c): pooled, as a mean over documents, as a mean over labels; exact matches.

    A document (or label) without any label in either set agrees with itself: it counts 1. For
    documents and labels alike the figures do not change when the two sets change places.
    """
    both = first.multiply(second).astype(np.int64)
    tables = {}
    for name, axis in (("documents", 1), ("labels", 0)):
        a = np.asarray(both.sum(axis=axis)).ravel()
        b = np.asarray(first.sum(axis=axis)).ravel() - a
        c = np.asarray(second.sum(axis=axis)).ravel() - a
        tables[name] = Cells(a, b, c, np.zeros_like(a))
    documents, labels = tables["documents"], tables["labels"]
    used = labels.take((labels.tp + labels.fp + labels.fn) > 0)
    return {
        "overlap": nan_mean(overlap(labels.total(), ALIKE)),
        "overlap_documents": nan_mean(overlap(documents, ALIKE)),
        "overlap_labels": nan_mean(overlap(used, ALIKE)),
        "f1": nan_mean(f1(labels.total(), ALIKE)),
        "exact": nan_mean(subset_accuracy(documents)),
    }

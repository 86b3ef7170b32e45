"""Agreement of two label sets for the same documents, neither being the truth (Lewis 1991)."""

import numpy as np

from app.arrays import Truth
from app.metrics.averages import mean
from app.metrics.contingency import Cells, measure


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
        "overlap": mean(measure("overlap", labels.total(), zero_division="1")),
        "overlap_documents": mean(measure("overlap", documents, zero_division="1")),
        "overlap_labels": mean(measure("overlap", used, zero_division="1")),
        "f1": mean(measure("f1", labels.total(), zero_division="1")),
        "exact": mean(((documents.fp == 0) & (documents.fn == 0)).astype(np.float64)),
    }

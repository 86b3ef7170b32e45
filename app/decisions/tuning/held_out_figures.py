"""What a decision reaches on held-out scores: counts a label, and the usual figures of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from app.decisions.decision import Decision
from app.heldout import HeldOut
from app.metrics.costs import ErrorCosts

CHUNK = 1024


def held_out_counts(decision: Decision, held_out: HeldOut) -> NDArray[np.int64]:
    """(labels, 3): right, wrong and missed assignments; unscored pairs are never assigned."""
    if decision.cuts is None or decision.most_labels is not None:
        return _by_document(decision, held_out)
    pairs = zip(held_out.columns(), decision.cuts, strict=True)
    counts = np.zeros((held_out.n_labels, 3), np.int64)
    for label, (column, cut) in enumerate(pairs):
        marks = column.scores > cut
        hits = np.count_nonzero(marks & column.marks)
        counts[label] = hits, np.count_nonzero(marks) - hits, column.positives - hits
    return counts


def held_out_figures(
    decision: Decision, held_out: HeldOut, costs: ErrorCosts | None = None
) -> dict[str, float]:
    """The usual figures of a decision, with `cost_per_document` where costs are given."""
    return count_figures(held_out_counts(decision, held_out), held_out.n_documents, costs)


def count_figures(
    counts: NDArray[np.int64], n_documents: int, costs: ErrorCosts | None = None
) -> dict[str, float]:
    """The same of counts that are added up already."""
    figures = figures_of(counts)
    if costs is not None:
        total = float(costs.of(counts[:, 1], counts[:, 2]).sum())
        figures["cost_per_document"] = total / max(n_documents, 1)
    return figures


def figures_of(counts: NDArray[np.int64]) -> dict[str, float]:
    """Micro-precision, -recall and -F1, and macro-F1 over all labels; 0/0 is 0.

    >>> figures_of(np.array([[2, 2, 0], [0, 0, 1]]))["micro_precision"]
    0.5
    """
    tp, fp, fn = (int(total) for total in counts.sum(axis=0))
    each = 2 * counts[:, 0] / np.maximum(2 * counts[:, 0] + counts[:, 1] + counts[:, 2], 1)
    return {
        "micro_precision": tp / max(tp + fp, 1),
        "micro_recall": tp / max(tp + fn, 1),
        "micro_f1": 2 * tp / max(2 * tp + fp + fn, 1),
        "macro_f1": float(each.mean()) if len(each) else 0.0,
    }


def _by_document(decision: Decision, held_out: HeldOut) -> NDArray[np.int64]:
    counts = np.zeros((held_out.n_labels, 3), np.int64)
    truth, scores = csr_array(held_out.truth), held_out.scores
    scores = csr_array(scores) if issparse(scores) else scores
    for start in range(0, held_out.n_documents, CHUNK):
        rows = slice(start, start + CHUNK)
        marks, true = decision.decide(_dense(scores[rows])), truth[rows].toarray()
        cells = (marks & true, marks & ~true, ~marks & true)
        counts += np.stack([part.sum(axis=0) for part in cells], axis=1)
    return counts


def _dense(scores: Any) -> NDArray[np.float32]:
    """The rows with -inf for what is not stored."""
    if not issparse(scores):
        return np.asarray(scores, np.float32)
    dense = np.full(scores.shape, -np.inf, np.float32)
    stored = scores.tocoo()
    dense[stored.row, stored.col] = stored.data
    return dense

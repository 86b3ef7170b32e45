"""Crossed cuts: each part of the documents decided by cuts that were tuned on the other parts.

Cuts are those of the highest micro-F1, macro-F1 or sum of both, without resampling: they are made
to compare trials, many of them, and not to be served.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.decisions.tuning.hulls import midway

PRICES = np.arange(1, 40) / 40
"""What a decided label costs beside the 2 that a right one brings (linear/c_choice.py)."""
MOST_POINTS = 256


class Objective(NamedTuple):
    """How much micro-F1 and macro-F1 count."""

    micro: float = 1.0
    macro: float = 0.0

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that count."""
        weights = {"micro_f1": self.micro, "macro_f1": self.macro}
        return tuple(name for name, weight in weights.items() if weight)

    def value(self, counts: NDArray[np.int64]) -> float:
        """What (labels, 3) of TP, FP and FN are worth: the weighted mean of both F1."""
        doubled = 2 * counts[:, 0]
        each = doubled / np.maximum(doubled + counts[:, 1] + counts[:, 2], 1)
        micro = doubled.sum() / max(int(doubled.sum() + counts[:, 1:].sum()), 1)
        seen = counts[:, 0] + counts[:, 2] > 0
        macro = each[seen].mean() if seen.any() else 0.0
        return float((self.micro * micro + self.macro * macro) / (self.micro + self.macro))


def crossed_counts(
    scores: NDArray[np.float32],
    truth: NDArray[np.bool_],
    parts: NDArray[np.int32],
    objective: Objective,
) -> NDArray[np.int64]:
    """(parts, labels, 3): TP, FP and FN of each part at the cuts of the others."""
    n_parts, n_labels = int(parts.max()) + 1, truth.shape[1]
    columns = [_Label.of(scores[:, i], truth[:, i], parts, n_parts) for i in range(n_labels)]
    counts = np.zeros((n_parts, n_labels, 3), np.int64)
    for part in range(n_parts):
        cuts = _cuts([label.without(part) for label in columns], objective)
        for i, label in enumerate(columns):
            counts[part, i] = label.counts(part, cuts[i])
    return counts


class _Points(NamedTuple):
    """Cuts by falling score: right and all assignments above each, and how many are true."""

    right: NDArray[np.int64]
    decided: NDArray[np.int64]
    cuts: NDArray[np.float32]
    positives: int


class _Label(NamedTuple):
    """One label's scores of true and other documents, rising, part by part."""

    positive: list[NDArray[np.float32]]
    negative: list[NDArray[np.float32]]

    @classmethod
    def of(cls, scores: Any, is_true: Any, parts: Any, n_parts: int) -> "_Label":
        lowest = scores[is_true].min(initial=np.inf)  # what lies below is decided by no cut
        of_true, true_parts = scores[is_true], parts[is_true]
        others = ~is_true & (scores >= lowest)
        of_others, other_parts = scores[others], parts[others]
        return cls(
            [np.sort(of_true[true_parts == part]) for part in range(n_parts)],
            [np.sort(of_others[other_parts == part]) for part in range(n_parts)],
        )

    def without(self, part: int) -> _Points:
        """The cuts that the other parts allow; the first assigns nothing."""
        mine = [own for i, own in enumerate(self.positive) if i != part]
        others = [own for i, own in enumerate(self.negative) if i != part]
        above = np.unique(np.concatenate(mine))[::-1]
        if len(above) > MOST_POINTS:
            above = above[np.linspace(0, len(above) - 1, MOST_POINTS).astype(np.int64)]
        right = sum(len(own) - np.searchsorted(own, above) for own in mine)
        places = [np.searchsorted(own, above) for own in others]
        wrong = sum(len(own) - place for own, place in zip(others, places, strict=True))
        below = np.full(len(above), -np.inf, np.float32)
        for own, place in (*zip(others, places, strict=True), *_places(mine, above)):
            below = np.maximum(below, np.append(np.float32(-np.inf), own)[place])
        return _Points(
            np.append(0, right),
            np.append(0, right + wrong),
            np.append(np.float32(np.inf), midway(below, above.astype(np.float32))),
            sum(map(len, mine)),
        )

    def counts(self, part: int, cut: np.float32) -> tuple[int, int, int]:
        """TP, FP and FN in a part."""
        positive, negative = self.positive[part], self.negative[part]
        missed = int(np.searchsorted(positive, cut, side="right"))
        wrong = len(negative) - int(np.searchsorted(negative, cut, side="right"))
        return len(positive) - missed, wrong, missed


def _places(columns: list[Any], above: Any) -> list[tuple[Any, Any]]:
    return [(own, np.searchsorted(own, above)) for own in columns]


def _cuts(labels: list[_Points], objective: Objective) -> NDArray[np.float32]:
    """Every label's cut at the price that is best for all of them."""
    total = sum(label.positives for label in labels)
    n_seen = max(1, sum(label.positives > 0 for label in labels))
    prices = PRICES if objective.micro else PRICES[:1]
    places, right, decided = [], np.zeros(len(prices)), np.zeros(len(prices))
    macro = np.zeros(len(prices))
    for label in labels:
        own = 2 * label.right / np.maximum(label.decided + label.positives, 1) / n_seen
        linear = 2 * label.right - prices[:, None] * label.decided
        worth = objective.micro * linear / max(2 * total, 1) + objective.macro * own
        place = np.argmax(worth, axis=1)
        places.append(place)
        right += label.right[place]
        decided += label.decided[place]
        macro += own[place]
    value = objective.micro * 2 * right / np.maximum(decided + total, 1) + objective.macro * macro
    best = int(np.argmax(value))
    return np.array([p.cuts[own[best]] for p, own in zip(labels, places, strict=True)], np.float32)

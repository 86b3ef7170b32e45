"""The definitions of docs/metrics.md, written down literally: slow, and easy to check by eye.

`RANKING`, `MEASURES`, `DECISIONS` and `LABELS` have one for every name of the catalogue.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
Table = tuple[int, int, int, int]
"""TP, FP, FN, TN."""


@dataclass(frozen=True)
class Case:
    """Scores, truth and decisions; columns of the truth beyond the scores are zero-shot."""

    scores: NDArray[np.float32]
    truth: NDArray[np.bool_]
    marks: NDArray[np.bool_]
    training_counts: tuple[int, ...] = ()
    n_training: int = 50
    zero_division: str = "0"
    beta: float = 1.0

    @property
    def documents(self) -> list[tuple[Row, set[int]]]:
        true = [set(np.flatnonzero(row).tolist()) for row in self.truth]
        return list(zip(self.scores, true, strict=True))

    @property
    def label_tables(self) -> list[Table]:
        return [table(*pair) for pair in zip(self.marks.T, self.truth.T, strict=True)]

    @property
    def document_tables(self) -> list[Table]:
        return [table(*pair) for pair in zip(self.marks, self.truth, strict=True)]

    def read(self, top: float, bottom: float) -> float | None:
        """The ratio, with 0/0 as it is to be read; None: left out."""
        return top / bottom if bottom else {"0": 0.0, "1": 1.0, "skip": None}[self.zero_division]


def table(marks: Sequence[bool], truth: Sequence[bool]) -> Table:
    pairs = [(bool(mark), bool(true)) for mark, true in zip(marks, truth, strict=True)]
    tp, fp = pairs.count((True, True)), pairs.count((True, False))
    return tp, fp, pairs.count((False, True)), pairs.count((False, False))


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are not left out."""
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None


def order(scores: Row) -> list[int]:
    """Labels by falling score, ties by rising number; labels without a score are left out."""
    scored = [label for label in range(len(scores)) if scores[label] > -math.inf]
    return sorted(scored, key=lambda label: (-scores[label], label))


def at_k(scores: Row, relevant: set[int], k: int) -> dict[str, float]:
    """P, R, RP and NDCG of one document; `relevant` may hold columns that have no score at all."""
    first = order(scores)[:k]
    gains = [1 / math.log2(place + 2) for place, label in enumerate(first) if label in relevant]
    best = sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))
    hits = len(gains)
    return {
        "P": hits / k,
        "R": hits / len(relevant) if relevant else 0.0,
        "RP": hits / min(k, len(relevant)) if relevant else 0.0,
        "NDCG": sum(gains) / best if relevant else 0.0,
    }


def eleven_points(scores: Row, relevant: set[int]) -> list[float]:
    points = [0.0] * 11
    found = 0
    for rank, label in enumerate(order(scores), start=1):
        if label in relevant:
            found += 1
            interval = next(i for i in range(10, -1, -1) if 10 * found >= i * len(relevant))
            points[interval] = max(points[interval], found / rank)
    return [max(points[i:]) for i in range(11)]


def reciprocal_rank(scores: Row, relevant: set[int]) -> float:
    ranks = [r for r, label in enumerate(order(scores), start=1) if label in relevant]
    return 1 / ranks[0] if ranks else 0.0


def at_least(scores: Row, label: int, n_columns: int) -> list[int]:
    """Labels scored at least as high; labels without a score are tied below all others."""
    padded = [*scores.tolist(), *[-math.inf] * (n_columns - len(scores))]
    return [other for other in range(n_columns) if padded[other] >= padded[label]]


def lrap(scores: Row, relevant: set[int], n_columns: int) -> float:
    above = [at_least(scores, label, n_columns) for label in relevant]
    shares = [len(relevant & set(labels)) / len(labels) for labels in above]
    return sum(shares) / len(shares) if shares else 1.0


def coverage_error(scores: Row, relevant: set[int], n_columns: int) -> int:
    return max((len(at_least(scores, label, n_columns)) for label in relevant), default=0)


def ranking_loss(scores: Row, relevant: set[int], n_columns: int) -> float:
    others = set(range(n_columns)) - relevant
    wrong = sum(len(others & set(at_least(scores, label, n_columns))) for label in relevant)
    return wrong / (len(relevant) * len(others)) if relevant and others else 0.0


def propensity_scored(
    all_scores: NDArray[np.float32], truth: list[set[int]], counts: list[int], n: int, k: int
) -> tuple[float, float]:
    """PSP@k and PSnDCG@k over all documents; columns beyond `counts` were never trained on."""
    a, b = 0.55, 1.5
    c = (math.log(n) - 1) * (b + 1) ** a

    def weight(label: int) -> float:
        frequency = counts[label] if label < len(counts) else 0
        return 1 + c * (frequency + b) ** -a

    gain = best = gain_dcg = best_dcg = 0.0
    for scores, relevant in zip(all_scores, truth, strict=True):
        ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))
        for place, label in enumerate(order(scores)[:k], start=1):
            if label in relevant:
                gain += weight(label)
                gain_dcg += weight(label) / math.log2(place + 1) / ideal
        for place, w in enumerate(sorted(map(weight, relevant), reverse=True)[:k], start=1):
            best += w
            best_dcg += w / math.log2(place + 1) / ideal
    return (gain / best if best else 0.0), (gain_dcg / best_dcg if best_dcg else 0.0)


def break_even(scores: NDArray[np.float32], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Try every cut there is."""
    relevant = int(truth.sum())
    cuts = [math.inf, *sorted({float(s) for s in scores.ravel() if s > -math.inf}, reverse=True)]
    tried = []
    for cut in cuts:
        marks = scores >= cut
        assigned, tp = int(marks.sum()), int((marks & truth).sum())
        precision = tp / assigned if assigned else 0.0
        recall = tp / relevant
        gap = abs(precision - recall)
        tried.append((abs(assigned - relevant), gap, assigned, (precision + recall) / 2))
    _, gap, _, value = min(tried)
    return value, gap


def counts_of_all_cuts(
    scores: NDArray[np.float32], truth: NDArray[np.bool_]
) -> set[tuple[int, int]]:
    """(right, assigned) of every combination of the labels' cuts."""
    options = []
    for label in range(scores.shape[1]):
        column = scores[:, label]
        cuts = [math.inf, *sorted({float(s) for s in column})]
        marks = [column >= cut for cut in cuts]
        options.append({(int((m & truth[:, label]).sum()), int(m.sum())) for m in marks})
    sums = {(0, 0)}
    for option in options:
        sums = {(tp + a, n + b) for tp, n in sums for a, b in option}
    return sums


def break_even_per_label(
    scores: NDArray[np.float32], truth: NDArray[np.bool_]
) -> tuple[float, float]:
    """Of all combinations of cuts that alone are best for some β, the one of the smallest gap.

    (right, assigned) alone is best for some β if no mixture of two others gets as many right at as
    many assigned: it is then a vertex of the upper convex hull of them all.
    """
    positives, most = int(truth.sum()), dict[int, int]()
    for tp, n in counts_of_all_cuts(scores, truth):
        most[n] = max(tp, most.get(n, 0))
    tried = [
        (abs(Fraction(tp, n) - Fraction(tp, positives)), n, (tp / n + tp / positives) / 2)
        for n, tp in most.items()
        if n and not _is_under_a_chord(n, most) and tp > max(most[m] for m in most if m < n)
    ]
    gap, _, value = min(tried, default=(Fraction(0), 0, 0.0))
    return value, float(gap)


def _is_under_a_chord(n: int, most: dict[int, int]) -> bool:
    """Whether a line between a point before n and one after it passes through it, or above."""
    return any(
        most[n] * (b - a) <= most[a] * (b - n) + most[b] * (n - a)
        for a in most
        for b in most
        if a < n < b
    )


def best_micro_f(scores: NDArray[np.float32], truth: NDArray[np.bool_], beta: float = 1.0) -> float:
    """Try every combination of the labels' cuts."""
    sums = counts_of_all_cuts(scores, truth)
    positives, square = int(truth.sum()), beta * beta
    return max((1 + square) * tp / (n + square * positives) if n else 0.0 for tp, n in sums)


def average_precision(scores: Row, truth: NDArray[np.bool_]) -> float | None:
    if not truth.any():
        return None
    total = 0.0
    for score in scores[truth & (scores > -np.inf)]:
        assigned = scores >= score
        total += int((assigned & truth).sum()) / int(assigned.sum())
    return total / int(truth.sum())


def over_documents(values: list[float]) -> float:
    """The mean; 0 without documents."""
    return sum(values) / len(values) if values else 0.0


def _at_k(name: str) -> Callable[[Case, int], Any]:
    return lambda case, k: over_documents([at_k(*pair, k)[name] for pair in case.documents])


def _document(metric: Callable[..., float]) -> Callable[[Case, int], Any]:
    n = "n_columns"
    takes_columns = n in metric.__annotations__

    def figure(case: Case, k: int) -> float:
        extra = {n: case.truth.shape[1]} if takes_columns else {}
        return over_documents([metric(*pair, **extra) for pair in case.documents])

    return figure


def _points(case: Case, k: int) -> list[float]:
    points = [eleven_points(*pair) for pair in case.documents]
    return [over_documents([row[i] for row in points]) for i in range(11)]


def _propensity(case: Case, k: int) -> tuple[float, float]:
    relevant = [true for _, true in case.documents]
    counts = list(case.training_counts)
    return propensity_scored(case.scores, relevant, counts, case.n_training, k)


RANKING: dict[str, Callable[[Case, int], Any]] = {
    "P@K": _at_k("P"),
    "R@K": _at_k("R"),
    "RP@K": _at_k("RP"),
    "NDCG@K": _at_k("NDCG"),
    "PSP@K": lambda case, k: _propensity(case, k)[0],
    "PSnDCG@K": lambda case, k: _propensity(case, k)[1],
    "eleven_point": lambda case, k: sum(_points(case, k)) / 11,
    "eleven_points": _points,
    "lrap": _document(lrap),
    "coverage_error": _document(coverage_error),
    "ranking_loss": _document(ranking_loss),
    "one_error": lambda case, k: 1 - _at_k("P")(case, 1),
    "mrr": _document(reciprocal_rank),
}
"""(case, k) → the figure."""

MEASURES: dict[str, Callable[..., tuple[float, float]]] = {
    "precision": lambda a, b, c, d, beta: (a, a + b),
    "recall": lambda a, b, c, d, beta: (a, a + c),
    "f1": lambda a, b, c, d, beta: (2 * a, 2 * a + b + c),
    "fbeta": lambda a, b, c, d, beta: (
        (1 + beta**2) * a,
        (1 + beta**2) * a + b + beta**2 * c,
    ),
    "fallout": lambda a, b, c, d, beta: (b, b + d),
    "overlap": lambda a, b, c, d, beta: (a, a + b + c),
    "accuracy": lambda a, b, c, d, beta: (a + d, a + b + c + d),
    "error": lambda a, b, c, d, beta: (b + c, a + b + c + d),
}
"""(TP, FP, FN, TN, β) → what is divided by what."""


def values_of(name: str, case: Case, tables: list[Table]) -> list[float | None]:
    return [case.read(*MEASURES[name](*one, case.beta)) for one in tables]


def averages(name: str, case: Case) -> dict[str, float | None]:
    """A measure under every average."""
    labels = case.label_tables
    values, support = values_of(name, case, labels), [tp + fn for tp, _, fn, _ in labels]
    pairs = list(zip(values, support, strict=True))
    weighted = [(value, weight) for value, weight in pairs if value is not None]
    weight = sum(weight for _, weight in weighted)
    total = tuple(map(sum, zip(*labels, strict=True)))
    return {
        "micro": values_of(name, case, [total])[0],  # type: ignore[list-item]
        "macro": mean(values),
        "macro_in_test": mean([value for value, n in pairs if n]),
        "weighted": sum(v * w for v, w in weighted) / weight if weight else mean(values),
        "samples": mean(values_of(name, case, case.document_tables)),
    }


def _macro_star_f1(case: Case) -> float | None:
    p, r = (mean(values_of(name, case, case.label_tables)) for name in ("precision", "recall"))
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else 0.0


def _labels_skipped(case: Case) -> dict[str, int]:
    names = ("precision", "recall", "f1")
    return {name: values_of(name, case, case.label_tables).count(None) for name in names}


DECISIONS: dict[str, Callable[[Case], Any]] = {
    "macro_star_f1": _macro_star_f1,
    "subset_accuracy": lambda case: mean(
        [float(fp + fn == 0) for _, fp, fn, _ in case.document_tables]
    ),
    "labels_skipped": _labels_skipped,
    "rejector_accuracy": lambda case: 1 - case.truth.mean() if case.truth.size else None,
}
LABELS: dict[str, Callable[[Row, NDArray[np.bool_]], float | None]] = {
    "average_precision": average_precision
}

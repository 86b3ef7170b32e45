"""The definitions of docs/metrics.md, written down literally: slow, and easy to check by eye."""

import math

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]


def order(scores: Row) -> list[int]:
    """Labels by falling score, ties by rising number; labels without a score last."""
    return sorted(range(len(scores)), key=lambda label: (-scores[label], label))


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
        for place, label in enumerate(order(scores)[:k], start=1):
            if label in relevant:
                gain += weight(label)
                gain_dcg += weight(label) / math.log2(place + 1)
        for place, w in enumerate(sorted(map(weight, relevant), reverse=True)[:k], start=1):
            best += w
            best_dcg += w / math.log2(place + 1)
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


def best_micro_f(scores: NDArray[np.float32], truth: NDArray[np.bool_], beta: float = 1.0) -> float:
    """Try every combination of the labels' cuts."""
    options = []
    for label in range(scores.shape[1]):
        column = scores[:, label]
        cuts = [math.inf, *sorted({float(s) for s in column})]
        marks = [column >= cut for cut in cuts]
        options.append({(int((m & truth[:, label]).sum()), int(m.sum())) for m in marks})
    sums = {(0, 0)}
    for option in options:
        sums = {(tp + a, n + b) for tp, n in sums for a, b in option}
    positives, square = int(truth.sum()), beta * beta
    return max((1 + square) * tp / (n + square * positives) if n else 0.0 for tp, n in sums)

"""Dual coordinate descent for sixteen labels at once, in numpy: the definition of block_descent.py.

The same steps in the same order, lane by lane, a hundred times slower.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.kernels.solver.types import (
    GAP_SHARES,
    HINGE,
    LANES,
    LOGISTIC,
    MOST_PASSES,
    MOST_SKIPS,
    NEGLIGIBLE_CHANGE,
    NEWTON_STEPS,
    SMALLEST_CHANGE,
    SQUARED_HINGE,
    UNTOUCHED,
    LabelBlock,
    Solution,
    SolverRows,
)

Lanes = NDArray[np.float32]
HALF, ONE = np.float32(0.5), np.float32(1)
_64_BITS = 2**64 - 1
_BIT = np.arange(LANES)


def descend(
    rows: SolverRows,
    block: LabelBlock,
    solution: Solution,
    documents: Any,
    tolerance: float,
    seed: int,
) -> tuple[int, int]:
    """Improve the solution until it is within the tolerance; (passes, visits of documents)."""
    n, lanes = len(documents), slice(block.n_labels)
    due, skips = np.zeros(n, np.int32), np.zeros(n, np.int32)
    state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & _64_BITS
    share, visits, is_full = GAP_SHARES[block.loss] * tolerance, 0, True
    for passes in range(1, MOST_PASSES + 1):
        queue = list(range(n)) if is_full else np.flatnonzero(due <= passes).tolist()
        state = _shuffle(queue, state)
        gap, objective = np.zeros((2, LANES), np.float32)
        for turn in queue:
            gap_part, value, moved = _visit(rows, block, solution, int(documents[turn]))
            gap += gap_part
            objective += value
            skips[turn] = 0 if moved else min(2 * skips[turn] + 1, MOST_SKIPS)
            due[turn] = passes + 1 + skips[turn]
        visits += len(queue)
        is_close = bool((gap[lanes] <= share * objective[lanes]).all())
        if is_close and len(queue) == n:
            break
        is_full = is_close
    return passes, visits


def forget(rows: SolverRows, block: LabelBlock, solution: Solution, documents: Any) -> None:
    """Take documents out of the solution, as if their dual variables had always been 0."""
    for document in documents:
        sign, cost = _sides(block, document)
        stored = _line(solution.duals, document)
        _push(rows, block, solution, document, -sign * _duals(block, stored, cost))
        stored[:] = UNTOUCHED if block.loss == LOGISTIC else 0


def rebuild(rows: SolverRows, block: LabelBlock, solution: Solution, documents: Any) -> None:
    """Write the weights that follow from the dual variables of these documents, the only ones.

    For a solution whose features have got other scales: its dual variables stay what they are.
    """
    solution.weights[:], solution.bias[:] = 0, 0
    for document in documents:
        sign, cost = _sides(block, document)
        duals = _duals(block, _line(solution.duals, document), cost)
        _push(rows, block, solution, document, sign * duals)


def score(rows: SolverRows, solution: Solution, documents: Any, scores: Lanes) -> None:
    """Write the sixteen scores of each document, sixteen after sixteen."""
    for i, document in enumerate(documents):
        _line(scores, i)[:] = _score(rows, solution, document)


def warm() -> None:
    """There is nothing to compile."""


def _shuffle(queue: list[int], state: int) -> int:
    for i in range(len(queue) - 1):
        state ^= (state << 13) & _64_BITS
        state ^= state >> 7
        state ^= (state << 17) & _64_BITS
        other = i + (((state >> 32) * (len(queue) - i)) >> 32)
        queue[i], queue[other] = queue[other], queue[i]
    return state


def _visit(
    rows: SolverRows, block: LabelBlock, solution: Solution, document: int
) -> tuple[Any, Any, bool]:
    """The document's parts of the gap and the objective, and whether a dual variable changed."""
    sign, cost = _sides(block, document)
    stored = _line(solution.duals, document)
    old = _duals(block, stored, cost)
    singleton_norm, norm = _norms(rows, block, document)
    margin = singleton_norm * old + sign * _score(rows, solution, document)
    step = {SQUARED_HINGE: _squared_hinge, HINGE: _hinge, LOGISTIC: _logistic}[block.loss]
    kept, gap_part, loss = step(stored, old, margin, (norm, cost))
    change = (_duals(block, kept, cost) - old) * sign
    moved = bool((np.abs(change) > np.maximum(NEGLIGIBLE_CHANGE * cost, SMALLEST_CHANGE)).any())
    if moved:
        stored[:] = kept
        _push(rows, block, solution, document, change)
    return gap_part, HALF * old * margin + loss, moved


def _squared_hinge(_: Lanes, old: Lanes, margin: Lanes, size: Any) -> tuple[Lanes, Lanes, Lanes]:
    norm, cost = size
    curve, slack = HALF / cost, ONE - margin
    new = np.maximum(old - (old * curve - slack) / (norm + curve), 0)
    loss = cost * np.maximum(slack, 0) ** 2
    return new, HALF * curve * old * old + loss - old * slack, loss


def _hinge(_: Lanes, old: Lanes, margin: Lanes, size: Any) -> tuple[Lanes, Lanes, Lanes]:
    norm, cost = size
    slack = ONE - margin
    with np.errstate(divide="ignore"):
        new = np.clip(old + slack / norm, 0, cost)
    loss = cost * np.maximum(slack, 0)
    return new, loss - old * slack, loss


def _logistic(logit: Lanes, old: Lanes, margin: Lanes, size: Any) -> tuple[Lanes, Lanes, Lanes]:
    norm, cost = size
    reach, base = norm * cost, margin - norm * old
    low, high = -base - reach, -base
    new = np.clip(logit, low, high)
    for _ in range(NEWTON_STEPS):
        chance = _sigmoid(new)
        value = reach * chance + new + base
        low, high = np.where(value > 0, low, new), np.where(value > 0, new, high)
        tried = new - value / (reach * chance * (ONE - chance) + ONE)
        new = np.where((tried > high) | (low > tried), HALF * (low + high), tried)
    wrong = _sigmoid(-margin)
    spread = np.maximum(wrong * (ONE - wrong), np.float32(1e-7))
    return new, HALF * cost * (wrong - old / cost) ** 2 / spread, cost * wrong


def _duals(block: LabelBlock, stored: Lanes, cost: Lanes) -> Lanes:
    duals: Lanes = cost * _sigmoid(stored) if block.loss == LOGISTIC else stored.copy()
    return duals


def _sigmoid(logit: Lanes) -> Lanes:
    chance: Lanes = ONE / (ONE + np.exp(np.clip(-logit, np.float32(-80), np.float32(80))))
    return chance


def _sides(block: LabelBlock, document: int) -> tuple[Lanes, Lanes]:
    """Each lane's sign (1 or −1) of a document, and the document's cost there."""
    is_positive = (int(block.marks[document]) >> _BIT) & 1 == 1
    sign = np.where(is_positive, ONE, -ONE)
    return sign, np.where(is_positive, block.positive_costs, block.negative_costs)


def _line(flat: Lanes, number: int) -> Lanes:
    return flat[number * LANES : (number + 1) * LANES]


def _row(rows: SolverRows, document: int) -> tuple[Any, Any]:
    span = slice(rows.starts[document], rows.starts[document + 1])
    return rows.columns[span], rows.values[span]


def _score(rows: SolverRows, solution: Solution, document: int) -> Lanes:
    columns, values = _row(rows, document)
    product: Lanes = values @ solution.weights.reshape(-1, LANES)[columns]
    return product + solution.bias * rows.bias


def _norms(rows: SolverRows, block: LabelBlock, document: int) -> tuple[Any, Any]:
    """The squared lengths of the document's singleton features and of its whole row."""
    if not len(block.scales.squares):
        return rows.singleton_norms[document], rows.norms[document]
    return _line(block.scales.singleton_norms, document), _line(block.scales.norms, document)


def _push(
    rows: SolverRows, block: LabelBlock, solution: Solution, document: int, change: Lanes
) -> None:
    columns, values = _row(rows, document)
    changes = values[:, None] * change
    if len(block.scales.squares):
        changes = changes * block.scales.squares.reshape(-1, LANES)[columns]
    solution.weights.reshape(-1, LANES)[columns] += changes
    solution.bias[:] += change * rows.bias

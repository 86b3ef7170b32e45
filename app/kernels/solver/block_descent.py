"""Dual coordinate descent for sixteen labels at once, compiled.

The method is LIBLINEAR's (Hsieh et al. 2008; Yu, Huang & Lin 2011 for the logistic loss), with the
weights of sixteen labels next to each other, so that every cache line fetched serves sixteen
problems. Shrinking: a document that changed none of its dual variables is left out of the next 1,
3, then 7 passes. It ends when the duality gap of every label, summed over a pass that visits all
documents, is within its share of the objective.
"""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.intrinsics import (
    add,
    any_greater,
    larger,
    load,
    multiply,
    multiply_add,
    prefetch,
    splat,
    store,
    subtract,
    where_bit,
)
from app.kernels.solver.dual_steps import logistic, step
from app.kernels.solver.types import (
    GAP_SHARES,
    LANES,
    LOGISTIC,
    MOST_PASSES,
    MOST_SKIPS,
    NEGLIGIBLE_CHANGE,
    SMALLEST_CHANGE,
    SQUARED_HINGE,
    UNTOUCHED,
    SolverRows,
    block_of,
    unsolved,
)

F32, U64 = np.float32, np.uint64
AHEAD = 3
"""Prefetch distance in visits: columns and values come first, since they say which weights to
prefetch; the weights follow one visit ahead."""


@kernel
def descend(  # noqa: C901 - see below
    rows: Any, block: Any, solution: Any, documents: Any, tolerance: Any, seed: Any
) -> Any:
    """Improve the solution until it is within the tolerance; (passes, visits of documents).

    `documents` are those to learn from; the dual variables of all others must be 0. One long
    function: handing an array to another one costs two updates of its reference count a visit.
    """
    starts, columns, values, singleton_norms, norms, bias_value = rows
    marks, n_labels, positive_costs, negative_costs, loss, scales = block
    squares, _, lane_singleton_norms, lane_norms = scales
    is_scaled = len(squares) > 0
    weights, bias_weights, duals = solution
    n = len(documents)
    due, skips = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    queue = np.empty(n, np.int32)
    # A seed of 0 must not give xorshift the state 0, in which it would stay.
    state = U64(seed) * U64(0x9E3779B97F4A7C15) + U64(0x2545F4914F6CDD1D)
    gaps, objectives = np.zeros(LANES, F32), np.zeros(LANES, F32)
    share, visits, is_full = GAP_SHARES[loss] * tolerance, 0, True
    positive_cost, negative_cost = load(positive_costs, 0), load(negative_costs, 0)
    zero, one, half = splat(F32(0)), splat(F32(1)), splat(F32(0.5))
    for passes in range(1, MOST_PASSES + 1):
        n_due = queue_due(due, passes, is_full, queue)
        state = shuffle(queue, n_due, state)
        bias, gap, objective = load(bias_weights, 0), zero, zero
        for visit in range(n_due):
            turn = queue[visit]
            later = documents[queue[min(visit + AHEAD, n_due - 1)]]
            for at in range(starts[later], starts[later + 1], LANES):  # once a cache line
                prefetch(columns, at)
                prefetch(values, at)
            following = documents[queue[min(visit + 1, n_due - 1)]]
            prefetch(duals, np.intp(following) * LANES)
            ahead, last = starts[following], starts[following + 1]
            if is_scaled:
                for at in range(ahead, last):
                    prefetch(squares, np.intp(columns[at]) * LANES)
            document = documents[turn]
            begin, end = starts[document], starts[document + 1]
            # Two sums, since one would wait for each fused multiply-add before the next.
            first, second = multiply(bias, splat(bias_value)), zero
            at = begin
            while at + 1 < end:
                a = load(weights, np.intp(columns[at]) * LANES)
                b = load(weights, np.intp(columns[at + 1]) * LANES)
                first = multiply_add(a, splat(values[at]), first)
                second = multiply_add(b, splat(values[at + 1]), second)
                at += 2
                # Among the sums: a processor waits once a dozen prefetches are under way.
                if ahead + 1 < last:
                    prefetch(weights, np.intp(columns[ahead]) * LANES)
                    prefetch(weights, np.intp(columns[ahead + 1]) * LANES)
                    ahead += 2
            if at < end:
                a = load(weights, np.intp(columns[at]) * LANES)
                first = multiply_add(a, splat(values[at]), first)
            for rest in range(ahead, last):
                prefetch(weights, np.intp(columns[rest]) * LANES)
            bits = marks[document]
            sign = where_bit(bits, one, splat(F32(-1)))
            cost = where_bit(bits, positive_cost, negative_cost)
            stored = load(duals, np.intp(document) * LANES)
            old = multiply(cost, logistic(stored)) if loss == LOGISTIC else stored
            singleton_norm, norm = splat(singleton_norms[document]), splat(norms[document])
            if is_scaled:
                singleton_norm = load(lane_singleton_norms, np.intp(document) * LANES)
                norm = load(lane_norms, np.intp(document) * LANES)
            margin = multiply_add(singleton_norm, old, multiply(sign, add(first, second)))
            kept, new, gap_part, loss_part = step(loss, stored, old, margin, norm, cost)
            gap = add(gap, gap_part)
            objective = add(objective, multiply_add(multiply(half, old), margin, loss_part))
            change = multiply(subtract(new, old), sign)
            # Squares stand for absolute values, for which there is no intrinsic.
            least = larger(multiply(splat(NEGLIGIBLE_CHANGE), cost), splat(SMALLEST_CHANGE))
            if any_greater(multiply(change, change), multiply(least, least)):
                skips[turn] = 0
                store(duals, np.intp(document) * LANES, kept)
                bias = multiply_add(change, splat(bias_value), bias)
                for at in range(begin, end):
                    line = np.intp(columns[at]) * LANES
                    scaled = multiply(change, load(squares, line)) if is_scaled else change
                    store(
                        weights, line, multiply_add(scaled, splat(values[at]), load(weights, line))
                    )
            else:
                skips[turn] = min(2 * skips[turn] + 1, MOST_SKIPS)
            due[turn] = passes + 1 + skips[turn]
        visits += n_due
        store(bias_weights, 0, bias)
        store(gaps, 0, gap)
        store(objectives, 0, objective)
        # The gap of a shrunken pass leaves documents out: only a full pass can end the descent.
        is_close = all_close(gaps, objectives, share, n_labels)
        if is_close and n_due == n:
            break
        is_full = is_close
    return passes, visits


@inner
def queue_due(due: Any, now: Any, is_full: Any, queue: Any) -> Any:
    """Write the documents that are due in this pass (or all) to the queue; how many."""
    n_due = 0
    for turn in range(len(due)):
        if is_full or due[turn] <= now:
            queue[n_due] = turn
            n_due += 1
    return n_due


@inner
def shuffle(queue: Any, n_due: Any, state: Any) -> Any:
    """Shuffle the queue (Fisher & Yates, with xorshift64); the generator's next state.

    A number below n is made of 32 random bits by multiplication, without a division.
    """
    for i in range(n_due - 1):
        state ^= state << U64(13)
        state ^= state >> U64(7)
        state ^= state << U64(17)
        other = i + np.int64(((state >> U64(32)) * U64(n_due - i)) >> U64(32))
        turn = queue[i]
        queue[i] = queue[other]
        queue[other] = turn
    return state


@inner
def all_close(gaps: Any, objectives: Any, share: Any, n_labels: Any) -> Any:
    """Whether every label's gap is within its share of its objective."""
    is_close = True
    for lane in range(n_labels):
        is_close = is_close and gaps[lane] <= share * objectives[lane]
    return is_close


@inner
def prefetch_document(rows: Any, solution: Any, document: Any) -> None:
    """Prefetch the dual variables and the weights of a document."""
    prefetch(solution.duals, np.intp(document) * LANES)
    for at in range(rows.starts[document], rows.starts[document + 1]):
        prefetch(solution.weights, np.intp(rows.columns[at]) * LANES)


@inner
def dot(rows: Any, weights: Any, document: Any, start: Any) -> Any:
    """`start` plus the document's values · weights, in the two sums of `descend`."""
    first, second = start, splat(F32(0))
    at, end = rows.starts[document], rows.starts[document + 1]
    while at + 1 < end:
        one = load(weights, np.intp(rows.columns[at]) * LANES)
        other = load(weights, np.intp(rows.columns[at + 1]) * LANES)
        first = multiply_add(one, splat(rows.values[at]), first)
        second = multiply_add(other, splat(rows.values[at + 1]), second)
        at += 2
    if at < end:
        one = load(weights, np.intp(rows.columns[at]) * LANES)
        first = multiply_add(one, splat(rows.values[at]), first)
    return add(first, second)


@inner
def push(rows: Any, squares: Any, weights: Any, document: Any, change: Any) -> None:
    """Add the document's values · change, scaled, to its features' weights."""
    for at in range(rows.starts[document], rows.starts[document + 1]):
        line = np.intp(rows.columns[at]) * LANES
        scaled = multiply(change, load(squares, line)) if len(squares) > 0 else change
        store(weights, line, multiply_add(scaled, splat(rows.values[at]), load(weights, line)))


@inner
def signed_dual(block: Any, solution: Any, document: Any) -> Any:
    """The document's dual variables, negative where it is."""
    bits = block.marks[document]
    dual = load(solution.duals, np.intp(document) * LANES)
    if block.loss == LOGISTIC:
        costs = where_bit(bits, load(block.positive_costs, 0), load(block.negative_costs, 0))
        dual = multiply(costs, logistic(dual))
    return where_bit(bits, dual, subtract(splat(F32(0)), dual))


@kernel
def forget(rows: Any, block: Any, solution: Any, documents: Any) -> None:
    """Take documents out of the solution, as if their dual variables had always been 0."""
    bias, nothing = load(solution.bias, 0), splat(UNTOUCHED if block.loss == LOGISTIC else F32(0))
    for document in documents:
        change = subtract(splat(F32(0)), signed_dual(block, solution, document))
        bias = multiply_add(change, splat(rows.bias), bias)
        push(rows, block.scales.squares, solution.weights, document, change)
        store(solution.duals, np.intp(document) * LANES, nothing)
    store(solution.bias, 0, bias)


@kernel
def rebuild(rows: Any, block: Any, solution: Any, documents: Any) -> None:
    """Write the weights that follow from the dual variables of these documents, the only ones.

    For a solution whose features have got other scales: its dual variables stay what they are.
    """
    solution.weights[:] = 0
    bias = splat(F32(0))
    for document in documents:
        change = signed_dual(block, solution, document)
        bias = multiply_add(change, splat(rows.bias), bias)
        push(rows, block.scales.squares, solution.weights, document, change)
    store(solution.bias, 0, bias)


@kernel
def score(rows: Any, solution: Any, documents: Any, scores: Any) -> None:
    """Write the sixteen scores of each document, sixteen after sixteen."""
    bias = multiply(load(solution.bias, 0), splat(rows.bias))
    for i in range(len(documents)):
        if i + 1 < len(documents):
            prefetch_document(rows, solution, documents[i + 1])
        store(scores, i * LANES, dot(rows, solution.weights, documents[i], bias))


def warm() -> None:
    """Compile everything here."""
    one = np.ones(1, F32)
    rows = SolverRows(np.array([0, 1]), np.zeros(1, np.int32), one, 0 * one, 2 * one, F32(1))
    block = block_of(np.ones(1, np.uint16), one, one, SQUARED_HINGE)
    solution, documents = unsolved(1, 1, SQUARED_HINGE), np.zeros(1, np.int32)
    descend(rows, block, solution, documents, F32(0.1), 0)
    score(rows, solution, documents, np.zeros(LANES, F32))
    rebuild(rows, block, solution, documents)
    forget(rows, block, solution, documents)

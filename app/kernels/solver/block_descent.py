"""Dual coordinate descent for sixteen labels at once, compiled.

The method is LIBLINEAR's (Hsieh et al. 2008; Yu, Huang & Lin 2011 for the logistic loss), with the
weights of sixteen labels side by side, so that every cache line fetched serves sixteen problems.
A document that changed nothing in any of them rests for 1, 3, then 7 passes. The end has come when
the duality gap of every label, added up over a pass that visits all documents, is small beside its
objective.
"""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.simd import (
    add,
    any_greater,
    divide,
    larger,
    load,
    multiply,
    multiply_add,
    power_of_two,
    prefetch,
    rounded_down,
    smaller,
    splat,
    store,
    subtract,
    where_bit,
    where_greater,
)
from app.kernels.solver.types import (
    GAP_SHARES,
    HINGE,
    LANES,
    LOGISTIC,
    LONGEST_REST,
    MOST_PASSES,
    NEWTON_STEPS,
    SMALLEST_CHANGE,
    SQUARED_HINGE,
    STILL,
    SolverRows,
    block_of,
    unsolved,
)

F32, U64 = np.float32, np.uint64
AHEAD = 3
"""So many visits before its own a document's numbers are asked for, its weights one before."""


@kernel
def descend(rows: Any, block: Any, solution: Any, documents: Any, tolerance: Any, seed: Any) -> Any:
    """Improve the solution until it is within the tolerance; how many passes and visits it took.

    `documents` are those to learn from; the dual variables of all others must be 0. One long
    function: every array handed on to another one would be counted on each visit.
    """
    starts, columns, values, lonely, norms, bias_value = rows
    marks, n_labels, positive_costs, negative_costs, loss = block
    weights, bias_weights, duals = solution
    n = len(documents)
    due, rest = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    queue = np.empty(n, np.int32)
    state = U64(seed) * U64(0x9E3779B97F4A7C15) + U64(0x2545F4914F6CDD1D)
    gaps, objectives = np.zeros(LANES, F32), np.zeros(LANES, F32)
    share, visits, is_full = GAP_SHARES[loss] * tolerance, 0, True
    positive_cost, negative_cost = load(positive_costs, 0), load(negative_costs, 0)
    zero, one, half = splat(F32(0)), splat(F32(1)), splat(F32(0.5))
    for passes in range(1, MOST_PASSES + 1):
        n_due = line_up(due, passes, is_full, queue)
        state = shuffle(queue, n_due, state)
        bias, gap, objective = load(bias_weights, 0), zero, zero
        for place in range(n_due):
            turn = queue[place]
            later = documents[queue[min(place + AHEAD, n_due - 1)]]
            for at in range(starts[later], starts[later + 1], LANES):
                prefetch(columns, at)
                prefetch(values, at)
            following = documents[queue[min(place + 1, n_due - 1)]]
            prefetch(duals, np.intp(following) * LANES)
            for at in range(starts[following], starts[following + 1]):
                prefetch(weights, np.intp(columns[at]) * LANES)
            document = documents[turn]
            begin, end = starts[document], starts[document + 1]
            first, second = multiply(bias, splat(bias_value)), zero
            at = begin
            while at + 1 < end:
                a = load(weights, np.intp(columns[at]) * LANES)
                b = load(weights, np.intp(columns[at + 1]) * LANES)
                first = multiply_add(a, splat(values[at]), first)
                second = multiply_add(b, splat(values[at + 1]), second)
                at += 2
            if at < end:
                a = load(weights, np.intp(columns[at]) * LANES)
                first = multiply_add(a, splat(values[at]), first)
            bits = marks[document]
            sign = where_bit(bits, one, splat(F32(-1)))
            cost = where_bit(bits, positive_cost, negative_cost)
            stored = load(duals, np.intp(document) * LANES)
            old = multiply(cost, logistic(stored)) if loss == LOGISTIC else stored
            margin = multiply_add(splat(lonely[document]), old, multiply(sign, add(first, second)))
            kept, new, part, lost = step(loss, stored, old, margin, splat(norms[document]), cost)
            gap = add(gap, part)
            objective = add(objective, multiply_add(multiply(half, old), margin, lost))
            change = multiply(subtract(new, old), sign)
            least = larger(multiply(splat(STILL), cost), splat(SMALLEST_CHANGE))
            if any_greater(multiply(change, change), multiply(least, least)):
                rest[turn] = 0
                store(duals, np.intp(document) * LANES, kept)
                bias = multiply_add(change, splat(bias_value), bias)
                for at in range(begin, end):
                    line = np.intp(columns[at]) * LANES
                    store(
                        weights, line, multiply_add(change, splat(values[at]), load(weights, line))
                    )
            else:
                rest[turn] = min(2 * rest[turn] + 1, LONGEST_REST)
            due[turn] = passes + 1 + rest[turn]
        visits += n_due
        store(bias_weights, 0, bias)
        store(gaps, 0, gap)
        store(objectives, 0, objective)
        is_close = all_close(gaps, objectives, share, n_labels)
        if is_close and n_due == n:
            break
        is_full = is_close
    return passes, visits


@inner
def step(loss: Any, stored: Any, old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """What to keep, the new dual variables, and the document's parts of the gap and the loss."""
    if loss == SQUARED_HINGE:
        new, part, lost = squared_hinge_step(old, margin, norm, cost)
        return new, new, part, lost
    if loss == HINGE:
        new, part, lost = hinge_step(old, margin, norm, cost)
        return new, new, part, lost
    logit, part, lost = logistic_step(stored, old, margin, norm, cost)
    return logit, multiply(cost, logistic(logit)), part, lost


@inner
def line_up(due: Any, now: Any, is_full: Any, queue: Any) -> Any:
    """Put the documents that are due (or all) into the queue; how many there are."""
    n_due = 0
    for turn in range(len(due)):
        if is_full or due[turn] <= now:
            queue[n_due] = turn
            n_due += 1
    return n_due


@inner
def shuffle(queue: Any, n_due: Any, state: Any) -> Any:
    """Put the queue into a random order; the generator's next state."""
    for place in range(n_due - 1):
        state ^= state << U64(13)
        state ^= state >> U64(7)
        state ^= state << U64(17)
        other = place + np.int64(((state >> U64(32)) * U64(n_due - place)) >> U64(32))
        turn = queue[place]
        queue[place] = queue[other]
        queue[other] = turn
    return state


@inner
def all_close(gaps: Any, objectives: Any, share: Any, n_labels: Any) -> Any:
    """Whether every label's gap is within its share of the objective."""
    is_close = True
    for lane in range(n_labels):
        is_close = is_close and gaps[lane] <= share * objectives[lane]
    return is_close


@inner
def fetch_ahead(rows: Any, solution: Any, document: Any) -> None:
    """Ask for everything that the next visit will read."""
    prefetch(solution.duals, np.intp(document) * LANES)
    for at in range(rows.starts[document], rows.starts[document + 1]):
        prefetch(solution.weights, np.intp(rows.columns[at]) * LANES)


@inner
def squared_hinge_step(old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """The new dual variables; the documents' parts of the gap and of the loss."""
    zero, half = splat(F32(0)), splat(F32(0.5))
    curve, slack = divide(half, cost), subtract(splat(F32(1)), margin)
    gradient = subtract(multiply(old, curve), slack)
    new = larger(subtract(old, divide(gradient, add(norm, curve))), zero)
    excess = larger(slack, zero)
    loss = multiply(cost, multiply(excess, excess))
    part = subtract(
        multiply_add(multiply(half, curve), multiply(old, old), loss), multiply(old, slack)
    )
    return new, part, loss


@inner
def hinge_step(old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """The new dual variables; the documents' parts of the gap and of the loss."""
    zero, slack = splat(F32(0)), subtract(splat(F32(1)), margin)
    new = smaller(larger(add(old, divide(slack, norm)), zero), cost)
    loss = multiply(cost, larger(slack, zero))
    return new, subtract(loss, multiply(old, slack)), loss


@inner
def logistic_step(logit: Any, old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """The new logits of the dual variables; the parts of the gap and of (a bound of) the loss.

    The logit t solves t + b + norm·cost·σ(t) = 0 with b the margin without this document; Newton
    steps are kept inside the bracket that the rising left side gives.
    """
    one, half = splat(F32(1)), splat(F32(0.5))
    reach, base = multiply(norm, cost), subtract(margin, multiply(norm, old))
    high = subtract(splat(F32(0)), base)
    low = subtract(high, reach)
    new = smaller(larger(logit, low), high)
    for _ in range(NEWTON_STEPS):
        chance = logistic(new)
        value = add(multiply_add(reach, chance, new), base)
        low = where_greater(value, splat(F32(0)), low, new)
        high = where_greater(value, splat(F32(0)), new, high)
        slope = multiply_add(multiply(reach, chance), subtract(one, chance), one)
        tried = subtract(new, divide(value, slope))
        middle = multiply(half, add(low, high))
        new = where_greater(tried, high, middle, where_greater(low, tried, middle, tried))
    wrong = logistic(subtract(splat(F32(0)), margin))
    share = divide(old, cost)
    miss = subtract(wrong, share)
    spread = larger(multiply(wrong, subtract(one, wrong)), splat(F32(1e-7)))
    part = multiply(multiply(half, cost), divide(multiply(miss, miss), spread))
    return new, part, multiply(cost, wrong)


@inner
def logistic(logit: Any) -> Any:
    """1 / (1 + exp(−logit)), correct to a few units in the last place."""
    opposite = smaller(larger(subtract(splat(F32(0)), logit), splat(F32(-80))), splat(F32(80)))
    return divide(splat(F32(1)), add(splat(F32(1)), exponential(opposite)))


@inner
def exponential(power: Any) -> Any:
    """e to the power, for powers of at most 80 in size: 2^whole times a polynomial of the rest."""
    scaled = multiply_add(power, splat(F32(1.4426950408889634)), splat(F32(0.5)))
    whole = rounded_down(scaled)
    rest = multiply_add(whole, splat(F32(-0.693359375)), power)
    rest = multiply_add(whole, splat(F32(2.12194440e-4)), rest)
    series = splat(F32(1 / 720))
    series = multiply_add(series, rest, splat(F32(1 / 120)))
    series = multiply_add(series, rest, splat(F32(1 / 24)))
    series = multiply_add(series, rest, splat(F32(1 / 6)))
    series = multiply_add(series, rest, splat(F32(0.5)))
    series = multiply_add(series, rest, splat(F32(1)))
    series = multiply_add(series, rest, splat(F32(1)))
    return multiply(series, power_of_two(whole))


@inner
def dot(rows: Any, weights: Any, document: Any, start: Any) -> Any:
    """The start plus a document's values times their weights, in two sums for the pipeline."""
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
def push(rows: Any, weights: Any, document: Any, change: Any) -> None:
    """Add a document's values times the change to their weights."""
    for at in range(rows.starts[document], rows.starts[document + 1]):
        place = np.intp(rows.columns[at]) * LANES
        store(weights, place, multiply_add(change, splat(rows.values[at]), load(weights, place)))


@kernel
def forget(rows: Any, block: Any, solution: Any, documents: Any) -> None:
    """Take documents out of the solution, as if their dual variables had always been 0."""
    bias, nothing = load(solution.bias, 0), splat(F32(-1e30 if block.loss == LOGISTIC else 0))
    for document in documents:
        bits, place = block.marks[document], np.intp(document) * LANES
        dual = load(solution.duals, place)
        if block.loss == LOGISTIC:
            costs = where_bit(bits, load(block.positive_costs, 0), load(block.negative_costs, 0))
            dual = multiply(costs, logistic(dual))
        change = where_bit(bits, subtract(splat(F32(0)), dual), dual)
        bias = multiply_add(change, splat(rows.bias), bias)
        push(rows, solution.weights, document, change)
        store(solution.duals, place, nothing)
    store(solution.bias, 0, bias)


@kernel
def score(rows: Any, solution: Any, documents: Any, scores: Any) -> None:
    """Write the sixteen scores of each document, one after the other."""
    bias = multiply(load(solution.bias, 0), splat(rows.bias))
    for place in range(len(documents)):
        if place + 1 < len(documents):
            fetch_ahead(rows, solution, documents[place + 1])
        found = dot(rows, solution.weights, documents[place], bias)
        store(scores, place * LANES, found)


def warm() -> None:
    """Compile everything here."""
    one = np.ones(1, F32)
    rows = SolverRows(np.array([0, 1]), np.zeros(1, np.int32), one, 0 * one, 2 * one, F32(1))
    block = block_of(np.ones(1, np.uint16), one, one, SQUARED_HINGE)
    solution, documents = unsolved(1, 1, SQUARED_HINGE), np.zeros(1, np.int32)
    descend(rows, block, solution, documents, F32(0.1), 0)
    score(rows, solution, documents, np.zeros(LANES, F32))
    forget(rows, block, solution, documents)

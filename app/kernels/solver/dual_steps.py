"""The step of one document's sixteen dual variables, for each loss, compiled.

A step minimises the dual objective over these variables alone, the others fixed, and gives the
document's parts of the duality gap and of the primal loss at the point before the step.
"""

from typing import Any

import numpy as np

from app.kernels.compiler import inner
from app.kernels.intrinsics import (
    add,
    divide,
    larger,
    multiply,
    multiply_add,
    power_of_two,
    rounded_down,
    smaller,
    splat,
    subtract,
    where_greater,
)
from app.kernels.solver.types import HINGE, NEWTON_STEPS, SQUARED_HINGE

F32 = np.float32


@inner
def step(loss: Any, stored: Any, old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """What to store, the new dual variables, and the document's parts of the gap and the loss."""
    if loss == SQUARED_HINGE:
        new, gap_part, loss_part = squared_hinge_step(old, margin, norm, cost)
        return new, new, gap_part, loss_part
    if loss == HINGE:
        new, gap_part, loss_part = hinge_step(old, margin, norm, cost)
        return new, new, gap_part, loss_part
    logit, gap_part, loss_part = logistic_step(stored, old, margin, norm, cost)
    return logit, multiply(cost, logistic(logit)), gap_part, loss_part


@inner
def squared_hinge_step(old: Any, margin: Any, norm: Any, cost: Any) -> Any:
    """The new dual variables; the documents' parts of the gap and of the loss."""
    zero, half = splat(F32(0)), splat(F32(0.5))
    curve, slack = divide(half, cost), subtract(splat(F32(1)), margin)
    gradient = subtract(multiply(old, curve), slack)
    new = larger(subtract(old, divide(gradient, add(norm, curve))), zero)
    excess = larger(slack, zero)
    loss = multiply(cost, multiply(excess, excess))
    gap_part = subtract(
        multiply_add(multiply(half, curve), multiply(old, old), loss), multiply(old, slack)
    )
    return new, gap_part, loss


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
    # Starts from the logit of the last visit: near the solution, few Newton steps are enough.
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
    gap_part = multiply(multiply(half, cost), divide(multiply(miss, miss), spread))
    return new, gap_part, multiply(cost, wrong)


@inner
def logistic(logit: Any) -> Any:
    """1 / (1 + exp(−logit)), correct to a few units in the last place."""
    opposite = smaller(larger(subtract(splat(F32(0)), logit), splat(F32(-80))), splat(F32(80)))
    return divide(splat(F32(1)), add(splat(F32(1)), exponential(opposite)))


@inner
def exponential(power: Any) -> Any:
    """e to the power, for powers of at most 80 in size: 2^whole times a polynomial of the rest.

    log 2 is subtracted in two parts, the first exact in few bits, so that no digits cancel.
    """
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

"""How the learning rate moves over the steps of a training."""

import math


def rate_factor(schedule: str, step: int, total: int, *, warmup: float = 0.0) -> float:
    """What the learning rate is multiplied by at a step (counted from 0) of `total`.

    `warmup` is the share of the steps in which it climbs; then it stays (`constant`), or falls to
    0 in a straight line (`linear`) or along half a cosine wave (`cosine`).

    >>> [rate_factor("linear", step, 4, warmup=0.5) for step in range(4)]
    [0.5, 1.0, 1.0, 0.5]
    """
    climb = int(total * warmup)
    if step < climb:
        return (step + 1) / climb
    done = (step - climb) / max(total - climb, 1)
    if schedule == "linear":
        return max(1.0 - done, 0.0)
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return 1.0

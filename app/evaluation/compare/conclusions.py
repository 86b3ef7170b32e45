"""What a comparison allows to be said, in plain sentences."""

from collections.abc import Sequence
from typing import Any

LEVEL = 0.05


def conclusion(tests: dict[str, Any], names: Sequence[str], micro_f1: Sequence[float]) -> str:
    """A sentence on micro-F1, and one on the labels; given the names and figures of A and B."""
    test = tests["bootstrap"].get("micro.f1")
    return f"{_micro(test, names, micro_f1)} {_labels(tests['macro_sign'])}"


def _micro(test: dict[str, Any] | None, names: Sequence[str], micro_f1: Sequence[float]) -> str:
    a, b = (f"{key} ({name})" if name else key for key, name in zip("AB", names, strict=True))
    ours, theirs = micro_f1
    difference = ours - theirs
    if test is None:
        return "Neither system assigns or misses anything: there is nothing to compare."
    low, high = test["interval"]
    between = f"95 % interval {low:+.4f} to {high:+.4f}"
    if test["p"] >= LEVEL:
        return (
            f"On these documents micro-F1 is {ours:.4f} for {a} and {theirs:.4f} for {b}; a "
            f"difference of {difference:+.4f} ({between}) may well be chance."
        )
    better, worse = (a, b) if difference > 0 else (b, a)
    return (
        f"{better} is better than {worse} in micro-F1 ({ours:.4f} for {a}, {theirs:.4f} for {b}, "
        f"difference {difference:+.4f}, {between}): other documents like these would most likely "
        "show the same."
    )


def _labels(test: dict[str, Any]) -> str:
    a, b, p = test["wins_a"], test["wins_b"], test["p"]
    if not a + b:
        return "All labels have the same F1."
    verdict = "which may well be chance" if p >= LEVEL else "more than chance would do"
    return f"A has the higher F1 on {a} labels, B on {b} (p = {p:.3g}), {verdict}."

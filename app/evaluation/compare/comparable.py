"""Which evaluations may be compared: same data, same documents of it, same way of counting."""

from typing import NamedTuple

from app.errors import ConflictError
from app.evaluation.kept.facts import KeptFacts


class ComparableKey(NamedTuple):
    """What evaluations that are compared have in common."""

    data: str
    beta: float
    zero_division: str
    unlabelled: str
    label_separator: str
    lines: str
    """SHA-256 of the lines of the documents that were read."""


def comparable_key(facts: KeptFacts) -> ComparableKey:
    """Equal for evaluations that differ in the system and its decision alone."""
    return ComparableKey(
        facts.data,
        facts.beta,
        facts.zero_division,
        facts.unlabelled,
        facts.label_separator,
        facts.arrays["line"].sha256,
    )


def check_comparable(a: KeptFacts, b: KeptFacts) -> None:
    """Refuse two that differ in more than that."""
    why = incomparable(a, b)
    if why is not None:
        raise ConflictError(f"the two evaluations cannot be compared: {why}")


def incomparable(a: KeptFacts, b: KeptFacts) -> str | None:
    """What they differ in that they must not; None: nothing."""
    mine, theirs = comparable_key(a), comparable_key(b)
    pairs = zip(ComparableKey._fields, mine, theirs, strict=True)
    differing = [name for name, own, other in pairs if own != other]
    if "data" in differing:
        return "they are of different data"
    if differing == ["lines"]:
        return "different documents of the data were read"
    options = [name for name in differing if name != "lines"]
    return f"they differ in {', '.join(options)}" if options else None

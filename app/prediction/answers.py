"""What comes back for a document: the same objects for the API and the command line."""

import msgspec

LARGE = 1e9
"""Up to here six decimals of a number are told apart by a float."""


class Term(msgspec.Struct):
    """A term that raised or lowered a label, with its places in the text (code points)."""

    term: str
    weight: float
    at: list[tuple[int, int]]


class Label(msgspec.Struct, omit_defaults=True):
    """One label of one document; `because`, `bias` and `rest` sum to the score.

    `approximate` is there, and true, where a network's terms are estimated by their gradients.
    """

    label: str
    score: float
    probability: float | None = None
    threshold: float | None = None
    because: list[Term] | None = None
    bias: float | None = None
    rest: float | None = None
    approximate: bool | None = None


class Prediction(msgspec.Struct, omit_defaults=True):
    """The labels of one document by falling score; `id` only where one was sent."""

    labels: list[Label]
    id: str | None = None
    abstained: list[str] | None = None


def short(value: float) -> float:
    """The number without the digits that a float32 does not hold.

    >>> short(1.9299999475479126), short(0.00012345678806)
    (1.93, 0.0001234568)
    """
    if -0.01 <= value <= 0.01:
        return float(f"{value:.7g}")
    if -LARGE < value < LARGE:
        # As round(value, 6), for a third of its time: an answer has a dozen numbers.
        return int(value * 1e6 + (0.5 if value > 0 else -0.5)) / 1e6
    return round(value, 6)

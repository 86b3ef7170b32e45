"""What looks wrong with the labels of a data set that was read."""

from collections.abc import Collection, Iterator

FEWEST = 20
"""Labels: of fewer nothing can be said."""
NEARLY_ONCE = 1.1
"""Pairs a label: at or below it at least nine labels in ten were seen once."""
INSIDE_NAMES = (", ", ";", "|")


def suspicions(labels: Collection[str], pairs: int) -> Iterator[str]:
    """Sentences to warn with; they hold no character of the data.

    >>> list(suspicions([f"a, {n}" for n in range(20)], 100))
    ["most labels hold ', ': if that separates labels, say so (label separator)"]
    """
    if len(labels) < FEWEST:
        return
    for mark in INSIDE_NAMES:
        if sum(mark in label for label in labels) > len(labels) / 2:
            yield f"most labels hold {mark!r}: if that separates labels, say so (label separator)"
    if pairs <= NEARLY_ONCE * len(labels):
        yield (
            f"nearly all of the {len(labels)} labels were seen once: "
            "is this the label column, and are its labels separated as they should be?"
        )

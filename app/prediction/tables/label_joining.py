"""What joins the labels of a document in one cell: as their owner writes them, if known."""

from collections.abc import Sequence

from app.datasets.cells.label_cells import AUTO, LIST, SPELLED, WHOLE
from app.datasets.cells.label_separator import DEFAULT
from app.errors import InvalidRequestError

UNSAID = (AUTO, WHOLE, LIST, "")
WRITTEN = {",": ", ", ";": "; "}
"""Separators behind which people write a space."""


def label_joining(asked: str, trained: str, labels: Sequence[str]) -> str:
    """The separator that was asked for, else the one of the training data, else `|`.

    One that is part of a label is refused where it was asked for, since joined labels could not be
    told apart; that of the training data is passed over.

    >>> label_joining("auto", ",", ["a", "b"]), label_joining("auto", ",", ["a", "b, c"])
    (', ', '|')
    """
    if asked in UNSAID and trained not in UNSAID and not _is_in_label(trained, labels):
        return WRITTEN.get(trained, SPELLED.get(trained, trained))
    separator = DEFAULT if asked in UNSAID else SPELLED.get(asked, asked)
    if _is_in_label(separator, labels):
        raise InvalidRequestError(
            "a label of the model holds the label separator, so joined labels could not be told "
            "apart; accepted: a label separator that is in no label"
        )
    return separator


def _is_in_label(separator: str, labels: Sequence[str]) -> bool:
    mark = SPELLED.get(separator, separator)
    return any(mark in label for label in labels)

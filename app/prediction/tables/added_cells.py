"""What a table has beside its own columns: labels, probabilities, reasons, and who should look."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import AppError, InvalidDataError
from app.prediction.answers import Label, LabelReason, Prediction

ADDED = ("labels", "probabilities", "reasons", "review")
ABSTAINED, NEAR = "abstained", "near the cut"
NO_ANCESTORS = "a table has no column for ancestors; accepted: JSON, with the ancestors"
DIGITS = 4
BEFORE_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes a cell for a formula by."""


@dataclass(frozen=True, slots=True)
class AddedCells:
    """The values below the added columns; nothing but `review` for a row without an answer."""

    labels: list[str] | None
    probabilities: list[float] | None
    reasons: list[str] | None
    review: str

    def texts(self, separator: str) -> tuple[str, str, str, str]:
        """The same as the cells of a table that has texts alone: lists are joined."""
        probabilities = [f"{value:.{DIGITS}f}" for value in self.probabilities or ()]
        return (
            separator.join(self.labels or ()),
            separator.join(probabilities),
            "; ".join(self.reasons or ()),
            self.review,
        )


def answered(prediction: Prediction, doubt: str) -> AddedCells:
    """The cells of a prediction; `doubt` says why it has labels that were abstained from."""
    labels = prediction.labels
    review = f"{doubt}: {', '.join(prediction.abstained)}" if prediction.abstained else ""
    return AddedCells(
        [label.label for label in labels],
        [label.probability for label in labels if label.probability is not None],
        [_reason(label) for label in labels if label.because is not None],
        review,
    )


def unanswered(error: AppError) -> AddedCells:
    """The cells of a row that could not be read, or not be answered: `review` says why."""
    if isinstance(error, InvalidDataError):
        review = f"not read: line {error.line}: {error.without_content()}"
    else:
        review = f"not answered: {error}"
    return AddedCells(None, None, None, review)


def added_columns(own: Iterable[str]) -> tuple[str, ...]:
    """The names of the added columns; one that the data have already gets another name.

    >>> added_columns(["text", "labels"])
    ('labels (predicted)', 'probabilities', 'reasons', 'review')
    """
    taken, names = {name.strip() for name in own}, []
    for added in ADDED:
        name, number = added, 1
        while name in taken:
            name = f"{added} (predicted{f' {number}' if number > 1 else ''})"
            number += 1
        names.append(name)
    return tuple(names)


def without_formula(cell: str) -> str:
    """The cell with an apostrophe before it where a spreadsheet would run it.

    >>> without_formula("=1+1")
    "'=1+1"
    """
    return f"'{cell}" if cell.startswith(BEFORE_FORMULAS) else cell


def _reason(label: Label) -> str:
    """`wheat: bushels +0.61, export -0.20`; `≈` before weights that are estimates."""
    about = "≈" if label.approximate else ""
    told = [f"{_named(why)} {about}{why.weight:+.2f}" for why in label.because or ()]
    return f"{label.label}: {', '.join(told)}"


def _named(why: LabelReason) -> str:
    """The term itself; of another kind of reason the kind before it."""
    if why.neighbour is not None:
        return f"neighbour {why.neighbour}"
    return f"rule {why.rule}" if why.rule is not None else why.term or ""

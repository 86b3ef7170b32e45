"""Signs in label cells that they hold more labels than the chosen separator tells apart."""

from collections import Counter
from collections.abc import Iterable, Iterator

from app.datasets.cells.label_cells import LIST, WHOLE, LabelCells
from app.datasets.cells.label_separator import DEFAULT, is_separating

MIXED = (",", ";", "|", "/", "+", "&")
"""Marks that may stand between labels beside the separator, in other cells of the column."""
NAMED = {"&": "'&'", " ": "spaces"}
"""Marks that are part of too many names to be taken for a separator: they are warned of."""
FEWEST_PIECES = 2
MANY_CELLS = 2
"""Different cells for each different piece, from which on pieces are likelier to be the labels."""
ONE_FOR_ALL = "separate all alike"
SAY_SO = "if they separate labels, say so (label separator)"


def separator_doubts(cells: Iterable[str], separator: str) -> Iterator[str]:
    """Sentences to warn with; they hold no character of the data but marks.

    >>> list(separator_doubts(["a; b", "b", "a, b", "c", "b, c", "a"], ";"))
    ["some cells hold ',' between names that are labels elsewhere: separate all alike"]
    """
    if separator == LIST:
        return
    counts = Counter(cell.strip() for cell in cells if cell.strip())
    split = LabelCells(separator or DEFAULT)
    names = {name.strip() for cell in counts for name in split(cell)} - {""}
    mixed = [mark for mark in MIXED if mark != separator.strip() and _is_mixed(mark, names)]
    if mixed:
        marks = " and ".join(map(repr, mixed))
        mend = SAY_SO if separator in ("", WHOLE) else ONE_FOR_ALL
        yield f"some cells hold {marks} between names that are labels elsewhere: {mend}"
        return
    whole = Counter(names)
    for mark, name in NAMED.items():
        if _holds_labels(mark, whole):
            yield f"the words between {name} in label cells recur like labels: {SAY_SO}"


def _is_mixed(mark: str, names: set[str]) -> bool:
    """Whether names fall into other names at the mark, each of them whole."""
    fallen = [name for name in names if mark in name and _pieces(mark, name) <= names - {name}]
    return len(fallen) >= FEWEST_PIECES


def _holds_labels(mark: str, names: Counter[str]) -> bool:
    """Whether the pieces behave like labels, and are far fewer than what they stand in."""
    if not any(mark in name for name in names):
        return False
    pieces = {piece for name in names for piece in _pieces(mark, name)}
    return len(names) >= MANY_CELLS * len(pieces) and is_separating(mark, names)


def _pieces(mark: str, name: str) -> set[str]:
    return {piece.strip() for piece in name.split(mark)}

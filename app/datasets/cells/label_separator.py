"""Which separator stands between the labels of a cell: told from the first cells of a column."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from app.datasets.cells.label_cells import LIST, SPELLED, WHOLE, LabelCells, label_list

DEFAULT = "|"
"""Splits cells where nothing was detected: they may come later in the file."""
UNMISTAKABLE = ("|", "newline", "tab", ";")
"""Hardly ever part of a name, the more certain ones first."""
DOUBTFUL = (",", "#")
"""Part of many names: the pieces themselves must say that they are labels."""
SPACED = (" / ", " + ")
"""With spaces around them they may separate; `a/b` and `C++` are names."""
ENOUGH_CELLS, MOST_ROWS, MOST_CHARACTERS = 1000, 10_000, 4 << 20
FEW = 5
OFTENER = 5
"""How much oftener a doubtful separator must be there to be taken instead of a certain one."""
LEAST_RECURRING, LEAST_MOVING = 0.5, 0.2
ENTITY = re.compile(r"&#?\w+;")
Row = TypeVar("Row")


def peeked(
    rows: Iterator[Row], cell_of: Callable[[Row], Any], size_of: Callable[[Row], int]
) -> tuple[list[str], Iterator[Row]]:
    """The first label cells that are strings, and all rows from the start again.

    Reads on until there are enough cells; rows and characters are bounded.
    """
    held: list[Row] = []
    cells: list[str] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += size_of(row)
        if isinstance(cell := cell_of(row), str) and cell.strip():
            cells.append(cell)
        if len(cells) >= ENOUGH_CELLS or len(held) >= MOST_ROWS or characters > MOST_CHARACTERS:
            break
    return cells, chain(held, rows)


def separator_of(
    cells: Iterable[str],
    known: Collection[str] = (),
    label_map: Mapping[str, str] | None = None,
) -> str:
    """The separator as the options spell it; "" where no cell holds anything like one.

    Where labels are known (those of a model), the one under which most names are known wins.
    """
    counts = Counter(cell.strip() for cell in cells if cell.strip())
    if not counts:
        return ""
    likely = _by_look(counts)
    return _by_known(counts, likely, known, label_map or {}) if known and likely else likely


def _by_look(counts: Counter[str]) -> str:
    opened = [cell for cell in counts if cell[0] in "[({"]
    if opened and all(label_list(cell) is not None for cell in opened):
        return LIST
    bare = [ENTITY.sub("", cell) for cell in counts]
    found = {name: sum(_mark(name) in cell for cell in bare) for name in UNMISTAKABLE}
    certain = max(found, key=found.__getitem__)
    doubtful = [name for name in DOUBTFUL if any(name in cell for cell in counts)]
    if found[certain]:
        commoner = [n for n in doubtful if sum(n in c for c in bare) >= OFTENER * found[certain]]
        return next((name for name in commoner if is_separating(name, counts)), certain)
    whole = WHOLE if doubtful else ""
    spaced = [name for name in SPACED if any(name in cell for cell in counts)]
    return next((name for name in (*doubtful, *spaced) if is_separating(name, counts)), whole)


def _by_known(
    counts: Counter[str], likely: str, known: Collection[str], label_map: Mapping[str, str]
) -> str:
    """The reading of the cells with the largest share of known names; whole cells among equals."""
    marks = (*UNMISTAKABLE, *DOUBTFUL, *SPACED)
    present = [name for name in marks if any(_mark(name) in c for c in counts)]
    shares = {}
    for name in dict.fromkeys((WHOLE, likely, *present)):
        split = LabelCells(name)
        names = {piece.strip() for cell in counts for piece in split(cell)} - {""}
        labels = [label_map.get(each, each) for each in names]
        shares[name] = sum(label in known for label in labels) / max(len(labels), 1)
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] else likely


def is_separating(mark: str, counts: Counter[str]) -> bool:
    """Whether the pieces behave like labels: they recur in other cells, and at other places.

    The pieces of `Doe, John` keep their places, those of `Foo, bar & Co` keep their company.
    """
    pieces = {cell: [piece.strip() for piece in cell.split(mark)] for cell in counts}
    if mark == "#" and any("" in listed for listed in pieces.values()):
        return False  # C#, or #hashtags
    marked = [listed for cell, listed in pieces.items() if mark in cell]
    seen = Counter(piece for listed in pieces.values() for piece in set(listed) if piece)
    recurring = {piece for piece, count in seen.items() if count > 1}
    share = sum(_share(listed, recurring) for listed in marked) / len(marked)
    within = {piece for listed in marked for piece in listed} & recurring
    if share >= LEAST_RECURRING and _moving(within, pieces.values()) >= LEAST_MOVING:
        return True
    is_repeated = sum(counts[cell] for cell in counts if mark in cell) >= 2 * len(marked)
    return mark == "," and len(marked) < FEW and not is_repeated and all(map(_is_listing, marked))


def _share(listed: Sequence[str], recurring: set[str]) -> float:
    return sum(piece in recurring for piece in listed) / len(listed)


def _moving(pieces: set[str], listings: Iterable[Sequence[str]]) -> float:
    """Share of the pieces that stand at different places, from the start and from the end."""
    places: dict[str, set[tuple[int, int]]] = {piece: set() for piece in pieces}
    for listed in listings:
        for place, piece in enumerate(listed):
            if piece in places:
                places[piece].add((place, len(listed) - place))
    return sum(map(_moves, places.values())) / max(len(places), 1)


def _moves(places: set[tuple[int, int]]) -> bool:
    starts, ends = ({place[side] for place in places} for side in (0, 1))
    stands_alone = (0, 1) in places
    return len(starts) > 1 and (len(ends) > 1 or stands_alone)


def _is_listing(listed: Sequence[str]) -> bool:
    """Whether so few cells look like lists of labels: three short pieces, none joined by `&`."""
    return len(listed) > 2 and all(len(piece.split()) <= 3 and "&" not in piece for piece in listed)


def _mark(name: str) -> str:
    return SPELLED.get(name, name)

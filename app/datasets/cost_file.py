"""A file of what errors cost: rows of `label`, `wrong`, `missed`, as CSV, TSV or JSON."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.datasets.faults import Faults
from app.datasets.formats.csv_rows import delimiter_of, rows
from app.datasets.input.encoding import head_text, utf8_pieces
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.metrics.costs import CostTable, ErrorCosts

COLUMNS = ["label", "wrong", "missed"]
ACCEPTED = "label, wrong, missed: a label (* for all others) and two numbers of at least 0"
OTHERS = "*"


def load_costs(path: str | Path) -> CostTable:
    """What errors cost by label; labels without a row cost what the row `*` says, else 1 and 1.

    CSV and TSV may begin with a row of the columns' names, in any order; JSON (`.json`) is an array
    of objects with these keys.
    """
    source = Source(path, Limits())
    faults = Faults(source.name)
    by_label: dict[str, ErrorCosts] = {}
    places: dict[str, str] = {}
    try:
        is_json = ".json" in Path(path).suffixes
        for line, row in _objects(source, faults) if is_json else _rows(source, faults):
            label, costs = _entry(row, line, faults)
            if label in by_label:
                raise faults.fatal("a label twice", line=line, found=label, accepted=ACCEPTED)
            by_label[label] = costs
            places[label] = f"{source.name}:{line}"
    finally:
        source.close()
    default = by_label.pop(OTHERS, ErrorCosts())
    places.pop(OTHERS, None)
    return CostTable(default, by_label, places)


def _rows(source: Source, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    delimiter = delimiter_of(head_text(source).partition("\n")[0])
    columns = COLUMNS
    for line, cells in rows(source, faults, delimiter):
        names = [cell.strip() for cell in cells]
        if line == 1 and sorted(map(str.lower, names)) == sorted(COLUMNS):
            columns = [name.lower() for name in names]
            continue
        if len(names) != len(columns):
            raise faults.fatal("not three columns", line=line, found=cells[0], accepted=ACCEPTED)
        yield line, dict(zip(columns, names, strict=True))


def _objects(source: Source, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """The array's objects, each with the line that it begins on."""
    text, at = b"".join(utf8_pieces(source)).decode(errors="replace"), 0
    for _ in _array(text, faults):
        begin = text.index("{", at)
        entry, at = json.JSONDecoder().raw_decode(text, begin)
        yield text.count("\n", 0, begin) + 1, entry


def _array(text: str, faults: Faults) -> list[Any]:
    accepted = f"an array of objects with {ACCEPTED}"
    try:
        entries = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        place = (error.lineno, error.colno) if isinstance(error, json.JSONDecodeError) else (1, 1)
        raise faults.fatal(
            "malformed JSON", line=place[0], column=place[1], accepted=accepted
        ) from error
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise faults.fatal("not an array of objects", line=1, accepted=accepted)
    return entries


def _entry(row: dict[str, Any], line: int, faults: Faults) -> tuple[str, ErrorCosts]:
    if sorted(row) != sorted(COLUMNS):
        raise faults.fatal("not a row of costs", line=line, accepted=ACCEPTED)
    try:
        labels = LabelSets(None, empty_is_bad=True)([str(row["label"])])
    except BadLabelError as bad:
        faults.refuse(bad, line=line, column=1)
    wrong, missed = (_cost(row[name], name, line, faults) for name in ("wrong", "missed"))
    return labels[0], ErrorCosts(wrong, missed)


def _cost(value: Any, name: str, line: int, faults: Faults) -> float:
    try:
        cost = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        cost = math.nan
    if not (math.isfinite(cost) and cost >= 0):
        raise faults.fatal(
            f"a bad cost of a {name} one", line=line, found=str(value), accepted=ACCEPTED
        )
    return cost

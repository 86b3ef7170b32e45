"""Order values: what a column of the data says about the order of the documents."""

from collections.abc import Sequence
from datetime import date, time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

OrderValue: TypeAlias = str | int | float
ACCEPTED = "a number, or a text that sorts by time such as 2024-05-31, in every document"


def order_value(cell: Any) -> OrderValue | None:
    """A cell as a number or a text, dates in ISO form; None where there is nothing in it."""
    if isinstance(cell, int | float):
        return cell if cell == cell else None
    if isinstance(cell, date | time):
        return cell.isoformat()
    return None if cell is None else str(cell).strip() or None


def ranks(values: Sequence[OrderValue]) -> NDArray[np.int64]:
    """The place of each value among the distinct ones: as numbers if all are, else as texts.

    >>> ranks(["10", "9", 9.0]).tolist()
    [1, 0, 0]
    >>> ranks(["2024-05", "2023-12", "10"]).tolist()
    [2, 1, 0]
    """
    numbers = [_number(value) for value in values]
    are_numbers = all(number is not None for number in numbers)
    keys: Sequence[Any] = numbers if are_numbers else [str(value) for value in values]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], np.int64)


def _number(value: OrderValue) -> int | float | None:
    """The value as a number; whole ones stay whole, since a float cannot hold nanoseconds."""
    for kind in (int, float):
        try:
            number = kind(value) if isinstance(value, str) else value
        except ValueError:
            continue
        return number if number == number else None
    return None

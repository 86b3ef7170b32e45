"""TableLayout: how a table stands in its file, so that it can be given back the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Cells: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""A document as it was read: values below the layout's columns, or values by their own keys."""


@dataclass(slots=True)
class TableLayout:
    """The columns of a table and the form of its text; a reader fills in what it finds."""

    columns: tuple[str, ...] = ()
    """As they are written; none where a document has keys of its own."""
    types: tuple[Any, ...] = ()
    """Their types, where the format has any (Parquet)."""
    delimiter: str = ","
    line_end: str = "\n"
    has_mark: bool = False
    """Whether the text begins with a byte order mark, or is UTF-16: signs of a spreadsheet."""

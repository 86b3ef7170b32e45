"""What a data set is made of: documents, the options to read them by, and what was counted."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.datasets.cells.label_cells import AUTO, SEPARATORS
from app.datasets.corrections.counts import CorrectionCounts
from app.datasets.faults import Fault, Faults
from app.datasets.input.limits import Limits
from app.datasets.input.source import Source
from app.datasets.layout import Cells
from app.datasets.order_values import OrderValue
from app.errors import InvalidRequestError


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record: a text (or ready-made features) with its labels, each label once.

    A Struct, because making one takes a tenth of the time of a frozen dataclass.
    """

    text: str
    labels: tuple[str, ...]
    id: str | None
    line: int
    features: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None
    order: OrderValue | None = None
    cells: Cells | None = None
    """The document as it was read, where the options keep it."""


@dataclass(frozen=True)
class ReadOptions:
    """How a data set is read; the command line and the API offer the same ones.

    `labels` says whether a table without the label column is refused (`required`) or read as
    unlabelled documents (`optional`, for prediction), or whether the label column of a table is a
    column like others (`ignored`). Where `order_column` is named, every document must have a value
    in it, which says where it stands in an order (of time, say). The one label column `*` stands
    for all columns that hold neither text nor id nor order. `keeps_cells` keeps what was read
    beside each document, and every record that is skipped.
    """

    format: str = "auto"
    text_columns: tuple[str, ...] = ("text",)
    label_column: str = "labels"
    label_separator: str = AUTO
    label_columns: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    """Names of label ids, the first for id 0; () where the data hold names."""
    id_column: str = "id"
    sheet: str = ""
    """Of a workbook; "": the first."""
    labels: Literal["required", "optional", "ignored"] = "required"
    on_error: Literal["fail", "skip"] = "fail"
    order_column: str = ""
    label_map: Mapping[str, str] | None = None
    known_labels: Collection[str] = ()
    """Labels of a model, which tell the separator where it is to be detected."""
    formats: tuple[str, ...] = ()
    """The only formats to read, where not all of the catalogue are welcome."""
    unlabelled: Literal["keep", "drop"] = "keep"
    keeps_cells: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        labels = self.label_columns or (self.label_column,)
        names = [*self.text_columns, *labels, self.id_column]
        _require("" not in names and bool(self.text_columns), "column names that are not empty")
        _require(len(set(names)) == len(names), "text, label and id columns of different names")
        _require(
            self.order_column not in (*self.text_columns, *labels),
            "an order column that holds neither text nor labels",
        )
        _require(self.label_separator != "", f"a label separator: {SEPARATORS}")
        _require(self.on_error in ("fail", "skip"), "on_error fail or skip")
        _require(self.unlabelled in ("keep", "drop"), "unlabelled keep or drop")


def _require(is_so: bool, accepted: str) -> None:
    if not is_so:
        raise InvalidRequestError(
            f"the data cannot be read with these options; accepted: {accepted}"
        )


@dataclass(frozen=True)
class Summary:
    """What a reading found: final once the reading has ended.

    `unlabelled` documents were found; `dropped` of them were left out because the options say so.
    `rare_labels` and `rare_pairs` were removed for having too few documents, and `corrections` were
    applied (collections only).
    """

    documents: int = 0
    labels: int = 0
    pairs: int = 0
    empty_texts: int = 0
    duplicate_ids: int = 0
    unlabelled: int = 0
    dropped: int = 0
    rare_labels: int = 0
    rare_pairs: int = 0
    skipped: int = 0
    skipped_lines: tuple[Fault, ...] = ()
    corrections: CorrectionCounts | None = None
    bytes: int = 0
    sha256: str = ""
    """Of the decompressed bytes; of several files, over the hashes of each."""
    documents_sha256: str = ""
    """Of ids, labels and texts (collections only): the same for a file and for its parts."""
    label_separator: str = ""
    """How cells of labels were split, as the options spell it; "" where none were."""
    warnings: tuple[str, ...] = ()
    """What looks wrong with the labels."""


class Reader(Protocol):
    """What one file of this folder offers for its format."""

    def __call__(self, source: Source, options: ReadOptions, faults: Faults, /) -> Iterator[Record]:
        """The documents one after another; bad records go to `faults`, which raises or counts."""
        ...

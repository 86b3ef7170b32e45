"""The options by which every command that judges reads its test set."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.datasets.base import ReadOptions
from app.datasets.label_map import load_label_map
from app.errors import InvalidRequestError

Format = Annotated[str, typer.Option("--format", help="auto, tsv, jsonl, csv, parquet, svmlight …")]
TextColumns = Annotated[str, typer.Option(help="CSV, Parquet: columns of the text.")]
LabelColumn = Annotated[str, typer.Option(help="CSV, Parquet: the labels' column.")]
LabelSeparator = Annotated[str, typer.Option(help="Between labels in that column.")]
LabelColumns = Annotated[str, typer.Option(help="One 0/1 column a label, instead.")]
IdColumn = Annotated[str, typer.Option(help="CSV, Parquet: the column of the id.")]
LabelMap = Annotated[
    Path | None, typer.Option(help="CSV from,to: renames labels; empty to drops one.")
]
OnError = Annotated[str, typer.Option(help="fail at a bad record, or skip and list it.")]


def one_of(option: str, value: str, *accepted: str) -> Any:
    """The value, if it is one of those accepted."""
    if value not in accepted:
        raise InvalidRequestError(f"{option}: accepted: {', '.join(accepted)}")
    return value


def read_options(
    format: str,
    columns: tuple[str, str, str, str, str],
    label_map: Path | None,
    on_error: str = "fail",
) -> ReadOptions:
    """How to read; `columns` are text, label, separator, 0/1 label columns and id."""
    text_columns, label_column, label_separator, label_columns, id_column = columns
    return ReadOptions(
        format=format,
        text_columns=tuple(text_columns.split(",")),
        label_column=label_column,
        label_separator=label_separator,
        label_columns=tuple(name for name in label_columns.split(",") if name),
        id_column=id_column,
        label_map=load_label_map(label_map) if label_map else None,
        on_error=one_of("--on-error", on_error, "fail", "skip"),
    )

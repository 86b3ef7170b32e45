"""The options for reading data sets, the same in every command that reads one."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app.datasets.base import ReadOptions
from app.datasets.label_map import load_label_map


class OnError(StrEnum):
    """What to do with a record that cannot be read."""

    fail = "fail"
    skip = "skip"


class Unlabelled(StrEnum):
    """What to do with documents without any label."""

    keep = "keep"
    drop = "drop"


class ZeroDivision(StrEnum):
    """What 0/0 counts as in a report."""

    zero = "0"
    one = "1"
    skip = "skip"


def takes_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its parameter `reading: ReadOptions` replaced by the options themselves."""
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "reading"]
    shared = list(inspect.signature(_read_options).parameters.values())

    def wrapped(**given: Any) -> None:
        reading = _read_options(**{option.name: given.pop(option.name) for option in shared})
        command(**given, reading=reading)

    everything = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in [*own, *shared]]
    wrapped.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in everything}
    wrapped.__doc__ = command.__doc__
    return wrapped


def _read_options(  # noqa: PLR0913
    format: Annotated[
        str, typer.Option(help="auto, tsv, jsonl, csv, parquet, svmlight or folder.")
    ] = "auto",
    text_columns: Annotated[str, typer.Option(help="CSV, Parquet: columns of the text.")] = "text",
    label_column: Annotated[str, typer.Option(help="CSV, Parquet: the labels' column.")] = "labels",
    label_separator: Annotated[str, typer.Option(help="Between labels in that column.")] = "|",
    label_columns: Annotated[str, typer.Option(help="One 0/1 column a label, instead.")] = "",
    id_column: Annotated[str, typer.Option(help="CSV, Parquet: the column of the id.")] = "id",
    label_map: Annotated[
        Path | None, typer.Option(help="CSV from,to: renames labels; empty to drops one.")
    ] = None,
    unlabelled: Annotated[
        Unlabelled, typer.Option(help="Documents without labels.")
    ] = Unlabelled.keep,
    on_error: Annotated[
        OnError, typer.Option(help="Fail at a bad record, or skip, count and list it.")
    ] = OnError.fail,
) -> ReadOptions:
    return ReadOptions(
        format=format,
        text_columns=_names(text_columns),
        label_column=label_column,
        label_separator=label_separator,
        label_columns=_names(label_columns),
        id_column=id_column,
        on_error=on_error.value,
        label_map=load_label_map(label_map) if label_map else None,
        unlabelled=unlabelled.value,
    )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name for name in listed.split(",") if name)

"""The options for reading data sets, the same in every command that reads one."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.completion import formats
from app.cli.terminal import err
from app.datasets import FORMATS
from app.datasets.base import ReadOptions, Summary
from app.datasets.cells.label_cells import AUTO, LIST, SEPARATORS, WHOLE
from app.datasets.cells.label_names import load_label_names
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
        str, typer.Option(help=f"auto, {', '.join(FORMATS)}.", autocompletion=formats)
    ] = "auto",
    text_columns: Annotated[
        str, typer.Option(help="Tables, JSON, JSONL: columns or keys of the text, comma-separated.")
    ] = "text",
    label_column: Annotated[
        str,
        typer.Option(
            help="Tables, JSON, JSONL: the labels' column or key (of an export: a question)."
        ),
    ] = "labels",
    label_separator: Annotated[
        str, typer.Option(help=f"Between labels in that column: {SEPARATORS}.")
    ] = AUTO,
    label_columns: Annotated[
        str, typer.Option(help="Tables: one 0/1 column a label instead; '*': all other columns.")
    ] = "",
    label_names: Annotated[
        Path | None,
        typer.Option(help="Names of label ids: a name a line, a JSON list, or dataset_info.json."),
    ] = None,
    id_column: Annotated[
        str, typer.Option(help="Tables, JSON, JSONL: the column or key of the id.")
    ] = "id",
    sheet: Annotated[str, typer.Option(help="Excel: the sheet; the first by default.")] = "",
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
        label_names=load_label_names(label_names, label_column) if label_names else (),
        id_column=id_column,
        sheet=sheet,
        on_error=on_error.value,
        label_map=load_label_map(label_map) if label_map else None,
        unlabelled=unlabelled.value,
    )


def say_how_labels_were_read(summary: Summary, options: ReadOptions) -> None:
    """Tell on standard error which separator was detected, and what looks wrong with the labels."""
    say_separator(summary, options)
    for warning in summary.warnings:
        err.print(f"warning: {warning}", markup=False, soft_wrap=True)


def read_alike(options: ReadOptions, summary: Summary) -> ReadOptions:
    """The options for the files beside one that was read: its label separator holds for them."""
    return replace(options, label_separator=summary.label_separator or options.label_separator)


def say_separator(summary: Summary, options: ReadOptions) -> None:
    """Tell on standard error which separator was detected."""
    if options.label_separator == AUTO and summary.label_separator:
        how = separated(summary.label_separator)
        sentence = f"labels: {how} (detected; --label-separator says otherwise)"
        err.print(sentence, markup=False, soft_wrap=True)


def separated(separator: str) -> str:
    """How labels stand in their cells, in words."""
    words = {LIST: "cells are lists of labels", WHOLE: "each cell is one label"}
    shown = separator if separator == separator.strip() else repr(separator)
    return words.get(separator, f"separated by {shown}")


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name for name in listed.split(",") if name)

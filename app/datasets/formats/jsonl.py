"""JSON lines: `{"id"?: str, "text": str, "labels"?: [str]}`, or the tasks of an export."""

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import astuple

from app.datasets.base import ReadOptions, Record
from app.datasets.exports.tasks import documents as documents_of
from app.datasets.exports.tasks import export_of
from app.datasets.exports.text_and_labels import TextAndLabels
from app.datasets.faults import Faults
from app.datasets.formats.json_errors import bad_json, place
from app.datasets.input.lines import lines
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.order_values import ACCEPTED, order_value
from app.errors import InvalidRequestError


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a line; other keys are passed over, and so are blank lines.

    The first line tells whether the lines are ours or those of a labelling tool.
    """
    numbered = lines(source, faults)
    first = next((each for each in numbered if each[1].strip()), (0, ""))
    numbered = chain([first] if first[0] else [], numbered)
    if _is_of_a_tool(first[1], options):
        return documents_of(_objects(numbered, options, faults), options, faults)
    return _plain(numbered, options, faults)


def _is_of_a_tool(line: str, options: ReadOptions) -> bool:
    """Whether a line is not as this format has it, but as an export does."""
    try:
        task = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    if not isinstance(task, dict):
        return False
    export = export_of(task, options)
    if isinstance(export, TextAndLabels):
        return bool(options.label_names) or not export.is_plain(task)
    return export is not None


def _objects(
    numbered: Iterator[tuple[int, str]], options: ReadOptions, faults: Faults
) -> Iterator[tuple[int, dict[str, Any]]]:
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for number, line in numbered:
        try:
            yield number, decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            if line.strip():
                faults.add(line=number, **bad_json(line, error, options)._asdict())


def _plain(
    numbered: Iterator[tuple[int, str]], options: ReadOptions, faults: Faults
) -> Iterator[Record]:
    label_sets = LabelSets(options.label_map, empty_is_bad=True)
    n_texts, has_order = len(options.text_columns), bool(options.order_column)
    order_of = attrgetter("id" if options.order_column == options.id_column else "order")
    decode = msgspec.json.Decoder(_record(options)).decode
    fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    for number, line in numbered:
        try:
            record = decode(line)
            labels = label_sets(record.labels or ())
        except (msgspec.DecodeError, RecursionError) as error:
            if line.strip():
                faults.add(line=number, **bad_json(line, error, options)._asdict())
            continue
        except BadLabelError as bad:
            faults.refuse(bad, line=number, column=place(line, options.label_column))
            continue
        order = order_value(order_of(record)) if has_order else None
        if has_order and order is None:
            column, problem = place(line, options.order_column), f'"{options.order_column}"'
            faults.add(f"no value of {problem}", line=number, column=column, accepted=ACCEPTED)
            continue
        text = record.text0 if n_texts == 1 else "\n".join(astuple(record)[-n_texts:])
        cells = fields(line) if options.keeps_cells else None
        yield Record(text, labels, _id(record.id), number, order=order, cells=cells)


def _record(options: ReadOptions) -> type[Any]:
    """The type of a line: its keys are named by the options."""
    keys = {"id": options.id_column, "labels": options.label_column}
    has_order = options.order_column not in ("", options.id_column)
    keys |= {"order": options.order_column} if has_order else {}
    keys |= {f"text{i}": name for i, name in enumerate(options.text_columns)}
    fields: list[Any] = [("id", str | int | None, None), ("labels", list[str] | None, None)]
    fields += [("order", str | int | float | None, None)] if has_order else []
    fields += [(f"text{i}", str) for i in range(len(options.text_columns))]
    try:
        return msgspec.defstruct("Record", fields, rename=keys, kw_only=True, gc=False)
    except ValueError as error:
        problem = "a column name with a quote, a backslash or a control character"
        raise InvalidRequestError(f"{problem} is not accepted for jsonl") from error


def _id(written: str | int | None) -> str | None:
    return None if written is None or written == "" else str(written)

"""JSON lines: `{"id"?: str, "text": str, "labels"?: [str]}`."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import astuple

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.json_errors import bad_json, place
from app.datasets.input.lines import lines
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.order_values import ACCEPTED, order_value
from app.errors import InvalidRequestError


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a line; other keys are passed over, and so are blank lines."""
    label_sets = LabelSets(options.label_map, empty_is_bad=True)
    n_texts, has_order = len(options.text_columns), bool(options.order_column)
    order_of = attrgetter("id" if options.order_column == options.id_column else "order")
    decode = msgspec.json.Decoder(_record(options)).decode
    for number, line in lines(source, faults):
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
        yield Record(text, labels, _id(record.id), number, order=order)


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

"""JSON lines: `{"id"?: str, "text": str, "labels"?: [str]}`."""

from collections.abc import Iterator
from typing import Any

import msgspec

from app.datasets.base import ReadOptions, Record
from app.datasets.faults import Faults
from app.datasets.formats.json_errors import bad_json, place
from app.datasets.input.lines import lines
from app.datasets.input.source import Source
from app.datasets.label_sets import BadLabelError, LabelSets
from app.errors import InvalidRequestError


def documents(source: Source, options: ReadOptions, faults: Faults) -> Iterator[Record]:
    """A document a line; other keys are passed over, and so are blank lines."""
    label_sets = LabelSets(options.label_map, empty_is_bad=True)
    is_one = len(options.text_columns) == 1
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
        text = record.text0 if is_one else "\n".join(msgspec.structs.astuple(record)[2:])
        yield Record(text, labels, _id(record.id), number)


def _record(options: ReadOptions) -> type[Any]:
    """The type of a line: its keys are named by the options."""
    keys = {"id": options.id_column, "labels": options.label_column}
    keys |= {f"text{i}": name for i, name in enumerate(options.text_columns)}
    fields: list[Any] = [("id", str | int | None, None), ("labels", list[str] | None, None)]
    fields += [(f"text{i}", str) for i in range(len(options.text_columns))]
    try:
        return msgspec.defstruct("Record", fields, rename=keys, kw_only=True, gc=False)
    except ValueError as error:
        problem = "a column name with a quote, a backslash or a control character"
        raise InvalidRequestError(f"{problem} is not accepted for jsonl") from error


def _id(written: str | int | None) -> str | None:
    return None if written is None or written == "" else str(written)

"""Objects of any known shape → documents."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from app.catalogue import find
from app.datasets.base import ReadOptions, Record
from app.datasets.cells.label_cells import AUTO, LabelCells
from app.datasets.cells.label_separator import DEFAULT, peeked, separator_of
from app.datasets.cells.separator_doubts import separator_doubts
from app.datasets.exports import EXPORTS
from app.datasets.exports.base import BadTaskError, Export, JsonObject
from app.datasets.faults import Faults
from app.datasets.formats.column_hints import names_hint, text_hint
from app.datasets.label_sets import BadLabelError, LabelSets
from app.datasets.order_values import ACCEPTED as ORDERS
from app.datasets.order_values import OrderValue, order_value

ACCEPTED = f"objects of {', '.join(EXPORTS)}; options name other keys"
NumberedObject = tuple[int, JsonObject]


class _Task(NamedTuple):
    """A document before its labels are split."""

    line: int
    text: str
    labels: Any
    id: str | None
    order: OrderValue | None
    cells: JsonObject | None


def documents(
    objects: Iterator[NumberedObject], options: ReadOptions, faults: Faults
) -> Iterator[Record]:
    """A document an object; the first object tells the shape of all."""
    first = next(objects, None)
    if first is None:
        return
    export = export_of(first[1], options)
    if export is None:
        hint = names_hint(list(first[1]))
        problem = "objects of an unknown shape"
        raise faults.fatal(problem, line=first[0], accepted=ACCEPTED, hint=hint)
    tasks = _tasks(chain([first], objects), export, options, faults)
    yield from _labelled(tasks, options, faults)


def export_of(task: JsonObject, options: ReadOptions) -> Export | None:
    """The first shape of the catalogue that fits an object; None if none does."""
    for name in EXPORTS:
        export: Export = find(EXPORTS, name, "export")(options)
        if export.matches(task):
            return export
    return None


def _tasks(
    objects: Iterator[NumberedObject], export: Export, options: ReadOptions, faults: Faults
) -> Iterator[_Task]:
    for line, task in objects:
        try:
            yield _task(line, task, export, options)
        except BadTaskError as bad:
            faults.add(bad.problem, line=line, accepted=bad.accepted, hint=bad.hint, cells=task)


def _task(line: int, task: JsonObject, export: Export, options: ReadOptions) -> _Task:
    fields = export.fields(task)
    text = "\n".join(_text(fields, name) for name in options.text_columns)
    labels = export.labels(task)
    cell = task.get(options.id_column)
    if isinstance(cell, bool | float | dict | list):
        raise BadTaskError(f'a wrong value of "{options.id_column}"', "a string or a whole number")
    id_ = None if cell in (None, "") else str(cell)
    order = None
    if options.order_column:
        order = order_value(fields.get(options.order_column, task.get(options.order_column)))
        if order is None:
            raise BadTaskError(f'no value of "{options.order_column}"', ORDERS)
    return _Task(line, text, labels, id_, order, task if options.keeps_cells else None)


def _text(fields: JsonObject, name: str) -> str:
    if name not in fields:
        raise BadTaskError(f'no key "{name}"', "--text-columns", text_hint(list(fields)))
    text = fields[name]
    if not isinstance(text, str):
        raise BadTaskError(f'a wrong value of "{name}"', "a string")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise BadTaskError("half a surrogate pair in JSON", "UTF-8 text")
    return text


def _labelled(tasks: Iterator[_Task], options: ReadOptions, faults: Faults) -> Iterator[Record]:
    separator = options.label_separator
    if separator == AUTO:
        first, tasks = peeked(tasks, lambda task: task.labels, lambda task: len(task.text))
        separator = separator_of(first, options.known_labels, options.label_map)
        faults.warnings = [*separator_doubts(first, separator)]
    names_in = LabelCells(separator or DEFAULT, options.label_names)
    of_lists = LabelSets(options.label_map, empty_is_bad=True)
    of_cells = LabelSets(options.label_map)
    for line, text, labels, id_, order, cells in tasks:
        label_sets = of_cells
        if isinstance(labels, str):
            faults.label_separator = separator
        else:
            label_sets = of_lists
        try:
            found = label_sets(names_in(labels))
            yield Record(text, found, id_, line, order=order, cells=cells)
        except BadLabelError as bad:
            faults.refuse(bad, line=line, column=1, cells=cells or ())

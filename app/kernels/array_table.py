"""Array tables: a model's arrays as one int64 array of addresses and lengths.

A call into compiled code pays for each array among its arguments, several microseconds for the
thirty arrays of a model, so that one text would cost more to hand over than to score. A table is
one argument whatever it holds. What a table holds, and where, is said once: by the annotated
fields of a NamedTuple. `array_table` writes by that description, and `table_reader` of
intrinsics.py makes the kernels' side of it by the same one.
"""

from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from app.errors import DamagedArtifactError

Matrix = Annotated[NDArray[np.float32], 2]
"""A field of two dimensions; an array that is not annotated with a number of them has one."""


class Slot(NamedTuple):
    """One field of a table: at `position` a number, or an array's address and then its shape."""

    name: str
    dtype: np.dtype[Any]
    n_dimensions: int
    position: int
    """Counted in int64 numbers from the beginning of the table."""

    @property
    def is_array(self) -> bool:
        """Whether an array is meant, and not one whole number or truth value."""
        return self.n_dimensions > 0


class Layout(NamedTuple):
    """Where the fields of a NamedTuple stand in a table, those of nested NamedTuples included."""

    table: type
    fields: "tuple[Slot | Layout, ...]"
    stop: int


class ArrayTable(NamedTuple):
    """`numbers` are what kernels are given; `arrays` keeps alive what the addresses point to."""

    numbers: NDArray[np.int64]
    arrays: tuple[NDArray[Any], ...]


def array_table(values: Any) -> ArrayTable:
    """The table of a NamedTuple's fields.

    A kernel reads whatever lies at an address as what the description says: an array of another
    dtype or number of dimensions is a DamagedArtifactError before its address is used.
    """
    table: type = type(values)
    layout = layout_of(table)
    numbers, arrays = np.zeros(layout.stop, np.int64), list[NDArray[Any]]()
    _write(layout, values, numbers, arrays)
    return ArrayTable(numbers, tuple(arrays))


@cache
def layout_of(table: type, position: int = 0) -> Layout:
    """The positions of a NamedTuple's fields, one after the other, from `position` on."""
    fields: list[Slot | Layout] = []
    for name, hint in get_type_hints(table, include_extras=True).items():
        field = _field(f"{table.__name__}.{name}", hint, position)
        position = field.stop if isinstance(field, Layout) else position + 1 + field.n_dimensions
        fields.append(field)
    return Layout(table, tuple(fields), position)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only, contiguous view: kernels are compiled once for fresh and for mapped arrays."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def _field(name: str, hint: Any, position: int) -> Slot | Layout:
    if hint in (int, bool):
        return Slot(name, np.dtype(np.int64 if hint is int else np.bool_), 0, position)
    if isinstance(hint, type) and issubclass(hint, tuple):
        return layout_of(hint, position)
    array, n_dimensions = get_args(hint) if get_origin(hint) is Annotated else (hint, 1)
    scalar = get_args(get_args(array)[1])[0] if get_origin(array) is np.ndarray else None
    if not (isinstance(scalar, type) and issubclass(scalar, np.generic)):
        raise TypeError(f"{name}: a table holds int, bool, NDArray[dtype] and NamedTuples of them")
    return Slot(name, np.dtype(scalar), n_dimensions, position)


def _write(layout: Layout, values: Any, numbers: NDArray[np.int64], arrays: list[Any]) -> None:
    for field, value in zip(layout.fields, values, strict=True):
        if isinstance(field, Layout):
            _write(field, value, numbers, arrays)
        elif field.is_array:
            array = _checked(field, value)
            end = field.position + 1 + field.n_dimensions
            numbers[field.position : end] = [array.ctypes.data, *array.shape]
            arrays.append(array)
        else:
            numbers[field.position] = value


def _checked(slot: Slot, array: NDArray[Any]) -> NDArray[Any]:
    if (array.dtype, array.ndim) != (slot.dtype, slot.n_dimensions):
        raise DamagedArtifactError(
            f"{slot.name} has {array.ndim} dimensions of {array.dtype}; "
            f"a kernel reads {slot.n_dimensions} of {slot.dtype}"
        )
    return read_only(array)

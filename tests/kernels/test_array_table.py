"""Array tables: every field is read as it was written, wherever it stands among the others."""

from collections.abc import Callable
from itertools import permutations
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.errors import DamagedArtifactError
from app.kernels.array_table import Layout, Matrix, Slot, array_table, layout_of
from app.kernels.intrinsics import table_reader
from app.kernels.linear.picking import LabelTable
from app.kernels.linear.weight_table import WeightTable
from app.kernels.text.types import TextTable

TABLES = [TextTable, WeightTable, LabelTable]


class Nested(NamedTuple):
    bits: NDArray[np.uint16]
    is_set: bool


FIELDS: dict[str, Any] = {
    "number": int,
    "row": NDArray[np.float64],
    "matrix": Matrix,
    "nested": Nested,
}


def described(fields: dict[str, Any]) -> Any:
    """A table of these fields."""
    return NamedTuple("table", list(fields.items()))


def reader(table: type) -> Callable[[Any], Any]:
    read = table_reader(table)
    return numba.njit(lambda numbers: read(numbers))


READERS = {table: reader(table) for table in TABLES}


def made_up(layout: Layout, random: np.random.Generator) -> Any:
    """A NamedTuple with random values in every field."""
    return layout.table(*(made_up_field(field, random) for field in layout.fields))


def made_up_field(field: Slot | Layout, random: np.random.Generator) -> Any:
    if isinstance(field, Layout):
        return made_up(field, random)
    shape = tuple(random.integers(0, 6, field.n_dimensions))
    bits = random.integers(0, 256, (*shape, field.dtype.itemsize)).astype(np.uint8)
    if field.is_array:
        return bits.reshape(-1).view(field.dtype).reshape(shape)
    return field.dtype.type(random.integers(0, 2 if field.dtype == np.bool_ else 2**62))


def assert_same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    for name, mine, its in zip(one._fields, one, other, strict=True):
        if isinstance(mine, tuple):
            assert_same(mine, its)
        elif isinstance(mine, np.ndarray):
            assert (mine.dtype, mine.shape) == (its.dtype, its.shape), name
            assert mine.tobytes() == its.tobytes(), name
        else:
            assert mine == its, name


@pytest.mark.parametrize("table", TABLES)
def test_a_kernel_reads_every_field_as_it_was_written(table: type) -> None:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        values = made_up(layout_of(table), np.random.default_rng(seed))
        held = array_table(values)
        assert_same(values, READERS[table](held.numbers))

    holds()


@pytest.mark.parametrize("order", list(permutations(FIELDS))[::5])
def test_the_order_of_the_fields_does_not_matter(order: tuple[str, ...]) -> None:
    table = described({name: FIELDS[name] for name in order})
    values = made_up(layout_of(table), np.random.default_rng(1))
    held = array_table(values)
    assert_same(values, reader(table)(held.numbers))


def test_a_call_has_one_array_of_numbers_whatever_it_holds() -> None:
    layout = layout_of(described(FIELDS))
    assert [f.position for f in layout.fields if isinstance(f, Slot)] == [0, 1, 3]
    values = made_up(layout, np.random.default_rng(2))
    numbers = array_table(values).numbers
    assert (numbers.dtype, numbers.shape) == (np.int64, (layout.stop,))
    assert numbers[[2, 4, 5]].tolist() == [len(values.row), *values.matrix.shape]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("row", np.zeros(2, np.float32)),
        ("row", np.zeros((2, 2))),
        ("matrix", np.zeros(2, np.float32)),
        ("row", np.zeros(2, np.dtype(np.float64).newbyteorder())),
        ("nested", Nested(np.zeros(2, np.int16), True)),
    ],
)
def test_an_array_of_another_dtype_or_shape_is_refused_before_its_address_is_used(
    name: str, wrong: Any
) -> None:
    table = described(FIELDS)
    values = made_up(layout_of(table), np.random.default_rng(3))
    with pytest.raises(DamagedArtifactError, match="a kernel reads"):
        array_table(values._replace(**{name: wrong}))


def test_an_array_that_is_not_contiguous_is_copied_and_kept_alive() -> None:
    table = described({"row": NDArray[np.float64]})
    held = array_table(table(np.arange(10.0)[::2]))
    assert reader(table)(held.numbers).row.tolist() == [0, 2, 4, 6, 8]
    assert not held.arrays[0].flags.writeable


@pytest.mark.parametrize("hint", [str, NDArray[Any], list[int], np.ndarray])
def test_a_field_that_no_kernel_can_read_is_refused_where_the_table_is_described(hint: Any) -> None:
    table = described({"field": hint})
    with pytest.raises(TypeError, match=r"table\.field: a table holds"):
        layout_of(table)

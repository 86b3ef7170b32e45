"""LLVM instructions for kernels: SIMD lanes, prefetches, and arrays at given addresses.

Numba has no Python for these, so they are written as LLVM IR. Everything that uses llvmlite, or
parts of numba behind its public interface other than the cache (compiler.py), stands here;
tests/canaries says what changed when a new version of either breaks it.

A `Float32x16` is sixteen float32 lanes, one cache line. Numba does not vectorize the loops over
labels by itself: they would run three times as long. The lanes work on any processor, as two or
four registers where sixteen do not fit one.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import populate_array

from app.kernels.array_table import Layout, Slot, layout_of
from app.kernels.compiler import inner

LANES = 16

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)
_I8, _I32 = ir.IntType(8), ir.IntType(32)


class Float32x16(types.Type):  # type: ignore[misc]
    """The type of sixteen float32 lanes that are one value."""

    def __init__(self) -> None:
        super().__init__(name="Float32x16")


VECTOR = Float32x16()


@register_model(Float32x16)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOATS)


def _operation(signature: Any, build: Callable[..., Any]) -> Any:
    """What an intrinsic returns: its signature, and the code for its arguments."""
    return signature, lambda context, builder, _, arguments: build(builder, *arguments)


def _element(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """A pointer to the array's element at an index, which is not checked."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, array: Any, index: Any) -> Any:
    """The sixteen lanes array[index : index + 16] of a float32 array."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = _element(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(element, _FLOATS.as_pointer()), align=4)

    return VECTOR(array, types.intp), build


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, array: Any, index: Any, vector: Any) -> Any:
    """Write sixteen lanes to array[index : index + 16]."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = _element(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], builder.bitcast(element, _FLOATS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, VECTOR), build


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, array: Any, index: Any) -> Any:
    """Start to load the cache line of array[index]; any index will do, nothing is read."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        element = _element(context, builder, signature.args[0], *arguments)
        line = builder.bitcast(element, _I8.as_pointer())
        # For reading (0), into all levels of the cache (3), of data (1).
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), [line, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@intrinsic  # type: ignore[untyped-decorator]
def splat(_: Any, number: Any) -> Any:
    """The same number sixteen times."""

    def build(builder: Any, value: Any) -> Any:
        nothing = ir.Constant(_FLOATS, ir.Undefined)
        first = builder.insert_element(nothing, value, _I32(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(_INTS, [0] * LANES))

    return _operation(VECTOR(types.float32), build)


@intrinsic  # type: ignore[untyped-decorator]
def add(_: Any, a: Any, b: Any) -> Any:
    """a + b."""
    return _operation(VECTOR(VECTOR, VECTOR), lambda builder, x, y: builder.fadd(x, y))


@intrinsic  # type: ignore[untyped-decorator]
def subtract(_: Any, a: Any, b: Any) -> Any:
    """a − b."""
    return _operation(VECTOR(VECTOR, VECTOR), lambda builder, x, y: builder.fsub(x, y))


@intrinsic  # type: ignore[untyped-decorator]
def multiply(_: Any, a: Any, b: Any) -> Any:
    """a · b."""
    return _operation(VECTOR(VECTOR, VECTOR), lambda builder, x, y: builder.fmul(x, y))


@intrinsic  # type: ignore[untyped-decorator]
def divide(_: Any, a: Any, b: Any) -> Any:
    """a / b."""
    return _operation(VECTOR(VECTOR, VECTOR), lambda builder, x, y: builder.fdiv(x, y))


@intrinsic  # type: ignore[untyped-decorator]
def multiply_add(_: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c, rounded once."""

    def build(builder: Any, *arguments: Any) -> Any:
        return _call(builder, "llvm.fma.v16f32", _FLOATS, list(arguments))

    return _operation(VECTOR(VECTOR, VECTOR, VECTOR), build)


@intrinsic  # type: ignore[untyped-decorator]
def where_greater(_: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """`yes` in the lanes where a > b, `no` in the others."""

    def build(builder: Any, x: Any, y: Any, chosen: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", x, y), chosen, other)

    return _operation(VECTOR(VECTOR, VECTOR, VECTOR, VECTOR), build)


@intrinsic  # type: ignore[untyped-decorator]
def where_bit(_: Any, bits: Any, yes: Any, no: Any) -> Any:
    """`yes` in the lanes whose bit of a 16-bit number is set, `no` in the others."""

    def build(builder: Any, mask: Any, chosen: Any, other: Any) -> Any:
        return builder.select(builder.bitcast(mask, _BITS), chosen, other)

    return _operation(VECTOR(types.uint16, VECTOR, VECTOR), build)


@intrinsic  # type: ignore[untyped-decorator]
def any_greater(_: Any, a: Any, b: Any) -> Any:
    """Whether a > b in any lane."""

    def build(builder: Any, x: Any, y: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">", x, y), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.IntType(LANES)(0))

    return _operation(types.boolean(VECTOR, VECTOR), build)


@intrinsic  # type: ignore[untyped-decorator]
def rounded_down(_: Any, a: Any) -> Any:
    """The next whole number at or below a."""

    def build(builder: Any, x: Any) -> Any:
        return _call(builder, "llvm.floor.v16f32", _FLOATS, [x])

    return _operation(VECTOR(VECTOR), build)


@intrinsic  # type: ignore[untyped-decorator]
def power_of_two(_: Any, whole: Any) -> Any:
    """2 to a whole number between −126 and 127, made by writing a float's exponent bits."""

    def build(builder: Any, x: Any) -> Any:
        bias, shift = ir.Constant(_INTS, [127] * LANES), ir.Constant(_INTS, [23] * LANES)
        exponent = builder.add(builder.fptosi(x, _INTS), bias)
        return builder.bitcast(builder.shl(exponent, shift), _FLOATS)

    return _operation(VECTOR(VECTOR), build)


@inner
def larger(a: Any, b: Any) -> Any:
    """The larger number, lane by lane."""
    return where_greater(a, b, a, b)


@inner
def smaller(a: Any, b: Any) -> Any:
    """The smaller number, lane by lane."""
    return where_greater(b, a, a, b)


def table_reader(table: type) -> Any:
    """A function for kernels: the numbers of an array table → the NamedTuple they were made of.

    Types and positions come from the same description as `array_table` writes by, and are
    constants in the machine code. The arrays are borrowed: the caller keeps the table alive.
    """
    layout = layout_of(table)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return _tuple(context, builder, layout, numbers)

    @intrinsic  # type: ignore[untyped-decorator]
    def read(_: Any, numbers: Any) -> Any:
        return _type_of(layout)(types.Array(types.int64, 1, "C")), build

    return read


def _type_of(field: Layout | Slot) -> Any:
    if isinstance(field, Layout):
        return types.NamedTuple([_type_of(each) for each in field.fields], field.table)
    scalar = from_dtype(field.dtype)
    return types.Array(scalar, field.n_dimensions, "C") if field.is_array else scalar


def _tuple(context: Any, builder: Any, layout: Layout, numbers: Any) -> Any:
    values = [_value(context, builder, field, numbers) for field in layout.fields]
    return context.make_tuple(builder, _type_of(layout), values)


def _value(context: Any, builder: Any, field: Layout | Slot, numbers: Any) -> Any:
    if isinstance(field, Layout):
        return _tuple(context, builder, field, numbers)
    first, *shape = [
        builder.load(builder.gep(numbers, [ir.IntType(64)(field.position + i)]))
        for i in range(1 + field.n_dimensions)
    ]
    if field.is_array:
        return _borrowed(context, builder, _type_of(field), first, shape)
    return context.cast(builder, first, types.int64, _type_of(field))


def _borrowed(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """The C-ordered array at an address, which numba neither counts nor frees."""
    array = context.make_array(kind)(context, builder)
    itemsize = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    strides = [itemsize]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data, shape, strides, itemsize, meminfo=None)
    return array._getvalue()

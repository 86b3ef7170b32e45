"""Sixteen float32 numbers as one value inside kernels: one cache line, the lanes of a block.

Written out for the compiler because it does not find these vectors by itself: the loops over
labels would run three times as long. All of them work on any processor, as two or four registers
where sixteen lanes do not fit one.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from app.kernels.compiler import inner

LANES = 16

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)
_I8, _I32 = ir.IntType(8), ir.IntType(32)


class Float32x16(types.Type):  # type: ignore[misc]
    """The type of such a value."""

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


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [at])


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, array: Any, at: Any) -> Any:
    """The sixteen numbers that begin at a position of a float32 array."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(place, _FLOATS.as_pointer()), align=4)

    return VECTOR(array, types.intp), build


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, array: Any, at: Any, vector: Any) -> Any:
    """Write sixteen numbers from a position on."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], builder.bitcast(place, _FLOATS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, VECTOR), build


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, array: Any, at: Any) -> Any:
    """Ask for a cache line that will be needed soon."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        line = builder.bitcast(place, _I8.as_pointer())
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
    """2 to a whole number between −126 and 127, made of its bits."""

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

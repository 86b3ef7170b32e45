"""What app/kernels uses of llvmlite, whose interface follows LLVM's; a failure names what changed.

Each instruction is run once, compiled, beside what numpy gives.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite import ir

from app.kernels import intrinsics as simd

pytestmark = pytest.mark.canary

INSTRUCTIONS = """
add bitcast call fadd fcmp_ordered fdiv fmul fptosi fsub gep icmp_unsigned insert_element
inttoptr load mul select shl shuffle_vector store
"""
RANDOM = np.random.default_rng(0)
A, B = (RANDOM.normal(size=16).astype(np.float32) for _ in range(2))
MASK = 0b1010_0000_1111_0001
BITS = (MASK >> np.arange(16)) & 1 == 1
LANEWISE: dict[str, tuple[Callable[..., Any], Any]] = {
    "fadd": (lambda a, b: simd.add(a, b), A + B),
    "fsub": (lambda a, b: simd.subtract(a, b), A - B),
    "fmul": (lambda a, b: simd.multiply(a, b), A * B),
    "fdiv": (lambda a, b: simd.divide(a, b), A / B),
    "llvm.fma.v16f32": (
        lambda a, b: simd.multiply_add(a, b, b),
        (A.astype(np.float64) * B + B).astype(np.float32),
    ),
    "fcmp and select": (lambda a, b: simd.larger(a, b), np.maximum(A, B)),
    "fcmp and select, reversed": (lambda a, b: simd.smaller(a, b), np.minimum(A, B)),
    "llvm.floor.v16f32": (lambda a, b: simd.rounded_down(a), np.floor(A)),
    "fptosi, shl and bitcast": (
        lambda a, b: simd.power_of_two(simd.rounded_down(a)),
        np.exp2(np.floor(A)),
    ),
    "bitcast of an integer to lanes": (
        lambda a, b: simd.where_bit(np.uint16(MASK), a, b),
        np.where(BITS, A, B),
    ),
    "insert_element and shuffle_vector": (
        lambda a, b: simd.add(simd.splat(np.float32(2)), a),
        A + np.float32(2),
    ),
}


@pytest.mark.parametrize("name", LANEWISE)
def test_an_instruction_gives_what_numpy_gives_lane_by_lane(name: str) -> None:
    function, expected = LANEWISE[name]
    operation = numba.njit(function)

    @numba.njit
    def run(a: Any, b: Any, result: Any) -> None:
        simd.store(result, 1, operation(simd.load(a, 0), simd.load(b, 0)))

    result = np.zeros(18, np.float32)
    run(A, B, result)
    np.testing.assert_array_equal(result[1:17], expected, f"LLVM's {name} changed")
    assert (result[0], result[17]) == (0, 0), "a store of sixteen lanes writes beside them"


def test_any_greater_looks_at_every_lane() -> None:
    @numba.njit
    def run(a: Any, b: Any) -> Any:
        return simd.any_greater(simd.load(a, 0), simd.load(b, 0))

    zeros = np.zeros(16, np.float32)
    assert not run(zeros, zeros), "a bitcast of sixteen comparisons to an integer is not 0"
    for lane in range(16):
        assert run(np.eye(16, dtype=np.float32)[lane], zeros), f"lane {lane} is not compared"


def test_a_prefetch_takes_a_pointer_and_three_flags() -> None:
    @numba.njit
    def run(a: Any) -> Any:
        simd.prefetch(a, 3)
        return a[3]

    assert run(A) == A[3], "llvm.prefetch.p0 is named or called differently"


@pytest.mark.parametrize("name", INSTRUCTIONS.split())
def test_the_builder_still_has_the_instructions_that_are_used(name: str) -> None:
    assert hasattr(ir.IRBuilder, name), f"llvmlite's IRBuilder has no {name} any more"


def test_pointers_still_know_what_they_point_to() -> None:
    pointer = ir.VectorType(ir.FloatType(), 16).as_pointer()
    assert str(pointer.pointee) == "<16 x float>", (
        "llvmlite has only opaque pointers: bitcasts before load and store have no effect"
    )

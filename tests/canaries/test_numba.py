"""What app/kernels uses of numba beyond its public interface; a failure names what changed."""

import inspect
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core import caching, cgutils, codegen, compiler
from numba.extending import intrinsic
from numba.np import arrayobj

from app.kernels.array_table import Matrix, array_table
from app.kernels.compiler import inner, outlined
from app.kernels.intrinsics import table_reader
from app.kernels.linking import LinkedLibrary

pytestmark = pytest.mark.canary

CALLED = {
    "caching.FunctionCache.__init__": ["self", "py_func"],
    "caching.FunctionCache.load_overload": ["self", "sig", "target_context"],
    "caching.FunctionCache.save_overload": ["self", "sig", "data"],
    "caching.UserProvidedCacheLocator.ensure_cache_path": ["self"],
    "codegen.JITCodeLibrary.finalize": ["self"],
    "codegen.JITCodeLibrary.get_pointer_to_function": ["self", "name"],
    "compiler.Compiler.__init__": [
        "self",
        "typingctx",
        "targetctx",
        "library",
        "args",
        "return_type",
        "flags",
        "locals",
    ],
    "cgutils.get_or_insert_function": ["module", "fnty", "name"],
    "arrayobj.populate_array": [
        "array",
        "data",
        "shape",
        "strides",
        "itemsize",
        "meminfo",
        "parent",
    ],
}
MODULES = {
    "caching": caching,
    "cgutils": cgutils,
    "codegen": codegen,
    "compiler": compiler,
    "arrayobj": arrayobj,
}


def one() -> int:
    return 1


@pytest.mark.parametrize("name", CALLED)
def test_the_functions_that_are_called_or_extended_take_the_same_arguments(name: str) -> None:
    module, *path = name.split(".")
    function: Any = MODULES[module]
    for part in path:
        function = getattr(function, part, None)
        assert function is not None, f"numba's {name} is gone: {part} is not there"
    arguments = list(inspect.signature(function).parameters)
    assert arguments == CALLED[name], f"numba's {name} takes {arguments} now"


def test_a_dispatcher_has_a_cache_that_can_be_replaced() -> None:
    dispatcher = numba.njit(one)
    assert hasattr(dispatcher, "_cache"), "a numba dispatcher has no _cache any more"
    calls: list[str] = []

    class Recorder(caching.NullCache):
        def load_overload(self, sig: Any, target_context: Any) -> None:
            calls.append("load_overload")

        def save_overload(self, sig: Any, data: Any) -> None:
            calls.append("save_overload")

    dispatcher._cache = Recorder()
    assert dispatcher() == 1
    assert calls == ["load_overload", "save_overload"], (
        f"a numba dispatcher asks its _cache for {calls} when it compiles"
    )


def test_the_cache_files_are_chosen_by_a_list_of_locators() -> None:
    files = caching.CompileResultCacheImpl
    for name in ("InTreeCacheLocator", "UserProvidedCacheLocator", "UserWideCacheLocator"):
        assert hasattr(caching, name), f"numba.core.caching.{name} is gone"
    locators = getattr(files, "_locator_classes", None)
    assert locators is not None, "CompileResultCacheImpl has no _locator_classes any more"
    assert caching.UserProvidedCacheLocator in locators, (
        "NUMBA_CACHE_DIR is looked at by another locator than UserProvidedCacheLocator"
    )
    assert caching.FunctionCache._impl_class is files, (
        "FunctionCache._impl_class is no longer CompileResultCacheImpl"
    )


def test_an_index_with_another_source_stamp_is_ignored(tmp_path: Any) -> None:
    def cache_file(stamp: str) -> Any:
        return caching.IndexDataCacheFile(str(tmp_path), "kernel", stamp)

    cache_file("old").save("key", "machine code")
    assert hasattr(cache_file("old"), "_source_stamp"), (
        "IndexDataCacheFile has no _source_stamp any more: a change in an inner module goes unseen"
    )
    assert cache_file("old").load("key") == "machine code", "numba's index no longer keeps entries"
    assert cache_file("new").load("key") is None, "numba's index no longer looks at _source_stamp"


class Table(NamedTuple):
    number: int
    matrix: Matrix


def test_an_intrinsic_can_build_a_named_tuple_of_an_array_at_an_address() -> None:
    read = table_reader(Table)

    @numba.njit
    def total(table: Any) -> Any:
        values = read(table)
        return values.number, values.matrix.shape, values.matrix[1, 0]

    table = array_table(Table(7, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)))
    assert total(table.numbers) == (7, (2, 2), 3.0), (
        "numba lays out arrays or tuples differently: make_array, populate_array or make_tuple"
    )


def test_an_intrinsic_returns_a_signature_and_a_builder() -> None:
    @intrinsic
    def twice(_: Any, number: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.add(arguments[0], arguments[0])

        return number(number), build

    @numba.njit
    def called(number: Any) -> Any:
        return twice(number)

    assert called(21) == 42, "numba.extending.intrinsic is called or read differently"


@pytest.mark.parametrize("part_of_kernels", [inner, outlined])
def test_what_only_kernels_call_is_linked_into_them_without_code_of_its_own(
    part_of_kernels: Any,
) -> None:
    @part_of_kernels
    def total(numbers: Any) -> Any:
        return numbers.copy().sum()

    @part_of_kernels
    def twice(numbers: Any) -> Any:
        return total(numbers) + total(numbers)

    @numba.njit
    def called(numbers: Any) -> Any:
        return twice(numbers)

    assert called(np.arange(4)) == 12, "numba no longer links the modules of LinkedLibrary"
    (compiled,) = twice.overloads.values()
    assert isinstance(compiled.library, LinkedLibrary), "pipeline_class is no longer asked"

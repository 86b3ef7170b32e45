"""The decorators that make a function a kernel, and the cache of their machine code.

Numba caches machine code by the source file of the compiled function alone, and wants a folder it
can write to. Kernels are built of functions in other files, and a container's file system may be
read-only. So this module replaces numba's cache by one of its own, which is not a public interface:
`numba.core.caching` and a dispatcher's `_cache` are used here and nowhere else, and
tests/canaries/test_numba.py says what changed when a new version breaks it.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.extending import register_jitable

from app.kernel_cache import cache_folder, written_by_one
from app.kernels.linking import LINKED
from app.kernels.source_stamp import source_stamp


def kernel(function: Callable[..., Any]) -> Any:
    """The function compiled on its first call, cached on disk; it releases the GIL while it runs.

    Arithmetic keeps its written order (no fastmath), so that results equal the plain version's.
    """
    return _cached(numba.njit(nogil=True, error_model="numpy")(function), function)


def kernel_with_gil(function: Callable[..., Any]) -> Any:
    """The function as a kernel that keeps the GIL, for calls of about a microsecond.

    A thread that releases the GIL queues behind the other threads to get it back: for such a
    short call that takes longer than the call itself.
    """
    return _cached(numba.njit(error_model="numpy")(function), function)


def inner(function: Callable[..., Any]) -> Any:
    """The function as a part of kernels: inlined into each that calls it, and cached with them.

    Only kernels can call it.
    """
    return numba.njit(nogil=True, error_model="numpy", forceinline=True, **LINKED)(function)


def outlined(function: Callable[..., Any]) -> Any:
    """The function as a part of kernels that is not copied to each call, for long ones."""
    return numba.njit(nogil=True, error_model="numpy", **LINKED)(function)


def callable_by_kernels(function: Callable[..., Any]) -> None:
    """Let kernels call a plain function as well; in Python it stays the plain function."""
    register_jitable(**LINKED)(function)


def _cached(dispatcher: Any, function: Callable[..., Any]) -> Any:
    with suppress(RuntimeError):  # no folder at all: compiled anew in each process
        dispatcher._cache = KernelCache(function)
    return dispatcher


class KernelCacheFolder(UserProvidedCacheLocator):  # type: ignore[misc]
    """The cache folder, also where it is read-only: a container brings its cache prepared."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        self._cache_path = str(cache_folder() / self.get_suitable_cache_subpath(py_file))

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self:
        """The folder of a function; numba's own class has none without NUMBA_CACHE_DIR."""
        folder = cls(py_func, py_file)
        folder.ensure_cache_path()
        return folder

    def ensure_cache_path(self) -> None:
        """Make the folder where that is allowed."""
        with suppress(OSError):
            super().ensure_cache_path()


class KernelCacheFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's cache files, in the cache folder."""

    _locator_classes = (KernelCacheFolder,)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, stale when any source file the function is built of changes.

    A folder that cannot be read or written costs a compilation, never an error.
    """

    _impl_class = KernelCacheFiles

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # The index file holds the stamp and is ignored as a whole when it holds another one.
        self._cache_file._source_stamp = source_stamp(
            function.__module__.removeprefix("app.kernels.")
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature, or None where it must be compiled."""
        with suppress(OSError):
            found = super().load_overload(sig, target_context)
            # Files that were mixed up would be machine code for arguments of other types.
            return found if found is None or found.signature.args == tuple(sig) else None
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the machine code of a signature to disk, where possible.

        Numba reads an index, adds to it and writes it: two processes would give two signatures the
        same file.
        """
        with suppress(OSError), written_by_one(self.cache_path):
            super().save_overload(sig, data)

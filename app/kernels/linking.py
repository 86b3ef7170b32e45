"""Functions that only kernels call: LLVM modules to link, without machine code of their own.

Numba optimizes every function on its own and emits machine code for it, then links it into its
callers and does both again there, with all that they call: a kernel built of functions ten levels
deep is compiled ten times over. What only kernels call needs none of it but the last. This uses
`numba.core.codegen`, which is no public interface; tests/canaries/test_numba.py says what changed
when a new version breaks it.
"""

from itertools import count
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_numbers = count()


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM module of one function and of what it calls, each once and not yet optimized."""

    def finalize(self) -> None:
        """Link in what the function calls; whoever calls it optimizes all of it together."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0, numba's sign for a function that Python cannot call."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "type[NoEnvironment]":
        """Whom numba asks to write down where the function's constants are."""
        return NoEnvironment


class NoEnvironment:
    """Takes the place of a code generator where there is no machine code to tell anything."""

    @staticmethod
    def set_env(env_name: str, env: Any) -> None:
        """Do nothing: what needs its environment at run time is compiled in object mode only."""


class LinkedFunctionCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler up to the LLVM module."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        library = LinkedLibrary(targetctx.codegen(), f"linked-{next(_numbers)}")
        super().__init__(typingctx, targetctx, library, *rest)


LINKED = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LinkedFunctionCompiler,
}
"""Options of `numba.njit` for such a function."""

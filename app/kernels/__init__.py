"""The compiled inner loops, each beside a plain version with the same results.

What is here, in the order a text passes through it:

    text/         bytes → tokens → n-grams → counts → tf-idf
    vocabulary/   terms ↔ columns: a hash table with open addressing
    linear/       features → scores of linear weights → the labels to answer with
    tree/         features → scores by beam search down a label tree
    solver/       training: dual coordinate descent for sixteen labels at once
    array_table.py  how the arrays of a model are handed over as one argument
    compiler.py, intrinsics.py  all that is known of numba and LLVM; nothing else imports either

A kernel and its plain twin. `kernels("text.tokens")` is the module text/tokens.py, compiled by
numba, or text/tokens_plain.py where numba is missing or LABELSERVE_KERNELS=plain. Both have the
same functions and the same results, so callers do not ask which one they got: terms, counts,
tf-idf and picked labels to the last bit, sums of float32 scores up to the order of their additions.
The plain one, in numpy and scipy, is the definition: read it first.

How to add one. Write `<folder>/<name>_plain.py`, then `<folder>/<name>.py`: functions that Python
calls get `@kernel`, functions that only kernels call get `@inner`, and `warm()` calls each with
arrays of every dtype it will see. Name it in `KERNELS` below: a test then asks for its twin.
Compare the two on random inputs in tests/kernels. Kernels do not check bounds: whoever calls one
has checked that every index it is given exists. Arrays that may be memory-mapped go through
`read_only`, else each kernel is compiled once for writeable and once for read-only ones.

How machine code becomes stale. It is cached on disk (NUMBA_CACHE_DIR, else __pycache__) under the
`source_stamp` of the kernel's module: a hash of its source and of the source of every module of
this package that it imports, and so on. A change in any of them compiles the kernel again; a
change in numba's version does so too. `warm()` compiles everything at once.
"""

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from app.errors import SettingsError
from app.progress import Progress, silent

SETTING = "LABELSERVE_KERNELS"
KERNELS = (
    "vocabulary.hashing",
    "text.tokens",
    "text.tfidf",
    "linear.text_scorer",
    "linear.csr_scores",
    "tree.beam_search",
    "linear.top_k_heap",
    "linear.picking",
    "solver.block_descent",
    "tree.row_groups",
)
"""Every module here has a twin `<name>_plain` and a function `warm()` that uses all of it once."""


def kernels(name: str) -> ModuleType:
    """The module `app.kernels.<name>`, or its twin `<name>_plain` where there is no compiler.

    Both have the same functions with the same results. The compiler is imported here, not before.
    """
    return import_module(f"app.kernels.{name}" if compiled() else f"app.kernels.{name}_plain")


def compiled() -> bool:
    """Whether compiled kernels are used: wherever they can be, unless `plain` is set."""
    wanted = os.environ.get(SETTING, "auto")
    if wanted not in ("auto", "plain"):
        raise SettingsError(f"{SETTING} must be 'auto' or 'plain'")
    return wanted == "auto" and _has_compiler()


def use(mode: str) -> None:
    """Use compiled kernels wherever they can be (`auto`) or plain ones, here and in children."""
    os.environ[SETTING] = mode


def warm(progress: Progress = silent, names: tuple[str, ...] = KERNELS) -> None:
    """Compile these kernels, or load them from the cache, before they are waited for."""
    if not compiled():
        return
    for number, name in enumerate(names):
        progress(f"compiling kernels, once: {name}", number, len(names))
        kernels(name).warm()
    progress("compiling kernels, once", len(names), len(names))


@cache
def _has_compiler() -> bool:
    try:
        import_module("app.kernels.compiler")
    except ImportError:
        return False
    return True

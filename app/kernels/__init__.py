"""The compiled inner loops, each beside a plain version with the same results.

What is here, in the order a text passes through it:

    text/         bytes → tokens → n-grams → counts → tf-idf
    vocabulary/   terms ↔ columns: a hash table with open addressing
    linear/       features → scores of linear weights → the labels to answer with
    tree/         features → scores by beam search down a label tree
    neighbours/   features → the nearest training documents, by an inverted index
    presence/     features → leaves of decision trees
    solver/       training: dual coordinate descent, and perceptrons, for sixteen labels at once
    array_table.py  how the arrays of a model are handed over as one argument
    compiler.py, linking.py, intrinsics.py  all that is known of numba and LLVM

A kernel and its plain twin. `kernels("text.tokens")` is the module text/tokens.py, compiled by
numba, or text/tokens_plain.py where numba is missing or LABELSERVE_KERNELS=plain. Both have the
same functions and the same results, so callers do not ask which one they got: terms, counts,
tf-idf and picked labels to the last bit, sums of float32 scores up to the order of their additions.
The plain one, in numpy and scipy, is the definition: read it first.

How to add one. Write `<folder>/<name>_plain.py`, then `<folder>/<name>.py`: functions that Python
calls get `@kernel`, functions that only kernels call `@inner` (`@outlined` where they are long and
called in several places), and `warm()` calls each kernel with arrays of every dtype it will see.
Each kernel is optimized with all that it calls, a second or two: have few of them, and begin sums
that are handed on with `np.int64(0)`, since `0` alone is another type to numba, and compiled
besides. Name it in `KERNELS` below: a test then asks for its twin.
Compare the two on random inputs in tests/kernels. Kernels do not check bounds: whoever calls one
has checked that every index it is given exists. Arrays that may be memory-mapped go through
`read_only`, else each kernel is compiled once for writeable and once for read-only ones.

How machine code becomes stale. It is cached on disk (app/kernel_cache.py says where) under the
`source_stamp` of the kernel's module: a hash of its source and of the source of every module of
this package that it imports, and so on. A change in any of them compiles the kernel again; a
change in numba's version does so too. `python -m app.compiling` compiles everything at once.
"""

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
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
    "solver.perceptron",
    "solver.sleeping_experts",
    "neighbours.nearest",
    "presence.tree_walk",
    "tree.row_groups",
)
"""Every module here has a twin `<name>_plain` and a function `warm()` that uses all of it once."""
_postponed = False


def kernels(name: str) -> ModuleType:
    """The module `app.kernels.<name>`, or its twin `<name>_plain` where there is no compiler.

    Both have the same functions with the same results. The compiler is imported here, not before.
    """
    return import_module(f"app.kernels.{name}" if compiled() else f"app.kernels.{name}_plain")


def compiled() -> bool:
    """Whether compiled kernels are used: wherever they can be, unless `plain` is set."""
    return _is_wanted() and not _postponed and _has_compiler()


def may_compile() -> bool:
    """Whether compiled kernels are wanted and numba is installed; it is not imported for that."""
    return _is_wanted() and find_spec("numba") is not None


def use(mode: str) -> None:
    """Use compiled kernels wherever they can be (`auto`) or plain ones, here and in children."""
    os.environ[SETTING] = mode


def postpone(is_postponed: bool) -> None:
    """Use plain kernels in this process for the time being, or no longer."""
    global _postponed
    _postponed = is_postponed


def is_postponed() -> bool:
    """Whether plain kernels are used for the time being."""
    return _postponed


def load_compiled(names: tuple[str, ...]) -> None:
    """Load these kernels, compiled, while plain ones may still be in use."""
    for name in names:
        import_module(f"app.kernels.{name}").warm()


def warm(progress: Progress = silent, names: tuple[str, ...] = KERNELS) -> None:
    """Compile these kernels, or load them from the cache, before they are waited for."""
    if not compiled():
        return
    for number, name in enumerate(names):
        progress(f"loading kernels · {name}", number, len(names))
        kernels(name).warm()
    progress("loading kernels", len(names), len(names))


def _is_wanted() -> bool:
    wanted = os.environ.get(SETTING, "auto")
    if wanted not in ("auto", "plain"):
        raise SettingsError(f"{SETTING} must be 'auto' or 'plain'")
    return wanted == "auto"


@cache
def _has_compiler() -> bool:
    try:
        import_module("app.kernels.compiler")
    except ImportError:
        return False
    return True

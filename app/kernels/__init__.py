"""The compiled inner loops, each beside a plain version with the same results."""

import os
import re
from functools import cache
from hashlib import sha256
from importlib import import_module
from types import ModuleType

from app.errors import SettingsError
from app.progress import Progress, silent

USES = r"^from app\.kernels\.([\w.]+) import"
SETTING = "LABELSERVE_KERNELS"
KERNELS = (
    "vocabulary.hashing",
    "text.tokens",
    "text.tfidf",
    "linear.predict",
    "linear.scores",
    "tree.beam_search",
    "linear.best_scores",
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


@cache
def source_stamp(name: str) -> str:
    """A hash of a kernel's source and of the kernels it is built of: what makes a cache stale."""
    with open(os.path.join(os.path.dirname(__file__), *name.split(".")) + ".py") as file:
        source = file.read()
    inner = [source_stamp(part) for part in re.findall(USES, source, re.MULTILINE)]
    return sha256("".join([source, *inner]).encode()).hexdigest()

"""The compiled inner loops, each beside a plain version with the same results."""

import os
from importlib import import_module
from types import ModuleType

from app.errors import SettingsError

SETTING = "LABELSERVE_KERNELS"


def kernels(name: str) -> ModuleType:
    """The module `app.kernels.<name>`, or its twin `<name>_plain` where there is no compiler.

    Both have the same functions with the same results. The compiler is imported here, not before.
    """
    if wants_compiled():
        try:
            return import_module(f"app.kernels.{name}")
        except ImportError:
            pass
    return import_module(f"app.kernels.{name}_plain")


def wants_compiled() -> bool:
    """Whether compiled kernels are to be used where they can be: not for `plain`."""
    wanted = os.environ.get(SETTING, "auto")
    if wanted not in ("auto", "plain"):
        raise SettingsError(f"{SETTING} must be 'auto' or 'plain'")
    return wanted == "auto"

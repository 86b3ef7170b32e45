"""How long work reports where it is, without knowing who shows it."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with (stage, done, total), from the process that shows it; total 0 = not known."""


def silent(stage: str, done: int, total: int) -> None:
    """Show nothing."""

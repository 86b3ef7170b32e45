"""What the shell may complete: models of the store, learners, decisions, formats.

What takes long to import is imported when a completion is asked for: every command imports this
module, and most of the time nobody completes anything.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.datasets import FORMATS
from app.learners import LEARNERS

if TYPE_CHECKING:
    from app.decisions.base import Use


def model_names(ctx: typer.Context) -> list[tuple[str, str]]:
    """Every model of the store that is named so far in the line, and its number of versions."""
    from app.artifacts.store import Store

    store = Store(Path(ctx.params.get("models_dir") or "models"))
    return [(name, f"{len(store.versions(name))} versions") for name in store.names()]


def model_then_file(ctx: typer.Context) -> list[tuple[str, str]]:
    """Models for the first of several arguments; the shell completes files for the others."""
    return [] if ctx.params.get("arguments") else model_names(ctx)


def learners() -> list[str]:
    """Every learner."""
    return list(LEARNERS)


def formats() -> list[str]:
    """Every data format, and the choice by content."""
    return ["auto", *FORMATS]


def decisions(use: "Use") -> Callable[[], list[str]]:
    """A completion of the decisions that may be named there, each with an example's argument."""

    def names() -> list[str]:
        from app.decisions.base import Use
        from app.decisions.parser import TUNED, rules

        stored = [] if use is Use.TRAINING else [TUNED]
        return stored + [name for rule in rules() if use in rule.uses for name in rule.examples]

    return names

"""What commands share that write a model's new version: the option, the result, the exit code."""

from typing import Annotated, Any

import typer

from app.cli.terminal import EXIT_NOT_PROMOTED
from app.model import Model
from app.training.publish import Published

Promote = Annotated[
    str, typer.Option(help="always, never, or not-worse than the current one on --test.")
]


def written_version(old: Model, published: Published) -> dict[str, Any]:
    """What `--json` says of the version that was written."""
    return {
        "model": old.name,
        "version": published.version,
        "from": old.version,
        "promoted": published.is_promoted,
    }


def exit_if_held_back(promote: str, published: Published) -> None:
    """End with its own code where a version was to be promoted unless worse, and was not."""
    if promote == "not-worse" and not published.is_promoted:
        raise typer.Exit(EXIT_NOT_PROMOTED)

"""Options that are settings of the service: `--port 9000` is `LABELSERVE_PORT=9000`."""

import os
from collections.abc import Callable
from typing import Any

import typer

from app.settings import PREFIX, Settings


def setting(name: str, *, completion: Callable[..., Any] | None = None) -> Any:
    """The option of that setting, with the setting's own help."""
    description = Settings.model_fields[name].description
    return typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"{description} Else {PREFIX}{name.upper()}.",
        show_default=False,
        autocompletion=completion,
    )


def environment_with(**given: Any) -> dict[str, str]:
    """The environment with the options that were given in the place of their variables."""
    options = {name: str(value) for name, value in given.items() if value is not None}
    return {**os.environ, **{PREFIX + name.upper(): value for name, value in options.items()}}

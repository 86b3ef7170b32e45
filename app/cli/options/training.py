"""Options that say the same in several commands that train."""

from pathlib import Path
from typing import Annotated

import typer

TestData = Annotated[
    str | None,
    typer.Option(help="Test data, or a share such as 0.2 of DATA to keep aside for it."),
]
RecipeFile = Annotated[Path | None, typer.Option(help="What to train, as a TOML file.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change the recipe: section.key=value; may be repeated."),
]
Jobs = Annotated[int, typer.Option(help="Processors to use; 0: all. Same result.", min=0)]

"""The `labelserve` command: every command under one name, imported when it is asked for."""

from importlib import metadata
from typing import Annotated, Any, NoReturn

import typer

from app.catalogue import find
from app.cli.commands import COMMANDS
from app.cli.examples import GroupWithExamples
from app.cli.terminal import command, out, run

PLACES = {name: place for name, (place, _) in COMMANDS.items()}


class CommandsOnDemand(GroupWithExamples):
    """A group that lists and completes its commands without importing them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names; a wrong word is refused with the nearest ones."""
        name, listed, rest = super().resolve_command(ctx, args)
        loaded = typer.main.get_command(find(PLACES, name, "command")) if name else listed
        return name, loaded, rest


app = command(
    "Train multi-label text classifiers, serve their labels, and judge how good they are.",
    "demo",
    "train demo/train.jsonl --model demo --test demo/test.jsonl",
    "serve",
    "predict demo demo/test.jsonl --top-k 3",
    "COMMAND --help",
    kind=CommandsOnDemand,
    has_completion=True,
)


def main() -> NoReturn:
    """Run what was typed: the console script `labelserve`."""
    run(app)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        out.print(f"labelserve {metadata.version('labelserve')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None: ...


def _listed() -> None:
    """Stand for a command in lists and completion; `resolve_command` gives the command itself."""


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(_listed)

"""Examples at the end of a help text; they name the command as it was typed."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

TYPED = "{command}"


def examples(*arguments: str) -> str:
    """The epilog of a help text: the command with these arguments, a line each; empty for none."""
    if not arguments:
        return ""
    return "\n".join(["Examples:", "", "\b", *(f"{TYPED} {line}".rstrip() for line in arguments)])


class CommandWithExamples(TyperCommand):
    """A command whose epilog comes from `examples`."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples with `train.py` or `labelserve train`, whichever was typed."""
        self.epilog = _as_typed(self.epilog, ctx)
        super().format_epilog(ctx, formatter)


class GroupWithExamples(TyperGroup):
    """A group of commands whose epilog comes from `examples`."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples with `keys.py` or `labelserve keys`, whichever was typed."""
        self.epilog = _as_typed(self.epilog, ctx)
        super().format_epilog(ctx, formatter)


def _as_typed(epilog: str | None, ctx: Any) -> str:
    return (epilog or "").replace(TYPED, ctx.command_path)

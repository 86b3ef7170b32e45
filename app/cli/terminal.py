"""What the offline commands share: progress on stderr, results on stdout, exit codes."""

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from app.cli.examples import GroupWithExamples, examples
from app.compiling.completeness import is_wanted
from app.compiling.processes import compile_kernels
from app.errors import AppError, InvalidRequestError
from app.progress import Progress, silent

PIPED_WIDTH = 100
out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
err = Console(stderr=True, highlight=False)

Json = Annotated[Path | None, typer.Option("--json", help="Write the result as JSON (- stdout).")]
EXIT_FAILED, EXIT_USAGE, EXIT_NOT_PROMOTED, EXIT_INTERRUPTED = 1, 2, 3, 130


def command(
    help_text: str,
    *arguments: str,
    kind: type[GroupWithExamples] = GroupWithExamples,
    has_completion: bool = False,
) -> typer.Typer:
    """A typer application in the house style: complete help, examples, and no tracebacks.

    `arguments` are those of the examples, where it is a group of commands; a single command has
    its own (`cls=CommandWithExamples, epilog=examples(…)`).
    """
    return typer.Typer(
        cls=kind,
        help=help_text,
        epilog=examples(*arguments),
        add_completion=has_completion,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def run(app: typer.Typer) -> NoReturn:
    """Run a command; our own errors become one sentence and an exit code, and so does Ctrl-C."""
    interrupts: list[int] = []

    def interrupt(number: int, _: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        app(standalone_mode=True)
    except InvalidRequestError as error:
        fail(str(error), EXIT_USAGE)
    except AppError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    except Exception:
        if not interrupts:  # a package may turn the interrupt into an error of its own
            raise
        fail("stopped", EXIT_INTERRUPTED)
    sys.exit(0)


def fail(sentence: str, code: int = EXIT_FAILED) -> NoReturn:
    """Say what went wrong, on standard error, and leave."""
    err.print(f"error: {sentence}", style="red", markup=False, soft_wrap=True)
    sys.exit(code)


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A Progress that draws one bar a stage on a terminal, and nothing where there is none."""
    if not err.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=err, transient=True) as bars:
        yield _bar_per_stage(bars)


def prepare_kernels(progress: Progress = silent) -> None:
    """Have the kernels compiled where they are not yet, and say so before: it takes a while."""
    if is_wanted():
        if progress is silent:
            err.print("compiling kernels, once: this takes about half a minute")
        compile_kernels(progress)


def table(title: str, columns: list[str], rows: list[list[str]], *, text: int = 1) -> None:
    """Print a table: the first `text` columns to the left, figures to the right."""
    drawn = Table(title=title or None, title_justify="left", title_style="bold", box=None)
    for position, column in enumerate(columns):
        drawn.add_column(
            column,
            justify="left" if position < text else "right",
            overflow="fold",
            no_wrap=position < text,
        )
    for row in rows:
        drawn.add_row(*(Console().render_str(cell, markup=False) for cell in row))
    out.print(drawn)


def show_warnings(sentences: Iterable[str]) -> None:
    """Print what to know before relying on a result."""
    for sentence in sentences:
        out.print(f"warning: {sentence}", markup=False, soft_wrap=True)


def write_json(file: Path | None, content: Any) -> None:
    """The same result as JSON, where `--json FILE` asked for it; `-` is standard output."""
    if file is None:
        return
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    if str(file) == "-":
        sys.stdout.write(text + "\n")
    else:
        file.write_text(text + "\n", encoding="utf-8")


def _bar_per_stage(bars: Bars) -> Callable[[str, int, int], None]:
    tasks: dict[str, Any] = {}

    def show(stage: str, done: int, total: int) -> None:
        name = stage.partition(" · ")[0]  # what follows is news of the same stage
        if name not in tasks:
            tasks[name] = bars.add_task(stage, total=total or None)
        bars.update(tasks[name], description=stage, completed=done, total=total or None)

    return show

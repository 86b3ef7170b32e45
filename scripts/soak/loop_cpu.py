"""Run first by a server that is measured: notes how much CPU its loop's thread takes at a time."""

import asyncio
from pathlib import Path
from time import thread_time

from app.serving.service import Service

LOOK_SECONDS, WORTH_NOTING = 0.001, 0.001
MOST_SECONDS = 0.020
"""Of the CPU of the loop's thread that a callback may take."""


def noting(file: Path) -> str:
    """The line of Python that a server runs first to have its loop looked at."""
    scripts = str(Path(__file__).parents[1])
    path = f"import sys; sys.path.insert(0, {scripts!r})"
    return f"{path}; from soak.loop_cpu import note_cpu; note_cpu({str(file)!r})"


def seen_in(file: Path) -> float:
    """The longest time that was noted."""
    return max(map(float, file.read_text().split()), default=0.0)


def note_cpu(file: str) -> None:
    """Have the service write the CPU seconds between two looks at its loop into a file.

    The loop is looked at every millisecond, so what lies between two looks is one long callback,
    or a millisecond of short ones. CPU time does not count what other processes do meanwhile.
    """
    start = Service.start

    async def start_and_look(service: Service) -> None:
        await start(service)
        _look_later(asyncio.get_running_loop(), Path(file))

    Service.start = start_and_look  # type: ignore[method-assign, assignment]


def _look_later(loop: asyncio.AbstractEventLoop, file: Path) -> None:
    loop.call_later(LOOK_SECONDS, _look, loop, file, thread_time())


def _look(loop: asyncio.AbstractEventLoop, file: Path, before: float) -> None:
    seconds = thread_time() - before
    if seconds > WORTH_NOTING:
        with file.open("a") as lines:
            lines.write(f"{seconds}\n")
    _look_later(loop, file)

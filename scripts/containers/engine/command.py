"""Runs programs of the machine: output kept, a failure told with the program's last lines."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

LAST_LINES = 15
ENDING_SECONDS = 30


class CommandError(Exception):
    """A program that failed, with the end of what it said."""


def run(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    seconds: float = 600,
    log: Path | None = None,
) -> str:
    """What the program wrote to standard output; with `log` nothing: all of it goes there."""
    command = [str(word) for word in words]
    settings = {**os.environ, **(env or {})}
    with ExitStack() as files:
        output, errors = (files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
        out = files.enter_context(log.open("a+")) if log else output
        err = out if log else errors
        began = out.seek(0, os.SEEK_END)
        try:
            process = subprocess.Popen(command, env=settings, cwd=cwd, stdout=out, stderr=err)
        except FileNotFoundError:
            raise CommandError(f"{command[0]} is not installed") from None
        if code := _ended(process, seconds):
            said = _text(err, began if log else 0) or _text(out, began)
            last = "\n".join(said.strip().splitlines()[-LAST_LINES:])
            raise CommandError(f"{' '.join(command)}: exit code {code}\n{last}")
        return "" if log else _text(out, began)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Its exit code; whatever ends the waiting ends the program too, in order if it can."""
    try:
        return process.wait(seconds)
    except BaseException as error:
        process.terminate()
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise CommandError(f"{process.args!r}: not done after {seconds:.0f} s") from None
        raise


def _text(file: IO[str], began: int) -> str:
    file.seek(began)
    return file.read()

"""Bad records: raised at once, or counted and listed, as the options say."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from app.datasets.label_sets import BadLabelError
from app.datasets.layout import Cells
from app.errors import AppError, InvalidDataError

LISTED = 20

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Fault:
    """One skipped record: its line and what was wrong there, without a character of the data."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that could not be read, and those of its cells that could."""

    error: AppError
    cells: Cells = ()


SKIP = "--on-error skip leaves such records out and lists them"


@dataclass
class Faults:
    """Where readers take bad records: raises the first one, or counts all and lists the first.

    Where records are `kept`, every one that is skipped waits there to be taken. `label_separator`
    is how a reader split cells of labels, "" where it split none; `warnings` are what it doubts in
    them.
    """

    file: str
    on_error: Literal["fail", "skip"] = "fail"
    skipped: int = 0
    listed: list[Fault] = field(default_factory=list)
    kept: deque[Refused] | None = None
    label_separator: str = ""
    warnings: list[str] = field(default_factory=list)
    part: int = 0
    """The number of the file that is read."""
    names_files: bool = False
    """Whether `file` changes on the way, so that every listed record must say where it stood."""

    def add(self, problem: str, *, line: int, cells: Cells = (), **details: Any) -> None:
        """Refuse one record; the details are those of `fatal`."""
        self.take(self.fatal(problem, line=line, **details), cells)

    def take(self, error: InvalidDataError, cells: Cells = ()) -> None:
        """Refuse one record with an error made elsewhere."""
        if self.on_error == "fail":
            error.hint = error.hint or SKIP
            raise error
        self.skipped += 1
        if self.kept is not None:
            self.kept.append(Refused(error, cells))
        if len(self.listed) < LISTED:
            is_elsewhere = self.names_files or error.file != self.file
            place = f"{error.file}: " if is_elsewhere else ""
            self.listed.append(Fault(error.line or 1, f"{place}{error.without_content()}"))

    def refuse(self, bad: BadLabelError, *, line: int, column: int, cells: Cells = ()) -> None:
        """Refuse one record for one of its labels."""
        error = self.fatal(
            bad.problem, line=line, column=column, found=bad.name, accepted=bad.accepted
        )
        self.take(error, cells)

    def fatal(
        self, problem: str, *, line: int, column: int = 1, **details: str
    ) -> InvalidDataError:
        """The error to raise where the rest of the file cannot be read either.

        The details are `found`, `accepted` and `hint` of the error.
        """
        return InvalidDataError(problem, file=self.file, line=line, column=column, **details)


def with_refused(found: Iterable[Read], kept: deque[Refused] | None) -> Iterator[Read | Refused]:
    """What a reader gives, and between it, in their places, the records that it refused."""
    for each in found:
        while kept:
            yield kept.popleft()
        yield each
    while kept:
        yield kept.popleft()

"""Bad records: raised at once, or counted and listed, as the options say."""

from dataclasses import dataclass, field
from typing import Literal

from app.datasets.label_sets import BadLabelError
from app.errors import InvalidDataError

LISTED = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """One skipped record: its line and what was wrong there, without a character of the data."""

    line: int
    problem: str


@dataclass
class Faults:
    """Where readers take bad records: raises the first one, or counts all and lists the first."""

    file: str
    on_error: Literal["fail", "skip"] = "fail"
    skipped: int = 0
    listed: list[Fault] = field(default_factory=list)

    def add(
        self, problem: str, *, line: int, column: int = 1, found: str = "", accepted: str = ""
    ) -> None:
        """Refuse one record."""
        self.take(self.fatal(problem, line=line, column=column, found=found, accepted=accepted))

    def take(self, error: InvalidDataError) -> None:
        """Refuse one record with an error made elsewhere."""
        if self.on_error == "fail":
            raise error
        self.skipped += 1
        if len(self.listed) < LISTED:
            place = "" if error.file == self.file else f"{error.file}: "
            self.listed.append(Fault(error.line or 1, f"{place}{error.without_content()}"))

    def refuse(self, bad: BadLabelError, *, line: int, column: int) -> None:
        """Refuse one record for one of its labels."""
        self.add(bad.problem, line=line, column=column, found=bad.name, accepted=bad.accepted)

    def fatal(
        self, problem: str, *, line: int, column: int = 1, found: str = "", accepted: str = ""
    ) -> InvalidDataError:
        """The error to raise where the rest of the file cannot be read either."""
        return InvalidDataError(
            problem, file=self.file, line=line, column=column, found=found, accepted=accepted
        )

"""Corrections as they were read: what a reviewer decided, on which document and label."""

from dataclasses import dataclass

from app.errors import InvalidDataError

ACCEPTED = (
    "a suspects file with a column `decision`: keep, take (the document has the label), drop (it "
    "does not) or unsure"
)


@dataclass(frozen=True, slots=True)
class LabelCorrection:
    """One decision: on which document, by id or by line, and on which label."""

    number: int
    """Where it stands: a line of CSV, the place in an array of JSON."""
    label: str
    decision: str
    id: str | None = None
    line: int | None = None
    data: str = ""
    """The SHA-256 of the data that the line is of, or its beginning; empty: not known."""


@dataclass(frozen=True, slots=True)
class CorrectionsFile:
    """All decisions of a file, in its order, and the file's SHA-256."""

    name: str
    sha256: str
    corrections: tuple[LabelCorrection, ...]

    def fault(
        self, one: LabelCorrection, problem: str, accepted: str = ACCEPTED
    ) -> InvalidDataError:
        """The error to raise about one decision."""
        return InvalidDataError(problem, file=self.name, line=one.number, accepted=accepted)

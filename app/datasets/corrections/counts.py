"""CorrectionCounts: what applying corrections did."""

from dataclasses import dataclass

from app.datasets.faults import Fault


@dataclass(frozen=True)
class CorrectionCounts:
    """How many decisions changed the data, and which could not.

    `kept` decisions leave the labels as they are (`keep`, `unsure` or none), `already_so` ones
    found the label there, or gone, already. `unmatched` ones name a document or a label that the
    data does not have, `repeated` ones stand in the file before; the first of both are in
    `not_applied`.
    """

    sha256: str
    """Of the corrections file; of several, one after the other with commas between."""
    added: int = 0
    removed: int = 0
    kept: int = 0
    already_so: int = 0
    unmatched: int = 0
    repeated: int = 0
    not_applied: tuple[Fault, ...] = ()

    def with_next(self, other: "CorrectionCounts") -> "CorrectionCounts":
        """What this file and the next one did."""
        return CorrectionCounts(
            f"{self.sha256},{other.sha256}",
            self.added + other.added,
            self.removed + other.removed,
            self.kept + other.kept,
            self.already_so + other.already_so,
            self.unmatched + other.unmatched,
            self.repeated + other.repeated,
            self.not_applied + other.not_applied,
        )

"""kept.json: everything about a kept evaluation but its arrays, strict, and the arrays' checksums.

It is written last: a folder without it holds an evaluation that was not finished.
"""

from pathlib import Path
from typing import Final, Literal

from app.artifacts.folders import write_file
from app.artifacts.manifest import File, Strict
from app.errors import DamagedEvaluationError
from app.metrics.counting.cells import Averaging, ZeroDivision

FORMAT: Final = 1
NAME = "kept.json"
ARRAYS = {
    "line": "<i8",
    "id_length": "<i4",
    "id_bytes": "|u1",
    "pair_count": "<i4",
    "pair": "<i4",
    "rank": "<i4",
    "at_least": "<i4",
    "inverse_propensity": "<f8",
}
"""A document has a `line`, the bytes of its id (−1: it has none) and a number of pairs, each
column · 4 + kind. A true pair has a rank (0: never found) and how many labels score at least as
high. The last array has a value a label, and one for zero-shot labels; it may be empty."""


class KeptFacts(Strict):
    """What was evaluated on what, and how it was counted."""

    format: Literal[1]
    model: str
    version: str
    decision: str
    data: str
    """SHA-256 of the test set; empty where it came from no file."""
    label_separator: str
    unlabelled: Literal["keep", "drop"]
    k: list[int]
    beta: float
    zero_division: ZeroDivision
    include_test_labels: bool
    labels: list[str]
    """The labels that the model answers with, by column."""
    zero_shot: list[str]
    """True labels that it does not know, by the columns that follow."""
    figures: dict[str, float | None]
    """The single figures of the report."""
    arrays: dict[str, File]

    @property
    def averaging(self) -> Averaging:
        """How 0/0 was read, and β."""
        return Averaging(self.zero_division, self.beta)


def write_facts(folder: Path, facts: KeptFacts) -> None:
    """Write them, whole and through to the disk; after the arrays."""
    write_file(folder / NAME, facts.model_dump_json().encode())


def read_facts(folder: Path) -> KeptFacts:
    """What was written there, checked."""
    try:
        facts = KeptFacts.model_validate_json((folder / NAME).read_bytes())
    except OSError as error:
        what = "nothing was kept of this evaluation's documents"
        raise DamagedEvaluationError(f"{what} ({type(error).__name__})") from None
    except ValueError:  # its message would repeat ids and labels
        raise DamagedEvaluationError(f"{NAME} of this evaluation is damaged") from None
    if {name: array.dtype for name, array in facts.arrays.items()} != ARRAYS:
        raise DamagedEvaluationError(f"{NAME} of this evaluation names other arrays than are kept")
    return facts

"""Proportional cut (Pcut): each label goes to as many documents of a batch as training suggests."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.decisions.base import Batch, BatchDecision, BatchRule, Use
from app.errors import InvalidRequestError

PREFIX = "proportion:"
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class ProportionCut(BatchRule):
    """`proportion:X`: per label the x·D·frequency best of D documents (Yang 2001).

    Rounded half up, at most all that have a score; ties go to the earlier document.
    """

    x: float
    syntax: ClassVar[str] = "proportion:X"
    examples: ClassVar[tuple[str, ...]] = ("proportion:1", "proportion:0.5", "proportion:1000000")
    uses: ClassVar[frozenset[Use]] = frozenset({Use.EVALUATION, Use.FILE_PREDICTION})

    @classmethod
    def read(cls, name: str) -> Self | None:
        """The rule of `proportion:X`.

        >>> ProportionCut.read("proportion:.5")
        ProportionCut(x=0.5)
        """
        if not name.startswith(PREFIX):
            return None
        try:
            x = float(name.removeprefix(PREFIX))
        except ValueError:
            x = 0.0
        if not 0 < x <= MOST:
            raise InvalidRequestError(
                "no such decision; accepted: proportion:X with a number X above 0 and at most "
                f"{MOST}, as in proportion:1"
            )
        return cls(x)

    @property
    def name(self) -> str:
        """The one spelling of it."""
        return f"{PREFIX}{self.x:.12g}"

    def sizes(self, batch: Batch) -> NDArray[np.int64]:
        """How many documents of the batch get each label."""
        wanted = np.floor(self.x * batch.n_documents * batch.frequencies + 0.5)
        return np.minimum(wanted, batch.n_documents).astype(np.int64)

    def batch_decision(self, batch: Batch) -> BatchDecision:
        """The cuts that leave each label its number of documents."""
        pairs = zip(batch.columns, self.sizes(batch).tolist(), strict=True)
        ends = [last_place(column, size) for column, size in pairs]
        cuts = np.array([end.cut for end in ends], np.float32)
        documents = np.array([end.document for end in ends], np.int64)
        return BatchDecision(cuts, documents, self.name)


class LastPlace(NamedTuple):
    """The lowest score that gets a label, and the last document that gets it with that score."""

    cut: float
    document: int


def last_place(scores: NDArray[np.float32], size: int) -> LastPlace:
    """Where the `size` best of a label's documents end; at infinity if there are none."""
    size = min(size, int(np.count_nonzero(scores > -np.inf)))
    if not size:
        return LastPlace(np.inf, -1)
    cut = np.partition(scores, len(scores) - size)[len(scores) - size]
    n_ties = size - int(np.count_nonzero(scores > cut))
    return LastPlace(float(cut), int(np.flatnonzero(scores == cut)[n_ties - 1]))

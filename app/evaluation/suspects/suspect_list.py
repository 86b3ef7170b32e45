"""SuspectList: the most suspect pairs of a stream of chunks; memory does not grow with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measure.tally import Tally, as_bytes, from_bytes
from app.evaluation.suspects.label_pairs import LabelPairs

LEAST_EVIDENCE = 0.0
"""A pair is a suspect where more speaks for a fault than against it."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pair whose label is probably missing or probably wrong; no text."""

    id: str | None
    line: int
    label: str
    kind: Literal["missing", "wrong"]
    probability: float

    def as_dict(self) -> dict[str, Any]:
        """The entry of a report."""
        return {name: getattr(self, name) for name in self.__slots__}


class Places(NamedTuple):
    """What documents are called: ids where the data has them, and lines."""

    ids: Sequence[str | None]
    lines: NDArray[np.int64]


class SuspectList:
    """The `most` suspects of highest evidence; ties go to the earlier document, then label."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._evidence: NDArray[np.float64] = np.zeros(0)
        self._suspects: list[Suspect] = []

    def add(
        self,
        pairs: LabelPairs,
        evidence: NDArray[np.float64],
        places: Places,
        names: Sequence[str],
    ) -> None:
        """Look at one chunk; chunks come in the order of the documents."""
        best = _best(evidence, self.most)
        found = [_suspect(pairs, pair, places, names) for pair in best.tolist()]
        self._take(found, evidence[best])

    def _take(self, found: list[Suspect], evidence: NDArray[np.float64]) -> None:
        together, suspects = np.append(self._evidence, evidence), self._suspects + found
        kept = _best(together, self.most)
        self._evidence, self._suspects = together[kept], [suspects[one] for one in kept.tolist()]

    def tally(self) -> Tally:
        """The suspects, and the evidence against each."""
        found = [suspect.as_dict() for suspect in self._suspects]
        return {"evidence": self._evidence, "suspects": as_bytes(found)}

    def merge(self, tally: Tally, first_line: int) -> None:
        """Look at the suspects of further documents, whose lines count on from `first_line`."""
        found = [Suspect(**one) for one in from_bytes(tally["suspects"])]
        self._take([replace(one, line=one.line + first_line) for one in found], tally["evidence"])

    def listed(self) -> list[Suspect]:
        """Most suspect first."""
        return list(self._suspects)


def _best(evidence: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Where the highest evidence stands, falling; what stands first among equals comes first."""
    candidates = np.flatnonzero(evidence > LEAST_EVIDENCE)
    order = np.argsort(-evidence[candidates], kind="stable")
    return candidates[order[:most]]


def _suspect(pairs: LabelPairs, pair: int, places: Places, names: Sequence[str]) -> Suspect:
    document = int(pairs.document[pair])
    return Suspect(
        places.ids[document],
        int(places.lines[document]),
        names[int(pairs.label[pair])],
        "wrong" if pairs.is_given[pair] else "missing",
        float(pairs.probability[pair]),
    )

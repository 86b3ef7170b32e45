"""The documents that went worst, by id: what to look at first."""

import heapq
from typing import Any

import numpy as np

from app.evaluation.storage.document_records import Records, document_cells
from app.evaluation.suspects.suspect_list import Places
from app.metrics.contingency import f1
from app.metrics.counting.cells import Averaging
from app.metrics.counting.pairs import FN, FP, TP, Pairs

KEPT = 30
SHOWN_LABELS = 20


class WorstDocuments:
    """The documents of lowest F1, then of most errors, then the earliest. No text is kept."""

    def __init__(self) -> None:
        self._number = 0
        self._heap: list[tuple[float, int, int, dict[str, Any]]] = []

    def add(self, places: Places, records: Records, pairs: Pairs, names: list[str]) -> None:
        """Look at one chunk."""
        errors = records["fp"] + records["fn"]
        values = f1(document_cells(records, 0), Averaging())
        faulty = np.flatnonzero(errors)  # an empty document that got no label has F1 0, too
        order = faulty[np.lexsort((-errors[faulty], values[faulty]))][:KEPT]
        for row in order.tolist():
            self._offer(row, float(values[row]), int(errors[row]), (places, pairs, names))
        self._number += len(places.ids)

    def listed(self) -> list[dict[str, Any]]:
        """Worst first."""
        return [entry for *_, entry in sorted(self._heap, key=lambda item: item[:3], reverse=True)]

    def _offer(
        self, row: int, f1: float, errors: int, parts: tuple[Places, Pairs, list[str]]
    ) -> None:
        key = (-f1, errors, -(self._number + row))
        if len(self._heap) == KEPT and key <= self._heap[0][:3]:
            return
        entry = _entry(row, self._number + row + 1, *parts)
        push = heapq.heappush if len(self._heap) < KEPT else heapq.heapreplace
        push(self._heap, (*key, {**entry, "f1": f1, "errors": errors}))


def _entry(row: int, number: int, places: Places, pairs: Pairs, names: list[str]) -> dict[str, Any]:
    own = slice(*np.searchsorted(pairs.document, [row, row + 1]))
    column, kind = pairs.column[own], pairs.kind[own]
    labels = {
        word: [names[c] for c in column[kind == code][:SHOWN_LABELS].tolist()]
        for word, code in (("right", TP), ("wrong", FP), ("missed", FN))
    }
    id_, line = places.ids[row], int(places.lines[row])
    return {"id": id_ if id_ is not None else f"#{number}", "line": line, **labels}

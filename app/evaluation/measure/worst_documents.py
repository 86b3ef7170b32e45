"""The documents that went worst, by id: what to look at first."""

import heapq
from typing import Any

import numpy as np

from app.evaluation.measure.tally import Tally, as_bytes, from_bytes
from app.evaluation.storage.document_records import Records, document_cells
from app.evaluation.suspects.suspect_list import Places
from app.metrics.contingency import f1
from app.metrics.counting.cells import Averaging
from app.metrics.counting.pairs import FN, FP, TP, Pairs

KEPT = 30
SHOWN_LABELS = 20


class WorstDocuments:
    """The documents of lowest F1, then of most errors, then the earliest. No text is kept."""

    def __init__(self, n_labels: int) -> None:
        self._n_labels, self._number = n_labels, 0
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

    def tally(self) -> Tally:
        """The documents looked at, and the worst of them."""
        return {"documents": np.array([self._number]), "worst": as_bytes(self._heap)}

    def merge(self, tally: Tally, first_line: int) -> None:
        """Look at the worst of further documents, whose lines count on from `first_line`."""
        for f1_, errors, number, entry in from_bytes(tally["worst"]):
            line = entry["line"] + first_line
            self._keep((f1_, errors, number - self._number), {**entry, "line": line})
        self._number += int(tally["documents"][0])

    def listed(self) -> list[dict[str, Any]]:
        """Worst first."""
        falling = sorted(self._heap, key=lambda item: item[:3], reverse=True)
        return [_named(entry, 1 - number) for *_, number, entry in falling]

    def _offer(
        self, row: int, f1: float, errors: int, parts: tuple[Places, Pairs, list[str]]
    ) -> None:
        key = (-f1, errors, -(self._number + row))
        if len(self._heap) == KEPT and key <= self._heap[0][:3]:
            return
        self._keep(key, {**self._entry(row, *parts), "f1": f1, "errors": errors})

    def _keep(self, key: tuple[float, int, int], entry: dict[str, Any]) -> None:
        if len(self._heap) == KEPT and key <= self._heap[0][:3]:
            return
        push = heapq.heappush if len(self._heap) < KEPT else heapq.heapreplace
        push(self._heap, (*key, entry))

    def _entry(self, row: int, places: Places, pairs: Pairs, names: list[str]) -> dict[str, Any]:
        own = slice(*np.searchsorted(pairs.document, [row, row + 1]))
        column, kind = pairs.column[own], pairs.kind[own]
        labels = {
            word: self._listed(column[kind == code].tolist(), names)
            for word, code in (("right", TP), ("wrong", FP), ("missed", FN))
        }
        return {"id": places.ids[row], "line": int(places.lines[row]), **labels}

    def _listed(self, columns: list[int], names: list[str]) -> list[str]:
        """Labels by their columns, then zero-shot ones by name: they have columns as they come."""
        known = [names[column] for column in columns if column < self._n_labels]
        unknown = sorted(names[column] for column in columns if column >= self._n_labels)
        return [*known, *unknown][:SHOWN_LABELS]


def _named(entry: dict[str, Any], number: int) -> dict[str, Any]:
    """The entry; a document without an id is called by its number."""
    return entry if entry["id"] is not None else {**entry, "id": f"#{number}"}

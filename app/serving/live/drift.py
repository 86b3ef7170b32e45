"""LiveDrift: the latest documents of every model, counted in the bins of its held-out ones."""

from collections.abc import Iterator
from time import thread_time

import numpy as np

from app.document_drift.reference import Counts, DriftReference
from app.serving.live.versions import LiveVersion
from app.serving.telemetry.telemetry import Telemetry

BLOCK = 1000
"""Figures are of the latest documents: of two blocks, the older full, the newer not yet."""


CHUNK = 25
MOST_SECONDS = 0.005
"""Of a processor, at a time: models of very many labels count fewer documents."""


class LiveDrift:
    """Counts documents; texts are measured and forgotten. Used by one thread."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._windows: dict[str, _Window] = {}

    def count(self, taken: list[tuple[LiveVersion, str]]) -> None:
        """Count some documents, each of the version that answered it; as many as the time allows.

        A few together cost little more than one.
        """
        start = thread_time()
        for loaded, texts in _chunks(taken):
            window = self._window(loaded.model.name, loaded)
            if window is not None:
                window.add(texts, loaded)
                self._show(loaded.model.name, window)
            if thread_time() > start + MOST_SECONDS:
                return

    def keep(self, current: dict[str, str]) -> None:
        """Show only what is of these versions any longer."""
        self._windows = {n: w for n, w in self._windows.items() if current.get(n) == w.version}
        for family in (self._telemetry.drift_live, self._telemetry.drift_reference):
            family.keep(lambda labels: current.get(labels[0]) == labels[1])

    def _window(self, name: str, loaded: LiveVersion) -> "_Window | None":
        found, version = self._windows.get(name), loaded.model.version
        if found is None or found.version != version:
            reference = loaded.model.drift_reference
            if reference is None:
                return None
            found = self._windows[name] = _Window(version, reference)
        return found

    def _show(self, name: str, window: "_Window") -> None:
        for measure, counts in window.counts().items():
            key = (name, window.version, measure)
            usual = window.reference.histograms[measure].counts
            self._telemetry.drift_reference.labels(*key).set(usual.tolist())
            self._telemetry.drift_live.labels(*key).set(counts.tolist())


def _chunks(taken: list[tuple[LiveVersion, str]]) -> Iterator[tuple[LiveVersion, list[str]]]:
    by_model: dict[str, tuple[LiveVersion, list[str]]] = {}
    for loaded, text in taken:
        by_model.setdefault(loaded.model.name, (loaded, []))[1].append(text)
    for start in range(0, max((len(t) for _, t in by_model.values()), default=0), CHUNK):
        for loaded, texts in by_model.values():
            if texts[start:]:
                yield loaded, texts[start : start + CHUNK]


class _Window:
    """The counts of a version's latest documents: between one block and two."""

    def __init__(self, version: str, reference: DriftReference) -> None:
        self.version, self.reference = version, reference
        self._newer: Counts = {}
        self._older: Counts = {}
        self._n_newer = 0

    def add(self, texts: list[str], loaded: LiveVersion) -> None:
        if self._n_newer >= BLOCK:
            self._older, self._newer, self._n_newer = self._newer, {}, 0
        counted = self.reference.counted(texts, loaded.model.classifier.scores(texts))
        for measure, counts in counted.items():
            self._newer[measure] = self._newer.get(measure, np.zeros_like(counts)) + counts
        self._n_newer += len(texts)

    def counts(self) -> Counts:
        older = self._older
        return {m: own + older.get(m, np.zeros_like(own)) for m, own in self._newer.items()}

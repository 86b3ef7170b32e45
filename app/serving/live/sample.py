"""LiveSample: documents of requests, taken aside for work in the background; never waited for."""

from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from app.prediction.query import Query
from app.serving.live.trials import LiveTrial
from app.serving.live.versions import CurrentVersions, LiveVersion, ShadowDocument
from app.serving.telemetry.telemetry import Telemetry

MOST_WAITING, MOST_CHARACTERS = 256, 4_000_000
"""What may wait for the shadow; beyond that documents are dropped, and counted."""


class LiveSample:
    """Offered every document on the event loop, emptied by one other thread.

    Whoever offers looks at `is_wanted` first: while nothing is tried and no more documents are
    wanted for drift, that is all that a request costs.
    """

    def __init__(
        self,
        registry: CurrentVersions,
        telemetry: Telemetry,
        is_overrun: Callable[[], bool],
        pick: Random | None = None,
    ) -> None:
        self._registry, self._telemetry, self._is_overrun = registry, telemetry, is_overrun
        self._random = (pick or Random()).random  # noqa: S311
        self._waiting: deque[ShadowDocument] = deque()
        self._characters_taken = self._characters_done = 0  # each is written by one thread
        self._drift: list[tuple[LiveVersion, str]] = []
        self._drift_room = 0
        self.is_wanted = False

    def offer(self, loaded: LiveVersion, query: Query, texts: Sequence[str]) -> None:
        """Take some of a request's documents, where the model's current version answered them."""
        name = loaded.model.name
        if self._registry.loaded.get(name) is not loaded:
            return
        if self._drift_room > 0 and loaded.model.has_drift_reference:
            taken = texts[: self._drift_room]
            self._drift_room -= len(taken)
            self._drift.extend((loaded, text) for text in taken)
        shadow = self._registry.trials.shadows.get(name)
        if shadow is not None:
            self._offer_shadow(loaded, shadow, query, texts)
        elif self._drift_room <= 0 and not self._registry.trials.shadows:
            self.is_wanted = False

    def next_document(self) -> ShadowDocument | None:
        """The document that has waited longest for the shadow."""
        try:
            found = self._waiting.popleft()
        except IndexError:
            return None
        self._characters_done += len(found.text)
        return found

    def take_drift(self, room: int) -> list[tuple[LiveVersion, str]]:
        """The documents taken for drift since the last time; so many more are taken from now on."""
        taken, self._drift = self._drift, []
        self._drift_room = room
        self.is_wanted = room > 0 or bool(self._registry.trials.shadows)
        return taken

    def _offer_shadow(
        self,
        loaded: LiveVersion,
        shadow: LiveTrial[LiveVersion],
        query: Query,
        texts: Sequence[str],
    ) -> None:
        share, random = shadow.trial.share, self._random
        taken = [text for text in texts if share >= 1 or random() < share]
        if not taken:
            return
        # What a query may ask for that changes no label is left out: it only takes time.
        query = query._replace(explain=None, ancestors=False, below_cut=None, marks_doubt=False)
        dropped = 0
        is_overrun = self._is_overrun()
        for text in taken:
            if is_overrun or not self._has_room(len(text)):
                dropped += 1
                continue
            self._characters_taken += len(text)
            self._waiting.append(ShadowDocument(loaded, shadow.loaded, query, text))
        if dropped:
            version = shadow.trial.version
            counts = self._telemetry.shadow_documents
            counts.labels(loaded.model.name, version, "dropped").inc(dropped)

    def _has_room(self, length: int) -> bool:
        waiting = self._characters_taken - self._characters_done
        return len(self._waiting) < MOST_WAITING and waiting + length <= MOST_CHARACTERS

"""Trials: versions that are tried on live traffic, loaded beside the current ones."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from app.artifacts.store import Store
from app.artifacts.trials import KINDS, TrialKind, VersionTrial
from app.errors import AppError

Version = TypeVar("Version")
"""A version as the registry has it loaded."""
Load = Callable[[str, str], Version | None]
"""(name, version) → it, ready to answer; None where it cannot be loaded now."""
OnDamage = Callable[[str, str, Exception], None]
"""(name, kind, error): a pointer that cannot be read."""


@dataclass(frozen=True, slots=True)
class LiveTrial(Generic[Version]):
    """A trial whose version is ready to answer."""

    trial: VersionTrial
    loaded: Version


class Trials(Generic[Version]):
    """What the pointers say, and what of it is loaded; one thread refreshes, others read.

    A pointer to the version that is current is known, and nothing is tried.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[str, TrialKind], VersionTrial] = {}
        self.shadows: dict[str, LiveTrial[Version]] = {}
        self.canaries: dict[str, LiveTrial[Version]] = {}

    @property
    def loaded(self) -> list[Version]:
        """Every version that is held for a trial."""
        return [one.loaded for one in (*self.shadows.values(), *self.canaries.values())]

    def references(self) -> list[str]:
        """The versions on trial, as requests name them."""
        return [f"{name}@{trial.version}" for (name, _), trial in self.known.items()]

    def refresh(
        self, store: Store, current: dict[str, str], load: Load[Version], damaged: OnDamage
    ) -> None:
        """Look at the pointers of the models whose current versions are given.

        Where one cannot be read, its trial goes on as it was.
        """
        pointers = [(name, kind) for name in current for kind in KINDS]
        trials = {pointer: self._read(store, *pointer, damaged) for pointer in pointers}
        self.known = {pointer: trial for pointer, trial in trials.items() if trial is not None}
        self.shadows = self._running("shadow", current, load)
        self.canaries = self._running("canary", current, load)

    def replace(self, again: Callable[[Version], Version]) -> None:
        """Hold other objects for the same versions."""
        self.shadows = _replaced(self.shadows.items(), again)
        self.canaries = _replaced(self.canaries.items(), again)

    def _read(
        self, store: Store, name: str, kind: TrialKind, damaged: OnDamage
    ) -> VersionTrial | None:
        try:
            return store.trial(name, kind)
        except (AppError, OSError) as error:
            damaged(name, kind, error)
            return self.known.get((name, kind))

    def _running(
        self, kind: TrialKind, current: dict[str, str], load: Load[Version]
    ) -> dict[str, LiveTrial[Version]]:
        found = {}
        for (name, own), trial in self.known.items():
            if own == kind and trial.version != current[name]:
                loaded = load(name, trial.version)
                if loaded is not None:
                    found[name] = LiveTrial(trial, loaded)
        return found


def _replaced(
    trials: Iterable[tuple[str, LiveTrial[Version]]], again: Callable[[Version], Version]
) -> dict[str, LiveTrial[Version]]:
    return {name: replace(one, loaded=again(one.loaded)) for name, one in trials}

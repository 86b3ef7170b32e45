"""Model store: versions written, promoted, removed and read by processes that know nothing of each
other."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import ClassVar

import numpy as np
from simulation.scenario import Scenario, attempt, require
from simulation.world import Process, World

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.errors import ConflictError, ModelNotFoundError
from app.state import State

NAME = "demo"
INFO = Info("ab" * 32, {"documents": 1}, np.ones(1, np.int64))


@dataclass
class Promotion:
    """A try to make a version current; it may have happened from its begin on."""

    version: str
    begin: int
    end: float = inf
    is_done: bool = False


class ModelStore(Scenario):
    """Two operators and a reader."""

    name: ClassVar[str] = "models"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.store = Store(self.root / "models")
        self.n_payloads, self.moment = 0, 0
        self.written: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        self.removing: Counter[str] = Counter()
        self.removed: set[str] = set()
        self.n_prunes, self.is_pruning = 0, 0
        self.promotions: list[Promotion] = []

    def prepare(self, process: Process) -> None:
        """A model with a version and a version before it."""
        self.put_foreign("models/.git/config", "x/y")
        if self.random.random() < 0.3:
            return  # nothing yet: the folder, too, has to outlive a power cut
        self.put_foreign("models/demo/NOTES", "models/demo/.keep/x", "models/.git/config", "x/y")
        self.write(process)
        self.promote(process, self.write(process))

    def works(self) -> dict[str, Callable[[Process], None]]:
        """Who works at once."""
        return {"anna": self.operate, "ben": self.operate, "reader": self.read_often}

    def operate(self, process: Process) -> None:
        """Some operations."""
        for _ in range(self.random.randint(1, 4)):
            choice = self.random.randrange(7) if self.written else 1
            if choice < 2:
                version = self.write(process)
                if version and choice:
                    self.promote(process, version)
            elif choice == 6:
                self.remove(process, self.write(process) or self.some())
                self.write(process)
            elif choice == 2:
                self.promote(process, self.some())
            elif choice == 3:
                self.remove(process, self.random.choice((self.some(), max(self.written))))
            else:
                self.prune(process, self.random.randint(1, 2))

    def some(self) -> str:
        """A version that was written at some time."""
        return self.random.choice(sorted(self.written))

    def write(self, process: Process) -> str:
        """A new version; empty where it was not acknowledged."""
        self.n_payloads += 1
        payload = self.n_payloads
        state = State("x", {}, {"payload": np.full(40, payload, np.int64)})
        before = self.n_prunes
        is_done, version = attempt(process, lambda: self.store.write(NAME, state, INFO))
        if not is_done:
            return ""
        if self.is_pruning or self.n_prunes != before:
            self.removing[version] += 1  # it was to be seen before it was acknowledged
        require(version not in self.written, f"version {version} was given twice")
        self.see(version, payload)
        self.written[version] = payload
        return str(version)

    def promote(self, process: Process, version: str) -> None:
        """Make a version current."""
        self.moment += 1
        promotion = Promotion(version, self.moment)
        self.promotions.append(promotion)
        promote = partial(self.store.promote, NAME, version)
        promotion.is_done = self.is_done(process, promote, version)
        self.moment += 1
        promotion.end = self.moment

    def remove(self, process: Process, version: str) -> None:
        """Remove a version that nobody needs any more; the current one is refused."""
        self.removing[version] += 1
        remove = partial(self.store.remove, NAME, version)
        if self.is_done(process, remove, version, own=1):
            self.removed.add(version)

    def is_done(
        self, process: Process, call: Callable[[], None], version: str, *, own: int = 0
    ) -> bool:
        """Whether it was done; it need not be for what is current, or is removed by another."""
        others_remove = False

        def tried() -> None:
            nonlocal others_remove
            try:
                call()
            except ModelNotFoundError:
                others_remove = self.removing[version] > own
                if not others_remove:
                    raise

        done, _ = attempt(process, tried, (ConflictError,))
        return done and not others_remove

    def prune(self, process: Process, keep: int) -> None:
        """Keep the newest few: which they are, the store decides."""
        self.removing.update(self.written)
        self.n_prunes += 1
        self.is_pruning += 1
        try:
            is_done, gone = attempt(process, lambda: self.store.prune(NAME, keep))
        finally:
            self.is_pruning -= 1
        self.removed |= set(gone) if is_done else set()

    def read_often(self, process: Process) -> None:
        """Read the current version, and others."""
        for _ in range(self.random.randint(1, 4)):
            if self.written:
                self.read_current(process)
                self.read(process, self.some())
                self.read_listed(process)

    def read_current(self, process: Process) -> None:
        """The current version is one that was promoted, and is whole."""
        before = self.moment
        is_done, version = attempt(process, lambda: self.store.current(NAME))
        if is_done:
            possible = self.possible(before)
            require(version in possible, f"current is {version}, not one of {possible}")

    def possible(self, moment: int) -> set[str | None]:
        """What may be current at a moment or later: no promotion that followed it was finished."""
        done = [p.begin for p in self.promotions if p.is_done and p.end <= moment]
        latest = max(done, default=0)
        unset = set() if done else {None}
        return {p.version for p in self.promotions if p.end >= latest} | unset

    def read_listed(self, process: Process) -> None:
        """What is listed is whole, whoever wrote it."""
        is_done, versions = attempt(
            process, lambda: self.store.versions(NAME), (ModelNotFoundError,)
        )
        for version in versions if is_done else []:
            self.read(process, version)

    def read(self, process: Process, version: str) -> None:
        """A version is whole unless somebody removes it."""
        is_removed = version in self.removed
        loaded, artifact = attempt(process, lambda: self.load(version), ())
        if loaded and artifact is not None:
            require(not is_removed, f"{version} was removed, and is there again")
            self.see(version, int(artifact))

    def load(self, version: str) -> int | None:
        """The payload of a version, read whole; None where it is being removed."""
        prunes_ended = self.n_prunes - self.is_pruning
        try:
            values = self.store.load(NAME, version).state.arrays["payload"]
            require(len(set(values.tolist())) == 1, f"{version} is a mixture")
            return int(values[0])
        except Exception:
            # A version can be seen, and pruned, before its writer has heard that it is there.
            may_be_pruned = version not in self.written and self.n_prunes > prunes_ended
            if self.removing[version] or version in self.removed or may_be_pruned:
                return None
            raise

    def see(self, version: str, payload: int) -> None:
        """A version is the same whenever it is read."""
        require(self.seen.setdefault(version, payload) == payload, f"{version} has changed")

    def recover(self, process: Process) -> None:
        """All that was acknowledged is there, and nothing else once an operator has pruned."""
        for version in sorted(set(self.written) - set(self.removing)):
            self.read(process, version)
        for version in sorted(self.removed):
            self.read(process, version)
        self.removing.clear()  # nobody does any more: what is listed now is whole
        self.read_listed(process)
        if self.written:
            self.read_current(process)
            current = self.store.current(NAME)
            is_whole = current is None or self.store.load(NAME, current)
            require(is_whole, "the current version cannot be loaded")
        version = self.write(process)
        self.promote(process, version)
        self.prune(process, 1)
        self.check_foreign()
        names = {path.name for path in (self.root / "models" / NAME).iterdir()}
        left = {name for name in names if name not in {version, "current", "NOTES", ".keep"}}
        require(not {n for n in left if n.startswith(".unfinished")}, f"left over: {left}")
        require(not left - {".removed"}, f"left over: {left}")

"""Usage file: what keys have used, counted by several processes, killed or not."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from simulation.scenario import Scenario, attempt, require
from simulation.world import Process, World

from app.serving.usage_file import DAY, Usage, UsageFile

KEYS = [f"key-{number}" for number in range(4)]


class KeyUsage(Scenario):
    """Three processes that count; after a power cut, counts may be lost, but none is made up."""

    name: ClassVar[str] = "usage"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.begun: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.now = world.now

    def prepare(self, process: Process) -> None:
        """Nothing but somebody's file."""
        self.put_foreign("data/used")

    def works(self) -> dict[str, Callable[[Process], None]]:
        """Who works at once; what was counted before a power cut may be gone."""
        self.counted.clear()
        return dict.fromkeys(("anna", "ben", "carl"), self.count_often)

    def count_often(self, process: Process) -> None:
        """Count documents of some keys."""
        file = UsageFile(self.root / "data" / "usage")
        for _ in range(self.random.randint(1, 6)):
            key = self.random.choice(KEYS)
            self.begun[key] += 1
            is_done, before = attempt(process, partial(self.count, file, key), (BlockingIOError,))
            self.counted[key] += is_done
            if is_done:
                require(0 <= before < self.begun[key], f"{before} counted, of {self.begun[key]}")

    def count(self, file: UsageFile, key: str) -> int:
        """One document more; how many there were."""
        seen = []

        def more(usage: Usage) -> Usage:
            seen.append(usage.documents)
            return usage._replace(documents=usage.documents + 1)

        file.change(key, self.now, more)
        return seen[0]

    def recover(self, process: Process) -> None:
        """No count was lost but by a power cut, and the next day begins with nothing."""
        file = UsageFile(self.root / "data" / "usage")
        was_cut = "power cut" in self.world.trace
        for key in KEYS:
            counted = self.count(file, key)
            least = 0 if was_cut else self.counted[key]
            require(least <= counted <= self.begun[key], f"{key}: {counted}, not {least}")
        self.now += 2 * DAY
        for key in KEYS:
            require(self.count(file, key) == 0, "yesterday's count goes on")
        self.check_foreign()

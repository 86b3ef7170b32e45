"""TaskPace: says now and then how far the tasks of a cluster are, for those who wait."""

import time
from collections.abc import Callable
from typing import Any

EVERY = 30.0
"""Seconds between two lines."""


class TaskPace:
    """A line about the tasks that are under way: how many are done, how fast, what is left."""

    def __init__(
        self, say: Callable[[str], Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._begun = self._said = 0.0

    def __call__(self, kind: str, done: int, total: int, workers: Callable[[], int]) -> None:
        """Called when tasks are handed in (`done` 0), and with each that is done."""
        now = self._clock()
        if done == 0:
            self._begun = self._said = now
        elif now - self._said >= EVERY and done < total:
            self._said = now
            pace = done / (now - self._begun)
            self._say(
                f"{kind}: {done:,} of {total:,} tasks, {pace:.3g} a second, {workers()} workers, "
                f"about {_time((total - done) / pace)} left"
            )


def _time(seconds: float) -> str:
    """
    >>> _time(42.0), _time(150.0), _time(9000.0)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60 + 0.5:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

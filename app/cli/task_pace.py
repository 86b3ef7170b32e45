"""TaskPace: says now and then how far the tasks of a cluster are, for those who wait."""

import time
from collections.abc import Callable
from typing import Any

from app.engine import Extent
from app.engines.task_count import TaskCount

EVERY = 30.0
"""Seconds between two lines."""


class TaskPace:
    """A line about the tasks that are under way: how many are done, how fast, what is left."""

    def __init__(
        self, say: Callable[[str], Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._begun = self._said = 0.0
        self._before = Extent(0, 0)

    def __call__(self, count: TaskCount, workers: Callable[[], int]) -> None:
        """Called when tasks are handed in (none done), and with each that is done."""
        now = self._clock()
        if count.done == 0:
            self._begun = self._said = now
            self._before = count.data
        elif now - self._said >= EVERY and 0 < count.share < 1:
            self._said = now
            seconds = now - self._begun
            left = (1 - count.share) * seconds / count.share
            self._say(
                f"{count.kind}: {count.done:,} of {count.total:,} tasks, "
                f"{count.done / seconds:.3g} a second, {self._data(count.data, seconds)}"
                f"{workers()} workers, about {_time(left)} left"
            )

    def _data(self, data: Extent, seconds: float) -> str:
        """What was done a second; nothing where tasks do not say."""
        documents, n_bytes = (
            (now - before) / seconds for now, before in zip(data, self._before, strict=True)
        )
        if not documents:
            return ""
        of_bytes = f" and {n_bytes / 1e6:.3g} MB" if n_bytes else ""
        return f"{documents:,.0f} documents{of_bytes} a second, "


def _time(seconds: float) -> str:
    """
    >>> _time(42.0), _time(150.0), _time(9000.0)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60 + 0.5:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"

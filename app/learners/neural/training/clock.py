"""Clock: how much of a training's minutes are over, over all the runs that it was resumed in."""

import time


class Clock:
    """Seconds since a training began; `spent` are those of runs before."""

    def __init__(self, minutes: float, spent: float = 0.0) -> None:
        self._limit, self._began = minutes * 60, time.monotonic() - spent

    def seconds(self) -> float:
        """Seconds of training so far."""
        return time.monotonic() - self._began

    def share(self) -> float:
        """How much of the minutes is over, at most 1; 0 where there is no limit."""
        return min(self.seconds() / self._limit, 1.0) if self._limit else 0.0

    @property
    def is_over(self) -> bool:
        """Whether the minutes are over."""
        return self.share() >= 1.0

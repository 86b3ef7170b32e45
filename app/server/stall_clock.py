"""StallClock: how long a process has shown no progress to another one that looks often."""

from time import monotonic

LONGEST_LOOK = 1.0


class StallClock:
    """Seconds without progress.

    Of the time between two looks at most `LONGEST_LOOK` seconds count: where the one who looks was
    stopped itself, or the whole machine slept, the other has not been given the time.
    """

    def __init__(self, *, allowance: float) -> None:
        """`allowance`: seconds that a first progress may take besides."""
        self._seconds, self._progress, self._looked = -allowance, 0, monotonic()

    def seconds(self, progress: int) -> float:
        """Seconds since this number last changed; below 0 while the allowance lasts."""
        now = monotonic()
        passed, self._looked = min(now - self._looked, LONGEST_LOOK), now
        if progress != self._progress:
            self._progress, self._seconds = progress, 0.0
        else:
            self._seconds += passed
        return self._seconds

"""ThreadChoice: how many threads the steps of a training take, measured while it runs."""

from collections import defaultdict
from collections.abc import Callable
from time import perf_counter

import numpy as np

ROUNDS = 5
"""Steps that are timed with each number of threads, in turn: batches are not alike."""
STEPS = 400
"""Between two looks: what else the machine does may change."""
LEAST_GAIN = 0.1
"""The share of time that another number of threads must save."""


class ThreadChoice:
    """So many threads as it is given, or (0) as many as are fastest at the time.

    Half and twice as many are tried in turn with the number so far, from 1 up to `most`.
    """

    def __init__(self, threads: int, most: int, set_threads: Callable[[int], None]) -> None:
        self.threads, self._is_open = max(threads, 1), threads == 0
        self._most, self._set_threads = most, set_threads
        self._seconds: dict[int, list[float]] = defaultdict(list)
        self._to_time = self._turns()

    def run(self, step: Callable[[], float]) -> float:
        """What the step gives, run on the threads whose turn it is."""
        if not self._is_open:
            return step()
        threads = self._to_time.pop() if self._to_time else self.threads
        self._set_threads(threads)
        start = perf_counter()
        result = step()
        self._seconds[threads].append(perf_counter() - start)
        if not self._to_time:
            self._choose()
        return result

    def _choose(self) -> None:
        """Once all were timed: the fastest of them; after many more steps, look again."""
        if len(self._seconds) > 1:
            times = {threads: float(np.median(own)) for threads, own in self._seconds.items()}
            best = min(times, key=lambda threads: times[threads])
            if times[best] < (1 - LEAST_GAIN) * times[self.threads]:
                self.threads = best
                self._to_time = self._turns()
            self._seconds.clear()
        elif len(self._seconds[self.threads]) >= STEPS:
            self._seconds.clear()
            self._to_time = self._turns()

    def _turns(self) -> list[int]:
        """The numbers to time, the last first; none where there is nothing to choose."""
        near = (self.threads // 2, self.threads, self.threads * 2)
        tried = [threads for threads in near if 1 <= threads <= self._most]
        return tried * ROUNDS if self._is_open and len(tried) > 1 else []

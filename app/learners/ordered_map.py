"""Runs tasks in threads and hands their results on in the order of the tasks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from app.progress import Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


def ordered_map(
    function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int
) -> Iterator[Result]:
    """Each task's result, at most two a thread waiting to be taken.

    When the caller stops early, even by Ctrl-C, tasks not yet begun are dropped.

    >>> list(ordered_map(abs, [-3, 2, -1], jobs=2))
    [3, 2, 1]
    """
    if jobs == 1:
        yield from map(function, tasks)
        return
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(jobs)
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def results_of(
    function: Callable[[Task], Result], tasks: Sequence[Task], jobs: int, progress: Progress
) -> list[Result]:
    """All results in the order of the tasks; every one is reported as progress of a training."""
    results = []
    for result in ordered_map(function, tasks, jobs):
        results.append(result)
        progress("train", len(results), len(tasks))
    return results


def for_parts(fill: Callable[[slice], None], n_rows: int, size: int, jobs: int) -> None:
    """Let a function fill neighbouring rows, `size` at a time, in threads."""
    starts = range(0, n_rows, size)
    parts = (slice(first, min(first + size, n_rows)) for first in starts)
    for _ in ordered_map(fill, parts, jobs):
        pass

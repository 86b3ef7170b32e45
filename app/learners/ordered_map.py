"""Runs tasks in threads and hands their results on in the order of the tasks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

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

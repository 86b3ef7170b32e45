"""TaskCount: how far tasks are, for whoever shows it."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from app.engine import Extent


class TaskCount(NamedTuple):
    """How many tasks of a kind are done."""

    kind: str
    done: int
    total: int
    share: float
    """How much of the work that is, as far as tasks are known to differ."""
    data: Extent
    """That of all tasks of the engine so far, whichever kind they were."""


Pace: TypeAlias = Callable[[TaskCount, Callable[[], int]], None]
"""Called when tasks are handed in (none done), and with each that is done; the second gives the
number of workers."""


Idle: TypeAlias = Callable[[int], None]
"""Called now and then with how many tasks wait while no worker is there."""


def unheard(n_waiting: int) -> None:
    """Say nothing."""


def unseen(count: TaskCount, workers: Callable[[], int]) -> None:
    """Show nothing."""

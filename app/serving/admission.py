"""Admission: how much work is under way, and what is turned away at the door."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic

from app.errors import DeadlineError, TooManyRequestsError

LONGEST_WAIT = 30
SMALL_BODY = 65_536
"""Bytes up to which a body is not counted."""


@dataclass(slots=True)
class Admission:
    """Counts units of work (documents, evaluations); admits while there is room.

    A request larger than the whole capacity is admitted when nothing else is under way, so that
    everything the limits allow can be answered at some time. Used from the event loop alone.
    """

    capacity: int
    what: str
    in_flight: int = 0
    _seconds_per_unit: float = 0.0

    @contextmanager
    def admit(self, units: int) -> Iterator[None]:
        """Take up `units` of the capacity while the block runs, or raise TooManyRequestsError."""
        if not self.has_room(units):
            raise TooManyRequestsError(
                f"too many {self.what} are in work; try again later", retry_after=self._wait()
            )
        self.in_flight += units
        start = monotonic()
        try:
            yield
        finally:
            self.in_flight -= units
            self._learn((monotonic() - start) / max(units, 1))

    def has_room(self, units: int) -> bool:
        """Whether so many units would be admitted now."""
        return not self.in_flight or self.in_flight + units <= self.capacity

    @property
    def is_full(self) -> bool:
        """Whether not even one more unit would be admitted."""
        return self.in_flight >= self.capacity

    def refuse_if_full(self) -> None:
        """Raise TooManyRequestsError before a body is read that could not be admitted anyway."""
        if self.is_full:
            raise TooManyRequestsError(
                f"too many {self.what} are in work; try again later", retry_after=self._wait()
            )

    def _wait(self) -> int:
        expected = self._seconds_per_unit * self.in_flight
        return min(max(1, round(expected + 0.5)), LONGEST_WAIT)

    def _learn(self, seconds: float) -> None:
        self._seconds_per_unit += 0.1 * (seconds - self._seconds_per_unit)


class Room(ExitStack):
    """Room in memory for one body; what was taken is given back when the block ends."""

    def __init__(self, bodies: Admission) -> None:
        super().__init__()
        self._bodies = bodies

    def take(self, size: int) -> None:
        """Take room for so many bytes, or raise TooManyRequestsError; small bodies need none."""
        if size > SMALL_BODY:
            self.enter_context(self._bodies.admit(size))


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time after which work is no longer wanted."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """So many seconds from now."""
        return cls(monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self.at - monotonic())

    def check(self) -> None:
        """Raise DeadlineError once the time is over."""
        if monotonic() > self.at:
            raise DeadlineError("the request took longer than allowed")

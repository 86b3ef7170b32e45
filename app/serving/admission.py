"""Admission: how much work is under way, and what is refused because of it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from app.errors import DeadlineError, TooManyRequestsError

LONGEST_WAIT = 30
MOST_REFUSED = 0.55
"""The share of refusals that makes an overload: it takes more than twice what can be answered."""
NEWEST, FORGET_SECONDS = 0.05, 1.0
"""What the latest request adds to that share, and how long after a refusal it still counts."""
COPIES = 3
"""How often a body is in memory at its worst: as it came, as texts, and as what is made of them."""
SMALL_BODY = 65_536
"""Bytes up to which a body is not counted."""


@dataclass(slots=True)
class Admission:
    """Counts units of work (documents, evaluations); admits while there is room.

    A request larger than the whole capacity is admitted when nothing else is under way, so that
    everything the limits allow can be answered at some time. Used from the event loop alone.

    What is admitted and not yet worked on waits: that evens out requests which come close together.
    Where most requests are refused anyway, waiting serves nobody: then nothing is admitted as long
    as anything is under way, and the few that come in are answered nearly as fast as in calm times.
    """

    capacity: int
    what: str
    longest_wait: float = inf
    """Seconds that what is under way may take, as far as is known, before no more is admitted."""
    in_flight: int = 0
    _seconds_per_unit: float = 0.0
    _given_back_at: float = 0.0
    _refused: float = 0.0
    _refused_at: float = 0.0

    def admit(self, units: int) -> "Admitted":
        """Take up `units` of the capacity while the block runs, or raise TooManyRequestsError."""
        return Admitted(self, units)

    def take(self, units: int) -> None:
        """Take up `units` until they are given back, or raise TooManyRequestsError."""
        self.check(units)
        self.in_flight += units
        self._refused -= NEWEST * self._refused

    def give_back(self, units: int, seconds: float) -> None:
        """Free `units` that were taken up for so many seconds."""
        self.in_flight -= units
        now = monotonic()
        own = min(seconds, now - self._given_back_at)  # before that, others were worked on
        self._given_back_at = now
        self._seconds_per_unit += 0.1 * (own / max(units, 1) - self._seconds_per_unit)

    def check(self, units: int) -> None:
        """Raise TooManyRequestsError where so many units would not be admitted now."""
        if not self.has_room(units):
            raise self._refusal()

    def has_room(self, units: int) -> bool:
        """Whether so many units would be admitted now."""
        return not self.in_flight or self.in_flight + units <= self.capacity

    @property
    def is_full(self) -> bool:
        """Whether not even one more unit would be admitted."""
        return self.in_flight >= self.capacity

    def refuse_if_full(self) -> None:
        """Raise TooManyRequestsError before a body is read that could not be admitted anyway."""
        is_shut = self.is_overrun or self._expected_wait > self.longest_wait
        if self.is_full or (self.in_flight and is_shut):
            raise self._refusal()

    @property
    def is_overrun(self) -> bool:
        """Whether most of the latest requests were refused."""
        return self._refused > MOST_REFUSED and monotonic() < self._refused_at + FORGET_SECONDS

    @property
    def _expected_wait(self) -> float:
        return self._seconds_per_unit * self.in_flight

    def _refusal(self) -> TooManyRequestsError:
        self._refused_at = monotonic()
        self._refused += NEWEST * (1 - self._refused)
        wait = min(max(1, round(self._expected_wait + 0.5)), LONGEST_WAIT)
        return TooManyRequestsError(
            f"too many {self.what} are in work; try again later", retry_after=wait
        )


class Admitted:
    """Units of work that are under way while the block runs."""

    __slots__ = ("_admission", "_start", "_units")

    def __init__(self, admission: Admission, units: int) -> None:
        self._admission, self._units = admission, units

    def __enter__(self) -> None:
        self._admission.take(self._units)
        self._start = monotonic()

    def __exit__(self, *raised: object) -> None:
        self._admission.give_back(self._units, monotonic() - self._start)


class BodyBudget:
    """Bytes of memory for one body; what was taken is given back when the block ends."""

    __slots__ = ("_bodies", "_check", "_size", "_start")

    def __init__(self, bodies: Admission, check: Callable[[int], None] = lambda size: None) -> None:
        self._bodies, self._check = bodies, check
        self._size, self._start = 0, 0.0

    def __enter__(self) -> "BodyBudget":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._size:
            self._bodies.give_back(self._size, monotonic() - self._start)

    def take(self, size: int) -> None:
        """Take room for so many bytes; small bodies need none.

        TooManyRequestsError where others have it, and what `check` raises.
        """
        if size > SMALL_BODY:
            self._check(COPIES * (self._bodies.in_flight + size))
            self._bodies.take(size)
            self._size += size
            self._start = monotonic()


@dataclass(slots=True)
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

    def end(self) -> None:
        """The work is not wanted any more, from now on."""
        self.at = -inf

    def check(self) -> None:
        """Raise DeadlineError once the time is over."""
        if monotonic() > self.at:
            raise DeadlineError("the request took longer than allowed")

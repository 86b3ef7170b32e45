"""Clients that post small predictions without a pause, and count what came back."""

import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from containers.client import TEXT, Answer, Client

CLIENTS = 4
TURNED_AWAY = (429, 503)


@dataclass
class Count:
    """How requests ended: answered, turned away with Retry-After, or lost with what was seen."""

    answered: int = 0
    turned_away: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def requests(self) -> int:
        """All of them."""
        return self.answered + self.turned_away + self.lost.total()

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        if answer.status == 200:
            self.answered += 1
        elif answer.status in TURNED_AWAY and "retry-after" in answer.headers:
            self.turned_away += 1
        else:
            self.lost[f"status {answer.status}"] += 1

    def __add__(self, other: "Count") -> "Count":
        both = (self.answered + other.answered, self.turned_away + other.turned_away)
        return Count(*both, self.lost + other.lost)

    def __str__(self) -> str:
        failed = self.turned_away + self.lost.total()
        why = "".join(f"; {name}: {number}" for name, number in sorted(self.lost.items()))
        return f"{failed:,} of {self.requests:,}{why}"


@contextmanager
def under_load(host: str, port: int, key: str, documents: int = 1) -> Iterator[list[Count]]:
    """While the block runs, clients ask; each has its own count, complete when the block ends."""
    ends = threading.Event()
    counts = [Count() for _ in range(CLIENTS)]
    threads = [
        threading.Thread(target=_ask, args=(Client(host, port, key), ends, count, documents))
        for count in counts
    ]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def _ask(client: Client, ends: threading.Event, count: Count, documents: int) -> None:
    while not ends.is_set():
        try:
            count.add(client.predict([TEXT] * documents))
        except (OSError, http.client.HTTPException) as error:
            count.lost[type(error).__name__] += 1
    client.close()


def total(counts: list[Count]) -> Count:
    """The sum of all clients' counts."""
    return sum(counts, Count())

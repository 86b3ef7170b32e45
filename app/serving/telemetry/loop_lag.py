"""LoopLag: how late the event loop comes to what is due; measured by the loop itself."""

import asyncio

from app.serving.telemetry.counters import Histogram

LOOK_SECONDS = 0.1


class LoopLag:
    """Asks to be called ten times a second, and observes by how much later that happens."""

    def __init__(self, seconds: Histogram) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self.turns = 0
        """Times that the loop has come round to it: a number that stays shows a loop that hangs."""

    def start(self) -> None:
        """Measure the running loop, from now on."""
        loop = asyncio.get_running_loop()
        due = loop.time() + LOOK_SECONDS
        self._timer = loop.call_at(due, self._look, loop, due)

    def stop(self) -> None:
        """Measure no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self.turns += 1
        self._seconds.observe(max(0.0, loop.time() - due))
        self.start()

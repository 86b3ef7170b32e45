"""The HTTP server of one process: uvicorn with our protocol, draining before it ends."""

import signal
import socket
from collections.abc import Callable
from functools import partial
from time import monotonic
from types import FrameType
from typing import Any, Protocol

import uvicorn

from app.server.fast_path import FastPath
from app.server.protocol import HEAD_SECONDS, BoundedHttpProtocol
from app.settings import Settings

KEEP_ALIVE_SECONDS = 75  # longer than a gateway keeps its idle connections, so that it closes first
MAX_GRACE_SECONDS = 10  # for what is still under way when the drain period is over
BACKLOG = 2048
ACCEPTED_AT_ONCE = 16


class Drainable(Protocol):
    """What is told that the end has begun, so that it is no longer ready."""

    is_draining: bool


def serve(
    app: Callable[..., Any],
    listener: socket.socket,
    *,
    settings: Settings,
    service: Drainable,
    fast_path: FastPath,
) -> None:
    """Serve on the listener until SIGTERM, then drain and return."""
    head_seconds = min(HEAD_SECONDS, settings.request_seconds)
    protocol = partial(BoundedHttpProtocol, fast_path=fast_path, head_seconds=head_seconds)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,  # type: ignore[arg-type]
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=grace_seconds(settings),
        backlog=BACKLOG,
    )
    # Whether it blocks belongs to the listener that all workers share, and `dup` sets it as this
    # object has it: a worker that starts must not let the accept of another one wait for ever.
    listener.setblocking(False)
    # The loop takes one new connection a turn from each listener: clients that come together
    # would wait for one another's requests.
    duplicates = [listener.dup() for _ in range(ACCEPTED_AT_ONCE - 1)]
    DrainingServer(config, service, settings.drain_seconds).run([listener, *duplicates])


def grace_seconds(settings: Settings) -> int:
    """How long requests may go on after the drain period."""
    return min(MAX_GRACE_SECONDS, round(settings.drain_seconds) + 1)


class DrainingServer(uvicorn.Server):
    """SIGTERM: not ready at once, serving on for the drain period, then closing."""

    def __init__(self, config: uvicorn.Config, service: Drainable, drain_seconds: float) -> None:
        super().__init__(config)
        self._service, self._drain_seconds = service, drain_seconds
        self._leave_at = float("inf")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first SIGTERM begins the drain, further ones change nothing; Ctrl-C ends it at once.

        Whoever sends SIGTERM to all processes (systemd, a shell) reaches a worker twice: its
        supervisor passes the signal on.
        """
        if sig != signal.SIGTERM:
            self.should_exit = True
        elif not self._service.is_draining:
            self._leave_at = monotonic() + self._drain_seconds
        self._service.is_draining = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to leave now; asked ten times a second."""
        self.should_exit = self.should_exit or monotonic() >= self._leave_at
        return await super().on_tick(counter)

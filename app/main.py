"""`python -m app.main`: settings in, service out; the only place where parts are wired together."""

import logging
import os
import signal
import socket
import sys
from time import monotonic
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.app import create_app
from app.errors import SettingsError
from app.serving.logs import write_logs_as_json
from app.serving.service import Service
from app.serving.telemetry import serve_metrics
from app.serving.workers import supervise
from app.settings import Settings

KEEP_ALIVE_SECONDS = 75  # longer than a gateway keeps its idle connections, so that it closes first
MOST_GRACE_SECONDS = 10  # for what is still under way when the drain period is over
HEAD_SECONDS, HEAD_BYTES = 10, 65_536
LINGER_SECONDS = 30  # for reading on after an early answer, so that the client gets to read it
BACKLOG = 2048

log = logging.getLogger("labelserve")


def __getattr__(name: str) -> Any:
    """`app.main:app` for other servers, made when it is asked for."""
    if name != "app":
        raise AttributeError(name)
    return create_app(Service.of(_settings()))


def main() -> None:
    """Serve until told to stop."""
    settings = _settings()
    write_logs_as_json(settings.log_level)
    listener = _listener(settings)
    if settings.workers == 1:
        work(settings, listener)
    else:
        supervise(settings, lambda: (work, (settings, listener)), _grace(settings))


def work(settings: Settings, listener: socket.socket) -> None:
    """One worker: serve on the listener until SIGTERM, then drain and return."""
    write_logs_as_json(settings.log_level)
    service = Service.of(settings)
    if settings.metrics_port is not None and settings.workers == 1:
        serve_metrics(settings.host, settings.metrics_port, service.telemetry.registry)
    PatientProtocol.head_seconds = min(HEAD_SECONDS, settings.request_seconds)
    config = uvicorn.Config(
        create_app(service),
        loop="uvloop",
        http=PatientProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_grace(settings),
        backlog=BACKLOG,
    )
    DrainingServer(config, service).run([listener])


class DrainingServer(uvicorn.Server):
    """SIGTERM: not ready at once, serving on for the drain period, then closing."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service, self._leave_at = service, float("inf")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A first SIGTERM begins the drain; Ctrl-C, or a second signal, ends it at once."""
        if sig == signal.SIGTERM and not self._service.is_draining:
            self._service.is_draining = True
            self._leave_at = monotonic() + self._service.settings.drain_seconds
        else:
            self._service.is_draining = self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to leave now; asked ten times a second."""
        self.should_exit = self.should_exit or monotonic() >= self._leave_at
        return await super().on_tick(counter)


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 with an end to patience: for slow heads, endless heads, unread bodies."""

    head_seconds: float = HEAD_SECONDS
    _timer: Any = None
    _head_is_open = False
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """A new connection must send a whole head in time."""
        super().connection_made(transport)
        self._close_in(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stay_open()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A head that is not complete yet is given a time and a size."""
        super().data_received(data)
        if self._head_is_open:
            self._head_bytes += len(data)
            if self._timer is None:
                self._close_in(self.head_seconds)
            if self._head_bytes > HEAD_BYTES:
                self.transport.close()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._head_is_open, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        """The head is complete; the application has its own time for the body."""
        self._head_is_open = False
        self._stay_open()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """What follows an early answer is read on for a while, and dropped."""
        super().on_body(body)
        if self.cycle.response_complete and self._timer is None:
            self._close_in(LINGER_SECONDS)

    def on_message_complete(self) -> None:
        """The body is complete."""
        self._stay_open()
        super().on_message_complete()

    def _close_in(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _stay_open(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _settings() -> Settings:
    try:
        return Settings.from_environment(os.environ)
    except SettingsError as error:
        sys.exit(f"labelserve cannot start: {error}")


def _grace(settings: Settings) -> int:
    return min(MOST_GRACE_SECONDS, round(settings.drain_seconds) + 1)


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        sys.exit(f"labelserve cannot start: {settings.host}:{settings.port}: {error.strerror}")
    listener.set_inheritable(True)
    log.info("serving on http://%s:%s", settings.host, listener.getsockname()[1])
    return listener


if __name__ == "__main__":
    main()

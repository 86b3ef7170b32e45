"""`python -m app.main`: settings in, service out; the only place where parts are wired together."""

import logging
import os
import signal
import socket
import sys
from multiprocessing.connection import Connection
from time import monotonic
from types import FrameType
from typing import Any

import uvicorn

from app.api.app import create_app
from app.api.http.request_context import RequestHead
from app.errors import SettingsError
from app.server.protocol import HEAD_SECONDS, BoundedHttpProtocol
from app.server.workers import supervise
from app.serving.keys import KeysFile
from app.serving.logs import write_logs_as_json
from app.serving.service import Service
from app.serving.telemetry.exposition import serve_metrics
from app.settings import Settings

KEEP_ALIVE_SECONDS = 75  # longer than a gateway keeps its idle connections, so that it closes first
MOST_GRACE_SECONDS = 10  # for what is still under way when the drain period is over
BACKLOG = 2048
SWITCH_SECONDS = 0.0005  # the loop waits no longer than this for threads that predict
ACCEPTED_AT_ONCE = 16

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
    _check_keys(settings)
    listener = _listener(settings)
    if settings.workers == 1:
        work(settings, listener)
    else:
        supervise(settings, lambda: (work, (settings, listener)), _grace(settings))


def work(settings: Settings, listener: socket.socket, supervisor: Connection | None = None) -> None:
    """One worker: serve on the listener until SIGTERM, then drain and return."""
    write_logs_as_json(settings.log_level)
    sys.setswitchinterval(SWITCH_SECONDS)
    service = Service.of(settings)
    if supervisor is not None:
        service.telemetry.share(supervisor)
    elif settings.metrics_port is not None:
        serve_metrics(settings.host, settings.metrics_port, service.telemetry.snapshot)
    app = create_app(service)
    BoundedHttpProtocol.head_seconds = min(HEAD_SECONDS, settings.request_seconds)
    BoundedHttpProtocol.quick_paths = app.quick_paths
    BoundedHttpProtocol.read_head, BoundedHttpProtocol.at_once = RequestHead, app.door.at_once
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedHttpProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_grace(settings),
        backlog=BACKLOG,
    )
    # The loop takes one new connection a turn from each listener: clients that come together
    # would wait for one another's requests.
    doubles = [listener.dup() for _ in range(ACCEPTED_AT_ONCE - 1)]
    DrainingServer(config, service).run([listener, *doubles])
    if service.is_loading:  # no thread can be called back from a compiler
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)


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


def _settings() -> Settings:
    try:
        return Settings.from_environment(os.environ)
    except SettingsError as error:
        sys.exit(f"labelserve cannot start: {error}")


def _check_keys(settings: Settings) -> None:
    """Refuse to start where keys are wanted and their file is not there, or is none."""
    path = settings.api_keys_file
    if settings.effective_auth != "keys" or path is None:
        return
    if not path.exists():
        make = f"scripts/keys.py create --scope predict --file {path}"
        sys.exit(f"labelserve cannot start: there is no keys file {path}; make one: {make}")
    try:
        if not KeysFile(path).keys():
            log.warning("%s holds no key: every request will be refused", path)
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

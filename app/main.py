"""The service: settings in, answers out; the only place where parts are wired together.

`labelserve serve` and `python -m app.main` run it.
"""

import gc

gc.disable()  # what modules make stays: to look for garbage in it takes a twelfth of the import

import logging
import os
import socket
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

from app import kernels
from app.api.app import create_app
from app.errors import MissingExtraError, SettingsError, errno_text
from app.server.fast_path import FastPath
from app.server.http_server import grace_seconds, serve
from app.server.workers import end_with_supervisor, supervise
from app.serving.jobs.workers.job_workers import JobWorkers
from app.serving.jobs.workers.worker_options import WorkerOptions
from app.serving.keys import KeysFile
from app.serving.log_writer import LogWriters, log_writers
from app.serving.logs import write_logs_as_json
from app.serving.service import Service
from app.serving.telemetry.exposition import serve_metrics
from app.serving.telemetry.telemetry import Telemetry
from app.settings import Settings

gc.enable()

SWITCH_SECONDS = 0.0005  # the loop waits no longer than this for threads that predict
GARBAGE_THRESHOLDS = (700, 10, 1_000_000)
"""Allocations, and collections of younger objects, between two garbage collections.

The last number leaves collections of all objects to `Service`, which does them in a thread: whoever
makes the object too many would do them, mostly the event loop, for as long as a large answer is in
the making.
"""

CANNOT_START = "labelserve cannot start"

log = logging.getLogger("labelserve")


def __getattr__(name: str) -> Any:
    """`app.main:app` for other servers, made when it is asked for."""
    if name != "app":
        raise AttributeError(name)
    return create_app(Service.of(_settings(os.environ)))


def main(environment: Mapping[str, str] = os.environ) -> None:
    """Serve until told to stop, or say in a sentence why that cannot be."""
    settings = _settings(environment)
    try:
        with log_writers() as logs:
            write_logs_as_json(settings.log_level)
            _run(settings, logs)
    except SettingsError as error:
        sys.exit(f"{CANNOT_START}: {error}")


def _run(settings: Settings, logs: LogWriters) -> None:
    _check_keys(settings)
    _check_jobs(settings)
    listener = _listener(settings)
    with JobWorkers(WorkerOptions.of(settings), settings.job_workers):
        if settings.workers == 1:
            _serve(settings, listener, logs)
        else:
            telemetry = Telemetry()
            telemetry.show_dropped_lines(logs)
            arguments = (settings, listener)
            supervise(settings, lambda: (work, arguments), grace_seconds(settings), telemetry)


def work(settings: Settings, listener: socket.socket, supervisor: Connection | None = None) -> None:
    """A worker, in a process of its own: serve on the listener until SIGTERM, drain and return."""
    with log_writers() as logs:
        write_logs_as_json(settings.log_level)
        if supervisor is not None:
            end_with_supervisor(grace_seconds(settings))
        try:
            _serve(settings, listener, logs, supervisor)
        except SettingsError as error:  # such as a keys file that was damaged meanwhile
            log.error("a worker cannot start: %s", error)
            sys.exit(1)


def _serve(
    settings: Settings,
    listener: socket.socket,
    logs: LogWriters,
    supervisor: Connection | None = None,
) -> None:
    """Serve on the listener with the kernels that are set, and the figures where they are asked."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    kernels.use(settings.kernels)
    service = Service.of(settings)
    service.telemetry.show_dropped_lines(logs)
    if supervisor is not None:
        service.telemetry.share(supervisor)
    elif settings.metrics_port is not None:
        serve_metrics(settings.host, settings.metrics_port, service.telemetry.snapshot)
    app = create_app(service)
    fast_path = FastPath(app.fast_paths, app.at_once)
    serve(app, listener, settings=settings, service=service, fast_path=fast_path)
    if service.is_loading:  # no thread can be called back from a compiler
        logs.drain()
        os._exit(0)


def _settings(environment: Mapping[str, str]) -> Settings:
    try:
        return Settings.from_environment(environment)
    except SettingsError as error:
        sys.exit(f"{CANNOT_START}: {error}")


def _check_keys(settings: Settings) -> None:
    """Refuse to start where keys are wanted and their file is not there, or is none."""
    path = settings.api_keys_file
    if settings.effective_auth != "keys" or path is None:
        return
    if not path.exists():
        make = f"labelserve keys create --scope predict --file {path}"
        raise SettingsError(f"there is no keys file {path}; make one: {make}")
    if not KeysFile(path).keys():
        log.warning("%s holds no key: every request will be refused", path)


def _check_jobs(settings: Settings) -> None:
    """Refuse to start where PostgreSQL is wanted and its driver is not installed."""
    if settings.jobs_url is not None and find_spec("psycopg") is None:
        raise SettingsError(str(MissingExtraError("LABELSERVE_JOBS_URL", "postgres")))


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise SettingsError(f"{where}: {errno_text(error)}") from error
    listener.set_inheritable(True)
    listener.setblocking(False)
    log.info("serving on http://%s:%s", settings.host, listener.getsockname()[1])
    return listener


if __name__ == "__main__":
    main()

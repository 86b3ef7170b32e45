"""A worker as a process of its own: alone, or started by a service, with which it ends.

`python -m app.serving.jobs.workers.worker_process` takes its options as a line of JSON on standard
input, which is open for as long as the service lives.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable

from app import kernels
from app.compiling.processes import compile_kernels
from app.serving.jobs.workers.worker import JobWorker
from app.serving.jobs.workers.worker_options import WorkerOptions
from app.serving.log_writer import log_writers
from app.serving.logs import write_logs_as_json

NICENESS = 5  # predictions come first; evaluating processes are lower still

Watch = Callable[[Callable[[], None]], None]
"""Takes what is to be called, in the event loop, when the worker has to end."""


def run(options: WorkerOptions, watch: Watch) -> None:
    """Work until `watch` says that it is enough."""
    os.nice(NICENESS)
    kernels.use(options.kernels)
    with log_writers():
        write_logs_as_json(options.log_level)
        asyncio.run(_work(options, watch))


def run_alone(options: WorkerOptions) -> None:
    """Work until SIGTERM or Ctrl-C; kernels are compiled meanwhile, where no service did that."""
    kernels.use(options.kernels)
    threading.Thread(target=compile_kernels, name="kernels", daemon=True).start()
    run(options, _watch_signals)


async def _work(options: WorkerOptions, watch: Watch) -> None:
    worker = JobWorker(options)
    watch(worker.stop)
    await worker.work()


def _watch_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for sent in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sent, stop)


def _watch_input(stop: Callable[[], None]) -> None:
    """Stop at the end of standard input: the service has closed it, or is gone."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1 << 12):  # no lock of sys.stdin is held at the end
            pass
        loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="service-watch", daemon=True).start()


def main() -> None:
    """Work for the service that started this process.

    Signals that are sent to every process are the service's to act upon.
    """
    for ignored in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    run(WorkerOptions.from_json(sys.stdin.readline()), _watch_input)


if __name__ == "__main__":
    main()

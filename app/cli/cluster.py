"""`--cluster`: the workers that a command runs its tasks on, and what it says about them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

import typer

from app.artifacts.folders import clean, unfinished
from app.cli.checkpoints import remove_checkpoint
from app.cli.task_pace import TaskPace
from app.cli.terminal import err
from app.datasets.base import ReadOptions
from app.datasets.by_file.file_reading import FileReading
from app.datasets.by_file.read_by_workers import ReadByWorkers
from app.datasets.collection import Collection, ReadElsewhere
from app.engine import Engine
from app.engines.start import check_address, connected
from app.errors import InvalidDataError
from app.progress import Progress

FOLDER = "cluster"
KEPT = "what was finished is kept: --resume goes on from there"
AGAIN = "run the same command again: files that are finished are kept"
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on a Dask cluster: tcp://HOST:8786, tls://HOST:8786, or local:N for N processes "
        "here. Same result. docs/cluster.md",
    ),
]


def check_cluster(address: str | None) -> None:
    """Refuse, before any data is read, an address that cannot be one."""
    if address is not None:
        check_address(address)


@contextmanager
def on_cluster_for_now(address: str | None, parent: Path) -> Iterator[Engine | None]:
    """The same with files in a hidden folder, which is empty at first and gone afterwards."""
    if address is None:
        yield None
        return
    clean(parent)
    with unfinished(parent) as folder, on_cluster(address, folder, again=AGAIN) as engine:
        yield engine


@contextmanager
def on_cluster(address: str | None, folder: Path | None, **options: str) -> Iterator[Engine | None]:
    """The engine of a cluster whose files are kept in a folder; None without an address."""
    if address is None or folder is None:
        yield None
        return
    with connected(address, folder / FOLDER, pace=TaskPace(_say), idle=_idle, **options) as cluster:
        dashboard = f"; {cluster.dashboard}" if cluster.dashboard else ""
        coming = "" if cluster.n_workers else "; tasks wait until one comes"
        _say(
            f"{address}: {cluster.n_workers} workers, {cluster.n_threads} threads"
            f"{coming}{dashboard}"
        )
        try:
            yield cluster.engine
        except KeyboardInterrupt:
            _say(f"stopped; {options.get('again', KEPT)}")
            raise


class CommandCluster:
    """The cluster of a command, connected to once the folder is known; left with the block."""

    def __init__(self, address: str | None) -> None:
        self.address = address
        self.folder: Path | None = None
        """Where its files are kept; None as long as it is not connected to."""
        self._stack = ExitStack()
        self._engine: Engine | None = None

    def reader(
        self, data: str, options: ReadOptions, folder_of: Callable[[Any], Path]
    ) -> ReadElsewhere | None:
        """What has workers read the data; None for one file, features, or without an address.

        No hash of the documents is known then: the folder is that of these files, as they are now.
        """
        files = FileReading.of(data, options) if self.address else None
        if files is None:
            return None
        engine = self.engine(folder_of((files.files, repr(options))))
        return None if engine is None else partial(self._read, ReadByWorkers(engine, data))

    def _read(
        self, reading: ReadByWorkers, options: ReadOptions, progress: Progress
    ) -> Collection | None:
        """The data; of bad ones nothing is kept: once mended, they are other files."""
        try:
            return reading(options, progress)
        except InvalidDataError:
            self.close()
            if self.folder is not None:
                remove_checkpoint(self.folder)
            raise

    def engine(self, folder: Path | None) -> Engine | None:
        """Its engine, the first folder's whatever is asked for later; None without an address."""
        if self._engine is None:
            self._engine = self._stack.enter_context(on_cluster(self.address, folder))
            self.folder = folder
        return self._engine

    def close(self) -> None:
        """Leave it; workers that were started here end."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def _idle(n_waiting: int) -> None:
    _say(f"no workers: {n_waiting:,} tasks wait until one comes")


def _say(sentence: str) -> None:
    err.print(sentence, markup=False, soft_wrap=True)

"""Scenario: what processes do in a world, and what must hold; and how one seed of it is run."""

import logging
import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

from simulation.clock import simulated_clock
from simulation.system_calls import simulated
from simulation.world import CALM, Process, Violation, Weather, World

from app.errors import AppError

MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of its own is made in it)
LONG = 3 * 86_400.0
"""Seconds after which everything that is kept for a while has to be gone."""


class Scenario(ABC):
    """Processes over one folder; it keeps a ledger of what was acknowledged to them."""

    name: ClassVar[str]

    def __init__(self, world: World) -> None:
        self.world, self.random, self.root = world, world.random, world.disk.root

    @abstractmethod
    def prepare(self, process: Process) -> None:
        """Make what is there before."""

    @abstractmethod
    def works(self) -> dict[str, Callable[[Process], None]]:
        """The processes of one time between two power cuts."""

    @abstractmethod
    def recover(self, process: Process) -> None:
        """Use everything once more, without faults, and look at every promise."""

    def put_foreign(self, *files: str) -> None:
        """Files that are nobody's of ours."""
        self.foreign = files
        for file in files:
            path = self.root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file)

    def check_foreign(self) -> None:
        """Nothing foreign was deleted or changed."""
        for file in self.foreign:
            path = self.root / file
            require(path.is_file() and path.read_text() == file, f"{file} was not ours to change")


def attempt(
    process: Process, call: Callable[[], Any], allowed: tuple[type[Exception], ...] = ()
) -> tuple[bool, Any]:
    """Whether it was done, and what it gave; only what was made to fail, or may fail, fails."""
    process.had_fault = False
    try:
        return True, call()
    except allowed:
        return False, None
    except (AppError, OSError) as error:
        if process.had_fault:
            return False, None
        raise Violation(
            f"{process.name}: without a fault, {type(error).__name__}: {error}"
        ) from error


def require(is_so: object, what: str) -> None:
    """Violation unless it is so."""
    if not is_so:
        raise Violation(what)


def run_seed(
    kind: type[Scenario], seed: int, plant: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> list[str]:
    """Run one seed, with a fault planted or without; its trace. Violation says what broke."""
    with _folder() as root, plant():
        world = World(seed, root)
        try:
            _run(world, kind)
        except Violation as broken:
            broken.trace = world.trace  # type: ignore[attr-defined]
            raise
        return world.trace


def _run(world: World, kind: type[Scenario]) -> None:
    with simulated(world), simulated_clock(world), _silence():
        scenario = kind(world)
        world.run({"first": scenario.prepare}, CALM)
        world.disk.settle()
        for _ in range(world.random.randint(1, 3)):
            world.run(scenario.works(), Weather.of(world.random))
        world.now = world.latest + LONG
        world.run({"recovery": scenario.recover}, CALM)


@contextmanager
def _silence() -> Iterator[None]:
    """No log of faults that are meant, and no word of files that a killed process left open."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            yield
        finally:
            logging.disable(before)


@contextmanager
def _folder() -> Iterator[Path]:
    root = Path(mkdtemp(prefix="simulation-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)

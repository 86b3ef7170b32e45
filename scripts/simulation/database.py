"""SimulatedSqlite: the queue's table in memory, by the simulated clock, a statement at a time.

SQLite keeps its own promises: what was committed is there after a power cut, and a transaction
that was not committed is undone. Between two statements everything may happen, and the answer to a
statement may get lost.
"""

import errno
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from simulation.world import Process, World

from app.serving.jobs.database import Database
from app.serving.jobs.dialects import Sqlite, _as_dict


class SharedTable:
    """One database for all processes of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.row_factory = _as_dict
        self.connection.create_function("simulated_now", 0, lambda: world.now)
        self.connection.create_function("own_now", 0, self._own_now)
        self.owner: Process | None = None
        """Who has begun a transaction."""
        self.at: dict[str, float] = {}
        """The clock at the last statement of each process."""

    def _own_now(self) -> float:
        """The clock of the process that asks."""
        return self.world.now + (self.world.running.skew if self.world.running else 0.0)

    def database(self) -> Database:
        """The database as a process opens it."""
        return Database(SimulatedSqlite(self))

    def execute(self, statement: str, values: Any = ()) -> Any:
        """Run a statement of the running process."""
        world = self.world
        world.step("statement", statement.split(None, 1)[0])
        self._wait()
        cursor = self.connection.execute(statement, values)
        answer = SimpleNamespace(description=cursor.description, fetchall=cursor.fetchall().copy)
        self.owner = world.running if self.connection.in_transaction else None
        self.at[world.running.name if world.running else ""] = world.now
        world.step("answer")
        if world.weather.fault and world.random.random() < world.weather.fault and world.running:
            world.running.had_fault = True
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return answer

    def undo(self, process: Process | None) -> None:
        """Undo what a process has not committed."""
        if self.owner is not None and self.owner is process:
            self.connection.rollback()
            self.owner = None

    def _wait(self) -> None:
        """Until no other process has a transaction under way; one of a dead process is undone."""
        while self.owner is not None and self.owner is not self.world.running:
            if self.owner.is_over:
                self.undo(self.owner)
            else:
                self.world.sleep(0.01)


class SimulatedSqlite(Sqlite):
    """The dialect of SQLite, over the table that is shared."""

    clock = "simulated_now()"

    def __init__(self, table: SharedTable) -> None:
        super().__init__(Path("none"))
        self._table = table

    def connect(self) -> Any:
        """A connection of the running process."""
        return _Connection(self._table, self._table.world.running)

    def is_usable(self, connection: Any) -> bool:
        """Always."""
        return True


class _Connection:
    def __init__(self, table: SharedTable, process: Process | None) -> None:
        self._table, self._process = table, process
        self.execute = table.execute

    def close(self) -> None:
        """What was begun on it is undone."""
        self._table.undo(self._process)

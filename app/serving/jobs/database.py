"""Database: statements written once, run on SQLite or PostgreSQL over connections that are kept."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.serving.jobs.dialects import Connection, Dialect, Postgresql, Sqlite
from app.serving.jobs.folders import sqlite_file
from app.serving.jobs.schema import STATEMENTS, TABLE

MOST_IDLE = 4

Row = dict[str, Any]
Run = Callable[..., list[Row]]
"""Takes a statement and the values of its parameters; gives its rows."""


def open_database(url: str | None, data_dir: Path) -> "Database":
    """The database of LABELSERVE_JOBS_URL, or else a file of the data folder; not yet connected."""
    return Database(Postgresql(url) if url else Sqlite(sqlite_file(data_dir)))


class Database:
    """Runs statements from any thread; each takes a connection for itself.

    In a statement `:name` stands for a value, `{jobs}` for the table, `{now}` for the database's
    clock, `{skip_locked}` for what lets a selection pass over rows that others are changing.
    Failures of the database are a DatabaseUnavailableError or a StorageFullError; the next call
    connects anew.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._idle: list[Connection] = []
        self._text = lru_cache(self._translated)

    def rows(self, statement: str, **values: Any) -> list[Row]:
        """Run one statement, which is a transaction of its own; the rows that it gives."""
        with self._connection() as connection:
            return self._run(connection, statement, values)

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        """`run(statement, **values)`: several statements, all of which happen or none."""
        with self._connection() as connection:
            connection.execute(self._dialect.begin)
            yield lambda statement, **values: self._run(connection, statement, values)
            connection.execute("COMMIT")  # where this is not reached, closing rolls back

    def close(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection; after any failure it is closed, and what was begun on it is undone."""
        connection = None
        try:
            connection = self._kept() or self._new()
            yield connection
        except Exception as error:
            if connection is not None:
                with suppress(Exception):
                    connection.close()
            failure = self._dialect.failure(error)
            if failure is None:
                raise
            raise failure from error
        self._keep(connection)

    def _kept(self) -> Connection | None:
        while self._idle:
            with suppress(IndexError):  # another thread took the last one
                connection = self._idle.pop()
                if self._dialect.is_usable(connection):
                    return connection
                connection.close()
        return None

    def _keep(self, connection: Connection) -> None:
        if len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _new(self) -> Connection:
        connection = self._dialect.connect()
        try:
            self._make_table(connection)
        except BaseException:  # closed now: until its error is forgotten, it would hold its locks
            connection.close()
            raise
        return connection

    def _make_table(self, connection: Connection) -> None:
        if not self._run(connection, self._dialect.table_exists, {"name": TABLE}):
            connection.execute(self._dialect.begin)
            for statement in (self._dialect.schema_lock, *STATEMENTS):
                connection.execute(statement)
            connection.execute("COMMIT")

    def _run(self, connection: Connection, statement: str, values: Row) -> list[Row]:
        cursor = connection.execute(self._text(statement), values)
        return cursor.fetchall() if cursor.description else []

    def _translated(self, statement: str) -> str:
        dialect = self._dialect
        names = {"jobs": TABLE, "now": dialect.clock, "skip_locked": dialect.skip_locked}
        return dialect.with_parameters(statement.format(**names))

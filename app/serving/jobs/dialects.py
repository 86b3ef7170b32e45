"""Where SQLite and PostgreSQL differ: connecting, the clock, locking, parameters, failures."""

import os
import re
import select
import sqlite3
from pathlib import Path
from typing import Any, Protocol

from app.errors import (
    AppError,
    DatabaseUnavailableError,
    MissingExtraError,
    StorageFullError,
    errno_text,
)

BUSY_SECONDS = 5.0
"""How long a statement waits for others that write; then it fails, and may be tried again."""
STATEMENT_MILLISECONDS = 30_000
STORAGE_FAILURES = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
}
PARAMETER = re.compile(r"(?<!:):([a-z_][a-z_0-9]*)")

Connection = Any
"""Of sqlite3 or psycopg: `execute` gives a cursor of rows that are dicts, `close` ends it."""


class Dialect(Protocol):
    """What statements and connections of one kind of database need."""

    clock: str
    """Seconds since 1970 by the database's clock, as an expression."""
    skip_locked: str
    """Ends a selection of rows that other transactions may be changing."""
    begin: str
    schema_lock: str
    """Lets one connection at a time make the tables."""
    table_exists: str
    """Gives a row where the table `:name` is there."""

    def connect(self) -> Connection:
        """A connection on which every statement is a transaction of its own."""
        ...

    def is_usable(self, connection: Connection) -> bool:
        """Whether an idle connection still leads to the database."""
        ...

    def with_parameters(self, statement: str) -> str:
        """The statement, with `:name` as the driver wants it."""
        ...

    def failure(self, error: Exception) -> AppError | None:
        """The named error for one of the driver; None where it is none of the driver's."""
        ...


class Sqlite:
    """A file that processes of one host share.

    No write-ahead log, whose index is a mapped file: a write to it kills the process where the disk
    is full. The rollback journal is truncated and synced at every commit, so what was committed
    outlives a power cut.
    """

    clock = "((julianday('now') - 2440587.5) * 86400.0)"
    skip_locked = ""  # a statement that writes has the file to itself
    begin = "BEGIN IMMEDIATE"
    schema_lock = "SELECT 1"  # `begin` has locked everything
    table_exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name"

    def __init__(self, path: Path) -> None:
        self._path = path

    def connect(self) -> Connection:
        """Open the file, which is made where it is missing, for its owner alone."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = _SqliteConnection(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = _as_dict
        connection.identity = os.stat(self._path)
        for setting in ("journal_mode=TRUNCATE", "synchronous=FULL", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def is_usable(self, connection: Connection) -> bool:
        """Whether the file was not removed or replaced since."""
        try:
            return os.path.samestat(connection.identity, os.stat(self._path))
        except OSError:
            return False

    def with_parameters(self, statement: str) -> str:
        """As it is: SQLite knows `:name`."""
        return statement

    def failure(self, error: Exception) -> AppError | None:
        """A full or read-only disk, or what else keeps the file from being used."""
        if isinstance(error, OSError):
            return StorageFullError(
                f"the database of evaluations cannot be opened: {errno_text(error)}"
            )
        if not isinstance(error, sqlite3.DatabaseError):
            return None
        code = error.sqlite_errorcode & 0xFF  # the rest says where it happened
        if code in STORAGE_FAILURES:
            return StorageFullError(f"the database of evaluations cannot be written: {error}")
        return DatabaseUnavailableError(str(error))


class _SqliteConnection(sqlite3.Connection):
    """A connection that knows which file it has open."""

    identity: os.stat_result


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


class Postgresql:
    """A database that replicas on several hosts share."""

    clock = "(EXTRACT(EPOCH FROM clock_timestamp())::float8)"
    skip_locked = "FOR UPDATE SKIP LOCKED"
    begin = "BEGIN"
    schema_lock = "SELECT pg_advisory_xact_lock(1818321513)"
    table_exists = "SELECT 1 WHERE to_regclass(:name) IS NOT NULL"

    def __init__(self, url: str) -> None:
        self._url = url

    def connect(self) -> Connection:
        """Connect; a server that does not answer is given up after some seconds."""
        psycopg = _psycopg()
        connection = psycopg.connect(
            self._url,
            autocommit=True,
            row_factory=psycopg.rows.dict_row,
            prepare_threshold=None,  # a pooler between may give each statement another session
            application_name="labelserve",
            client_encoding="utf8",  # a cluster made without a locale would send bytes, not text
            connect_timeout=int(BUSY_SECONDS),
            tcp_user_timeout=int(2000 * BUSY_SECONDS),
        )
        connection.execute(f"SET lock_timeout = {int(1000 * BUSY_SECONDS)}")
        connection.execute(f"SET statement_timeout = {STATEMENT_MILLISECONDS}")
        return connection

    def is_usable(self, connection: Connection) -> bool:
        """Whether the server has not closed it: nothing else arrives on an idle connection."""
        if connection.closed:
            return False
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return not poll.poll(0)

    def with_parameters(self, statement: str) -> str:
        """`:name` becomes `%(name)s`; `::float8` stays."""
        return PARAMETER.sub(r"%(\1)s", statement)

    def failure(self, error: Exception) -> AppError | None:
        """A full disk of the server, or what else keeps it from answering."""
        psycopg = _psycopg()
        if isinstance(error, psycopg.errors.DiskFull):
            return StorageFullError("the disk of the database of evaluations is full")
        if isinstance(error, psycopg.Error):
            why = str(error).partition("\n")[0] or type(error).__name__
            return DatabaseUnavailableError(why)
        return None


def _psycopg() -> Any:
    """The driver, imported where PostgreSQL is used."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("LABELSERVE_JOBS_URL", "postgres") from None
    return psycopg

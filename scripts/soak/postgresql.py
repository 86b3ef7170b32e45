"""A real PostgreSQL server for tests and long runs, on a socket in a folder of its own."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

PLACE = "usr/lib/postgresql/*/bin"
START_SECONDS = 60


def is_installed() -> bool:
    """Whether there is a server to start."""
    return _program("initdb") is not None


def _program(name: str) -> str | None:
    """The newest program of this name that is installed; servers are not on the path."""
    found = sorted(Path("/").glob(f"{PLACE}/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _command(name: str) -> str:
    found = _program(name)
    if found is None:
        raise RuntimeError("PostgreSQL is not installed")
    return found


class PostgresqlServer:
    """A server process; it refuses to be root, so root starts it as the user `postgres`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, self._user)
        self._numbers = count()
        initdb = [_command("initdb"), "-D", "data", "-U", "tests", "-A", "trust", "--no-sync"]
        subprocess.run(
            [*initdb, "-E", "UTF8", "--locale=C"],
            cwd=self.folder,
            user=self._user,
            check=True,
            capture_output=True,
        )
        self.start()

    def start(self, *, is_synced: bool = False) -> None:
        """Start, and wait until it answers; unsynced, it outlives crashes of its own only."""
        settings = ["-c", "listen_addresses=", "-c", f"fsync={'on' if is_synced else 'off'}"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [_command("postgres"), "-D", "data", "-k", str(self.folder), *settings],
                cwd=self.folder,
                user=self._user,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if time.monotonic() > end or self.process.poll() is not None:
                said = (self.folder / "log").read_text()
                raise RuntimeError(f"PostgreSQL did not start: {said}")
            time.sleep(0.05)

    def stop(self, how: int = signal.SIGINT) -> None:
        """End it: SIGINT cuts its clients off and writes all down, SIGQUIT is like a crash."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(START_SECONDS)

    def remove(self) -> None:
        """End it, and remove all that it has written."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self, encoding: str | None = None) -> str:
        """An address where no table is yet: a schema of its own, which is made faster.

        With an encoding it is a whole database, which is how PostgreSQL has other encodings.
        """
        import psycopg

        name = f"test{next(self._numbers)}"
        with psycopg.connect(self._url, autocommit=True) as connection:
            if encoding:
                made = f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0"
                connection.execute(made)
                return self._url.replace("@/postgres?", f"@/{name}?")
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self._url}&options=-csearch_path%3D{name}"

    @property
    def _url(self) -> str:
        return f"postgresql://tests@/postgres?host={self.folder}"

    def _is_ready(self) -> bool:
        command = [_command("pg_isready"), "-h", str(self.folder), "-q"]
        return subprocess.run(command, check=False).returncode == 0

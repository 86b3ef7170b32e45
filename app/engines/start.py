"""The cluster of a `--cluster` option; Dask is imported only where one is given."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from app.catalogue import find
from app.errors import InvalidRequestError

CLUSTERS = {"--cluster": "app.engines.connection:connected"}
LOCAL = "local:"
ACCEPTED = (
    "--cluster takes tcp://HOST:PORT or tls://HOST:PORT of a Dask scheduler, or local:N for N "
    "processes here, from 1"
)


def check_address(address: str) -> None:
    """Refuse, before any work, an address that is none, and any where Dask is not installed."""
    local_workers(address)
    find(CLUSTERS, "--cluster", "the option")


def connected(address: str, folder: Path, **options: Any) -> AbstractContextManager[Any]:
    """The cluster at an address, as `app.engines.connection.ClusterConnection`."""
    connect = find(CLUSTERS, "--cluster", "the option")
    connection: AbstractContextManager[Any] = connect(address, folder, **options)
    return connection


def local_workers(address: str) -> int | None:
    """How many workers are to be started here; None where the address is a scheduler's.

    >>> local_workers("local:4"), local_workers("tcp://10.0.0.1:8786")
    (4, None)
    """
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if number.isascii() and number.isdigit() and int(number) > 0:
            return int(number)
    scheme, _, place = address.partition("://")
    if scheme in ("tcp", "tls") and place.rpartition(":")[2].isdigit():
        return None
    raise InvalidRequestError(ACCEPTED)

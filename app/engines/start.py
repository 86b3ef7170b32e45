"""The engine of a `--cluster` option; Dask is imported only where one is given."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from app.catalogue import find

CLUSTERS = {"--cluster": "app.engines.connection:connected"}


def connected(address: str, folder: Path) -> AbstractContextManager[Any]:
    """The cluster at an address, as `app.engines.connection.ClusterConnection`."""
    connect = find(CLUSTERS, "--cluster", "the option")
    connection: AbstractContextManager[Any] = connect(address, folder)
    return connection

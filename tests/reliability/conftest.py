"""Real servers for the tests here, always ended by their own pid."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.servers import Server, start

Started = Callable[..., Server]


@pytest.fixture
def started(tmp_path: Path, tiny_models: Path) -> Iterator[Started]:
    """`started(max_documents=3)`: a server with these settings, ended with the test."""
    servers: list[Server] = []

    def one(**settings: Any) -> Server:
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(start(folder, **{"models_dir": tiny_models, **settings}))
        return servers[-1]

    yield one
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    found = start(tmp_path_factory.mktemp("server"), models_dir=tiny_models, poll_seconds=0.2)
    yield found
    found.stop()

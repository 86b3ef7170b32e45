"""A scheduler and two workers, started for the tests of one file."""

from collections.abc import Iterator

import pytest

from tests.engines.processes import Processes


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    for _ in range(2):
        processes.start_worker()
    yield processes
    processes.stop()

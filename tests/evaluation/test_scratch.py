"""Working files of an evaluation: what they hold, and that they cannot fill the disk."""

import resource
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from app.errors import PayloadTooLargeError
from app.evaluation.storage.array_file import ArrayFile
from app.serving.evaluating import bound_files


@pytest.fixture
def bounded() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    bound_files(100_000)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("bounded")
def test_a_working_file_grows_up_to_its_bound_and_no_further(tmp_path: Path) -> None:
    with closing(ArrayFile(tmp_path / "records", np.int64)) as file:
        file.append(np.arange(10_000))
        with pytest.raises(PayloadTooLargeError, match="a working file has more than 100000 bytes"):
            file.append(np.arange(10_000))
        assert file.read(9_998, 10).tolist() == [9_998, 9_999]


@pytest.mark.usefixtures("bounded")
def test_items_that_only_the_end_tries_to_write_are_refused_by_name_too(tmp_path: Path) -> None:
    with closing(ArrayFile(tmp_path / "kept.npy", np.int64, offset=200_000)) as file:
        file.append(np.arange(3))  # in the buffer
        with pytest.raises(PayloadTooLargeError, match="more than 100000 bytes"):
            file.seal("kept")

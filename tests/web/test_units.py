"""The page's logic without a browser: tests/web/*.test.js, run by node."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FILES = sorted(path.name for path in FOLDER.glob("*.test.js"))


@pytest.mark.parametrize("file", FILES)
def test_what_the_page_computes_is_right(file: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "--test", file], cwd=FOLDER, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr

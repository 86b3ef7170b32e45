"""How a run of the tests is organised: what is skipped, marked and grouped (tests/conftest.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPED = {
    "test_one.py": """
import pytest

def test_without_its_program():
    pytest.skip("there is no nginx")
""",
    "test_all.py": """
import pytest

pytest.skip("there is no Chromium", allow_module_level=True)
""",
}
GROUPED = """
import pytest

@pytest.mark.parametrize("number", range(32))
def test_one(number):
    pass
"""
RERUN = """
import pytest

tries = []

@pytest.mark.flaky(reruns=1)
def test_that_fails_once():
    tries.append(1)
    assert len(tries) == 2

@pytest.mark.flaky(reruns=1)
def test_that_always_fails():
    assert False
"""


def run(*arguments: str, **variables: str) -> tuple[int, str]:
    """Exit code and output of pytest with the hooks of this folder."""
    given = {name: value for name, value in os.environ.items() if name != "LABELSERVE_TEST_ALL"}
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env={
            **given,
            **variables,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}",
            "LABELSERVE_KERNELS": "plain",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


@pytest.fixture
def skipped(tmp_path: Path) -> str:
    """A folder with a test that is skipped, and with a file that is."""
    for name, content in SKIPPED.items():
        (tmp_path / name).write_text(content)
    return str(tmp_path)


@pytest.mark.slow
def test_a_skip_is_no_failure_where_a_program_may_be_missing(skipped: str) -> None:
    code, said = run("-p", "no:xdist", skipped)
    assert code == 0
    assert "2 skipped" in said


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_every_skip_is_a_failure_where_all_tests_are_asked_for(skipped: str, workers: str) -> None:
    options = ["-n", workers, "--dist", "loadgroup", "--continue-on-collection-errors"]
    code, said = run(*options, skipped, LABELSERVE_TEST_ALL="1")
    assert code == 1
    assert "1 failed, 1 error" in said
    assert "there is no nginx" in said
    assert "there is no Chromium" in said


def test_server_tests_are_one_group_that_comes_first(request: pytest.FixtureRequest) -> None:
    groups = [item.get_closest_marker("xdist_group").args[0] for item in request.session.items]
    in_front = groups.count("servers")
    assert set(groups[:in_front]) <= {"servers"}
    assert request.node.get_closest_marker("xdist_group").args[0] == "tests/test_run.py"


@pytest.mark.slow
def test_the_tests_of_a_file_run_in_one_worker(tmp_path: Path) -> None:
    """pytest-xdist 3.8 writes groups where pytest 9.2 does not look for them, without a word."""
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    options = ["-n", "2", "--dist", "loadgroup", "-v"]
    code, said = run(*options, str(tmp_path))
    assert code == 0
    workers = [line.split("]")[0] for line in said.splitlines() if "PASSED" in line]
    assert len(workers) == 32
    assert len(set(workers)) == 1


@pytest.mark.slow
def test_a_test_that_is_tried_once_more_fails_when_it_fails_twice(tmp_path: Path) -> None:
    file = tmp_path / "test_twice.py"
    file.write_text(RERUN)
    code, said = run("-p", "no:xdist", str(file))
    assert code == 1
    assert "1 failed, 1 passed" in said
    assert "2 rerun" in said

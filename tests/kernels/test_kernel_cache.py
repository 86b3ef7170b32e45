"""One folder for the kernels' machine code, whichever way a program is started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import kernel_cache
from app.kernel_cache import GIVEN, PROJECT, cache_folder

ROOT = Path(__file__).parents[2]
TELL = "from app.kernel_cache import cache_folder; print(cache_folder())"
BY_MAKE = f'folder:\n\t@"{sys.executable}" -c "{TELL}"\n'
BY_SCRIPT = f"""
import runpy, sys
sys.argv = ["train.py", "--help"]
sys.path.insert(0, {str(ROOT / "scripts")!r})
try:
    runpy.run_path({str(ROOT / "scripts" / "train.py")!r}, run_name="__main__")
except SystemExit:
    pass
{TELL}
"""
TWICE = """
from app.kernels.compiler import kernel
@kernel
def twice(number):
    return number + number
"""
WAYS = {
    "make": ["make", "-s", "-f", "Makefile", "-f", "-", "folder"],
    "scripts/train.py": [sys.executable, "-c", BY_SCRIPT],
    "python -m app.main": [sys.executable, "-c", f"import app.main; {TELL}"],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_start_looks_at_the_folder_inside_the_project(
    way: str, tmp_path: Path
) -> None:
    env = {k: v for k, v in os.environ.items() if k != GIVEN}
    done = subprocess.run(
        WAYS[way],
        cwd=ROOT if way == "make" else tmp_path,
        env={**env, "PYTHONPATH": str(ROOT)},
        input=BY_MAKE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == [str(ROOT / ".cache" / "numba")], done.stderr


def test_a_folder_that_is_given_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, "/somewhere/else")
    assert cache_folder() == Path("/somewhere/else")


@pytest.mark.parametrize("is_checkout", [True, False])
def test_the_users_folder_is_taken_for_a_package_and_where_the_checkout_is_read_only(
    is_checkout: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_checkout:
        (tmp_path / "pyproject.toml").touch()
        monkeypatch.setattr(kernel_cache, "is_writable", lambda folder: False)
    monkeypatch.setattr(kernel_cache, "PROJECT", tmp_path)
    monkeypatch.delenv(GIVEN, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/user/own")
    assert cache_folder() == Path("/home/user/own/labelserve/kernels")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/home/user")
    assert cache_folder() == Path("/home/user/.cache/labelserve/kernels")


def test_a_folder_is_writable_where_it_could_be_made(tmp_path: Path) -> None:
    assert kernel_cache.is_writable(tmp_path / "not" / "yet")
    (tmp_path / "file").touch()
    assert not kernel_cache.is_writable(tmp_path / "file" / "below")


def test_machine_code_for_other_arguments_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "made_up.py").write_text(TWICE)
    call = "from made_up import twice; print(twice(21), twice(0.5))"
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}", GIVEN: str(tmp_path)}

    def called() -> str:
        command = [sys.executable, "-c", call]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        return done.stdout.strip() or done.stderr

    assert called() == "42 1.0"
    first, second = sorted(tmp_path.rglob("*.nbc"))
    aside = first.with_suffix(".aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    assert called() == "42 1.0"

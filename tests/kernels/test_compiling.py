"""All kernels compiled ahead of their use: by one process at a time, and then never again."""

import shutil
from pathlib import Path

import pytest

from app.compiling import completeness, processes
from app.compiling.completeness import is_complete, is_wanted, mark_complete, marker
from app.compiling.processes import FIRST_CORE, STAGE, Compilation, compile_kernels
from app.kernel_cache import GIVEN, cache_folder
from app.kernels import KERNELS


@pytest.fixture
def unmarked_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that nobody has found to be complete, though it is: compiling takes seconds."""
    folder = tmp_path / "kernels"
    shutil.copytree(cache_folder(), folder, ignore=shutil.ignore_patterns("complete-*", "lock"))
    monkeypatch.setenv(GIVEN, str(folder))
    return folder


def test_compiling_is_shown_as_one_stage_that_ends(unmarked_cache: Path) -> None:
    said: list[tuple[str, int, int]] = []
    compile_kernels(lambda *step: said.append(step))
    assert {stage for stage, _, _ in said} == {STAGE}
    assert said[-1] == (STAGE, len(KERNELS), len(KERNELS))
    assert is_complete()
    said.clear()
    compile_kernels(lambda *step: said.append(step))
    assert said == []


def test_who_comes_second_waits_for_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GIVEN, str(tmp_path / "empty"))
    said: list[str] = []

    def finish(stage: str, done: int, total: int) -> None:
        said.append(stage)
        mark_complete()

    first = Compilation.begun()
    assert first is not None
    with first:
        assert Compilation.begun() is None
        compile_kernels(finish)
    assert said == [f"{STAGE} · by another process"]
    again = Compilation.begun()
    assert again is not None
    again.end()


def test_the_shares_of_two_cores_are_kernels() -> None:
    assert set(FIRST_CORE) < set(KERNELS)


def test_nothing_is_wanted_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, "/dev/null/nowhere")
    assert not is_wanted()


def test_nothing_is_wanted_where_plain_kernels_are_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GIVEN, str(tmp_path))
    assert is_wanted()
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    assert not is_wanted()


@pytest.mark.parametrize(
    ("name", "value"),
    [("source_stamp", lambda name: "changed"), ("_processor", lambda: "another")],
)
def test_a_cache_is_incomplete_for_other_sources_and_other_processors(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = marker()
    completeness._stamp.cache_clear()
    monkeypatch.setattr(completeness, name, value)
    assert marker() != before
    completeness._stamp.cache_clear()


def test_a_compiler_that_fails_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GIVEN, str(tmp_path / "empty"))
    monkeypatch.setattr(processes, "FIRST_CORE", ("text.no_such_kernel",))
    monkeypatch.setattr(processes, "KERNELS", ("text.no_such_kernel",))
    compile_kernels()
    assert not is_complete()

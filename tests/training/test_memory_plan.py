"""What a training needs in memory is known before it begins, and files give the same model."""

import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import app.training.memory.plan as plan_module
from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.errors import InsufficientMemoryError, StorageFullError
from app.resources import scratch as scratch_module
from app.resources.memory import MemoryUse, bytes_left
from app.resources.scratch import ScratchFolder, release
from app.state import State
from app.training.memory.plan import memory_plan
from app.training.recipe import MemberRecipe, Recipe
from app.training.train import TrainingJob, train

RANDOM = np.random.default_rng(3)
WORDS = [f"w{number}" for number in range(300)]
MANY = 1200


def collection(n: int = MANY) -> Collection:
    """Documents of up to 30 different words; a label goes with a word."""
    picks = [RANDOM.choice(300, 30) for _ in range(n)]
    texts = [" ".join(WORDS[word] for word in words) for words in picks]
    labels = [tuple(sorted({f"l{word}" for word in words if word < 20})) for words in picks]
    return Collection(texts, labels, [None] * n, Summary(documents=n))


DATA = collection()
RECIPE = Recipe().completed()


def test_all_features_of_all_documents_are_estimated_from_a_sample() -> None:
    plan = memory_plan(DATA, RECIPE, jobs=1)
    assert plan is not None
    stored = sum(len(set(text.split())) for text in DATA.documents)
    assert 0.95 < plan.sizes.n_entries / stored < 1.05
    assert plan.sizes.n_labels == 20


def test_terms_that_a_sample_has_once_count_although_min_df_would_drop_them() -> None:
    rare = replace(DATA, documents=[f"word{number}" for number in range(MANY)])
    members = (MemberRecipe(features={"min_df": 2}),)
    plan = memory_plan(rare, replace(RECIPE, members=members), jobs=1)
    assert plan is not None
    assert plan.sizes.n_entries == MANY


def test_more_documents_jobs_and_folds_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "BYTES_OF_EVERY_TRAINING", 0)
    half = replace(DATA, documents=DATA.documents[:600], label_sets=DATA.label_sets[:600])
    need = memory_plan(DATA, RECIPE, jobs=2).need
    assert memory_plan(half, RECIPE, jobs=2).need.mapped < 0.6 * need.mapped
    assert memory_plan(DATA, RECIPE, jobs=1).need.mapped < need.mapped
    assert memory_plan(DATA, RECIPE.with_decision(folds=0), jobs=2).need < need


def with_left(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setattr(plan_module, "bytes_left", lambda: n_bytes)


def test_a_training_that_cannot_fit_is_refused_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_left(monkeypatch, 1000)
    with pytest.raises(InsufficientMemoryError, match=r"1,200 documents .* Train on fewer"):
        train(TrainingJob(DATA, Recipe()))


def test_a_limit_of_the_process_is_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIMIT_DATA: 1 << 20}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits.get(kind, -1), -1))
    assert bytes_left() == 0  # more than a mebibyte is in use
    with pytest.raises(InsufficientMemoryError, match=r"0\.0 GB are left"):
        train(TrainingJob(DATA, Recipe()))


def test_arrays_go_to_files_where_memory_would_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    need = memory_plan(DATA, RECIPE, jobs=1).need
    assert need.mapped < need.in_memory
    with_left(monkeypatch, need.in_memory)
    assert memory_plan(DATA, RECIPE, jobs=1).scratch() is None
    with_left(monkeypatch, need.in_memory - 1)
    plan = memory_plan(DATA, RECIPE, jobs=1)
    plan.check()
    assert plan.scratch() is not None
    assert plan.n_bytes == need.mapped


def arrays(state: State, name: str = "") -> dict[str, Any]:
    own = {f"{name}/{key}": array for key, array in state.arrays.items()}
    for part, inner in state.parts.items():
        own |= arrays(inner, f"{name}/{part}")
    return own


@pytest.mark.parametrize("recipe", [Recipe(), Recipe((MemberRecipe("tree"),))])
def test_arrays_in_files_give_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: Recipe
) -> None:
    in_memory = train(TrainingJob(DATA, recipe, jobs=2))
    monkeypatch.setattr(scratch_module.ScratchFolder.__init__, "__kwdefaults__", {"least_bytes": 1})
    made: list[int] = []
    real = scratch_module._reserve
    monkeypatch.setattr(
        scratch_module, "_reserve", lambda file, size: (made.append(size), real(file, size))
    )
    mapped = train(TrainingJob(DATA, recipe, jobs=2, scratch=tmp_path))
    assert made.count(4 * MANY * 20) >= 1  # the held-out scores
    assert list(tmp_path.iterdir()) == []
    both = arrays(in_memory.classifier.state()), arrays(mapped.classifier.state())
    assert both[0].keys() == both[1].keys()
    assert all(np.array_equal(both[0][name], both[1][name]) for name in both[0])
    assert mapped.info.figures == in_memory.info.figures


def test_a_released_array_keeps_its_numbers(tmp_path: Path) -> None:
    folder = ScratchFolder(tmp_path, least_bytes=1)
    array = folder.moved(np.arange(10_000, dtype=np.int64))
    array[5] = -1
    release(array[10:])
    assert array[5] == -1
    assert np.array_equal(array[6:], np.arange(6, 10_000))
    assert folder.moved(array) is array


def test_pages_of_a_released_array_leave_the_process(tmp_path: Path) -> None:
    array = ScratchFolder(tmp_path).empty((64 << 20,), np.uint8)
    array[:] = 1
    before = resident()
    release(array)
    assert before - resident() > 60 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_a_folder_without_room_is_said_not_found_out_by_a_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(StorageFullError, match="--scratch"):
        ScratchFolder(tmp_path, least_bytes=1).empty((10,), np.float32)


def test_what_is_left_is_that_of_the_nearest_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = [MemoryUse(10, 100), MemoryUse(70, 90), MemoryUse(5, 1000)]
    monkeypatch.setattr("app.resources.memory.usages", lambda: iter(uses))
    assert bytes_left() == 20
    monkeypatch.setattr("app.resources.memory.usages", lambda: iter([]))
    assert bytes_left() is None

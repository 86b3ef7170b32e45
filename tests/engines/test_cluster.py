"""A real scheduler with two workers gives what threads give, whoever is killed in the middle."""

import random
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from distributed import Client

from app.arrays import Features
from app.engines import dask_engine, shared_files
from app.engines.connection import connected
from app.engines.task_count import TaskCount
from app.engines.worker_check import problem
from app.errors import ClusterError
from app.folds import Folds
from app.learners.base import CostTrial, Fitting, Learner
from app.learners.one_vs_rest import OneVsRest
from app.learners.out_of_fold.fitting import fit_with_out_of_fold
from app.learners.tree import node_tasks
from app.learners.tree.tree import Tree
from app.progress import Progress, silent
from app.state import State
from app.vectorizers.base import Vectorizer
from app.vectorizers.tfidf import Tfidf
from app.vectorizers.union import Union
from app.vectorizers.workers import shared_groups
from tests.engines.processes import SECONDS, Processes, wait_for
from tests.learners.made_up import made_up

FEATURES, TRUTH = made_up(300, 200)
FOLDS = Folds(np.arange(300, dtype=np.int32) % 3)
N_BLOCKS = 13


@pytest.fixture(scope="module")
def by_threads() -> list[Any]:
    return fitted(OneVsRest(), Fitting(jobs=2))


def fitted(learner: Learner, fitting: Fitting) -> list[Any]:
    """Every array of a learner's state, and of its held-out scores."""
    learner, held_out = fit_with_out_of_fold(learner, FEATURES, TRUTH, FOLDS, fitting)
    return [*arrays_of(learner.state()), held_out.scores]


def arrays_of(state: State) -> Iterator[Any]:
    yield from state.arrays.values()
    for part in state.parts.values():
        yield from arrays_of(part)


def by_workers(address: str, folder: Path, progress: Progress = silent) -> list[Any]:
    with connected(address, folder) as connection:
        return fitted(OneVsRest(), Fitting(engine=connection.engine, progress=progress))


def assert_same(ours: list[Any], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert own.dtype == other.dtype
        assert own.tobytes() == other.tobytes()


def at_first_block(action: Any) -> Progress:
    """A progress that acts once: when the first block of labels is there."""
    stages: list[str] = []

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "train" and not stages:
            stages.append(stage)
            action()

    return progress


def doubled(features: Features, folds: Folds) -> Features:
    """Held-out rows that differ from the rows that are fitted to."""
    return features * 2


@pytest.mark.parametrize("kind", ["one-vs-rest", "ratios", "tree", "wide-tree"])
def test_two_workers_give_the_same_bytes_as_threads(
    kind: str, cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learner() -> Learner:
        if kind == "wide-tree":
            return Tree(children=40, leaf=2, depth=2, n_trees=1)
        if kind == "tree":
            return Tree(children=4, leaf=20, n_trees=1)
        return OneVsRest(ratios=0.5) if kind == "ratios" else OneVsRest("-s 7 -w1 2")

    monkeypatch.setattr(node_tasks, "LEAST", 10**9)  # a whole tree is one task
    theirs = fitted(learner(), Fitting(jobs=1, held_out_rows=doubled))
    monkeypatch.setattr(node_tasks, "LEAST", 500)
    with connected(cluster.address, tmp_path) as connection:
        fitting = Fitting(engine=connection.engine, held_out_rows=doubled)
        ours = fitted(learner(), fitting)
    assert_same(ours, theirs)
    assert len(list(tmp_path.glob("*.part"))) > 1


def test_workers_keep_nothing_of_a_command_that_has_ended(
    cluster: Processes, tmp_path: Path
) -> None:
    def kept(dask_worker: Any) -> tuple[int, bool]:
        from app.engines import local_copies, worker_task

        copies = Path(dask_worker.local_directory).parent / local_copies.FOLDER
        copies.mkdir(exist_ok=True)  # as a node with another disk would have it
        return len(worker_task._built), (copies / "of-this-command.npy").exists()

    with Client(cluster.address) as client:
        with connected(cluster.address, tmp_path) as connection:
            fitted(OneVsRest(), Fitting(engine=connection.engine))
            assert 1 in {n for n, _ in client.run(kept).values()}
            for folder in client.run(lambda dask_worker: dask_worker.local_directory).values():
                (Path(folder).parent / "labelserve-arrays" / "of-this-command.npy").touch()
        assert set(client.run(kept).values()) == {(0, False)}


def test_workers_try_costs_as_threads_do(cluster: Processes, tmp_path: Path) -> None:
    what = CostTrial((0.25, 1.0, 4.0), TRUTH.shape[1], "try costs")

    def scores(fitting: Fitting) -> list[Any]:
        found = OneVsRest().held_out_at_costs(FEATURES, TRUTH, FOLDS, what, fitting)
        assert found is not None
        return list(found)

    told: list[tuple[str, int, int, int]] = []

    def pace(count: TaskCount, workers: Callable[[], int]) -> None:
        told.append((*count[:3], workers()))

    with connected(cluster.address, tmp_path, pace=pace) as connection:
        ours = scores(Fitting(engine=connection.engine, held_out_rows=doubled))
    assert told == [("cost-trials", done, N_BLOCKS, 2) for done in range(N_BLOCKS + 1)]
    assert_same(ours, scores(Fitting(jobs=2, held_out_rows=doubled)))
    assert len(list(tmp_path.glob("*.part"))) == N_BLOCKS


def test_seconds_of_workers_are_counted_once(cluster: Processes, tmp_path: Path) -> None:
    with (
        Client(cluster.address, set_as_default=False) as client,
        connected(cluster.address, tmp_path) as connection,
    ):
        before = sum(client.run(process_time).values())
        fitted(OneVsRest(), Fitting(engine=connection.engine))
        counted = connection.engine.cpu_seconds()
        assert 0 < counted <= sum(client.run(process_time).values()) - before
        fitted(OneVsRest(), Fitting(engine=connection.engine))  # every part is there
        assert connection.engine.cpu_seconds() == counted


@pytest.mark.parametrize("kind", ["words", "presence", "characters", "union", "stems"])
def test_workers_learn_the_vocabulary_that_threads_learn(
    kind: str, cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_groups, "CHARACTERS", 2000)
    monkeypatch.setattr(shared_groups, "LEAST_GROUPS", 8)
    pick = random.Random(2)
    words = [f"wörd{n}" if n % 7 == 0 else f"Term{n}" for n in range(900)] + ["\ud800x", "", "日本"]
    texts = [" ".join(pick.choices(words, k=pick.randrange(30))) for _ in range(400)]

    def vectorizer() -> Vectorizer:
        if kind == "union":
            return Union(min_df=2)
        if kind == "characters":
            return Tfidf(analyzer="char_wb", ngram_range=(2, 3), max_features=500)
        if kind == "stems":
            return Tfidf(stemmer="german", binary=True, max_df=0.5, scheme="ntc")
        if kind == "presence":
            return Tfidf(binary=True, lead=[3], scheme="atc")
        return Tfidf(ngram_range=(1, 2), min_df=2, lead=[3])

    ours, theirs = vectorizer(), vectorizer()
    told: list[TaskCount] = []
    with connected(
        cluster.address, tmp_path, pace=lambda count, _: told.append(count)
    ) as connection:
        rows = ours.fit_transform_on(connection.engine, texts, jobs=1)
    expected = theirs.fit_transform(texts, jobs=2)
    arrays = (rows.data, rows.indices, rows.indptr)
    assert_same(list(arrays), [expected.data, expected.indices, expected.indptr])
    assert_same(list(arrays_of(ours.state())), list(arrays_of(theirs.state())))
    assert len(list(tmp_path.glob("*.part"))) > 2 * 8
    has_leads = kind in ("words", "presence")  # which are counted, too; a union has three parts
    rounds = 3 if has_leads else 6 if kind == "union" else 2
    data, n_bytes = told[-1].data, sum(len(text.encode(errors="surrogatepass")) for text in texts)
    assert data.n_documents == rounds * len(texts)
    assert data.n_bytes == (2 if has_leads else rounds // 2) * n_bytes


def test_a_worker_killed_in_the_middle_changes_nothing(
    tmp_path: Path, cluster: Processes, by_threads: list[Any]
) -> None:
    gate = tmp_path / "gate"
    third = cluster.start_worker("preload_gate.py", GATE=str(gate), GATE_LETS="0")

    def kill_at_work() -> None:
        wait_for(Path(f"{gate}.reached").exists)
        third.kill()

    killing = threading.Thread(target=kill_at_work)
    with connected(cluster.address, tmp_path) as connection:
        connection.engine._client.wait_for_workers(3, timeout=SECONDS)
        killing.start()
        ours = fitted(OneVsRest(), Fitting(engine=connection.engine))
    killing.join()
    assert third.wait(SECONDS) == -signal.SIGKILL
    assert_same(ours, by_threads)


def test_after_a_killed_scheduler_finished_parts_are_taken_as_they_are(
    tmp_path: Path, cluster: Processes, by_threads: list[Any]
) -> None:
    first = Processes(tmp_path, GATE=str(tmp_path / "gate"), GATE_LETS="1")
    parts = tmp_path / "parts"
    try:
        first.start_worker("preload_gate.py")
        with pytest.raises(ClusterError, match=r"the scheduler is gone.*--resume"):
            by_workers(first.address, parts, at_first_block(first.scheduler.kill))
    finally:
        first.stop()
    (finished,) = parts.glob("*.part")
    written = finished.stat().st_mtime_ns
    assert_same(by_workers(cluster.address, parts), by_threads)
    assert finished.stat().st_mtime_ns == written
    assert len(list(parts.glob("*.part"))) == N_BLOCKS


def test_a_damaged_part_is_made_again(
    tmp_path: Path, cluster: Processes, by_threads: list[Any]
) -> None:
    by_workers(cluster.address, tmp_path)
    damaged, exchanged, *_ = sorted(tmp_path.glob("*.part"))
    damaged.write_bytes(exchanged.read_bytes())
    exchanged.write_bytes(exchanged.read_bytes()[:-40])
    assert_same(by_workers(cluster.address, tmp_path), by_threads)


def test_a_task_that_kills_three_workers_is_reported_by_name(tmp_path: Path) -> None:
    scheduler = "DASK_DISTRIBUTED__SCHEDULER__"
    settings = {f"{scheduler}ALLOWED_FAILURES": "2", f"{scheduler}WORKER_SATURATION": "1.0"}
    deadly = Processes(tmp_path, **settings)
    try:
        for _ in range(3):
            deadly.start_worker("preload_death.py")
        with pytest.raises(ClusterError, match=r"3 workers died .* label-blocks-1,.*--resume"):
            by_workers(deadly.address, tmp_path / "parts")
    finally:
        deadly.stop()


def test_other_versions_are_refused_by_name_before_any_task(
    tmp_path: Path, cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shared_files.versions()
    monkeypatch.setattr(shared_files, "versions", lambda: {**own, "numpy": "1.0"})
    with pytest.raises(ClusterError, match=r"tcp://\S+ has other versions.*numpy \S+ \(1.0\)"):
        by_workers(cluster.address, tmp_path)


def test_a_worker_that_comes_later_is_refused_by_its_versions_and_its_address(
    tmp_path: Path, cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shared_files.versions()
    with connected(cluster.address, tmp_path) as connection:
        monkeypatch.setattr(shared_files, "versions", lambda: {**own, "numpy": "1.0"})
        with pytest.raises(ClusterError, match=r"label-blocks-.*\(1.0\).*\(worker tcp://"):
            fitted(OneVsRest(), Fitting(engine=connection.engine))


@pytest.mark.parametrize("comes_later", [False, True])
def test_a_worker_without_labelserve_is_named(
    comes_later: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "WATCHED", 0.1)
    bare, said = Processes(tmp_path), list[int]()
    try:
        if not comes_later:
            bare.start_worker("preload_without_labelserve.py")
            with Client(bare.address, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=SECONDS)

        def idle(n_waiting: int) -> None:
            if not said:
                bare.start_worker("preload_without_labelserve.py")
            said.append(n_waiting)

        with (
            pytest.raises(ClusterError, match=r"has no labelserve.*install"),
            connected(bare.address, tmp_path / "parts", idle=idle) as connection,
        ):
            fitted(OneVsRest(), Fitting(engine=connection.engine))
        assert bool(said) == comes_later
        assert set(said) <= {N_BLOCKS}
    finally:
        bare.stop()


def test_a_worker_that_does_not_see_the_folder_is_named() -> None:
    versions, folder = shared_files.versions(), Path("models/x")
    assert "does not see models/x: the models folder" in problem((versions, False), folder)
    assert problem((versions, True), folder) == ""

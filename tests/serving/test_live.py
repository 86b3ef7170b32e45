"""Live traffic: versions on trial, which callers get them, and documents that change."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from app.artifacts.store import Store
from app.artifacts.trials import VersionTrial
from app.datasets.collection import load_collection
from app.errors import ConflictError, DamagedArtifactError, InvalidRequestError
from app.model import load_model
from app.prediction import Query, plan_of
from app.serving.live import drift, sample
from app.serving.live.canary import is_answered_by
from app.serving.live.observer import LiveObserver
from app.serving.live.sample import LiveSample
from app.serving.live.trial_figures import ShadowFigures, shadow_figures
from app.serving.registry import Registry
from app.serving.telemetry.drift_figures import ModelDrift, drift_of
from app.serving.telemetry.exposition import exposed
from app.serving.telemetry.snapshot import merged
from app.serving.telemetry.telemetry import Telemetry
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train
from tests.conftest import write_corpus

NOT_A_VERSION = "20200101T000000-000000"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with two versions of `tiny`: one of 400 documents is current, one of 20 is not."""
    folder = tmp_path_factory.mktemp("live")
    store = Store(folder / "models")
    file = write_corpus(folder / "train.jsonl", 400)
    few = folder / "few.jsonl"
    few.write_text("".join(file.read_text().splitlines(True)[:20]))
    for data in (few, file):
        trained = train(TrainingJob(load_collection(data), read_recipe(None)))
        version = store.write("tiny", trained.classifier.state(), trained.info)
    store.promote("tiny", version)
    return store


@pytest.fixture
def store(models: Store) -> Iterator[Store]:
    yield models
    for kind in ("shadow", "canary"):
        models.end_trial("tiny", kind)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    file = write_corpus(tmp_path_factory.mktemp("texts") / "new.jsonl", 400, seed=9)
    return [json.loads(line)["text"] for line in file.read_text().splitlines()]


@pytest.fixture(autouse=True)
def _has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, every document is counted."""
    monkeypatch.setattr(drift, "MOST_SECONDS", 1000.0)


class Running:
    """A registry, and what observes its documents, without a thread."""

    def __init__(self, store: Store) -> None:
        self.telemetry, self.registry = Telemetry(), Registry(store)
        self.is_overrun = False
        self.observer = LiveObserver(self.registry, self.telemetry, lambda: self.is_overrun)
        self.look()

    def look(self) -> None:
        self.registry.refresh()
        self.observer.keep()

    def offer(self, texts: list[str], query: Query | None = None) -> None:
        for text in texts:
            self.observer.sample.offer(self.registry.get("tiny"), query or Query(), [text])

    def answer(self, texts: list[str], query: Query | None = None) -> None:
        """Documents that come so slowly that all are looked at."""
        for start in range(0, len(texts), 50):
            self.observer._drift_due = 0.0
            self.observer.work_off()
            self.offer(texts[start : start + 50], query)
        self.observer._drift_due = 0.0
        self.observer.work_off()

    def shadow(self, version: str) -> ShadowFigures:
        return shadow_figures(self.telemetry.snapshot(), "tiny", version)

    def drift(self) -> ModelDrift:
        (found,) = drift_of(self.telemetry.snapshot())
        return found


def test_a_trial_is_written_read_and_ended_and_the_current_version_is_refused(
    store: Store,
) -> None:
    new, current = store.versions("tiny")
    trial = VersionTrial(new, 0.25, by="x-user")
    store.begin_trial("tiny", "canary", trial)
    assert (store.trial("tiny", "canary"), store.trial("tiny", "shadow")) == (trial, None)
    assert store.trials_of("tiny", new) == ["canary"]
    store.end_trial("tiny", "canary")
    store.end_trial("tiny", "canary")
    assert store.trial("tiny", "canary") is None
    with pytest.raises(ConflictError, match="is current already"):
        store.begin_trial("tiny", "shadow", VersionTrial(current, 0.5))
    with pytest.raises(InvalidRequestError, match="answers nobody"):
        store.begin_trial("tiny", "shadow", trial)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InvalidRequestError, match="above 0 and at most 1"):
        VersionTrial(NOT_A_VERSION, share)


def test_a_version_on_trial_is_neither_removed_nor_pruned(store: Store) -> None:
    new, current = store.versions("tiny")
    store.begin_trial("tiny", "shadow", VersionTrial(new, 0.5))
    with pytest.raises(ConflictError, match="settle tiny --drop"):
        store.remove("tiny", new)
    assert store.prune("tiny", 1) == []
    assert store.versions("tiny") == [new, current]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'{"version": 7, "share": 1, "by": null}',
        b'{"version": "../tiny", "share": 1, "by": null}',
        b'{"version": "20200101T000000-000000", "share": 1, "by": null}',
        b'{"version": "20200101T000000-000000", "share": NaN, "by": null}',
        b'{"version": "20200101T000000-000000", "share": 1, "by": "a b"}',
        b'{"version": "20200101T000000-000000", "share": 1}',
        b"[" * 400,
        bytes([255]) * 40,
    ],
)
def test_a_pointer_that_cannot_be_read_is_a_failure_to_show_and_the_model_answers_on(
    store: Store, content: bytes
) -> None:
    (store.path / "tiny" / "shadow").write_bytes(content)
    with pytest.raises(DamagedArtifactError, match="tiny: shadow"):
        store.trial("tiny", "shadow")
    found = Registry(store)
    found.refresh()
    found.refresh()
    assert found.get("tiny").model.version == store.current("tiny")
    assert "shadow" in found.failures["tiny@shadow"].reason
    assert found.trials.shadows == {}
    store.end_trial("tiny", "shadow")
    found.refresh()
    assert found.failures == {}


def test_a_trial_goes_on_while_its_pointer_cannot_be_read(store: Store) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "canary", VersionTrial(new, 0.5))
    found = Registry(store)
    found.refresh()
    (store.path / "tiny" / "canary").write_bytes(b"{")
    found.refresh()
    assert found.trials.canaries["tiny"].trial == VersionTrial(new, 0.5)
    assert "canary" in found.failures["tiny@canary"].reason
    store.begin_trial("tiny", "canary", VersionTrial(new, 0.7))
    found.refresh()
    assert found.trials.canaries["tiny"].trial.share == 0.7
    assert found.failures == {}


def test_a_trial_that_cannot_be_loaded_leaves_the_current_version_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, current = store.versions("tiny")
    store.begin_trial("tiny", "canary", VersionTrial(new, 1))

    def load(_: Store, reference: str) -> Any:
        if reference.endswith(new):
            raise DamagedArtifactError("golden documents differ")
        return load_model(store, reference)

    monkeypatch.setattr("app.serving.registry.load_model", load)
    found = Registry(store)
    found.refresh()
    assert found.trials.canaries == {}
    assert found.failures[f"tiny@{new}"].reason == "golden documents differ"
    assert found.missing() == []
    assert found.get("tiny").model.version == current


def test_agreement_equals_a_comparison_of_the_two_versions_on_the_same_documents(
    store: Store, texts: list[str]
) -> None:
    new, current = store.versions("tiny")
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    running.answer(texts)
    found = running.shadow(new)
    sets = [
        [{label.label for label in one.labels} for one in plan.predictions(texts)]
        for version in (current, new)
        for plan in [plan_of(Query(), load_model(store, f"tiny@{version}").classifier)]
    ]
    pairs = list(zip(*sets, strict=True))
    both = sum(len(a & b) for a, b in pairs)
    assert found.all_labels is not None
    assert found.jaccard is not None
    assert (found.compared, found.dropped, found.failed) == (len(texts), 0, 0)
    assert found.all_labels.both == both
    assert found.all_labels.only_current == sum(len(a - b) for a, b in pairs) > 0
    assert found.all_labels.only_shadow == sum(len(b - a) for a, b in pairs) > 0
    mean = sum(len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs) / len(pairs)
    assert found.jaccard.value == pytest.approx(mean)
    assert found.current_labels == pytest.approx(sum(map(len, sets[0])) / len(texts))
    for one in found.by_label:
        marked = [(one.label in a, one.label in b) for a, b in pairs]
        assert one.both == marked.count((True, True))
        assert one.only_current == marked.count((True, False))
        assert one.only_shadow == marked.count((False, True))
        assert one.of_current is None or one.of_current.low <= one.of_current.value
    assert found.score_correlation is not None
    assert 0.5 < found.score_correlation.low < found.score_correlation.high < 1
    assert found.current_seconds is not None
    assert found.shadow_seconds is not None


def test_workers_figures_of_a_shadow_are_summed(store: Store, texts: list[str]) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    workers = [Running(store), Running(store)]
    alone = Running(store)
    alone.answer(texts)
    for worker, own in zip(workers, (texts[:150], texts[150:]), strict=True):
        worker.answer(own)
    together = merged([worker.telemetry.snapshot() for worker in workers])
    found, expected = shadow_figures(together, "tiny", new), alone.shadow(new)
    assert (found.all_labels, found.by_label) == (expected.all_labels, expected.by_label)
    assert found.score_correlation is not None
    assert expected.score_correlation is not None
    assert found.score_correlation.value == pytest.approx(expected.score_correlation.value)
    assert drift_of(together)[0].figures == drift_of(alone.telemetry.snapshot())[0].figures
    assert b"shadow_sums" not in exposed(together)


def test_a_query_that_the_shadow_cannot_answer_is_a_failure_of_the_shadow_alone(
    store: Store, texts: list[str]
) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    running.answer(texts[:3], Query(labels=("no such label",)))
    running.answer(texts[:2], Query(top_k=1, explain=3, below_cut=2))
    found = running.shadow(new)
    assert (found.compared, found.failed) == (2, 3)
    assert (found.current_labels, found.shadow_labels) == (1, 1)


def test_what_waits_for_the_shadow_is_bounded_and_the_rest_is_dropped_and_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    monkeypatch.setattr(sample, "MOST_WAITING", 5)
    running.offer(["toner"] * 8)
    assert running.shadow(new).dropped == 3
    running.observer.work_off()
    monkeypatch.setattr(sample, "MOST_CHARACTERS", 10)
    running.offer(["a text of more characters"])
    assert running.shadow(new).dropped == 4
    running.is_overrun = True  # others are refused: the shadow goes first
    running.offer(["toner"])
    running.observer.work_off()
    assert (running.shadow(new).compared, running.shadow(new).dropped) == (5, 5)


def test_the_share_of_documents_is_right_over_ten_thousand_within_sampling_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 0.1))
    running = Running(store)
    monkeypatch.setattr(sample, "MOST_WAITING", 10_000)
    taking = LiveSample(running.registry, running.telemetry, lambda: False, Random(4))
    for _ in range(2500):
        taking.offer(running.registry.get("tiny"), Query(), ["a", "b", "c", "d"])
    n = len(taking._waiting)
    assert abs(n - 1000) < 4 * (10_000 * 0.1 * 0.9) ** 0.5


def test_the_share_of_callers_is_right_and_each_stays_on_its_side() -> None:
    trial = VersionTrial(NOT_A_VERSION, 0.05)
    callers = [f"caller {number}".encode() for number in range(10_000)]
    chosen = [caller for caller in callers if is_answered_by(trial, "tiny", caller)]
    assert abs(len(chosen) - 500) < 4 * (10_000 * 0.05 * 0.95) ** 0.5
    more = VersionTrial(NOT_A_VERSION, 0.5)
    assert all(is_answered_by(more, "tiny", caller) for caller in chosen)
    assert all(
        is_answered_by(VersionTrial(NOT_A_VERSION, 1.0), "tiny", caller) for caller in callers
    )


def test_documents_are_taken_from_the_moment_on_that_a_shadow_runs(store: Store) -> None:
    running = Running(store)
    assert not running.observer.sample.is_wanted
    store.begin_trial("tiny", "shadow", VersionTrial(store.versions("tiny")[0], 1))
    running.look()
    assert running.observer.sample.is_wanted


def test_a_trial_that_ends_takes_its_figures_and_its_version_with_it(
    store: Store, texts: list[str]
) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    running.answer(texts[:5])
    assert new.encode() in exposed(running.telemetry.snapshot())
    store.end_trial("tiny", "shadow")
    running.look()
    assert new.encode() not in exposed(running.telemetry.snapshot())
    assert running.registry.versions("tiny") == [store.current("tiny")]
    running.offer(["toner"])
    assert running.observer.sample.next_document() is None


def test_a_shadow_that_was_made_current_is_tried_no_longer(store: Store) -> None:
    new, current = store.versions("tiny")
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    assert list(running.registry.trials.shadows) == ["tiny"]
    store.promote("tiny", new)
    running.look()
    store.promote("tiny", current)
    assert running.registry.trials.shadows == {}


def test_documents_alike_are_quiet_and_changed_ones_are_seen(
    store: Store, texts: list[str]
) -> None:
    running = Running(store)
    running.answer(texts)
    quiet = running.drift()
    assert quiet.documents == len(texts)
    assert not any(figure.is_drifted for figure in quiet.figures)
    assert b'labelserve_drift_psi{measure="characters",model="tiny"' in exposed(
        running.telemetry.snapshot()
    )
    longer = Running(store)
    longer.answer([f"{a} {b} {c}" for a, b, c in zip(texts, texts[1:], texts[2:], strict=False)])
    moved = {figure.measure for figure in longer.drift().figures if figure.is_drifted}
    assert moved >= {"characters", "labels"}
    other = Running(store)
    other.answer(["Wörter einer anderen Sprache, lang genug für das Modell hier"] * 250)
    moved = {figure.measure for figure in other.drift().figures if figure.is_drifted}
    assert moved >= {"unknown_terms", "labels", "probability_frequent"}


def test_too_few_documents_are_not_judged(store: Store) -> None:
    running = Running(store)
    running.answer(["Wörter einer anderen Sprache"] * 199)
    assert not any(figure.is_drifted for figure in running.drift().figures)
    assert b"labelserve_drift_psi{" not in exposed(running.telemetry.snapshot())


def test_figures_of_drift_are_of_the_latest_documents(
    store: Store, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "BLOCK", 200)
    running = Running(store)
    running.answer(["Wörter einer anderen Sprache"] * 400)
    assert any(figure.is_drifted for figure in running.drift().figures)
    running.answer(texts)
    running.answer(texts)
    found = running.drift()
    assert 200 <= found.documents <= 400
    assert not any(figure.is_drifted for figure in found.figures)


def test_no_text_of_a_document_is_kept_once_it_was_counted(store: Store, texts: list[str]) -> None:
    new = store.versions("tiny")[0]
    store.begin_trial("tiny", "shadow", VersionTrial(new, 1))
    running = Running(store)
    running.answer([f"{text} zebra" for text in texts[:20]])
    assert b"zebra" not in exposed(running.telemetry.snapshot())
    assert "zebra" not in str(running.telemetry.snapshot())
    assert running.observer.sample.next_document() is None

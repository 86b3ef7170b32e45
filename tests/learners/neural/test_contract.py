"""What every network must keep, whatever it is called."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from app.errors import DamagedArtifactError, InvalidDataError, InvalidRequestError
from app.learners.base import Fitting, learner_class
from app.learners.neural.training.devices import device_for
from app.state import State
from tests.learners.neural.made_up import NETWORKS, data_for, documents, learner_for

every_network = pytest.mark.parametrize("kind", NETWORKS)


def micro_f1(scores: Any, truth: Any) -> float:
    marks, decided = truth.toarray(), scores > 0
    return float(2 * (marks & decided).sum() / (marks.sum() + decided.sum()))


def equal(first: State, second: State) -> bool:
    names = first.arrays.keys() == second.arrays.keys()
    arrays = all(np.array_equal(a, second.arrays[n]) for n, a in first.arrays.items())
    return first.settings == second.settings and names and arrays


@every_network
def test_a_network_learns_what_the_words_say_and_a_rebuilt_one_scores_the_same_bits(
    kind: str,
) -> None:
    features, truth, _ = data_for(kind, 300)
    learner = learner_for(kind).fit(features, truth)
    new_features, new_truth, _ = data_for(kind, 100, seed=1)
    scores = learner.scores(new_features)
    prior = np.tile(np.log(truth.mean(axis=0) / (1 - truth.mean(axis=0))), (100, 1))
    assert micro_f1(scores, new_truth) > 0.9 > 0.5 > micro_f1(prior, new_truth)
    assert scores.dtype == np.float32
    state = learner.state()
    for array in state.arrays.values():
        array.flags.writeable = False
    again = type(learner).from_state(state)
    assert np.array_equal(again.scores(new_features), scores)
    assert equal(again.state(), state)


@every_network
def test_sixty_four_documents_can_be_learnt_by_heart(kind: str) -> None:
    features, truth, _ = data_for(kind, 64)
    learner = learner_for(kind, epochs=40, valid_share=0.0).fit(features, truth)
    assert micro_f1(learner.scores(features), truth) > 0.99


@every_network
def test_a_document_scores_the_same_alone_and_in_a_batch(kind: str) -> None:
    features, truth, vectorizer = data_for(kind, 40)
    learner = learner_for(kind, epochs=1).fit(features, truth)
    texts = [*documents(20, seed=3)[0], "", "word0a", "unknownword otherword", "filler1 " * 90]
    rows = vectorizer.transform(texts)
    together = learner.scores(rows)
    alone = np.vstack([learner.scores(rows[[i]]) for i in range(len(texts))])
    assert np.isfinite(together).all()
    np.testing.assert_allclose(alone, together, atol=1e-5)


@every_network
def test_one_seed_gives_one_model_for_any_jobs_and_another_seed_another(kind: str) -> None:
    features, truth, _ = data_for(kind, 50)
    first, second, other = (
        learner_for(kind, epochs=2).fit(features, truth, Fitting(jobs=jobs, seed=seed))
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert equal(first.state(), second.state())
    assert not equal(first.state(), other.state())


@every_network
def test_training_resumed_after_a_stop_ends_as_if_it_had_run_through(
    kind: str, tmp_path: Path
) -> None:
    features, truth, _ = data_for(kind, 48)
    settings = {"epochs": 4, "patience": 4}
    through = learner_for(kind, **settings).fit(features, truth)

    def stop(stage: str, done: int, total: int) -> None:
        if done >= 0.6 * total:
            raise KeyboardInterrupt

    halted = learner_for(kind, **settings)
    halted.fit(features, truth, Fitting(progress=stop, checkpoint=tmp_path))
    assert len(halted.history) == 2
    resumed = learner_for(kind, **settings).fit(features, truth, Fitting(checkpoint=tmp_path))
    assert equal(through.state(), resumed.state())
    assert len(resumed.history) == 4
    passed_over = learner_for(kind, **settings)
    passed_over.fit(features, truth, Fitting(progress=stop, checkpoint=tmp_path))
    assert equal(through.state(), passed_over.state())


@every_network
def test_ctrl_c_keeps_the_best_so_far_and_passes_on_when_there_is_none(kind: str) -> None:
    features, truth, _ = data_for(kind, 48)
    stages: list[str] = []

    def stop(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        if " · best " in stage:
            raise KeyboardInterrupt

    learner = learner_for(kind).fit(
        features, truth, Fitting(progress=stop, valid=(features, truth))
    )
    assert learner.scores(features).shape == truth.shape
    assert stages[0].startswith(f"{kind} · epoch 1 · loss ")

    def at_once(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner_for(kind).fit(features, truth, Fitting(progress=at_once))


@every_network
def test_one_document_and_one_label_are_enough(kind: str) -> None:
    features, _, _ = data_for(kind, 1)
    truth = csr_array(np.array([[True]]))
    scores = learner_for(kind, epochs=2).fit(features, truth).scores(features)
    assert scores.shape == (1, 1)
    assert np.isfinite(scores).all()
    assert learner_for(kind, epochs=1).fit(features, truth).scores(features[:0]).shape == (0, 1)
    with pytest.raises(InvalidDataError, match="no documents"):
        learner_for(kind).fit(features[:0], truth[:0])


@every_network
def test_the_words_of_a_label_speak_for_it(kind: str) -> None:
    features, truth, vectorizer = data_for(kind, 200)
    learner = learner_for(kind).fit(features, truth)
    row = vectorizer.transform(["filler1 filler2 word3a word3b filler3 word3c"])
    found = learner.contributions_approximate(row, 3)
    terms = [vectorizer.terms()[i] for i in (row.indices if kind == "mlp" else row.data)]
    assert len(found) == row.nnz
    by_topic = [value for value, term in zip(found, terms, strict=True) if "word3" in term]
    by_others = [value for value, term in zip(found, terms, strict=True) if "filler" in term]
    assert sum(by_topic) > sum(by_others)
    assert len(learner.contributions_approximate(vectorizer.transform([""]), 3)) == 0
    text = "word3a unknownword word3a filler1"
    columns, values, spans = vectorizer.term_spans(text)
    ((weights, rest, is_approximate),) = learner.contributions(columns, values, [3])
    assert is_approximate
    total = learner.scores(vectorizer.transform([text]))[0, 3]
    assert weights.sum() + rest == pytest.approx(total, abs=1e-4)
    named = {vectorizer.terms()[c] for c, w in zip(columns, weights, strict=True) if w}
    assert {"word3a"} <= named <= {"word3a", "filler1", "[UNK]"}
    by_name = {vectorizer.terms()[c]: places for c, places in spans.items()}
    assert by_name["word3a"] == [(0, 6), (19, 25)]


@every_network
def test_layers_and_batches_go_to_the_device_that_is_asked_for(kind: str) -> None:
    features, truth, _ = data_for(kind, 20)
    learner = learner_for(kind, epochs=1).fit(features, truth)
    moved = learner.on("meta")
    assert {tensor.device.type for tensor in moved.network.state_dict().values()} == {"meta"}
    if kind in ("mlp", "transformer", "attention-xml"):
        return  # these look at values to know their shapes, which `meta` does not have
    batch = learner.collate(features, np.arange(4)).to(torch.device("meta"))
    assert {part.device.type for part in batch} == {"meta"}


def test_a_device_that_is_not_there_is_refused_by_name() -> None:
    assert device_for("cpu").type == "cpu"
    assert device_for("auto").type in ("cpu", "cuda", "mps")
    with pytest.raises(InvalidRequestError, match="auto, cpu, cuda, mps"):
        device_for("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidRequestError, match="not available"):
            device_for("cuda")


@pytest.mark.parametrize(
    ("setting", "accepted"),
    [
        ({"metric": "accuracy"}, "micro-f1"),
        ({"loss": "hinge"}, "asymmetric"),
        ({"schedule": "up"}, "linear"),
        ({"epochs": 0}, "at least 1"),
        ({"valid_share": 1.5}, "from 0"),
        ({"learning_rate": -1.0}, "at least 0"),
        ({"learning_rate": "fast"}, "at least 0"),
        ({"learning_rate": 0}, "above 0"),
        ({"dropout": 1.0}, "from 0"),
        ({"hidden": True}, "at least 1"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_accepted(setting: Any, accepted: str) -> None:
    with pytest.raises(InvalidRequestError, match=accepted):
        learner_for("mlp", **setting)


def test_weights_that_do_not_fit_are_a_damaged_artifact() -> None:
    features, truth, _ = data_for("mlp", 20)
    state = learner_for("mlp", epochs=1).fit(features, truth).state()
    settings = {**state.settings, "hidden": 17}
    with pytest.raises(DamagedArtifactError, match="do not fit"):
        learner_class("mlp").from_state(State("mlp", settings, state.arrays))

"""Retuning keeps the members, replaces every decision, and says what it came from."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection
from app.decisions.tuning.hulls import Hulls
from app.errors import InvalidRequestError
from app.model import Model, load_model
from app.training.publish import publish
from app.training.retune import Choice, retune, score_all
from tests.conftest import write_corpus


@pytest.fixture
def model(tiny_models: Path) -> Model:
    return load_model(Store(tiny_models), "tiny")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return load_collection(write_corpus(tmp_path_factory.mktemp("valid") / "v.jsonl", 60, seed=9))


def test_a_retuned_model_scores_alike_and_says_what_it_came_from(
    model: Model, labelled: Collection, tmp_path: Path
) -> None:
    retuned = retune(model, labelled, Choice("macro-f", 0.8, {"beta": 2.0}))
    store = Store(tmp_path)
    version = publish(retuned.trained, store, "tiny").version
    again = load_model(store, f"tiny@{version}")
    texts = labelled.documents
    np.testing.assert_array_equal(again.classifier.scores(texts), model.classifier.scores(texts))
    source = again.manifest.recipe["retuned"]
    assert source["model"] == f"tiny@{model.version}"
    assert source["documents"] == 60
    assert again.classifier.decision.name == "macro-f"
    assert again.classifier.abstention.target == 0.8
    assert again.classifier.hulls.n_documents == 60
    np.testing.assert_array_equal(again.training_counts, model.training_counts)


def test_a_label_that_never_reaches_the_target_is_stored_with_an_endless_band(
    model: Model, labelled: Collection, tmp_path: Path
) -> None:
    wrong = [labels[::-1][:1] for labels in reversed(labelled.label_sets)]
    retuned = retune(model, replace(labelled, label_sets=wrong), Choice(abstain=1.0))
    assert np.isinf(retuned.trained.classifier.abstention.upper).any()
    version = publish(retuned.trained, Store(tmp_path), "tiny").version
    again = load_model(Store(tmp_path), f"tiny@{version}").classifier
    texts = labelled.documents
    decided = retuned.trained.classifier.decide(texts)
    np.testing.assert_array_equal(again.decide(texts), decided)


def test_retuning_is_never_worse_on_its_own_set_and_keeps_the_rule_unless_told(
    model: Model, labelled: Collection
) -> None:
    retuned = retune(model, labelled)
    assert retuned.trained.classifier.decision.name == model.classifier.decision.name
    assert retuned.trained.classifier.abstention is None
    assert retuned.after["micro_f1"] >= retuned.before["micro_f1"] - 0.02
    assert set(retuned.cross_validated) == set(retuned.before)
    assert retuned.warnings == []


def test_labels_that_do_not_occur_keep_their_cut_and_others_are_left_out(
    model: Model, labelled: Collection
) -> None:
    names = model.classifier.labels.names
    rows = labelled.label_sets
    only = [(*(x for x in labels if x != names[0]), "new") for labels in rows]
    retuned = retune(model, replace(labelled, label_sets=only))
    cuts = retuned.trained.classifier.decision.cuts
    assert cuts[0] == model.classifier.decision.cuts[0]
    assert len(retuned.warnings) == 2
    with pytest.raises(InvalidRequestError, match="no document"):
        retune(model, replace(labelled, label_sets=[("new",)] * 60))


def test_labels_that_do_not_occur_keep_their_hull_and_their_band(
    model: Model, labelled: Collection
) -> None:
    first = retune(model, labelled, Choice(abstain=0.7)).trained.classifier
    absent = first.labels.names[1]
    rest = [tuple(x for x in labels if x != absent) for labels in labelled.label_sets]
    before = replace(model, classifier=first)
    again = retune(before, replace(labelled, label_sets=rest)).trained.classifier

    def hull(hulls: Hulls, label: int) -> list[list[float]]:
        own = slice(*hulls.offsets[label : label + 2])
        return [array[own].tolist() for array in (hulls.fp, hulls.tp, hulls.cuts)]

    old, new = first.hulls, again.hulls
    assert [hull(new, label) for label in range(new.n_labels)] == [
        hull(old, label) for label in range(old.n_labels)
    ]
    np.testing.assert_array_equal(new.positives, old.positives)
    assert again.abstention.upper[1] == first.abstention.upper[1] < np.inf
    assert again.operating_points.find("recall>=1", nearest=True).cuts[1] < np.inf


def test_settings_of_earlier_manifests_are_read_under_their_former_names(
    model: Model, labelled: Collection
) -> None:
    def cuts(**settings: float) -> list[float]:
        recipe = {**model.manifest.recipe, "decision": {"name": "micro-f", "settings": settings}}
        stored = replace(model, manifest=model.manifest.model_copy(update={"recipe": recipe}))
        found: list[float] = retune(stored, labelled).trained.classifier.decision.cuts.tolist()
        return found

    assert cuts(draw=30.0) == cuts(shrinkage=30.0) != cuts()


def test_training_documents_are_pointed_out(model: Model, corpus: Collection) -> None:
    assert any("were trained on" in warning for warning in retune(model, corpus).warnings)


@pytest.mark.slow
def test_the_command_shows_before_and_after_and_promotes(tiny_models: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(tiny_models, models)
    data, result = write_corpus(tmp_path / "valid.jsonl", 40, seed=5), tmp_path / "result.json"
    command = [sys.executable, "scripts/retune.py", "tiny", str(data), "--models-dir", str(models)]
    done = subprocess.run(
        [*command, "--json", str(result)], capture_output=True, text=True, check=True, timeout=120
    )
    assert "cross-validated" in done.stdout
    found = json.loads(result.read_text())
    assert Store(models).current("tiny") == found["version"]
    assert found["from"] != found["version"]
    refused = subprocess.run(
        [*command, "--decision", "best"], capture_output=True, text=True, check=False, timeout=120
    )
    assert refused.returncode == 2
    assert "accepted: zero, rank:K" in refused.stderr


def test_every_document_is_scored_whatever_the_size_of_the_chunks(
    model: Model, labelled: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = model.classifier
    truth = classifier.labels.truth(labelled.label_sets)
    monkeypatch.setattr("app.training.retune.CHUNK", 7)
    held_out = score_all(classifier, labelled.documents, truth)
    np.testing.assert_array_equal(held_out.scores, classifier.scores(labelled.documents))

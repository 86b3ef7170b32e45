"""What differs between two models, without any data."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.artifacts.store import Store
from app.classifier import Classifier
from app.datasets.collection import Collection
from app.evaluation.compare.model_difference import Described, difference
from app.learners.linear.label_weights import LabelWeights
from app.model import Model, load_model
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train


@pytest.fixture
def tiny(tiny_models: Path) -> Model:
    return load_model(Store(tiny_models), "tiny")


def described(model: Model) -> Described:
    return Described(model.manifest, model.classifier)


def linear(terms: list[str], labels: list[str], weights: list[list[float]]) -> Any:
    """What is looked at of a model whose weights (terms, labels) are these."""
    stored = LabelWeights.of(csr_array(np.array(weights, np.float32)), np.zeros(len(labels), "f4"))
    learner = SimpleNamespace(linear_weights=stored.linear)
    member = SimpleNamespace(vectorizer=SimpleNamespace(terms=lambda: terms), learner=learner)
    index = SimpleNamespace(names=labels)
    classifier = SimpleNamespace(members=(member,), labels=index, answered_labels=index)
    data = SimpleNamespace(sha256="0" * 64, counts={})
    return Described(SimpleNamespace(recipe={}, data=data, figures={}), classifier)  # type: ignore[arg-type]


def test_figures_that_differ_are_listed_under_their_dotted_names(tiny: Model) -> None:
    figures = {"held_out": {"micro_f1": 0.5, "macro_f1": 0.4}, "size": {"bytes": 7}}
    a = Described(tiny.manifest.model_copy(update={"figures": figures}), tiny.classifier)
    changed = {"held_out": {"micro_f1": 0.6, "macro_f1": 0.4}, "documents": 3}
    b = Described(tiny.manifest.model_copy(update={"figures": changed}), tiny.classifier)
    assert difference(a, b)["figures"] == [
        {"name": "held_out.micro_f1", "a": 0.5, "b": 0.6},
        {"name": "size.bytes", "a": 7, "b": None},
        {"name": "documents", "a": None, "b": 3},
    ]


def test_a_model_does_not_differ_from_itself(tiny: Model) -> None:
    found = difference(described(tiny), described(tiny))
    assert (found["recipe"], found["data"], found["figures"], found["labels"]) == ([], [], [], {})
    assert found["weights"]["moved"] == 0
    assert (found["weights"]["labels"], found["weights"]["terms_moved"]) == ([], [])


def test_weights_are_compared_by_term_and_label_whatever_their_order() -> None:
    a = linear(["corn", "oil", "rare"], ["x", "y"], [[3, 0], [4, 1], [9, 9]])
    b = linear(["oil", "corn", "new"], ["y", "x"], [[1, 4], [2, 3], [5, 5]])
    weights = difference(a, b)["weights"]
    assert weights["terms"] == {"both": 2, "a": 3, "b": 3}
    assert weights["terms_moved"] == [{"label": "y", "term": "corn", "a": 0.0, "b": 2.0}]
    assert weights["labels"] == [{"label": "y", "moved": pytest.approx(2 / 5**0.5)}]
    assert weights["moved"] == pytest.approx(2 / 30**0.5)


def test_a_term_of_two_parts_of_the_features_is_two_terms() -> None:
    a = linear(["rate", "rate"], ["x"], [[1], [5]])
    b = linear(["rate", "rate"], ["x"], [[1], [7]])
    (moved,) = difference(a, b)["weights"]["terms_moved"]
    assert moved == {"label": "x", "term": "rate (2)", "a": 5.0, "b": 7.0}


def test_only_so_many_labels_and_weights_are_listed_and_all_are_counted() -> None:
    terms, labels = [f"t{i}" for i in range(9)], [f"l{i}" for i in range(6)]
    a = linear(terms, labels, np.ones((9, 6)).tolist())
    b = linear(terms, ["l0", "other"], (2 * np.ones((9, 2))).tolist())
    found = difference(a, b, shown=3)
    assert found["labels"] == {
        "only_a": ["l1", "l2", "l3"],
        "n_only_a": 5,
        "only_b": ["other"],
        "n_only_b": 1,
    }
    assert len(found["weights"]["terms_moved"]) == 3


def test_another_training_shows_in_recipe_and_weights(
    tiny: Model, corpus: Collection, tmp_path: Path
) -> None:
    recipe = read_recipe(None, changes=["learner.options=-s 1 -c 4"])
    trained = train(TrainingJob(corpus, recipe))
    store = Store(tmp_path)
    store.promote("other", store.write("other", trained.classifier.state(), trained.info))
    found = difference(described(tiny), described(load_model(store, "other")))
    assert any("-c 4" in str(row["b"]) and "-c 4" not in str(row["a"]) for row in found["recipe"])
    assert found["data"] == []
    assert 0 < found["weights"]["moved"] < 1
    assert len(found["weights"]["terms_moved"]) == 20


def test_models_without_weights_for_terms_are_compared_but_for_these(tiny: Model) -> None:
    member = tiny.classifier.members[0]
    both = Classifier(tiny.classifier.labels, (member, member), tiny.classifier.decision)
    found = difference(described(tiny), Described(tiny.manifest, both))
    assert found["weights"] == {"compared": False}

"""A learner is one class and one catalogue line: two that nothing else knows are added so here."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.api.app import create_app
from app.arrays import Features, Scores, Truth
from app.artifacts.store import Store
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.evaluation import evaluate
from app.explanation import explain
from app.learners import LEARNERS
from app.learners.base import Contributions, Fitting, Learner
from app.model import Model, load_model
from app.prediction import Query, plan_of
from app.serving.service import Service
from app.settings import Settings
from app.state import State
from app.training.publish import documents_of, publish
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

TEXTS = [
    "invoice refund card",
    "printer toner jam, parcel courier tracking",
    "",
    "nothing known here",
]


class Nearest(Learner):
    """A label's score: how alike the `k` nearest training documents with this label are, summed."""

    kind: ClassVar[str] = "nearest"

    def __init__(self, k: int = 5) -> None:
        self.k = k
        self.features_, self.truth = csr_array((0, 0)), csr_array((0, 0))

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        self.features_, self.truth = features, csr_array(truth, dtype=np.float32)
        return self

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        alike = (features @ self.features_.T).toarray()
        least = np.sort(alike, axis=1)[:, -min(self.k, alike.shape[1])]
        return np.asarray(np.where(alike >= least[:, None], alike, 0) @ self.truth, np.float32)

    def state(self) -> State:
        arrays = {
            f"{name}_{part}": getattr(matrix, part)
            for name, matrix in (("features", self.features_), ("truth", self.truth))
            for part in ("data", "indices", "indptr")
        }
        shapes = [list(self.features_.shape), list(self.truth.shape)]
        return State(self.kind, {"k": self.k, "shapes": shapes}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner, arrays = cls(state.settings["k"]), state.arrays
        learner.features_, learner.truth = (
            csr_array(tuple(arrays[f"{name}_{p}"] for p in ("data", "indices", "indptr")), shape)
            for name, shape in zip(("features", "truth"), state.settings["shapes"], strict=True)
        )
        return learner


class Centroid(Learner):
    """A label's score: the product with the mean of its documents. No settings, no constructor."""

    kind: ClassVar[str] = "centroid"
    means: NDArray[np.float32]

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        counts = np.maximum(np.bincount(truth.indices, minlength=truth.shape[1]), 1)
        self.means = ((truth.T @ features).toarray().T / counts).astype(np.float32)
        return self

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        return np.asarray(features @ self.means, np.float32)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions]:
        return [Contributions(self.means[columns, label] * values, 0.0) for label in labels]

    def state(self) -> State:
        return State(self.kind, {}, {"means": self.means})

    @classmethod
    def from_state(cls, state: State) -> Self:
        learner = cls()
        learner.means = state.arrays["means"]
        return learner


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    for learner in (Nearest, Centroid):
        monkeypatch.setitem(LEARNERS, learner.kind, f"{__name__}:{learner.__name__}")


def published(corpus: Collection, folder: Path, learner: str) -> tuple[Any, Model]:
    """What was trained, and the same as it is loaded from the store."""
    trained = train(TrainingJob(corpus, read_recipe(None, learner=learner)))
    store = Store(folder)
    publish(trained, store, "m")
    return trained.classifier, load_model(store, "m")


@pytest.mark.parametrize("kind", ["nearest", "centroid", "ensemble:nearest,one-vs-rest"])
def test_it_trains_is_saved_and_loaded_predicts_and_is_evaluated(
    kind: str, corpus: Collection, tmp_path: Path
) -> None:
    trained, model = published(corpus, tmp_path, kind)
    assert np.array_equal(model.classifier.scores(TEXTS), trained.scores(TEXTS))
    assert model.manifest.figures["held_out"]["micro_f1"] > 0.8
    first, second, *_ = plan_of(Query(top_k=2), model.classifier).predictions(TEXTS)
    assert first.labels[0].label == "billing"
    assert {label.label for label in second.labels} == {"printer", "shipping"}
    report = evaluate(model.classifier, documents_of(corpus)).as_dict()
    assert report["decisions"]["micro"]["f1"] > 0.8


def test_what_it_keeps_of_the_training_documents_is_read_from_disk_as_it_is(
    corpus: Collection, tmp_path: Path
) -> None:
    _, model = published(corpus, tmp_path, "nearest")
    learner = model.classifier.members[0].learner
    assert isinstance(learner, Nearest)
    assert learner.features_.shape[0] == learner.truth.shape[0] == len(corpus)
    assert not any(array.flags.writeable for array in learner.state().arrays.values())


def test_it_is_explained_or_says_that_it_cannot_be(corpus: Collection, tmp_path: Path) -> None:
    classifier = published(corpus, tmp_path / "a", "centroid")[1].classifier
    (found,) = explain(classifier, TEXTS[0], [0], 2)
    total = sum(reason.weight for reason in found.because) + found.bias + found.rest
    assert total == pytest.approx(classifier.scores(TEXTS)[0, 0], abs=1e-6)
    other = published(corpus, tmp_path / "b", "nearest")[1].classifier
    for labels in ([0], []):
        with pytest.raises(InvalidRequestError, match="nearest cannot explain"):
            explain(other, TEXTS[0], labels, 2)


def test_it_is_served(corpus: Collection, tmp_path: Path) -> None:
    trained, _ = published(corpus, tmp_path / "models", "nearest")
    settings = Settings(models_dir=tmp_path / "models", data_dir=tmp_path / "var")

    async def answer() -> Any:
        service = Service.of(settings)
        service.look()
        app = create_app(service)
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            return (await client.post("/predict", json={"documents": TEXTS, "top_k": 1})).json()

    best = [row["labels"][0]["score"] for row in asyncio.run(answer())["predictions"]]
    assert best == pytest.approx(trained.scores(TEXTS).max(axis=1), abs=1e-5)


def test_its_settings_are_those_of_its_constructor(corpus: Collection) -> None:
    for kind, accepted in (("nearest", "k"), ("centroid", "none")):
        recipe = read_recipe(None, learner=kind, changes=["learner.colour=red"])
        with pytest.raises(InvalidRequestError, match=f"'colour'; accepted: {accepted}$"):
            train(TrainingJob(corpus, recipe))

"""The leaderboard of small trained models agrees with `labelserve compare`, pair by pair."""

import json
from pathlib import Path

import pytest

from app.artifacts.store import Store
from app.datasets.base import ReadOptions
from app.datasets.collection import Collection
from app.datasets.reading import open_dataset
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.compare.kept_comparison import Resampling
from app.evaluation.compare.leaderboard import leaderboard
from app.model import load_model
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train
from tests.conftest import write_corpus
from tests.scripts.conftest import Typed

LEARNERS = ("rocchio", "naive-bayes", "knn")
FIGURES = ("micro.f1", "macro.f1", "P@1", "lrap")


@pytest.fixture
def models(tmp_path: Path, corpus: Collection) -> Path:
    store = Store(tmp_path / "models")
    for learner in LEARNERS:
        trained = train(TrainingJob(corpus, read_recipe(None, learner=learner)))
        store.promote(learner, store.write(learner, trained.classifier.state(), trained.info))
    return tmp_path / "models"


def test_pairs_of_a_leaderboard_agree_with_the_command(
    tmp_path: Path, models: Path, typed: Typed
) -> None:
    test_set = write_corpus(tmp_path / "test.jsonl", 60, seed=7)
    for name in LEARNERS:
        model = load_model(Store(models), name)
        documents = open_dataset(test_set, ReadOptions())
        options = EvaluationOptions(keep=tmp_path / name)
        evaluate(model.classifier, documents, options, info=JudgedModel.of(model))
    folders = {name: tmp_path / name for name in LEARNERS}
    boards = {figure: leaderboard(folders, figure, Resampling(100)) for figure in FIGURES}
    for a, b in (("rocchio", "naive-bayes"), ("rocchio", "knn"), ("naive-bayes", "knn")):
        out = tmp_path / "compared.json"
        where = ("--models-dir", models, "--bootstrap", 100, "--json", out)
        assert typed("compare", a, b, test_set, *where)[0] == 0
        tests = json.loads(out.read_text())["tests"]["bootstrap"]
        for figure, board in boards.items():
            (pair,) = (one for one in board["pairs"] if {one["a"], one["b"]} == {a, b})
            low, high = tests[figure]["interval"]
            expected = [low, high] if pair["a"] == a else [-high, -low]
            assert pair["p"] == pytest.approx(tests[figure]["p"])
            assert pair["interval"] == pytest.approx(expected)

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection, subset
from app.datasets.reading import open_dataset
from app.errors import InvalidDataError, InvalidRequestError
from app.model import load_model
from app.training.publish import documents_of
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train

RECIPE = read_recipe(None)
FREE = {"version", "created", "timings"}


def written(store: Store, job: TrainingJob) -> Path:
    trained = train(job)
    version = store.write("m", trained.classifier.state(), trained.info)
    return store.folder("m", version)


def manifest(folder: Path) -> dict[str, object]:
    fields = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in fields.items() if name not in FREE}


def test_two_trainings_write_the_same_bytes_whatever_the_jobs(
    corpus: Collection, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    one, two = (written(store, TrainingJob(corpus, RECIPE, jobs=jobs)) for jobs in (1, 2))
    arrays = sorted(path.name for path in one.glob("*.npy"))
    assert arrays == sorted(path.name for path in two.glob("*.npy"))
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in arrays)
    assert manifest(one) == manifest(two)


def test_no_five_words_of_a_training_text_stand_in_any_file_of_the_model(
    corpus: Collection, tmp_path: Path
) -> None:
    folder = written(Store(tmp_path), TrainingJob(corpus, RECIPE))
    phrases = {
        " ".join(words[i : i + 5])
        for words in (re.findall(r"\w+", text) for text in corpus.documents)
        for i in range(len(words) - 4)
    }
    content = [path.read_bytes().decode("latin-1") for path in folder.iterdir()]
    assert len(phrases) > 800
    assert not [phrase for phrase in phrases if any(phrase in text for text in content)]


def test_a_model_read_back_scores_the_same_to_the_bit(corpus: Collection, tmp_path: Path) -> None:
    trained = train(TrainingJob(corpus, RECIPE))
    store = Store(tmp_path)
    version = store.write("m", trained.classifier.state(), trained.info)
    texts = corpus.documents[:20]
    again = load_model(store, f"m@{version}").classifier
    assert np.array_equal(again.scores(texts), trained.classifier.scores(texts))
    assert np.array_equal(again.decide(texts), trained.classifier.decide(texts))


def test_the_default_model_has_cuts_a_curve_and_probabilities(corpus: Collection) -> None:
    trained = train(TrainingJob(corpus, RECIPE))
    classifier = trained.classifier
    assert classifier.decision.name == "micro-f"
    assert classifier.hulls is not None
    assert classifier.calibration is not None
    assert trained.info.figures["held_out"]["micro_f1"] > 0.9


def test_hashes_of_the_training_texts_are_kept_unless_told_otherwise(corpus: Collection) -> None:
    assert train(TrainingJob(corpus, RECIPE)).info.documents is not None
    assert train(TrainingJob(corpus, RECIPE, keeps_fingerprints=False)).info.documents is None


def test_another_seed_deals_other_folds_and_trains_other_weights(corpus: Collection) -> None:
    zero = RECIPE.with_decision(name="zero")
    first, other = (train(TrainingJob(corpus, zero, seed=seed)) for seed in (0, 1))
    assert (first.info.seed, other.info.seed) == (0, 1)
    texts = corpus.documents[:20]
    assert not np.array_equal(first.classifier.scores(texts), other.classifier.scores(texts))
    assert not np.array_equal(first.classifier.hulls.cuts, other.classifier.hulls.cuts)


def test_the_seed_of_a_training_is_that_of_its_resamples_unless_the_recipe_has_one(
    corpus: Collection,
) -> None:
    same, other = (RECIPE.with_tuning(seed=seed) for seed in (5, 6))
    cuts = [
        train(TrainingJob(corpus, recipe, seed=5)).classifier.decision.cuts
        for recipe in (RECIPE, same, other)
    ]
    np.testing.assert_array_equal(cuts[0], cuts[1])
    assert not np.array_equal(cuts[0], cuts[2])


def test_validation_documents_take_the_place_of_folds(corpus: Collection) -> None:
    left, right = subset(corpus, range(80)), subset(corpus, range(80, 120))
    trained = train(TrainingJob(left, RECIPE, valid=right))
    assert trained.classifier.hulls is not None
    assert trained.classifier.hulls.n_documents == 40


def test_labels_of_the_validation_data_belong_to_the_label_set(corpus: Collection) -> None:
    extra = replace(subset(corpus, [0, 1]), label_sets=[("only-in-valid",), ("billing",)])
    trained = train(TrainingJob(corpus, RECIPE, valid=extra))
    assert "only-in-valid" in trained.classifier.labels.names


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["decision.folds=0"], "--folds 2 or more"),
        (["decision.name=best"], "accepted: zero, rank:K, micro-f"),
        (["learner.options=-s 99"], "-s"),
        (["learner.colour=red"], "colour"),
        (["features.scheme=magic"], "scheme"),
        (["decision.colour=red"], "colour"),
        (["decision.abstain=0.9", "decision.name=rank:2"], "--abstain needs cuts"),
        (["decision.abstain=0.9", "decision.name=rank:2,0.5"], "--abstain needs cuts"),
        (["decision.abstain=2.0"], "above 0 and at most 1"),
    ],
)
def test_a_wrong_recipe_is_refused_with_what_is_accepted(
    corpus: Collection, changes: list[str], says: str
) -> None:
    with pytest.raises(InvalidRequestError, match=re.escape(says)):
        train(TrainingJob(corpus, read_recipe(None, changes=changes)))


def test_the_figures_of_a_decision_by_rank_are_those_of_its_labels(corpus: Collection) -> None:
    trained = train(TrainingJob(corpus, read_recipe(None, changes=["decision.name=rank:5"])))
    figures = trained.info.figures["held_out"]
    pairs = sum(map(len, corpus.label_sets))
    assert figures["micro_recall"] == 1.0
    assert figures["micro_precision"] == pytest.approx(pairs / (5 * len(corpus)))


def test_a_corpus_without_labels_is_refused(corpus: Collection) -> None:
    bare = replace(corpus, label_sets=[()] * len(corpus))
    with pytest.raises(InvalidDataError, match="nothing to learn"):
        train(TrainingJob(bare, RECIPE))


def test_ready_made_features_are_trained_on_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "rows.svm"
    file.write_text("a 1:1 3:0.5\nb 2:1\na,b 1:1 2:1\nb 2:2\na 1:2 3:1\nb 2:1 3:1\n")
    rows = load_collection(file)
    trained = train(TrainingJob(rows, read_recipe(None, changes=["decision.folds=2"])))
    assert trained.classifier.is_ready_made
    assert trained.classifier.scores(rows.documents).shape == (6, 2)
    with pytest.raises(InvalidRequestError, match="reads texts"):
        train(TrainingJob(rows, read_recipe(None, learner="kim-cnn")))


@pytest.mark.parametrize(
    ("recipe", "named"),
    [
        ("[features]\nngram_range = [1, 2]", "features.ngram_range"),
        ("[features]\nkind = 'tfidf'", "features.kind"),
        ("[[members]]\n[[members]]\nfeatures = {min_df = 2}", "features.min_df"),
    ],
)
def test_settings_of_features_are_refused_where_features_are_ready_made(
    tmp_path: Path, recipe: str, named: str
) -> None:
    (tmp_path / "rows.svm").write_text("a 1:1 3:0.5\nb 2:1\na,b 1:1 2:1\nb 2:2\n")
    (tmp_path / "recipe.toml").write_text(recipe)
    rows = load_collection(tmp_path / "rows.svm")
    with pytest.raises(InvalidRequestError, match=f"{named}: the data are ready-made"):
        train(TrainingJob(rows, read_recipe(tmp_path / "recipe.toml")))
    as_it_is = ["features.kind=ready-made", "decision.name=zero"]
    assert train(TrainingJob(rows, read_recipe(None, changes=as_it_is))).classifier.is_ready_made


def test_one_document_cannot_be_tuned_on_and_says_so(corpus: Collection) -> None:
    with pytest.raises(InvalidRequestError, match="two documents or more"):
        train(TrainingJob(subset(corpus, [0]), RECIPE))


def test_one_document_and_one_label_make_a_model(corpus: Collection) -> None:
    one = replace(subset(corpus, [0]), label_sets=[("a",)])
    trained = train(TrainingJob(one, read_recipe(None, changes=["decision.name=zero"])))
    assert trained.classifier.scores(["anything"]).shape == (1, 1)


def test_documents_in_memory_are_those_of_the_file_line_by_line(
    corpus: Collection, corpus_file: Path
) -> None:
    assert list(documents_of(corpus)) == list(open_dataset(corpus_file))

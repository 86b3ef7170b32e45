"""LabelClassifier among scikit-learn's own tools, and under scikit-learn's own checks."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MultiLabelBinarizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelserve
from app.datasets.collection import Collection
from labelserve import LabelClassifier
from tests.library.numeric_classifier import NumericClassifier

ONE_LABEL = "its targets are one class a document; here a document has any number of labels"
FAILING = {
    "check_classifiers_one_label": ONE_LABEL,
    "check_classifiers_classes": ONE_LABEL,
    "check_classifiers_train": ONE_LABEL,
    "check_classifier_not_supporting_multiclass": ONE_LABEL,
    "check_classifiers_regression_target": "any value is a name to the class that makes words",
    "check_fit2d_1sample": "the error says what to do with one document, but in other words",
}
"""Of some fifty checks those that ask for what a multi-label classifier of texts is not."""


@pytest.fixture(scope="module")
def matrix(corpus: Collection) -> Any:
    return MultiLabelBinarizer().fit_transform(corpus.label_sets)


@parametrize_with_checks(
    [NumericClassifier(folds=2)], expected_failed_checks=lambda estimator: FAILING
)
def test_the_checks_of_scikit_learn_hold(
    estimator: LabelClassifier, check: Callable[[Any], None]
) -> None:
    if "array_api" in str(check):
        return  # it skips itself unless the environment asks for another array library
    check(estimator)


def test_a_grid_search_chooses_by_micro_f1(corpus: Collection, matrix: Any) -> None:
    search = GridSearchCV(
        LabelClassifier(folds=2),
        {"liblinear": ["-s 1 -c 0.01", "-s 1 -c 1"], "decision": ["micro-f", "rank:1"]},
        scoring="f1_micro",
        cv=3,
    ).fit(corpus.documents, matrix)
    results = search.cv_results_
    assert search.best_params_["decision"] == "micro-f"  # one label a document is too few
    assert search.best_score_ == max(results["mean_test_score"])
    own = cross_val_score(search.best_estimator_, corpus.documents, matrix, cv=3)
    assert own.mean() == pytest.approx(search.best_score_)


def test_a_pipeline_may_stand_before_it(corpus: Collection, matrix: Any) -> None:
    shouted = [text.upper() for text in corpus.documents]
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("labels", LabelClassifier(folds=2))])
    plain = LabelClassifier(folds=2).fit(corpus.documents, matrix)
    found = pipeline.set_params(labels__seed=0).fit(shouted, matrix).predict(shouted)
    assert np.array_equal(found, plain.predict(corpus.documents))


def test_out_of_fold_probabilities_have_a_column_for_every_class(
    corpus: Collection, matrix: Any
) -> None:
    found = cross_val_predict(
        LabelClassifier(folds=2), corpus.documents, matrix, cv=KFold(3), method="predict_proba"
    )
    assert found.shape == matrix.shape
    assert average_precision_score(matrix, found, average="micro") > 0.8


def test_predictions_have_the_form_of_what_was_fitted(corpus: Collection, matrix: Any) -> None:
    texts = pd.Series(corpus.documents)
    names = sorted({label for labels in corpus.label_sets for label in labels})
    wanted = labelserve.train(corpus.documents, corpus.label_sets, folds=2, jobs=1).predict(texts)
    sets = LabelClassifier(folds=2).fit(texts, corpus.label_sets)
    assert sets.predict(texts) == [found.labels for found in wanted]
    assert sets.classes_.tolist() == names
    dense = MultiLabelBinarizer().fit_transform(sets.predict(texts))
    for target in (matrix, matrix.astype(bool), pd.DataFrame(matrix, columns=names)):
        fitted = LabelClassifier(folds=2).fit(texts, target)
        found = fitted.predict(texts)
        assert np.array_equal(found, dense)
        assert found.dtype == np.asarray(target).dtype
    for target in (csr_array(matrix), csr_matrix(matrix)):
        found = LabelClassifier(folds=2).fit(texts, target).predict(texts)
        assert issparse(found)
        assert np.array_equal(found.toarray(), dense)
    assert sets.score(texts, corpus.label_sets) == f1_score(matrix, dense, average="micro")


def test_a_class_without_a_document_is_never_predicted(corpus: Collection, matrix: Any) -> None:
    wider = np.hstack([np.zeros((len(matrix), 1), int), matrix])
    fitted = LabelClassifier(folds=2).fit(corpus.documents, wider)
    assert fitted.classes_.tolist() == list(range(wider.shape[1]))
    assert (fitted.decision_function(corpus.documents)[:, 0] == -np.inf).all()
    assert (fitted.predict_proba(corpus.documents)[:, 0] == 0).all()
    assert not fitted.predict(corpus.documents)[:, 0].any()
    assert fitted.predict(corpus.documents)[:, 1:].any()


def test_a_recipe_is_stronger_than_settings_that_were_not_given(
    corpus: Collection, matrix: Any
) -> None:
    recipe = {"learner": {"kind": "cost-sensitive"}, "decision": {"name": "rank:1", "folds": 2}}
    fitted = LabelClassifier(recipe=recipe).fit(corpus.documents, matrix)
    assert repr(fitted.model_).startswith(
        "<model not saved: 5 labels, cost-sensitive, decided by rank:1"
    )
    assert (fitted.predict(corpus.documents).sum(axis=1) == 1).all()
    assert recipe["learner"] == {"kind": "cost-sensitive"}


def test_an_operating_point_decides_where_it_is_set(corpus: Collection, matrix: Any) -> None:
    fitted = LabelClassifier(folds=2).fit(corpus.documents, matrix)
    tuned = fitted.predict(corpus.documents).sum()
    assert fitted.set_params(operating_point="recall>=0.3").predict(corpus.documents).sum() < tuned


def test_a_fitted_estimator_is_saved_as_a_model_of_the_store(
    corpus: Collection, tmp_path: Path
) -> None:
    fitted = LabelClassifier(folds=2).fit(corpus.documents, corpus.label_sets)
    saved = fitted.save(tmp_path, "m")
    assert labelserve.load(tmp_path, "m").version == saved.version
    found = saved.predict(corpus.documents)
    assert [one.labels for one in found] == fitted.predict(corpus.documents)
    manifest = json.loads((tmp_path / "m" / saved.version / "manifest.json").read_text())
    assert manifest["recipe"]["decision"]["folds"] == 2


def test_clones_are_unfitted_and_copies_are_not(corpus: Collection, matrix: Any) -> None:
    fitted = LabelClassifier(folds=2, seed=3).fit(corpus.documents, matrix)
    assert clone(fitted).get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).predict(corpus.documents)
    again = copy.deepcopy(fitted)
    assert np.array_equal(again.predict(corpus.documents), fitted.predict(corpus.documents))


def test_targets_that_are_no_labels_are_refused(corpus: Collection) -> None:
    texts = corpus.documents[:2]
    with pytest.raises(ValueError, match="1 where a document has a label, and 0 elsewhere"):
        LabelClassifier().fit(texts, np.array([[0, 2], [1, 0]]))
    with pytest.raises(TypeError, match=r"labels\[0\] is a str"):
        LabelClassifier().fit(texts, ["billing", "login"])
    fitted = LabelClassifier(folds=2).fit(corpus.documents, corpus.label_sets)
    with pytest.raises(TypeError, match="one text was given"):
        fitted.predict("a text")

"""LabelClassifier: training and prediction as a scikit-learn estimator of texts."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score
from sklearn.utils.validation import check_is_fitted

from app.errors import InvalidRequestError
from labelserve.arguments import FilePath
from labelserve.documents import checked_texts
from labelserve.indicators import TargetForm
from labelserve.model import LabelModel
from labelserve.training import train


class LabelClassifier(ClassifierMixin, BaseEstimator):
    """A multi-label classifier of texts, with the settings of `labelserve.train`; None: its own.

    X is a list, array or Series of texts. y is a matrix of 0 and 1 (dense, sparse or a table), as
    scikit-learn's splitters and scorers want it, or a list of label sets; `predict` gives back what
    `fit` was given. `operating_point` is what predictions are decided by.
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        learner: str | None = None,
        decision: str | None = None,
        folds: int | None = None,
        liblinear: str | None = None,
        recipe: FilePath | Mapping[str, Any] | None = None,
        quality: str | None = None,
        objective: str | None = None,
        operating_point: str = "tuned",
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.learner = learner
        self.decision = decision
        self.folds = folds
        self.liblinear = liblinear
        self.recipe = recipe
        self.quality = quality
        self.objective = objective
        self.operating_point = operating_point
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[str], y: Any) -> Self:
        """Train on texts and their labels; `model_` can be saved to a store."""
        form = TargetForm.of(y)
        settings = self.get_params(deep=False)
        jobs, _ = settings.pop("n_jobs"), settings.pop("operating_point")
        model = train(list(checked_texts(X)), form.label_sets(y), jobs=jobs or 1, **settings)
        self.model_: LabelModel = model
        self.form_, self.classes_ = form, form.classes
        return self

    def predict(self, X: Iterable[str]) -> Any:
        """The labels of each text, in the form that `fit` was given."""
        check_is_fitted(self)
        found = self.model_.stream(X, operating_point=self.operating_point)
        return self.form_.given_back([prediction.labels for prediction in found])

    def decision_function(self, X: Iterable[str]) -> NDArray[np.float32]:
        """The scores (texts, classes), as POST /predict gives them: each label has its own cut.

        -inf for classes without a training document, and where a learner gives no score.
        """
        check_is_fitted(self)
        texts, columns = list(checked_texts(X)), self.form_.columns_of(self.model_.labels)
        scores = np.full((len(texts), len(self.classes_)), -np.inf, np.float32)
        scores[:, columns] = self.model_.trained.classifier.scores(texts)
        return scores

    def predict_proba(self, X: Iterable[str]) -> NDArray[np.float64]:
        """The probabilities (texts, classes), calibrated on held-out documents."""
        scores = self.decision_function(X)
        calibration = self.model_.trained.classifier.calibration
        if calibration is None:
            raise InvalidRequestError(
                "without folds there is no calibration: set folds to 2 or more"
            )
        columns = self.form_.columns_of(self.model_.labels)
        probabilities = np.zeros(scores.shape)
        probabilities[:, columns] = calibration.probabilities(scores[:, columns])
        return probabilities

    def score(self, X: Iterable[str], y: Any) -> float:
        """Micro-F1 of the predictions: what GridSearchCV chooses by, unless told otherwise."""
        check_is_fitted(self)
        found = self.model_.stream(X, operating_point=self.operating_point)
        truth = self.form_.matrix(self.form_.label_sets(y))
        decided = self.form_.matrix(prediction.labels for prediction in found)
        return float(f1_score(truth, decided, average="micro", zero_division=0))

    def save(self, models_dir: FilePath, name: str) -> LabelModel:
        """Write the model to a store, which services load from; the model as it is there."""
        check_is_fitted(self)
        return self.model_.save(models_dir, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.two_d_labels, tags.target_tags.single_output = True, False
        tags.classifier_tags.multi_label, tags.classifier_tags.multi_class = True, False
        return tags

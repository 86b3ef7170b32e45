"""A LabelClassifier of rows of numbers, all that the checks of scikit-learn can make up."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from labelserve import LabelClassifier


class NumericClassifier(LabelClassifier):
    """Each number becomes a word of its column and its rounded value, each class a label."""

    def fit(self, X: Any, y: Any) -> Self:
        X, y = validate_data(self, X, y, multi_output=True)
        return super().fit(_texts(X), _indicators(y))

    def predict(self, X: Any) -> Any:
        return super().predict(self._words(X))

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        return super().decision_function(self._words(X))

    def score(self, X: Any, y: Any) -> float:
        return super().score(self._words(X), _indicators(np.asarray(y)))

    def _words(self, X: Any) -> list[str]:
        check_is_fitted(self)
        return _texts(validate_data(self, X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        tags.input_tags.string = False
        return tags


def _texts(rows: NDArray[np.float64]) -> list[str]:
    return [" ".join(f"c{c}v{round(value)}" for c, value in enumerate(row)) for row in rows]


def _indicators(target: NDArray[Any]) -> NDArray[Any]:
    if target.ndim == 2:
        return target
    return (target[:, np.newaxis] == np.unique(target)).astype(np.int64)

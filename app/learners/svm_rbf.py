"""Kernel SVMs with radial basis functions: one per label, for few and dense features.

Trained by scikit-learn's SVC (LIBSVM); scored by our own arrays, so that a model is no pickle.
"""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting, Learner
from app.learners.ordered_map import for_parts, results_of
from app.state import State

MOST_FEATURES = 5000
ROWS_AT_ONCE = 256
MARGIN = 1.0
"""The score, plus or minus, of a label that all or no training documents have."""


class LabelSupport(NamedTuple):
    """One label's support vectors, by document, their coefficients, and the intercept."""

    documents: NDArray[Any]
    coefficients: NDArray[np.float64]
    intercept: float


class SvmRbf(Learner):
    """score = Σ coefficient · exp(−g‖x − support vector‖²) + intercept; features are standardized.

    `c` is the cost of a document's loss, as in LIBSVM; g is `gamma` divided by the number of
    features that are not constant.
    """

    kind: ClassVar[str] = "svm-rbf"
    zero_is_neutral: ClassVar[bool] = True

    def __init__(self, c: float = 2.0, gamma: float = 1.0) -> None:
        if c <= 0 or gamma <= 0:
            raise InvalidRequestError("svm-rbf: c and gamma are numbers above 0")
        self.c, self.gamma = c, gamma
        self._arrays: dict[str, NDArray[Any]] = {}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn one machine per label on the same standardized documents."""
        _check(features)
        fitting, dense = fitting or Fitting(), features.toarray().astype(np.float64)
        mean, spread = dense.mean(axis=0), dense.std(axis=0)
        scale = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
        rows, by_label = (dense - mean) * scale, truth.toarray()
        width = self.gamma / max(int(np.count_nonzero(scale)), 1)

        def learnt(label: int) -> LabelSupport:
            return _support(rows, by_label[:, label], self.c, width)

        machines = results_of(learnt, range(truth.shape[1]), fitting.jobs, fitting.progress)
        self._arrays = {
            "mean": mean,
            "scale": scale,
            "width": np.array([width]),
            **_kept(rows, machines),
        }
        return self

    def for_labels(self, labels: NDArray[np.int64]) -> "SvmRbf":
        """The same settings; each label has a machine of its own."""
        return SvmRbf(self.c, self.gamma)

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Signed distances in the kernel's space."""
        scores = np.empty((features.shape[0], len(self._arrays["intercepts"])), np.float32)

        def fill(some: slice) -> None:
            scores[some] = self._scores(features[some].toarray())

        for_parts(fill, len(scores), ROWS_AT_ONCE, jobs)
        return scores

    def _scores(self, dense: NDArray[np.float32]) -> NDArray[np.float64]:
        arrays = self._arrays
        rows, vectors = (dense - arrays["mean"]) * arrays["scale"], arrays["vectors"]
        squares = (rows**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1) - 2 * rows @ vectors.T
        similarity = np.exp(-arrays["width"][0] * np.maximum(squares, 0.0))
        return np.asarray(similarity @ arrays["coefficients"] + arrays["intercepts"])

    def state(self) -> State:
        """Settings, support vectors and their coefficients."""
        return State(self.kind, {"c": self.c, "gamma": self.gamma}, self._arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner._arrays = state.arrays
        return learner


def _check(features: Features) -> None:
    if features.shape[1] > MOST_FEATURES:
        raise InvalidRequestError(
            f"svm-rbf compares all documents in all features: at most {MOST_FEATURES:,} of them, "
            f"and these data have {features.shape[1]:,}; for texts take one-vs-rest"
        )


def _support(
    rows: NDArray[np.float64], marks: NDArray[np.bool_], c: float, width: float
) -> LabelSupport:
    if marks.all() or not marks.any():
        nothing = np.zeros(0)
        return LabelSupport(nothing.astype(np.int64), nothing, MARGIN if marks.all() else -MARGIN)
    from sklearn.svm import SVC  # imported where it is used: a service of linear models has no need

    machine = SVC(C=c, gamma=width, cache_size=400).fit(rows, marks)
    return LabelSupport(machine.support_, machine.dual_coef_[0], float(machine.intercept_[0]))


def _kept(rows: NDArray[np.float64], machines: list[LabelSupport]) -> dict[str, NDArray[Any]]:
    """The vectors that support any label, once each, and (vectors, labels) coefficients."""
    documents = np.unique(np.concatenate([machine.documents for machine in machines]))
    coefficients = np.zeros((len(documents), len(machines)))
    for label, machine in enumerate(machines):
        coefficients[np.searchsorted(documents, machine.documents), label] = machine.coefficients
    return {
        "vectors": rows[documents.astype(np.int64)],
        "coefficients": coefficients,
        "intercepts": np.array([machine.intercept for machine in machines]),
    }

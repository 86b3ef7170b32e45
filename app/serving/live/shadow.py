"""ShadowComparison: a document answered by two versions, and what they agree on, counted."""

from collections.abc import Sequence, Set
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.serving.live.versions import LivePlan, LiveVersion, ShadowDocument
from app.serving.telemetry.telemetry import Telemetry

BEST = 10
"""Labels of each version whose scores are compared, whatever their cuts."""
MOST_LABELS = 1000
"""Labels that are counted one by one; what comes beyond them is counted together."""
OTHERS = ""

Row = NDArray[np.float32]
Columns = tuple[NDArray[np.intp], NDArray[np.intp]]


class ShadowSums(NamedTuple):
    """What is added up over documents; `x` and `y` are scores of the current version and shadow."""

    documents: float
    jaccard: float
    jaccard_squared: float
    current_labels: float
    shadow_labels: float
    difference: float
    """Labels of the shadow less those of the current version."""
    difference_squared: float
    pairs: float
    x: float
    y: float
    xx: float
    yy: float
    xy: float


class ShadowComparison:
    """Answers documents by both versions once more, one after the other, and counts what came.

    Both are timed here, since an answer that a client waits for is made under other conditions.
    Which of the two comes first alternates: the second one finds the text in the cache.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._common: dict[tuple[str, str], Columns] = {}
        """By current version and shadow."""
        self._known: dict[tuple[str, str], set[str]] = {}
        """Labels that are counted one by one, by model and shadow."""
        self._is_shadow_first = False

    def compare(self, document: ShadowDocument) -> None:
        """Answer and count one document."""
        name, version = document.current.model.name, document.shadow.model.version
        outcomes = self._telemetry.shadow_documents
        try:
            current, shadow = (one.plan(document.query) for one in document[:2])
            answers = self._answered(current, shadow, document)
            pairs = self._pairs(document)
        except Exception:  # whatever a version on trial does, the service goes on
            outcomes.labels(name, version, "failed").inc()
            return
        self._count(name, version, *answers, pairs)
        outcomes.labels(name, version, "compared").inc()

    def _answered(
        self, current: LivePlan, shadow: LivePlan, document: ShadowDocument
    ) -> tuple[set[str], set[str]]:
        """The labels of both, timed."""
        self._is_shadow_first = not self._is_shadow_first
        found: dict[str, set[str]] = {}
        order = [("current", current), ("shadow", shadow)]
        for side, plan in order[::-1] if self._is_shadow_first else order:
            start = perf_counter()
            (prediction,) = plan.predictions([document.text])
            seconds = perf_counter() - start
            found[side] = {label.label for label in prediction.labels}
            key = (document.current.model.name, document.shadow.model.version, side)
            self._telemetry.shadow_seconds.labels(*key).observe(seconds)
        return found["current"], found["shadow"]

    def _count(
        self, name: str, version: str, current: set[str], shadow: set[str], pairs: Sequence[float]
    ) -> None:
        both, either = current & shadow, current | shadow
        jaccard = len(both) / len(either) if either else 1.0
        more = len(shadow) - len(current)
        sums = (1, jaccard, jaccard**2, len(current), len(shadow), more, more**2, *pairs)
        self._telemetry.shadow_sums.labels(name, version).add(ShadowSums(*sums))
        parts = {"both": both, "current": current - both, "shadow": shadow - both}
        for assigned_by, labels in parts.items():
            self._telemetry.shadow_labels.labels(name, version, assigned_by).inc(len(labels))
        for label in either:
            flags = [float(label in labels) for labels in parts.values()]
            own = self._counted_as(name, version, label)
            self._telemetry.shadow_label_sums.labels(name, version, own).add(flags)

    def _counted_as(self, name: str, version: str, label: str) -> str:
        known = self._known.setdefault((name, version), set())
        if len(known) < MOST_LABELS:
            known.add(label)
        return label if label in known else OTHERS

    def _pairs(self, document: ShadowDocument) -> Sequence[float]:
        """How many scores of the best labels of either are compared, and their sums."""
        own, other = self._common_columns(document)
        x = _scores(document.current, document.text)[own]
        y = _scores(document.shadow, document.text)[other]
        best = np.union1d(_best(x), _best(y))
        best = best[np.isfinite(x[best]) & np.isfinite(y[best])]
        x, y = x[best].astype(np.float64), y[best].astype(np.float64)
        return [len(best), *(float(v) for v in (x.sum(), y.sum(), x @ x, y @ y, x @ y))]

    def _common_columns(self, document: ShadowDocument) -> Columns:
        """Where the labels that both versions answer with are among those of each."""
        current, shadow = document.current.model, document.shadow.model
        key = (f"{current.name}@{current.version}", shadow.version)
        if key not in self._common:
            one = current.classifier.answered_labels.columns
            other = shadow.classifier.answered_labels.columns
            common = [label for label in one if label in other]
            own, others = (np.array([side[c] for c in common], np.intp) for side in (one, other))
            self._common[key] = own, others
        return self._common[key]

    def keep(self, trials: Set[tuple[str, str]]) -> None:
        """Forget what is of no trial of these (model, version) pairs."""
        self._known = {key: own for key, own in self._known.items() if key in trials}
        self._common = {} if not trials else self._common


def _scores(loaded: LiveVersion, text: str) -> Row:
    """The scores of the labels that are answered."""
    classifier = loaded.model.classifier
    scores: Row = classifier.scores([text])[0]
    relabelling = classifier.relabelling
    return scores if relabelling is None else relabelling.best_scores(scores)


def _best(scores: Row) -> NDArray[np.intp]:
    if len(scores) <= BEST:
        return np.arange(len(scores))
    return np.argpartition(scores, -BEST)[-BEST:]

"""Plan: a Query resolved against one classifier; it turns scores into answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from app.arrays import Marks, Scores
from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import SORTED_AT_ONCE, Columns, Row, best, by_score
from app.errors import DamagedArtifactError, InvalidRequestError
from app.kernels import kernels
from app.kernels.linear.answer_values import Curves, short
from app.labels import LabelIndex, Relabelling, Taxonomy
from app.prediction.answers import Ancestor, Label, LabelReason, Prediction

CHUNK = 64
"""Documents scored between two looks at the clock: work that is too late ends soon."""


Picked: TypeAlias = tuple[Columns, Row]
"""The columns that come and their scores: best first."""
Decided: TypeAlias = Callable[[Row, int | None], Picked]
"""(scores, most labels) → what the decision picks without rules."""
Verdict: TypeAlias = Mapping[int, int]
"""Label → number of the hand-written rule that decides it."""
NO_RULE_HELD: Verdict = {}


class LastWord(Protocol):
    """Hand-written rules, as one query has them applied (see planned_rules.py)."""

    def verdict(self, text: str) -> Verdict:
        """What the rules say about a text; empty where none holds."""
        ...

    def corrected(self, scores: Row, verdict: Verdict, decided: Decided) -> Picked:
        """What is picked where these rules hold."""
        ...

    def settle(self, prediction: Prediction, verdict: Verdict) -> None:
        """Say in the answer what a rule decided."""
        ...

    def correct(self, marks: Marks, verdicts: Sequence[Verdict]) -> None:
        """Set the marks of documents that were decided on together."""
        ...


class Explained(Protocol):
    """The reasons that decided one label of one text, and what else is in its score."""

    @property
    def because(self) -> Sequence[Any]:
        """Reasons with their weights and, of terms, places (see app/explanation.py)."""
        ...

    @property
    def bias(self) -> float:
        """What the label starts from."""
        ...

    @property
    def rest(self) -> float:
        """What all other terms add."""
        ...

    @property
    def is_approximate(self) -> bool:
        """Whether the terms' weights are estimates."""
        ...


TextExplainer: TypeAlias = Callable[[str, Sequence[int], int], Sequence[Explained]]
"""(text, label columns, most terms) → one explanation a label."""


class TextClassifier(Protocol):
    """What a plan asks of a classifier (see app/classifier.py)."""

    @property
    def labels(self) -> LabelIndex:
        """The labels it knows."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """The probabilities of its scores, if it has any."""
        ...

    @property
    def column_names(self) -> tuple[str, ...]:
        """The label that each column of scores is answered as."""
        ...

    @property
    def relabelling(self) -> Relabelling | None:
        """What labels became since they were trained; None where they are what they were."""
        ...

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The labels' names and parents, if it knows them."""
        ...

    @property
    def curves(self) -> Curves:
        """The calibration as kernels see it; empty without one."""
        ...

    @property
    def is_ready_made(self) -> bool:
        """Whether documents are rows of features, not texts."""
        ...

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document."""
        ...

    def text_scorer(self) -> Any:
        """What picks a text's labels in one kernel; None where there is no such."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """Which labels may come, what cuts them off, and what is told about them."""

    classifier: TextClassifier
    cuts: Row
    """(labels,): -inf for ranking alone, +inf for labels that may not come."""
    top_k: int | None
    point: dict[str, Any] | None = None
    """The operating point's name and what was expected there on held-out data."""
    shows_cuts: bool = True
    """Whether labels come with the cut they have passed."""
    is_by_probability: bool = False
    """Whether the cuts are on probabilities."""
    band: tuple[Row, Row] | None = None
    """Where the model abstains; empty (upper below lower) for labels that may not come."""
    explain: int = 0
    explainer: TextExplainer | None = None
    shows_ancestors: bool = False
    """Whether labels come with those above them; the classifier has a taxonomy then."""
    below_cut: int = 0
    """How many of the best labels that are not assigned come as well."""
    rules: LastWord | None = None
    """Hand-written rules, which have the last word; None: the model has none."""
    _told: Any = field(init=False, repr=False, compare=False)
    """What is told about labels, as kernels see it."""
    _scorer: Any = field(init=False, repr=False, compare=False)
    """Answers a lone text by one kernel that keeps no scores; None: texts are scored first."""

    def __post_init__(self) -> None:
        if self.cuts.shape != (len(self.classifier.labels),) or self.cuts.dtype != np.float32:
            raise DamagedArtifactError("the cuts do not fit the labels")  # kernels do not look
        told = kernels("linear.picking").LabelValues(self.cuts, self.classifier.curves)
        object.__setattr__(self, "_told", told)
        needs_scores = self.band is not None or self.is_by_probability or self.explainer is not None
        # What is told of labels is counted.
        is_bounded = needs_scores or self.shows_ancestors or bool(self.below_cut)
        is_plain = not is_bounded and self.rules is None
        scorer = self.classifier.text_scorer() if is_plain else None
        object.__setattr__(self, "_scorer", scorer)

    def predictions(
        self,
        texts: Sequence[str],
        *,
        still_wanted: Callable[[], None] | None = None,
        most: float = np.inf,
    ) -> list[Prediction]:
        """One prediction a text; `still_wanted` is called between chunks and may raise.

        More than `most` labels (and terms, where they are explained) are an InvalidRequestError.
        """
        if len(texts) == 1 and self._scorer is not None and most >= SORTED_AT_ONCE:
            lone = self._lone(texts[0])
            if lone is not None:
                return [lone]
        found: list[Prediction] = []
        try:
            self._predict_all(texts, found, still_wanted=still_wanted, most=most)
        except BaseException:
            # Here, and one by one: whoever catches the error would free a million labels at once.
            while found:
                found.pop()
            raise
        return found

    def _predict_all(
        self,
        texts: Sequence[str],
        found: list[Prediction],
        *,
        still_wanted: Callable[[], None] | None,
        most: float,
    ) -> None:
        room = most
        for start in range(0, len(texts), CHUNK):
            if still_wanted is not None:
                still_wanted()
            chunk = texts[start : start + CHUNK]
            for text, scores in zip(chunk, self.classifier.scores(chunk), strict=True):
                verdict = self.rules.verdict(text) if self.rules is not None else NO_RULE_HELD
                picked = self._picked(scores, verdict)
                room -= len(picked[0]) * max(1, self.explain) + self._n_ancestors(picked[0])
                room -= self.below_cut
                if room < 0:  # known before a label is made
                    raise _too_many(most)
                prediction = self._prediction(scores, picked)
                room -= len(prediction.abstained or ())
                if self.explainer is not None:
                    self._explain(text, prediction, picked[0].tolist())
                if self.below_cut:
                    self._add_below_cut(prediction, scores, picked)
                if verdict and self.rules is not None:
                    self.rules.settle(prediction, verdict)
                found.append(prediction)

    def prediction(self, scores: Row, columns: Columns | None = None) -> Prediction:
        """The answer for one row of scores; `columns` where the labels were decided elsewhere."""
        picked = self._picked(scores) if columns is None else by_score(scores, columns)
        return self._prediction(scores, picked)

    def _prediction(self, scores: Row, picked: tuple[Columns, Row]) -> Prediction:
        labels = self._labels(self._told.rows(*picked))
        if self.band is None:
            return Prediction(labels)
        return Prediction(labels, abstained=self._abstained(scores, self.band, labels))

    def _lone(self, text: str) -> Prediction | None:
        """The answer for one text; None where there is more to sort than a kernel has room for."""
        room = SORTED_AT_ONCE if self.top_k is None else min(self.top_k, SORTED_AT_ONCE)
        passing, rows = self._scorer.picked(text, self._told, room)
        return Prediction(self._labels(rows)) if passing <= room or room == self.top_k else None

    def _labels(self, rows: list[list[float]]) -> list[Label]:
        labels = self._plain_labels(rows)
        if self.classifier.taxonomy is not None:
            self._name(labels, [int(row[0]) for row in rows], self.classifier.taxonomy)
        return labels

    def _name(self, labels: list[Label], columns: list[int], taxonomy: Taxonomy) -> None:
        relabelling = self.classifier.relabelling
        if relabelling is not None:
            columns = relabelling.targets[columns].tolist()
        for label, entry in zip(labels, columns, strict=True):
            label.name = taxonomy.names[entry] or None
            if self.shows_ancestors:
                label.ancestors = _ancestors(taxonomy, entry)

    def _n_ancestors(self, columns: Columns) -> int:
        """How many labels above these are told."""
        taxonomy = self.classifier.taxonomy if self.shows_ancestors else None
        if taxonomy is None:
            return 0
        relabelling = self.classifier.relabelling
        entries = columns if relabelling is None else relabelling.targets[columns]
        return int(taxonomy.depths[entries].sum())

    def _plain_labels(self, rows: list[list[float]]) -> list[Label]:
        names, shows_cuts = self.classifier.column_names, self.shows_cuts
        if self.classifier.calibration is None:
            return [
                Label(names[int(column)], score, None, cut if shows_cuts else None)
                for column, score, _, cut in rows
            ]
        return [
            Label(names[int(column)], score, probability, cut if shows_cuts else None)
            for column, score, probability, cut in rows
        ]

    def _explain(self, text: str, prediction: Prediction, columns: list[int]) -> None:
        assert self.explainer is not None  # noqa: S101 - for the type checker
        explained = self.explainer(text, columns, self.explain)
        for label, why in zip(prediction.labels, explained, strict=True):
            label.because = [
                LabelReason(**{r.kind: r.name}, weight=short(r.weight), at=r.at)
                for r in why.because
            ]
            label.bias, label.rest = short(why.bias), short(why.rest)
            label.approximate = why.is_approximate or None

    def _add_below_cut(self, prediction: Prediction, scores: Row, picked: Picked) -> None:
        """Add the best labels that were not picked, and to all the probability of their cuts."""
        assigned = {label.label for label in prediction.labels}
        columns, found = self._ranked(scores, len(assigned) + self.below_cut)
        names = self.classifier.column_names
        is_below = [names[column] not in assigned for column in columns.tolist()]
        columns, found = columns[is_below][: self.below_cut], found[is_below][: self.below_cut]
        prediction.below_cut = self._labels(self._told.rows(columns, found))
        self._tell_cuts(prediction.labels, picked[0])
        self._tell_cuts(prediction.below_cut, columns)

    def _ranked(self, scores: Row, most: int) -> Picked:
        """The best labels whatever their cuts."""
        relabelling = self.classifier.relabelling
        if relabelling is None:
            return best(scores, np.full_like(self.cuts, -np.inf), most)
        own = relabelling.best_scores(scores)
        labels, found = best(own, np.full(len(own), -np.inf, np.float32), most)
        return relabelling.best_sources(scores, labels), found

    def _tell_cuts(self, labels: list[Label], columns: Columns) -> None:
        """Say at which probability each label has its cut; one never assigned has no cut."""
        cuts, calibration = self.cuts[columns], self.classifier.calibration
        if calibration is not None and not self.is_by_probability:
            probabilities = calibration.probability(columns, cuts).tolist()
        else:
            probabilities = cuts.tolist() if self.is_by_probability else [None] * len(labels)
        for label, cut, probability in zip(labels, cuts.tolist(), probabilities, strict=True):
            label.threshold = None if cut == np.inf else label.threshold
            label.threshold_probability = (
                None if cut == np.inf or probability is None else short(probability)
            )

    def _picked(self, scores: Row, verdict: Verdict = NO_RULE_HELD) -> Picked:
        """The columns that come and their scores: best first, ties by rising label."""
        if self.rules is None or not verdict:
            return self._decided(scores, self.top_k)
        return self.rules.corrected(scores, verdict, self._decided)

    def _decided(self, scores: Row, top_k: int | None) -> Picked:
        """The same without hand-written rules."""
        relabelling = self.classifier.relabelling
        if relabelling is not None:
            return self._decided_labels(scores, top_k, relabelling)
        if self.is_by_probability:
            passing = (self._probabilities(scores) > self.cuts) & (scores > -np.inf)
            columns = np.flatnonzero(passing)
            picked, found = by_score(scores, columns)
            return picked[:top_k], found[:top_k]
        return best(scores, self.cuts, top_k)

    def _decided_labels(self, scores: Row, top_k: int | None, relabelling: Relabelling) -> Picked:
        """The same for relabelled ones: of each label that comes the best column that passes."""
        values = self._probabilities(scores) if self.is_by_probability else scores
        passing = np.where(values > self.cuts, scores, np.float32(-np.inf))
        own = relabelling.best_scores(passing)
        labels, found = best(own, np.full(len(own), -np.inf, np.float32), top_k)
        return relabelling.best_sources(passing, labels), found

    def _probabilities(self, scores: Row) -> Row:
        assert self.classifier.calibration is not None  # noqa: S101
        found: Row = self.classifier.calibration.probabilities(scores[np.newaxis])[0]
        return found

    def _abstained(self, scores: Row, band: tuple[Row, Row], assigned: list[Label]) -> list[str]:
        columns = np.flatnonzero((scores > band[0]) & (scores <= band[1]))
        names = [self.classifier.column_names[column] for column in columns.tolist()]
        if self.classifier.relabelling is None:
            return names
        return sorted(set(names) - {label.label for label in assigned} - {""})


def _ancestors(taxonomy: Taxonomy, column: int) -> list[Ancestor]:
    return [
        Ancestor(taxonomy.label(entry), taxonomy.names[entry] or None)
        for entry in taxonomy.ancestors(column)
    ]


def _too_many(most: float) -> InvalidRequestError:
    return InvalidRequestError(
        f"more than {most:,} labels or terms would come back; accepted: fewer documents, "
        "a lower top_k, a higher cut, fewer terms"
    )

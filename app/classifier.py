"""The whole way of a document in one class: text → features → scores → decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Marks, Scores
from app.decisions.abstention import Abstention
from app.decisions.base import Basis
from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import Decision
from app.decisions.expectation.expectations import Expectations
from app.decisions.operating_points import OperatingPoints
from app.decisions.relabelled import RelabelledDecision
from app.decisions.tuning.hulls import Hulls
from app.hand_rules.rule_set import HandRules
from app.kernels.linear.answer_values import NO_CURVES, Curves
from app.kernels.linear.fused_scorer import FusedScorer
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex, Relabelling, Taxonomy
from app.learners.base import Learner, learner_class
from app.state import State, pack_strings, unpack_strings
from app.vectorizers.base import Vectorizer, vectorizer_class


@dataclass(frozen=True, slots=True)
class Member:
    """A learner with the features it was trained on, and what it counts for beside others."""

    vectorizer: Vectorizer
    learner: Learner
    weight: float = 1.0
    """What its scores are multiplied with when members are added up; 1 for a lone member."""
    floor: float = 0.0
    """What stands for a score it does not give, while another member gives one."""
    fused: FusedScorer = field(init=False, repr=False, compare=False)
    """Scores texts by one kernel where vectorizer and learner allow it."""

    def __post_init__(self) -> None:
        fused = FusedScorer(self.vectorizer.fitted_parts, self.learner.linear_weights)
        object.__setattr__(self, "fused", fused)

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document, by one kernel where there is one for both parts."""
        scores = self.fused.scores(documents, jobs=jobs)
        if scores is not None:
            return scores
        return self.learner.scores(self.vectorizer.transform(documents, jobs=jobs), jobs=jobs)

    def state(self) -> State:
        """The two parts and the two numbers."""
        parts = {"vectorizer": self.vectorizer.state(), "learner": self.learner.state()}
        return State("member", {"weight": self.weight, "floor": self.floor}, parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal member again."""
        vectorizer, learner = state.parts["vectorizer"], state.parts["learner"]
        return cls(
            vectorizer_class(vectorizer.kind).from_state(vectorizer),
            learner_class(learner.kind).from_state(learner),
            **state.settings,
        )


@dataclass(frozen=True, slots=True)
class Classifier:
    """A trained model: immutable, so a running server may share it between threads.

    Hulls and expectations (operating points), calibration (probabilities) and abstention are there
    when the model was tuned on held-out scores and asked for them; the taxonomy, when it was
    trained with a labels file. A relabelling is a matter of answers: all else has the trained
    labels' columns. Hand-written rules have the last word on what is answered.
    """

    labels: LabelIndex
    """The trained labels, one a column of scores."""
    members: tuple[Member, ...]
    decision: Decision
    hulls: Hulls | None = None
    expectations: Expectations | None = None
    calibration: Calibration | None = None
    abstention: Abstention | None = None
    relabelling: Relabelling | None = None
    taxonomy: Taxonomy | None = None
    """Of the labels that are answered."""
    hand_rules: HandRules | None = None
    """Over the labels that are answered."""
    operating_points: OperatingPoints | None = field(init=False, repr=False, compare=False)
    curves: Curves = field(init=False, repr=False, compare=False)
    """The calibration as kernels see it; empty without one."""
    answered_labels: LabelIndex = field(init=False, repr=False, compare=False)
    """What answers and reports are about: the trained labels, or what they became."""
    column_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The label that each column is answered as; empty where it never is."""

    def __post_init__(self) -> None:
        points = OperatingPoints(self.hulls, self.expectations) if self.hulls is not None else None
        object.__setattr__(self, "operating_points", points)
        curves = (
            NO_CURVES if self.calibration is None else self.calibration.curves(len(self.labels))
        )
        object.__setattr__(self, "curves", curves)
        relabelling, names = self.relabelling, self.labels.names
        answered = self.labels if relabelling is None else relabelling.labels
        object.__setattr__(self, "answered_labels", answered)
        column_names = names if relabelling is None else relabelling.column_names
        object.__setattr__(self, "column_names", column_names)

    @property
    def reads_documents(self) -> bool:
        """Never whole documents: texts, or rows of features."""
        return False

    @property
    def is_ready_made(self) -> bool:
        """Whether documents are rows of features, not texts."""
        return any(member.vectorizer.kind == "ready-made" for member in self.members)

    @property
    def word_analysis(self) -> Analysis | None:
        """How texts are cut into the words that rules name: as for the first member."""
        return self.members[0].vectorizer.word_analysis()

    @property
    def n_features(self) -> int:
        """How many features the first member's vectorizer has."""
        return self.members[0].vectorizer.n_features

    @property
    def has_merged_labels(self) -> bool:
        """Whether trained labels are answered as one: what was held out says nothing of that."""
        return self.relabelling is not None and self.relabelling.has_merged

    @property
    def basis(self) -> Basis:
        """What a decision may rest on that is asked for by name."""
        learners = (member.learner for member in self.members)
        uncentred = next((one.kind for one in learners if not one.zero_is_neutral), None)
        return Basis(len(self.labels), uncentred, operating_points=self.operating_points)

    @property
    def effective_decision(self) -> Decision:
        """The stored decision, without what the model abstains from."""
        return self.decision if self.abstention is None else self.abstention.raised(self.decision)

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every trained label for every document."""
        if len(self.members) == 1:
            return self.members[0].scores(documents, jobs=jobs)
        return added_up(self.members, [m.scores(documents, jobs=jobs) for m in self.members])

    def probabilities(self, scores: Scores) -> NDArray[np.float32] | None:
        """The probabilities that scores mean, by column; None without a calibration."""
        return None if self.calibration is None else self.calibration.probabilities(scores)

    def unknown_terms(
        self, texts: Sequence[str], *, are_own: bool = False
    ) -> NDArray[np.float64] | None:
        """The share of each text's terms that the first member does not know, where it can tell."""
        return self.members[0].vectorizer.unknown_terms(texts, are_own=are_own)

    def text_scorer(self) -> Any:
        """What scores a text, or picks its labels, in one kernel; None where there is no such."""
        is_plain = len(self.members) == 1 and self.relabelling is None
        return self.members[0].fused.scorer() if is_plain else None

    def decide(self, documents: Sequence[Any]) -> Marks:
        """Mark the labels each document gets; where the model abstains it gets none."""
        return self.marks(self.scores(documents), documents)

    def marks(self, scores: Scores, documents: Sequence[Any]) -> Marks:
        """The same for documents whose scores are known."""
        decision = self.effective_decision
        if self.relabelling is None:
            marks = decision.decide(scores)
        else:
            marks = RelabelledDecision(decision, self.relabelling).decide(scores)
        return marks if self.hand_rules is None else self.hand_rules.corrected(marks, documents)

    def state(self) -> State:
        """Label names, members, decision, and what else there is."""
        parts = {f"member{i}": member.state() for i, member in enumerate(self.members)}
        parts["decision"] = self.decision.state()
        for name in TUNED:
            part = getattr(self, name)
            if part is not None:
                parts[name] = part.state()
        further = (
            ("relabelling", self.relabelling),
            ("taxonomy", self.taxonomy),
            ("hand_rules", self.hand_rules),
        )
        parts |= {name: part.state() for name, part in further if part is not None}
        names = pack_strings(self.labels.names, "labels")
        return State("classifier", {"members": len(self.members)}, names, parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal classifier again."""
        names = range(state.settings["members"])
        members = tuple(Member.from_state(state.parts[f"member{i}"]) for i in names)
        decision = state.parts["decision"]
        tuned: dict[str, Any] = {
            name: kind.from_state(state.parts[name])
            for name, kind in TUNED.items()
            if name in state.parts
        }
        labels = answered = LabelIndex(tuple(unpack_strings(state.arrays, "labels")))
        if "relabelling" in state.parts:
            relabelling = Relabelling.from_state(state.parts["relabelling"], len(labels))
            tuned["relabelling"], answered = relabelling, relabelling.labels
        if "taxonomy" in state.parts:
            tuned["taxonomy"] = Taxonomy.from_state(state.parts["taxonomy"], answered)
        if "hand_rules" in state.parts:
            words = members[0].vectorizer.word_analysis()
            tuned["hand_rules"] = HandRules.from_state(state.parts["hand_rules"], answered, words)
        return cls(labels, members, Decision.from_state(decision), **tuned)


TUNED: dict[str, Any] = {
    "hulls": Hulls,
    "expectations": Expectations,
    "calibration": Calibration,
    "abstention": Abstention,
}


def added_up(members: Sequence[Member], scores: Sequence[Scores]) -> Scores:
    """The weighted sum of the members' scores; -inf only where no member gives a score."""
    total = np.zeros(scores[0].shape, np.float32)
    unscored = np.ones(total.shape, np.bool_)
    for member, own in zip(members, scores, strict=True):
        missing = own == -np.inf
        total += np.float32(member.weight) * np.where(missing, np.float32(member.floor), own)
        unscored &= missing
    total[unscored] = -np.inf
    return total

"""The whole way of a document in one class: text → features → scores → decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from app.arrays import Marks, Scores
from app.decisions import decision_class
from app.decisions.base import Decision
from app.labels import LabelIndex
from app.learners import learner_class
from app.learners.base import Learner
from app.state import State, pack_strings, unpack_strings
from app.vectorizers import vectorizer_class
from app.vectorizers.base import Vectorizer


@dataclass(frozen=True, slots=True)
class Member:
    """A learner with the features it was trained on."""

    vectorizer: Vectorizer
    learner: Learner

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document."""
        return self.learner.scores(self.vectorizer.transform(documents, jobs=jobs), jobs=jobs)

    def state(self) -> State:
        """The two parts."""
        parts = {"vectorizer": self.vectorizer.state(), "learner": self.learner.state()}
        return State("member", parts=parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal member again."""
        vectorizer, learner = state.parts["vectorizer"], state.parts["learner"]
        return cls(
            vectorizer_class(vectorizer.kind).from_state(vectorizer),
            learner_class(learner.kind).from_state(learner),
        )


@dataclass(frozen=True, slots=True)
class Classifier:
    """A trained model: immutable, so a running server may share it between threads."""

    labels: LabelIndex
    members: tuple[Member, ...]
    decision: Decision

    @property
    def is_ready_made(self) -> bool:
        """Whether documents are rows of features, not texts."""
        return any(member.vectorizer.kind == "ready-made" for member in self.members)

    def scores(self, documents: Sequence[Any], *, jobs: int = 1) -> Scores:
        """Score every label for every document."""
        return self.members[0].scores(documents, jobs=jobs)

    def decide(self, documents: Sequence[Any]) -> Marks:
        """Mark the labels each document gets."""
        return self.decision.decide(self.scores(documents))

    def state(self) -> State:
        """Members, decision and label names."""
        parts = {f"member{i}": member.state() for i, member in enumerate(self.members)}
        parts["decision"] = self.decision.state()
        return State("classifier", {"members": len(self.members)}, _labels(self.labels), parts)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal classifier again."""
        names = range(state.settings["members"])
        members = tuple(Member.from_state(state.parts[f"member{i}"]) for i in names)
        decision = state.parts["decision"]
        labels = LabelIndex(tuple(unpack_strings(state.arrays, "labels")))
        return cls(labels, members, decision_class(decision.kind).from_state(decision))


def _labels(labels: LabelIndex) -> dict[str, Any]:
    return pack_strings(labels.names, "labels")

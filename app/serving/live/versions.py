"""LiveVersion: what work in the background asks of a version that is loaded (see registry.py)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from app.arrays import Scores
from app.document_drift.reference import DriftReference
from app.labels import LabelIndex, Relabelling
from app.prediction.answers import Prediction
from app.prediction.query import Query


class LiveClassifier(Protocol):
    """Scores documents."""

    @property
    def answered_labels(self) -> LabelIndex:
        """The labels that it answers with."""
        ...

    @property
    def relabelling(self) -> Relabelling | None:
        """What its trained labels became; None where they are what they were."""
        ...

    def scores(self, documents: Sequence[Any]) -> Scores:
        """Score every trained label for every document."""
        ...


class LiveModel(Protocol):
    """A trained artifact."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def version(self) -> str:
        """Which version of it."""
        ...

    @property
    def classifier(self) -> LiveClassifier:
        """What scores its documents."""
        ...

    @property
    def has_drift_reference(self) -> bool:
        """Whether it keeps what its held-out documents were like."""
        ...

    @property
    def drift_reference(self) -> DriftReference | None:
        """What they were like."""
        ...


class LivePlan(Protocol):
    """A query resolved against a version."""

    def predictions(self, texts: Sequence[str]) -> list[Prediction]:
        """One prediction a text."""
        ...


class LiveVersion(Protocol):
    """A version ready to answer."""

    @property
    def model(self) -> LiveModel:
        """The version itself."""
        ...

    def plan(self, query: Query) -> LivePlan:
        """The query's plan."""
        ...


class ShadowDocument(NamedTuple):
    """A document that both versions are to answer."""

    current: LiveVersion
    shadow: LiveVersion
    query: Query
    text: str


class CurrentVersions(Protocol):
    """What answers now, and what is tried beside it."""

    @property
    def loaded(self) -> dict[str, Any]:
        """The current versions, by model."""
        ...

    @property
    def trials(self) -> Any:
        """The versions on trial (see trials.py)."""
        ...

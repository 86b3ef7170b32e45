"""Made-up systems and documents to judge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.datasets.base import Record
from app.decisions.base import Basis
from app.decisions.decision import Decision
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.labels import LabelIndex


@dataclass
class Table:
    """A scorer that looks scores up by the document's text, which is its row number."""

    rows: NDArray[np.float32]
    names: tuple[str, ...]
    decision: Any = None
    calibration: Any = None
    hand_rules: Any = None
    relabelling: Any = None
    uncentred_learner: str | None = None
    reads_documents: bool = False
    is_ready_made: bool = False
    n_features: int = 0
    labels: LabelIndex = field(init=False)

    def __post_init__(self) -> None:
        self.labels = LabelIndex(self.names)
        self.decision = self.decision or Decision(np.zeros(len(self.names), np.float32), "zero")

    @property
    def effective_decision(self) -> Any:
        return self.decision

    @property
    def basis(self) -> Basis:
        return Basis(len(self.names), self.uncentred_learner)

    def scores(self, documents: Sequence[str], *, jobs: int = 1) -> NDArray[np.float32]:
        return self.rows[[int(text) for text in documents]]


def documents_of(label_sets: Sequence[Sequence[str]]) -> list[Record]:
    return [
        Record(str(row), tuple(labels), f"doc-{row}", row + 1)
        for row, labels in enumerate(label_sets)
    ]


def made_up(
    n: int = 60, m: int = 6, seed: int = 0, *, ties: bool = True
) -> tuple[Table, list[Record]]:
    """A system that is right more often than not, with ties, unscored pairs and empty documents."""
    rng = np.random.default_rng(seed)
    names = tuple(f"label-{column}" for column in range(m))
    truth = rng.random((n, m)) < np.linspace(0.05, 0.5, m)
    truth[rng.random(n) < 0.1] = False
    scores = truth * 1.2 - 0.6 + rng.normal(size=(n, m))
    scores = (np.round(scores * 4) / 4 if ties else scores).astype(np.float32)
    scores[rng.random((n, m)) < 0.03] = -np.inf
    label_sets = [[names[c] for c in np.flatnonzero(row)] for row in truth]
    return Table(scores, names), documents_of(label_sets)


def info(m: int = 6, n: int = 1000) -> JudgedModel:
    return JudgedModel("made-up", "1", np.array([0, 2, 7, 30, 60, 400][:m] * (m // 6 + 1))[:m], n)


def judged(system: Table, documents: Any, **options: Any) -> dict[str, Any]:
    known = info(len(system.names))
    return evaluate(system, documents, EvaluationOptions(**options), info=known).as_dict()

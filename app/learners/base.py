"""The one protocol every learner keeps: what it must define, and every hook with its default."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.catalogue import find
from app.engine import Engine, Task, TaskArrays, Workload
from app.folds import Folds
from app.heldout import HeldOut
from app.kernels.linear.types import LinearArrays
from app.learners import LEARNERS
from app.learners.ordered_map import ordered_map
from app.progress import Progress, silent
from app.resources.need import DataSizes, FitBytes
from app.resources.scratch import ScratchFolder
from app.state import State

HeldOutRows: TypeAlias = Callable[[Features, Folds], Features]
"""(features, folds) → the rows as the model that is to score each of them sees them."""

SelectedRows: TypeAlias = Callable[[NDArray[Any]], Features]
"""(documents) → the rows of all documents on the columns that these alone choose."""

LTC_FEATURES: Mapping[str, Any] = {"scheme": "ltc", "stop_words": "english", "min_df": 2}
"""What most learners of Yang (1999) read: SMART's ltc weights of terms that are worth a count."""


def unchanged(features: Features, folds: Folds) -> Features:
    """The rows as they are: what holds for features whose values do not depend on one another."""
    return features


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to fit, apart from the learner's own settings.

    The result depends neither on `jobs` nor on `engine`.
    """

    jobs: int = 1
    seed: int = 0
    device: str = "auto"
    progress: Progress = silent
    valid: tuple[Features, Truth] | None = None
    """Validation documents, for early stopping; None: there are none."""
    checkpoint: Path | None = None
    """The folder where a long training saves its best state for `--resume`; None: nowhere."""
    word_vectors: NDArray[np.float32] | None = None
    """Pre-trained vectors by word number (`Vectorizer.word_vectors`), for networks."""
    ids: Sequence[str] | None = None
    """Names of the documents that are fitted to, for learners that keep them; None: no names."""
    label_rows: Features | None = None
    """The labels' names and descriptions as documents, a row a label; None: features are no texts.
    """
    held_out_rows: HeldOutRows = unchanged
    """How documents look to a model that was fitted without them (`Vectorizer.held_out_rows`)."""
    selected_rows: SelectedRows | None = None
    """The rows for a model that is fitted to some documents, where columns are selected by them
    (`Vectorizer.selected_rows`); None: columns are the same for every model."""
    engine: Engine | None = None
    """Where workloads are run; None: in `jobs` threads of this process."""
    scratch: ScratchFolder | None = None
    """Where large arrays lie that are seldom read; None: in memory."""

    def moved(self, features: Features) -> Features:
        """Equal rows, in files where there is a folder for them."""
        return features if self.scratch is None else self.scratch.moved_rows(features)

    def map(self, work: Workload, tasks: Sequence[Task]) -> Iterator[TaskArrays]:
        """What each task of a workload gives, in the order of the tasks."""
        if self.engine is None:
            return ordered_map(work.run, tasks, self.jobs)
        return self.engine.map(work, tasks)

    def cpu_seconds(self) -> float:
        """CPU seconds so far, of this process and of the engine's tasks: for differences."""
        return process_time() + (self.engine.cpu_seconds() if self.engine else 0.0)


class Contributions(NamedTuple):
    """What each feature of one document adds to one label's score: with `bias`, they sum to it."""

    weights: NDArray[np.floating[Any]]
    bias: float
    is_approximate: bool = False
    """Whether the weights are estimates (gradients of a network); the sum is exact all the same."""


class Evidence(NamedTuple):
    """What one label's score of one document rests on where that is no term.

    `weights` and `bias` sum to the score.
    """

    kind: str
    """`neighbour` (names are ids of training documents) or `rule`."""
    names: Sequence[str]
    weights: NDArray[np.floating[Any]]
    bias: float


class CostTrial(NamedTuple):
    """Costs C of a document's loss to try, and how many labels there are in all."""

    costs: tuple[float, ...]
    """Empty: as the settings say."""
    n_labels: int
    stage: str
    """What progress calls it."""


class Learner(Protocol):
    """Learns labels from features. Settings in the constructor, data in `fit`, then immutable.

    A learner is a class that inherits from this one. It states `kind` and defines `fit`, `scores`,
    `state` and `from_state`. Everything else has a default below, which holds for any learner; a
    learner overrides it where it differs or can do more.
    """

    kind: ClassVar[str]
    """Its name in the catalogue, in recipes and in artifacts."""
    vectorizer_kind: ClassVar[str] = "tfidf"
    """The kind of vectorizer it reads, unless a recipe names another."""
    zero_is_neutral: ClassVar[bool] = False
    """Whether `score > 0` is a sensible decision (margins, logits); else `zero` is refused."""
    reads_label_names: ClassVar[bool] = False
    """Whether it reads what labels are called (`Fitting.label_rows`)."""
    needs_validation_set: ClassVar[bool] = False
    """Whether one part of the documents is held out for early stopping and for tuning decisions;
    else decisions are tuned on out-of-fold scores."""

    settings_type: ClassVar[type | None] = None
    """The dataclass whose fields the constructor takes as `**settings`; None: it names them all."""
    feature_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of its vectorizer that differ from the vectorizer's defaults; a recipe's own win."""
    tuning_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of the decision's tuning that differ from its defaults; a recipe's own win."""
    decision_settings: ClassVar[Mapping[str, Any]] = {}
    """The decision of a recipe that names none (`name`, `folds`), where it is not the usual one."""
    untuned_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of the learner for the decision `zero`, where its vectorizer keeps its defaults."""

    @property
    def score_tolerance(self) -> float:
        """How far scores may differ between processors, as a share of 1 + |score|.

        They add up in another order; damage makes far larger differences.
        """
        return 1e-3

    @property
    def rules_file(self) -> str:
        """A file of hand-written rules that decide for a model of this learner; empty: none."""
        return ""

    @abstractmethod
    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Learn from features (documents, columns) and truth (documents, labels)."""

    @abstractmethod
    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Dense scores of a chunk of documents; -inf where there is none. Never NaN."""

    @abstractmethod
    def state(self) -> State:
        """Everything needed to build an equal learner: JSON settings and arrays.

        What a learner keeps of its training documents (a sparse matrix, say) is arrays, too.
        """

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again, on memory-mapped, read-only arrays."""

    def fit_with_held_out(
        self, features: Features, truth: Truth, folds: Folds, fitting: Fitting
    ) -> HeldOut | None:
        """Learn, and scores of `folds.scored()` at less than the price of a fit for every fold.

        None where there is no such short cut: nothing is learnt then, and copies of the learner
        are fitted fold after fold (`out_of_fold/fitting.py`).
        """
        return None

    def held_out_at_costs(
        self, features: Features, truth: Truth, folds: Folds, trial: CostTrial, fitting: Fitting
    ) -> list[Scores] | None:
        """Held-out scores (documents, labels) at each cost C; None where there is no C to try."""
        return None

    def for_labels(self, labels: NDArray[np.int64]) -> "Learner | None":
        """An unfitted learner that would learn these labels as this one does, each on its own.

        None where labels are learnt together.
        """
        return None

    def bytes_of_fit(self, sizes: DataSizes) -> FitBytes:
        """The most memory that a fit needs, out-of-fold scores included, beside what is in use.

        By default features (8 bytes an entry), as much again for a copy of them that a fold or the
        learner itself makes, and the values of held-out rows.
        """
        copies = (8 + 5 * (sizes.n_folds > 1)) * sizes.n_entries
        held_out = sizes.held_out_bytes
        return FitBytes(8 * sizes.n_entries + copies + held_out, copies)

    def problems_of_fit(self, n_labels: int) -> int | None:
        """How many two-class problems one fit to so many labels solves; None: it solves none."""
        return None

    def contributions(
        self, columns: NDArray[Any], values: NDArray[np.float32], labels: Sequence[int]
    ) -> list[Contributions] | None:
        """What each feature of a document adds to each label's score; None: no score is a sum.

        `columns` and `values` are the document's row as `Vectorizer.term_spans` gives it.
        """
        return None

    def evidence(
        self,
        columns: NDArray[Any],
        values: NDArray[np.float32],
        labels: Sequence[int],
        terms: Sequence[str],
    ) -> list[Evidence] | None:
        """What each label's score rests on where it is no sum over terms; None: not to be said.

        `columns` and `values` as in `contributions`, `terms` is what each column stands for.
        """
        return None

    def label_rules(self, label: int, terms: Sequence[str]) -> list[tuple[str, float]] | None:
        """The rules by which one label is scored, written out, each with its score; None: no rules.

        `terms` is what each column stands for.
        """
        return None

    def linear_weights(self) -> LinearArrays | None:
        """The weights and biases where score = weights · features + bias; None for other scores.

        With a vectorizer that has `fitted_parts`, texts are then scored by one kernel a part.
        """
        return None


def learner_class(kind: str) -> type[Learner]:
    """The class behind a catalogue name."""
    learner: type[Learner] = find(LEARNERS, kind, "learner")
    return learner

"""NetworkLearner: everything the networks share as learners; each network adds its own layers.

The networks differ in their layers and in how a batch is put together, and in nothing else, so
this one base class is what keeps every file of this folder to its network.
"""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.arrays import Features, Scores, Truth
from app.errors import DamagedArtifactError, InvalidDataError, InvalidRequestError
from app.learners.base import Contributions, Fitting, Learner
from app.learners.neural.cooccurrence import cooccurrence_vectors
from app.learners.neural.explanation import word_contributions
from app.learners.neural.layers.network import Network, WordNetwork
from app.learners.neural.layers.words import Words
from app.learners.neural.training.batches import UNKNOWN, ids_of
from app.learners.neural.training.checkpoints import Training, arrays_of, fingerprint
from app.learners.neural.training.devices import (
    bound_threads,
    bounded_threads,
    device_for,
    reproducible,
)
from app.learners.neural.training.loop import NetworkTraining, network_scores, train
from app.learners.neural.training.settings import TrainingSettings
from app.learners.neural.training.validation import check_metric
from app.state import State


@dataclass(kw_only=True)
class NetworkLearner(TrainingSettings, Learner):
    """A network as a learner: fit by the shared loop, scores are logits."""

    vectorizer_kind: ClassVar[str] = "sequences"
    zero_is_neutral: ClassVar[bool] = True
    needs_validation_set: ClassVar[bool] = True
    """Folds would cost a training each."""
    tuning_settings: ClassVar[Mapping[str, Any]] = {"shrinkage": 10}
    """Logits of all labels are on one scale, so rare labels' cuts are shrunk to a common one."""

    network: Network = field(init=False, repr=False, compare=False)
    sizes: dict[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    history: list[dict[str, float]] = field(
        init=False, repr=False, compare=False, default_factory=list
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_metric(self.metric)

    @abstractmethod
    def build(self, sizes: dict[str, Any]) -> Network:
        """The network, not yet trained; `sizes` has `inputs` (ids or terms) and `labels`."""

    def build_served(self, sizes: dict[str, Any]) -> Network:
        """The network that a stored model's weights fit; the one that was trained, as a rule."""
        return self.build(sizes)

    def collate(self, features: Features, rows: NDArray[np.int64]) -> Any:
        """A batch of some documents, as the network takes it."""
        return ids_of(features, rows, size=self.sizes["inputs"])

    def measure(self, features: Features, fitting: Fitting) -> dict[str, Any]:
        """The network's `inputs`: the word numbers that occur in training, or have a vector."""
        known = 0 if fitting.word_vectors is None else len(fitting.word_vectors)
        return {"inputs": max(int(features.data.max(initial=1)) + 1, known, 2)}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Train with early stopping; the best weights on the validation documents stay."""
        fitting = fitting or Fitting()
        if features.shape[0] == 0:
            raise InvalidDataError("there are no documents to train on")
        device = device_for(fitting.device)
        train_part, valid_part = self._parts(features, truth, fitting)
        self.sizes = {**self.measure(features, fitting), "labels": truth.shape[1]}
        with bounded_threads(self.threads), reproducible(device):
            torch.manual_seed(fitting.seed)
            self.network = self.build(self.sizes).to(device)
            self.prepare(train_part, fitting)
            self.history = self.train(self._job(train_part, valid_part, fitting, device)).history
        self.network.requires_grad_(False)
        return self

    def train(self, job: NetworkTraining) -> Training:
        """Run the job; the network then has its best weights."""
        return train(job)

    def prepare(self, part: tuple[Features, Truth], fitting: Fitting) -> None:
        """Set starting weights from the data: word vectors where there are any, and the bias.

        A label's bias starts at the log-odds of its frequency, so that the first epochs need not
        learn that most labels are rare.
        """
        if isinstance(self.network, WordNetwork):
            self._start_words(self.network.words, part[0], fitting)
        with torch.no_grad():
            self.network.label_bias().copy_(torch.from_numpy(_log_odds(part[1])))

    def _start_words(self, words: Words, features: Features, fitting: Fitting) -> None:
        """Known vectors, else (where chosen) those of the documents; other words start at random.

        The two are never mixed: their directions have nothing to do with each other.
        """
        size, dimensions = words.vectors.weight.shape
        if fitting.word_vectors is not None:
            if fitting.word_vectors.shape[1] != dimensions:
                wanted = f"set learner.dimensions={fitting.word_vectors.shape[1]}"
                raise InvalidRequestError(f"the word vectors have another length: {wanted}")
            words.start_from(fitting.word_vectors)
        elif self.start_vectors == "documents":
            words.start_from(cooccurrence_vectors(features, size, dimensions, seed=fitting.seed))

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Logits of every label."""
        device = next(self.network.parameters()).device
        bound_threads(jobs)
        return network_scores(self.network, self.collate, features, device=device)

    def contributions(
        self, columns: NDArray[Any], values: NDArray[Any], labels: Sequence[int]
    ) -> list[Contributions]:
        """What each word of one text adds to each label's score, approximately.

        `columns` are the text's word numbers in reading order. A repeated word has its whole
        contribution where it first stands. The bias is the rest of the score, that of unknown words
        included.
        """
        row = self.row_of(columns, values)
        scores = self.scores(row)[0]
        first, inverse = np.unique(columns, return_index=True, return_inverse=True)[1:]
        is_special = np.isin(columns, self.special_numbers(columns))
        contributions = []
        for label in labels:
            by_position = self.contributions_approximate(row, label)
            by_word = np.zeros(len(columns))
            by_word[first] = np.bincount(inverse, by_position, minlength=len(first))
            by_word[is_special] = 0.0
            rest = float(scores[label] - by_word.sum())
            contributions.append(Contributions(by_word, rest, is_approximate=True))
        return contributions

    def row_of(self, columns: NDArray[Any], values: NDArray[Any]) -> Features:
        """One text's features as a row."""
        numbers = np.asarray(columns, np.int32)
        shape = (1, max(len(numbers), 1))
        return csr_array((numbers, np.arange(len(numbers)), [0, len(numbers)]), shape=shape)

    def special_numbers(self, columns: NDArray[Any]) -> list[int]:
        """The numbers among `columns` that stand for no word of the text."""
        return [UNKNOWN]

    def contributions_approximate(self, features: Features, label: int) -> NDArray[np.float32]:
        """How much each stored entry of one row (a word's position) speaks for a label.

        Gradients times inputs: approximate, and not a split of the score into parts.
        """
        self.network.eval()
        device = next(self.network.parameters()).device
        bound_threads(1)
        batch = self.collate(features, np.zeros(1, np.int64)).to(device)
        by_position = self.by_gradient(batch, label).float().cpu().numpy()
        return np.asarray(by_position[: features.nnz], np.float32)

    def by_gradient(self, batch: Any, label: int) -> Any:
        """The same for a batch of one document, as a tensor."""
        return word_contributions(self.network, batch, label)

    def on(self, device: str) -> Self:
        """This learner, from now on answering on another device (`auto|cpu|cuda|mps`)."""
        self.network.to(device_for(device))
        return self

    def state(self) -> State:
        """All settings, and the network's weights by their names."""
        settings = {**self._settings(), "sizes": self.sizes}
        return State(self.kind, settings, arrays_of(self.network.state_dict()))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build the network again and put the arrays in place, memory-mapped as they are."""
        settings = dict(state.settings)
        sizes = settings.pop("sizes")
        learner = cls(**settings)
        learner.sizes = sizes
        try:
            with torch.device("meta"):
                learner.network = learner.build_served(sizes)
            learner.network.load_state_dict(_tensors(state.arrays), assign=True)
        except (KeyError, RuntimeError, TypeError) as error:
            raise DamagedArtifactError("the network's weights do not fit its settings") from error
        learner.network.requires_grad_(False).eval()
        return learner

    def _settings(self) -> dict[str, Any]:
        settings = [setting.name for setting in fields(self) if setting.init]
        values = {name: getattr(self, name) for name in settings}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def _parts(
        self, features: Features, truth: Truth, fitting: Fitting
    ) -> tuple[tuple[Features, Truth], tuple[Features, Truth] | None]:
        """Training documents, and validation documents where there are any.

        A share of 0, or fewer than 10 documents, leaves none: training then runs all its epochs.
        """
        if fitting.valid is not None:
            return (features, truth), fitting.valid
        order = np.random.default_rng([fitting.seed, 7]).permutation(features.shape[0])
        held = round(self.valid_share * len(order)) if len(order) >= 10 else 0
        if held == 0:
            return (features, truth), None
        out, kept = np.sort(order[:held]), np.sort(order[held:])
        return (features[kept], truth[kept]), (features[out], truth[out])

    def _job(
        self,
        train_part: tuple[Features, Truth],
        valid_part: tuple[Features, Truth] | None,
        fitting: Fitting,
        device: Any,
    ) -> NetworkTraining:
        folder = None
        if fitting.checkpoint:
            known = {"kind": self.kind, **self._settings()}
            folder = fitting.checkpoint / fingerprint(known, *train_part, fitting.seed)
        return NetworkTraining(
            network=self.network,
            collate=self.collate,
            train=train_part,
            valid=valid_part,
            settings=self,
            device=device,
            seed=fitting.seed,
            progress=fitting.progress,
            name=self.kind,
            folder=folder,
        )


def _log_odds(truth: Truth) -> NDArray[np.float32]:
    counts = np.bincount(truth.indices, minlength=truth.shape[1])
    odds = (counts + 0.5) / (truth.shape[0] - counts + 0.5)
    return np.log(odds).astype(np.float32)


def _tensors(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Tensors on the arrays' own memory: several processes then share one mapped file."""
    with warnings.catch_warnings():
        # torch warns that it could write to a read-only array: nothing here ever does
        warnings.simplefilter("ignore", UserWarning)
        return {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}

"""mlp: tf-idf features into a hidden layer that all labels share, or into one for each label."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import nn
from torch.nn import functional

from app.arrays import Features
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.explanation import term_contributions
from app.learners.neural.layers.batch_invariant import BatchInvariant
from app.learners.neural.layers.network import Network
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.training.batches import Bags, bags_of

MOST_WEIGHTS = 2**28
"""Of networks of their own: 1 GB, and three times that while they are trained."""


class MlpNetwork(Network):
    """Weighted sum of term vectors, one hidden layer, one output a label.

    The first layer adds up the vectors of a document's own terms: the features stay sparse.
    """

    def __init__(self, terms: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.n_labels = labels
        self.terms = nn.EmbeddingBag(terms, hidden, mode="sum", sparse=True)
        self.hidden_bias = nn.Parameter(self.terms.weight.new_zeros(hidden))
        self.dropout = nn.Dropout(dropout)
        self.output = BatchInvariant(hidden, labels)
        nn.init.normal_(self.terms.weight, std=hidden**-0.5)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.output.bias

    def forward(self, bags: Bags) -> Any:
        """Logits (documents, labels)."""
        sums = self.terms(bags.terms, bags.starts, per_sample_weights=bags.weights)
        return self.output(self.dropout(functional.relu(sums + self.hidden_bias)))


class SeparateMlpNetwork(Network):
    """A network of its own for every label, with nothing in common (Yang 1999: NNet.PARC).

    The hidden layers stand side by side in one matrix; each label reads its own part of it.
    """

    def __init__(self, terms: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.n_labels = labels
        self.terms = nn.EmbeddingBag(terms, hidden * labels, mode="sum", sparse=True)
        self.hidden_bias = nn.Parameter(self.terms.weight.new_zeros(hidden * labels))
        self.dropout = nn.Dropout(dropout)
        self.weight = nn.Parameter(self.terms.weight.new_empty(labels, hidden))
        self.bias = nn.Parameter(self.terms.weight.new_zeros(labels))
        nn.init.normal_(self.terms.weight, std=hidden**-0.5)
        nn.init.normal_(self.weight, std=hidden**-0.5)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.bias

    def forward(self, bags: Bags) -> Any:
        """Logits (documents, labels)."""
        sums = self.terms(bags.terms, bags.starts, per_sample_weights=bags.weights)
        hidden = self.dropout(functional.relu(sums + self.hidden_bias))
        own = hidden.reshape(len(hidden), self.n_labels, -1)
        return (own * self.weight).sum(dim=2) + self.bias


@dataclass(kw_only=True)
class Mlp(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "mlp"
    vectorizer_kind: ClassVar[str] = "tfidf"
    needs_validation_set: ClassVar[bool] = False
    feature_settings: ClassVar[Mapping[str, Any]] = {"scheme": "log"}

    shared: bool = True
    """Whether labels share one hidden layer of `hidden` units; else each has `own_hidden`."""
    hidden: int = 512
    own_hidden: int = 8
    dropout: float = 0.5
    epochs: int = 8
    batch_size: int = 128
    learning_rate: float = 0.005
    term_rate: float = 2.5
    """How far a document's hidden vector (of length 1 or so) moves in a step by its own terms."""
    schedule: str = "linear"
    valid_share: float = 0.0

    def embedding_rate(self) -> float:
        """The learning rate of the term vectors."""
        return self.term_rate

    def build(self, sizes: dict[str, Any]) -> Network:
        """The network, not yet trained."""
        inputs, labels = sizes["inputs"], sizes["labels"]
        if self.shared:
            return MlpNetwork(inputs, self.hidden, labels, self.dropout)
        _check_size(inputs, self.own_hidden, labels)
        return SeparateMlpNetwork(inputs, self.own_hidden, labels, self.dropout)

    def collate(self, features: Features, rows: NDArray[np.int64]) -> Bags:
        """A batch of weighted terms."""
        return bags_of(features, rows)

    def measure(self, features: Features, fitting: Fitting) -> dict[str, Any]:
        """An input for each column."""
        return {"inputs": int(features.shape[1])}

    def by_gradient(self, batch: Bags, label: int) -> Any:
        """A contribution a term."""
        return term_contributions(self.network, batch, label)

    def row_of(self, columns: NDArray[Any], values: NDArray[Any]) -> Features:
        """One text's features as a row."""
        row = (np.asarray(values, np.float32), np.asarray(columns), [0, len(columns)])
        return csr_array(row, shape=(1, self.sizes["inputs"]))

    def special_numbers(self, columns: NDArray[Any]) -> list[int]:
        """None: every column is a term."""
        return []


def _check_size(terms: int, hidden: int, labels: int) -> None:
    """Refuse, before any work, networks that would not fit into memory."""
    if terms * hidden * labels > MOST_WEIGHTS:
        raise InvalidRequestError(
            f"mlp with shared = false needs a weight for each of {terms:,} terms, {labels:,} "
            f"labels and {hidden} units, at most {MOST_WEIGHTS:,} in all; keep fewer terms "
            "(features.max_features), or leave shared out"
        )

"""mlp: TF-IDF features straight into a hidden layer that all labels share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import nn
from torch.nn import functional

from app.arrays import Features
from app.learners.base import Fitting
from app.learners.neural.explanation import term_contributions
from app.learners.neural.layers.batch_invariant import BatchInvariant
from app.learners.neural.layers.network import Network
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.training.batches import Bags, bags_of


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


@dataclass(kw_only=True)
class Mlp(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "mlp"
    features: ClassVar[str] = "tfidf"
    needs_validation_set: ClassVar[bool] = False
    feature_settings: ClassVar[Mapping[str, Any]] = {"scheme": "log"}

    hidden: int = 512
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
        return MlpNetwork(sizes["inputs"], self.hidden, sizes["labels"], self.dropout)

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

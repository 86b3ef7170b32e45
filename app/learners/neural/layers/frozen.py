"""A network whose encoder, or whose lower layers, stay as they are: those run once a document."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from app.arrays import Features
from app.learners.neural.layers.network import Network
from app.learners.neural.layers.transformer_network import (
    TransformerNetwork,
    WindowBatch,
    document_means,
)
from app.learners.neural.training.batches import scoring_batches

MOST_BYTES = 2_000_000_000
"""Of kept states; what would take more is computed again each time."""


class Pooled(Network):
    """The network up to the mean over a document's tokens."""

    scoring_batch_size: ClassVar[int] = TransformerNetwork.scoring_batch_size

    def __init__(self, network: TransformerNetwork) -> None:
        super().__init__()
        self.network, self.n_labels = network, network.output.in_features

    def forward(self, batch: WindowBatch) -> Any:
        """Means (documents, dimensions)."""
        return self.network.pooled(self.network.encoder.tokens(batch.numbers()), batch)


class Head(Network):
    """The network from that mean on; its weights are the network's own."""

    def __init__(self, network: TransformerNetwork) -> None:
        super().__init__()
        self.n_labels = network.n_labels
        self.dropout, self.output = network.dropout, network.output

    def forward(self, rows: Any) -> Any:
        """Logits (documents, labels)."""
        return self.output(self.dropout(rows))


def rows_of(features: Features, rows: NDArray[np.int64]) -> Any:
    """Some rows, dense."""
    return torch.from_numpy(features[rows].toarray())


class StateBatch(NamedTuple):
    """Windows, and what the frozen layers made of their tokens."""

    windows: WindowBatch
    states: Any

    def to(self, device: Any) -> "StateBatch":
        """The same on another device, in single precision."""
        return StateBatch(self.windows.to(device), self.states.to(device, torch.float32))


class UpperLayers(Network):
    """The network above its frozen layers; its weights are the network's own."""

    scoring_batch_size: ClassVar[int] = TransformerNetwork.scoring_batch_size

    def __init__(self, network: TransformerNetwork, n_below: int) -> None:
        super().__init__()
        self.n_labels = network.n_labels
        self.layers = network.encoder.layers[n_below:]
        self.dropout, self.output = network.dropout, network.output

    def forward(self, batch: StateBatch) -> Any:
        """Logits (documents, labels)."""
        states, inside = batch.states, batch.windows.inside()[:, None, None, :]
        for layer in self.layers:
            states = layer(states, inside)
        return self.output(self.dropout(document_means(states, batch.windows)))


class LowerStates:
    """What the frozen layers make of documents, in half precision, kept where memory allows.

    They are rounded whether they are kept or not, so that training reads the same either way.
    """

    def __init__(self, network: TransformerNetwork, n_layers: int, collate: Any) -> None:
        self.encoder, self.n_layers, self.collate = network.encoder, n_layers, collate
        self.encoder.eval()  # once: the layers above it are put back to training by themselves
        self._kept: dict[int, Any] = {}

    def keep(self, features: Features, device: Any) -> None:
        """Run the frozen layers over these documents now, unless their states take too much."""
        size = self.encoder.tokens.embedding_dim
        if features.nnz * size * 2 > MOST_BYTES:
            return
        states = torch.empty((features.nnz, size), dtype=torch.float16)
        for rows in scoring_batches(features, TransformerNetwork.scoring_batch_size):
            windows = self.collate(features, rows)
            found = self._computed(windows, device)[windows.ids > 0]
            states[_places(features, rows)] = found.cpu()
        self._kept[id(features)] = states

    def batch(self, features: Features, rows: NDArray[np.int64]) -> StateBatch:
        """A batch of these documents."""
        windows, kept = self.collate(features, rows), self._kept.get(id(features))
        device = self.encoder.tokens.weight.device
        if kept is None or not np.diff(features.indptr)[rows].all():
            return StateBatch(windows, self._computed(windows, device))  # an empty text has a mark
        states = torch.zeros((*windows.ids.shape, kept.shape[1]), dtype=kept.dtype)
        states[windows.ids > 0] = kept[_places(features, rows)]
        return StateBatch(windows, states)

    def _computed(self, windows: WindowBatch, device: Any) -> Any:
        windows = windows.to(device)
        with torch.inference_mode():
            vectors = self.encoder.tokens(windows.numbers())
            states = self.encoder.lower(vectors, windows.inside(), self.n_layers)
        return states.to(torch.float16)


def _places(features: Features, rows: NDArray[np.int64]) -> Any:
    """Where the tokens of some documents stand among all tokens, document by document."""
    spans = [np.arange(features.indptr[row], features.indptr[row + 1]) for row in rows]
    return torch.from_numpy(np.concatenate(spans))

"""transformer: fine-tunes a pre-trained encoder from a local folder; long documents in windows."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import nn
from torch.nn import functional

from app.arrays import Features, Truth
from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.layers.batch_invariant import BatchInvariant
from app.learners.neural.layers.encoder import Architecture, Encoder
from app.learners.neural.layers.network import Network
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.pretrained import read_architecture, read_weights
from app.learners.neural.training.batches import ids_of
from app.learners.neural.training.checkpoints import Training
from app.learners.neural.training.loop import NetworkTraining, network_scores


class WindowBatch(NamedTuple):
    """Windows (windows, tokens), 0 after their end, and the document of each."""

    ids: Any
    documents: Any
    n_documents: int

    def to(self, device: Any) -> "WindowBatch":
        """The same on another device."""
        return WindowBatch(self.ids.to(device), self.documents.to(device), self.n_documents)


@dataclass(kw_only=True)
class Transformer(NetworkLearner):
    """The settings of the network and of its training; `checkpoint` is a folder on this machine."""

    kind: ClassVar[str] = "transformer"
    features: ClassVar[str] = "wordpieces"

    checkpoint: str = ""
    frozen: bool = False
    """Whether the encoder stays as it is, and only the layer over it learns: every document is then
    encoded once, and a learning rate of about 0.005 is in place."""
    dropout: float = 0.1
    epochs: int = 15
    batch_size: int = 16
    optimizer: str = "adamw"
    learning_rate: float = 0.00005
    weight_decay: float = 0.001
    schedule: str = "linear"
    warmup: float = 0.1
    clip: float = 1.0

    def measure(self, features: Features, fitting: Fitting) -> dict[str, Any]:
        """The sizes of the checkpoint's encoder."""
        return asdict(read_architecture(self.checkpoint))

    def build(self, sizes: dict[str, Any]) -> Network:
        """The network; its weights come from the checkpoint, or from the artifact."""
        shape = {name: value for name, value in sizes.items() if name != "labels"}
        return TransformerNetwork(Architecture(**shape), self.dropout, sizes["labels"])

    def prepare(self, part: tuple[Features, Truth], fitting: Fitting) -> None:
        """Take over the encoder's weights."""
        super().prepare(part, fitting)
        encoder = self.network.encoder
        encoder.load_state_dict(read_weights(self.checkpoint))
        encoder.requires_grad_(not self.frozen)

    def train(self, job: NetworkTraining) -> Training:
        """Run the job; over a frozen encoder only on what the encoder made of the documents."""
        if not self.frozen:
            return super().train(job)
        head = Head(self.network)
        parts = [job.train, *([job.valid] if job.valid else [])]
        encoded = [(self._encoded(job, features), truth) for features, truth in parts]
        valid = encoded[1] if job.valid else None
        short = replace(job, network=head, collate=rows_of, train=encoded[0], valid=valid)
        return super().train(short)

    def _encoded(self, job: NetworkTraining, features: Features) -> Features:
        """The documents as the encoder sees them, a dense row each."""
        pooled = Pooled(self.network)
        return csr_array(network_scores(pooled, self.collate, features, device=job.device))

    def collate(self, features: Features, rows: NDArray[np.int64]) -> WindowBatch:
        """A batch of windows; tokens as stored, one above the checkpoint's own numbers."""
        batch = windows_of(ids_of(features, rows, size=self.sizes["vocabulary"] + 1).ids)
        longest = self.sizes["positions"] - self.sizes["first_position"]
        if batch.ids.shape[1] > longest:
            raise InvalidRequestError(f"this checkpoint takes a features.window of up to {longest}")
        return batch

    def by_gradient(self, batch: WindowBatch, label: int) -> Any:
        """A contribution a token."""
        return self.network.contributions(batch, label)

    def special_numbers(self, columns: NDArray[Any]) -> list[int]:
        """The marks at the beginning and the end of a window."""
        return [int(columns[at]) for at in (0, -1) if len(columns)]

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "checkpoint": ""}  # a folder here means nothing elsewhere


def windows_of(ids: Any) -> WindowBatch:
    """Rows of tokens as windows: one begins wherever the row's first token stands again."""
    starts = (ids == ids[:, :1]) & (ids > 0)
    starts[:, 0] = True
    document, begin = torch.nonzero(starts, as_tuple=True)
    ends = torch.where(document[1:] == document[:-1], begin[1:], ids.shape[1])
    ends = torch.cat([ends, ends.new_tensor([ids.shape[1]])])
    pieces = [ids[d, b:e] for d, b, e in zip(document, begin, ends, strict=True)]
    widths = [max(int((piece > 0).sum()), 1) for piece in pieces]
    padded = ids.new_zeros((len(pieces), max(widths)))
    for row, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
        padded[row, :width] = piece[:width]
    return WindowBatch(padded, document, len(ids))


class TransformerNetwork(Network):
    """Encoder → mean over all of a document's tokens → labels."""

    scoring_batch_size: ClassVar[int] = 4

    def __init__(self, shape: Architecture, dropout: float, labels: int) -> None:
        super().__init__()
        self.n_labels = labels
        self.encoder = Encoder(shape, dropout)
        self.dropout = nn.Dropout(dropout)
        self.output = BatchInvariant(shape.dimensions, labels)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.output.bias

    def forward(self, batch: WindowBatch) -> Any:
        """Logits (documents, labels)."""
        return self.from_vectors(self.encoder.tokens(_numbers(batch)), batch)

    def from_vectors(self, vectors: Any, batch: WindowBatch) -> Any:
        """Logits from token vectors."""
        return self.output(self.dropout(self.pooled(vectors, batch)))

    def pooled(self, vectors: Any, batch: WindowBatch) -> Any:
        """The mean of each document's tokens; an empty document is the mean over one token."""
        inside = batch.ids > 0
        inside[:, 0] = True
        states = self.encoder(vectors, inside) * inside[:, :, None]
        zeros = states.new_zeros((batch.n_documents, states.shape[2]))
        sums = zeros.index_add(0, batch.documents, states.sum(dim=1))
        counts = zeros[:, 0].index_add(0, batch.documents, inside.sum(dim=1).to(states.dtype))
        return sums / counts[:, None]

    def contributions(self, batch: WindowBatch, label: int) -> Any:
        """Gradient times token vector, for the tokens of the one document in the batch."""
        with torch.enable_grad():
            vectors = self.encoder.tokens(_numbers(batch)).detach().requires_grad_()
            logit = self.from_vectors(vectors, batch)[0, label]
            (gradient,) = torch.autograd.grad(logit, vectors)
        return (gradient * vectors).sum(dim=2).detach()[batch.ids > 0]


class Pooled(Network):
    """The network up to the mean over a document's tokens."""

    scoring_batch_size: ClassVar[int] = TransformerNetwork.scoring_batch_size

    def __init__(self, network: TransformerNetwork) -> None:
        super().__init__()
        self.network, self.n_labels = network, network.output.in_features

    def forward(self, batch: WindowBatch) -> Any:
        """Means (documents, dimensions)."""
        return self.network.pooled(self.network.encoder.tokens(_numbers(batch)), batch)


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


def _numbers(batch: WindowBatch) -> Any:
    return functional.relu(batch.ids - 1)  # stored one higher; padding becomes any token, unseen

"""TransformerNetwork: an encoder over windows of tokens, their mean, and a layer of labels."""

from typing import Any, ClassVar, NamedTuple

import torch
from torch.nn import functional

from app.learners.neural.layers.batch_invariant import BatchInvariant
from app.learners.neural.layers.dropout import ByteDropout
from app.learners.neural.layers.encoder import Architecture, Encoder
from app.learners.neural.layers.network import Network


class WindowBatch(NamedTuple):
    """Windows (windows, tokens), 0 after their end, and the document of each."""

    ids: Any
    documents: Any
    n_documents: int

    def to(self, device: Any) -> "WindowBatch":
        """The same on another device."""
        return WindowBatch(self.ids.to(device), self.documents.to(device), self.n_documents)

    def inside(self) -> Any:
        """Which places hold a token; an empty document has one, so that it has a mean."""
        inside = self.ids > 0
        inside[:, 0] = True
        return inside

    def numbers(self) -> Any:
        """The checkpoint's own numbers; padding becomes any token, unseen."""
        return functional.relu(self.ids - 1)  # stored one higher


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


def document_means(states: Any, batch: WindowBatch) -> Any:
    """The mean of each document's tokens, over all its windows."""
    inside = batch.inside()
    states = states * inside[:, :, None]
    zeros = states.new_zeros((batch.n_documents, states.shape[2]))
    sums = zeros.index_add(0, batch.documents, states.sum(dim=1))
    counts = zeros[:, 0].index_add(0, batch.documents, inside.sum(dim=1).to(states.dtype))
    return sums / counts[:, None]


class TransformerNetwork(Network):
    """Encoder → mean over all of a document's tokens → labels."""

    scoring_batch_size: ClassVar[int] = 4

    def __init__(
        self, shape: Architecture, dropout: float, labels: int, *, attention_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.n_labels = labels
        self.encoder = Encoder(shape, dropout, attention_dropout=attention_dropout)
        self.dropout = ByteDropout(dropout)
        self.output = BatchInvariant(shape.dimensions, labels)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.output.bias

    def forward(self, batch: WindowBatch) -> Any:
        """Logits (documents, labels)."""
        return self.from_vectors(self.encoder.tokens(batch.numbers()), batch)

    def from_vectors(self, vectors: Any, batch: WindowBatch) -> Any:
        """Logits from token vectors."""
        return self.output(self.dropout(self.pooled(vectors, batch)))

    def pooled(self, vectors: Any, batch: WindowBatch) -> Any:
        """The mean of each document's encoded tokens."""
        return document_means(self.encoder(vectors, batch.inside()), batch)

    def contributions(self, batch: WindowBatch, label: int) -> Any:
        """Gradient times token vector, for the tokens of the one document in the batch."""
        with torch.enable_grad():
            vectors = self.encoder.tokens(batch.numbers()).detach().requires_grad_()
            logit = self.from_vectors(vectors, batch)[0, label]
            (gradient,) = torch.autograd.grad(logit, vectors)
        return (gradient * vectors).sum(dim=2).detach()[batch.ids > 0]

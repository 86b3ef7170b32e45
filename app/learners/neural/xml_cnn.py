"""xml-cnn: convolutions, maxima of stretches of the document, a hidden layer (Liu et al. 2017)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.batches import Ids
from app.learners.neural.convolutions import Convolutions, dynamic_max
from app.learners.neural.learner import NetworkLearner
from app.learners.neural.loop import Network
from app.learners.neural.words import Words


@dataclass(kw_only=True)
class XmlCnn(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "xml-cnn"

    dimensions: int = 300
    filter_sizes: Sequence[int] = (2, 4, 8)
    filters: int = 128
    pools: int = 2
    """Into how many stretches a document is cut; the largest value of each is kept."""
    hidden: int = 512
    embedding_dropout: float = 0.2
    dropout: float = 0.5

    def build(self, sizes: dict[str, int]) -> Network:
        """The network, not yet trained."""
        return XmlCnnNetwork(self, sizes)


class XmlCnnNetwork(nn.Module):
    """Words → windows → maxima of each stretch → hidden layer → labels."""

    def __init__(self, settings: XmlCnn, sizes: dict[str, int]) -> None:
        super().__init__()
        self.n_labels, self.pools = sizes["labels"], settings.pools
        dimensions, widths = settings.dimensions, settings.filter_sizes
        self.words = Words(sizes["inputs"], dimensions, settings.embedding_dropout)
        self.windows = Convolutions(dimensions, settings.filters, widths)
        self.hidden = nn.Linear(settings.filters * len(widths) * settings.pools, settings.hidden)
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(settings.hidden, sizes["labels"])

    @property
    def output_bias(self) -> Any:
        """The bias of every label."""
        return self.output.bias

    def forward(self, batch: Ids) -> Any:
        """Logits (documents, labels)."""
        return self.from_vectors(self.words(batch), batch)

    def from_vectors(self, vectors: Any, batch: Ids) -> Any:
        """Logits from word vectors."""
        windows = self.windows(vectors, batch)
        found = [dynamic_max(values, counts, self.pools) for values, counts in windows]
        pooled = functional.relu(torch.cat(found, dim=1))
        return self.output(self.dropout(functional.relu(self.hidden(pooled))))

"""xml-cnn: convolutions, maxima of stretches of the document, a hidden layer (Liu et al. 2017)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn
from torch.nn import functional

from app.learners.neural.layers.batch_invariant import BatchInvariant
from app.learners.neural.layers.convolutions import LargestWindows
from app.learners.neural.layers.network import WordNetwork
from app.learners.neural.layers.words import Text, Words
from app.learners.neural.learner import NetworkLearner


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

    def build(self, sizes: dict[str, Any]) -> WordNetwork:
        """The network, not yet trained."""
        return XmlCnnNetwork(self, sizes)


class XmlCnnNetwork(WordNetwork):
    """Words → windows → maxima of each stretch → hidden layer → labels."""

    def __init__(self, settings: XmlCnn, sizes: dict[str, Any]) -> None:
        super().__init__()
        self.n_labels = sizes["labels"]
        dimensions, widths = settings.dimensions, settings.filter_sizes
        self.words = Words(sizes["inputs"], dimensions, settings.embedding_dropout)
        self.windows = LargestWindows(dimensions, settings.filters, widths, pools=settings.pools)
        self.hidden = BatchInvariant(self.windows.size, settings.hidden)
        self.dropout = nn.Dropout(settings.dropout)
        self.output = BatchInvariant(settings.hidden, sizes["labels"])

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.output.bias

    def from_words(self, text: Text) -> Any:
        """Logits from the vectors of the words."""
        pooled = functional.relu(self.windows(text))
        return self.output(self.dropout(functional.relu(self.hidden(pooled))))

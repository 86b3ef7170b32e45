"""cnn-lwan: a convolution at every place, then label-wise attention."""

from dataclasses import dataclass
from typing import Any, ClassVar

from app.learners.neural.layers.lwan import AttentionNetwork, Windows
from app.learners.neural.layers.words import Words
from app.learners.neural.learner import NetworkLearner


@dataclass(kw_only=True)
class CnnLwan(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "cnn-lwan"

    dimensions: int = 200
    filters: int = 128
    filter_size: int = 8
    embedding_dropout: float = 0.4
    encoder_dropout: float = 0.4

    def build(self, sizes: dict[str, Any]) -> AttentionNetwork:
        """The network, not yet trained."""
        words = Words(sizes["inputs"], self.dimensions, self.embedding_dropout)
        encoder = Windows(self.dimensions, self.filters, self.filter_size)
        return AttentionNetwork(words, encoder, self.encoder_dropout, sizes["labels"])

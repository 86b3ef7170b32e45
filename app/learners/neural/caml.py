"""caml: convolutional attention for multi-label classification (Mullenbach et al. 2018)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from app.learners.neural.layers.lwan import AttentionNetwork, Windows
from app.learners.neural.layers.words import Words
from app.learners.neural.learner import NetworkLearner


@dataclass(kw_only=True)
class Caml(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "caml"

    dimensions: int = 100
    filters: int = 50
    filter_size: int = 10
    embedding_dropout: float = 0.2
    encoder_dropout: float = 0.0

    def build(self, sizes: dict[str, Any]) -> AttentionNetwork:
        """The network, not yet trained."""
        words = Words(sizes["inputs"], self.dimensions, self.embedding_dropout)
        encoder = Windows(self.dimensions, self.filters, self.filter_size)
        return AttentionNetwork(words, encoder, self.encoder_dropout, sizes["labels"])

"""bigru-lwan: a gated recurrent layer that reads both ways, then label-wise attention."""

from dataclasses import dataclass
from typing import Any, ClassVar

from app.learners.neural.layers.lwan import AttentionNetwork
from app.learners.neural.layers.recurrent import Bidirectional
from app.learners.neural.layers.words import Words
from app.learners.neural.learner import NetworkLearner


@dataclass(kw_only=True)
class BigruLwan(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "bigru-lwan"

    dimensions: int = 200
    rnn_size: int = 300
    """Of both directions together."""
    rnn_layers: int = 1
    embedding_dropout: float = 0.4
    encoder_dropout: float = 0.0
    epochs: int = 8
    learning_rate: float = 0.004
    schedule: str = "linear"

    def build(self, sizes: dict[str, Any]) -> AttentionNetwork:
        """The network, not yet trained."""
        words = Words(sizes["inputs"], self.dimensions, self.embedding_dropout)
        encoder = Bidirectional("gru", self.dimensions, self.rnn_size, self.rnn_layers)
        return AttentionNetwork(words, encoder, self.encoder_dropout, sizes["labels"])

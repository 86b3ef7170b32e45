"""bilstm-lwan: a long short-term memory that reads both ways, then label-wise attention."""

from dataclasses import dataclass
from typing import Any, ClassVar

from app.learners.neural.layers.lwan import AttentionNetwork
from app.learners.neural.layers.recurrent import Bidirectional
from app.learners.neural.layers.words import Words
from app.learners.neural.learner import NetworkLearner


@dataclass(kw_only=True)
class BilstmLwan(NetworkLearner):
    """The settings of the network and of its training."""

    kind: ClassVar[str] = "bilstm-lwan"

    dimensions: int = 200
    rnn_size: int = 300
    """Of both directions together."""
    rnn_layers: int = 1
    embedding_dropout: float = 0.4
    encoder_dropout: float = 0.0

    def build(self, sizes: dict[str, Any]) -> AttentionNetwork:
        """The network, not yet trained."""
        words = Words(sizes["inputs"], self.dimensions, self.embedding_dropout)
        encoder = Bidirectional("lstm", self.dimensions, self.rnn_size, self.rnn_layers)
        return AttentionNetwork(words, encoder, self.encoder_dropout, sizes["labels"])

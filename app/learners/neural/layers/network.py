"""What training and scoring ask of a network; each network adds its layers."""

from abc import abstractmethod
from typing import Any, ClassVar

from torch import nn

from app.learners.neural.layers.words import Text, Words
from app.learners.neural.training.batches import Ids
from app.learners.neural.training.losses import Loss


class Network(nn.Module):
    """A module whose `forward` turns a batch into logits (documents, labels)."""

    n_labels: int
    scoring_batch_size: ClassVar[int] = 256
    """Documents scored at once on a CPU; fewer where the values of so many do not fit its cache."""

    @abstractmethod
    def label_bias(self) -> Any:
        """The parameter that is a bias per label: it starts at the log-odds of the label."""

    def training_loss(self, batch: Any, targets: Any, loss: Loss) -> Any:
        """The loss of a batch; a network that scores only some labels has one of its own."""
        return loss(self(batch).float(), targets)


class WordNetwork(Network):
    """A network whose first layer is a vector per word, and which reads nothing else of a text."""

    words: Words

    def forward(self, batch: Ids) -> Any:
        """Logits (documents, labels)."""
        return self.from_words(self.words(batch))

    @abstractmethod
    def from_words(self, text: Text) -> Any:
        """Logits from the vectors of the words: explanations put their own in place of these."""

"""The frame of networks with label-wise attention: words → encoder → attention → labels."""

from typing import Any

from torch import nn
from torch.nn import functional

from app.learners.neural.layers.batch_invariant import precise
from app.learners.neural.layers.label_attention import LabelAttention
from app.learners.neural.layers.network import WordNetwork
from app.learners.neural.layers.words import Text, Words


class AttentionNetwork(WordNetwork):
    """An encoder gives every place a vector; label-wise attention gives the logits."""

    def __init__(self, words: Words, encoder: nn.Module, dropout: float, labels: int) -> None:
        super().__init__()
        self.n_labels = labels
        self.words, self.encoder = words, encoder
        self.dropout = nn.Dropout(dropout)
        self.attention = LabelAttention(encoder.size, labels)

    def label_bias(self) -> Any:
        """The bias of every label."""
        return self.attention.output.bias

    def from_words(self, text: Text) -> Any:
        """Logits from the vectors of the words."""
        return self.attention(self.dropout(self.encoder(text)), text.is_inside())


class Windows(nn.Module):
    """A convolution at every place, with the words around it; zeros beyond the document."""

    def __init__(self, dimensions: int, filters: int, width: int) -> None:
        super().__init__()
        self.size = filters
        self.layer = nn.Conv1d(dimensions, filters, width, padding=width // 2)
        if not self.layer.weight.is_meta:
            nn.init.xavier_uniform_(self.layer.weight)

    def forward(self, text: Text) -> Any:
        """Vectors (documents, positions, filters), between -1 and 1."""
        words = text.by_place().transpose(1, 2)
        exact = precise(self, self.layer.weight, words)
        weight, bias = self.layer.weight.to(exact.dtype), self.layer.bias.to(exact.dtype)
        windows = functional.conv1d(exact, weight, bias, padding=self.layer.padding)
        return windows[:, :, : text.places.shape[1]].tanh().transpose(1, 2)

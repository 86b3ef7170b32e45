"""The frame of networks with label-wise attention: words → encoder → attention → labels."""

from typing import Any

import torch
from torch import nn

from app.learners.neural.batches import Ids
from app.learners.neural.label_attention import LabelAttention
from app.learners.neural.words import Text, Words


class AttentionNetwork(nn.Module):
    """An encoder gives every place a vector; label-wise attention gives the logits."""

    def __init__(self, words: Words, encoder: nn.Module, dropout: float, labels: int) -> None:
        super().__init__()
        self.n_labels = labels
        self.words, self.encoder = words, encoder
        self.dropout = nn.Dropout(dropout)
        self.attention = LabelAttention(encoder.size, labels)

    @property
    def output_bias(self) -> Any:
        """The bias of every label."""
        return self.attention.output.bias

    def forward(self, batch: Ids) -> Any:
        """Logits (documents, labels)."""
        return self.from_words(self.words(batch))

    def from_words(self, text: Text) -> Any:
        """Logits from the vectors of the words."""
        return self.attention(self.dropout(self.encoder(text)), text.is_inside())


class BothWays(nn.Module):
    """Recurrent layers that read documents from both ends, each to its own end only.

    `size` is that of both directions together. A document is turned round within its own length
    for the second direction, so that padding always comes last and is never read before a word:
    packed sequences do the same, but their gradients cost time quadratic in the length on CPU.
    """

    def __init__(self, kind: type[nn.Module], dimensions: int, size: int, layers: int) -> None:
        super().__init__()
        self.size = size // 2 * 2
        inputs = [dimensions] + [self.size] * (layers - 1)
        self.onward = nn.ModuleList(kind(n, size // 2) for n in inputs)
        self.back = nn.ModuleList(kind(n, size // 2) for n in inputs)

    def forward(self, text: Text) -> Any:
        """Vectors (documents, positions, size)."""
        places = text.by_place().transpose(0, 1)
        turned = _turned(text).T
        for onward, back in zip(self.onward, self.back, strict=True):
            from_end = _picked(back(_picked(places, turned))[0], turned)
            places = torch.cat([onward(places)[0], from_end], dim=2)
        return places.transpose(0, 1)


def _turned(text: Text) -> Any:
    """For each place the one it changes with when a document is turned round; padding stays."""
    numbers = torch.arange(text.places.shape[1], device=text.places.device)
    return torch.where(text.is_inside(), text.lengths[:, None] - 1 - numbers, numbers)


def _picked(places: Any, order: Any) -> Any:
    """The places (positions, documents, size) in another order (positions, documents)."""
    return places.gather(0, order[:, :, None].expand(-1, -1, places.shape[2]))


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
        windows = self.layer(text.by_place().transpose(1, 2))[:, :, : text.places.shape[1]]
        return windows.tanh().transpose(1, 2)

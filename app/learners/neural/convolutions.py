"""Convolutions over words, and pooling that sees each document's own length only."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.batches import Ids


class Convolutions(nn.Module):
    """Windows of several widths over the word vectors; a window lies inside its document.

    A document shorter than a window is one window, filled up with zeros.
    """

    def __init__(self, dimensions: int, filters: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.layers = nn.ModuleList(nn.Conv1d(dimensions, filters, width) for width in widths)

    def forward(self, vectors: Any, batch: Ids) -> list[tuple[Any, Any]]:
        """For each width: (documents, filters, windows), and how many windows each document has."""
        short = max(self.widths) - vectors.shape[1]
        vectors = functional.pad(vectors, (0, 0, 0, max(short, 0))).transpose(1, 2)
        counts = [(batch.lengths - width + 1).clamp(min=1) for width in self.widths]
        return [(layer(vectors), count) for layer, count in zip(self.layers, counts, strict=True)]


def max_over_time(windows: Any, counts: Any) -> Any:
    """The largest value of each filter (documents, filters) over the document's own windows."""
    inside = torch.arange(windows.shape[2], device=windows.device) < counts[:, None]
    return windows.masked_fill(~inside[:, None], -torch.inf).amax(dim=2)


def dynamic_max(windows: Any, counts: Any, pools: int) -> Any:
    """Largest values in `pools` equal stretches of each document (documents, filters × pools).

    A stretch without a window, in a document of fewer windows than pools, is 0.
    """
    places = torch.arange(windows.shape[2], device=windows.device)
    stretch = places * pools // counts[:, None]
    parts = []
    for pool in range(pools):
        inside = (stretch == pool) & (places < counts[:, None])
        largest = windows.masked_fill(~inside[:, None], -torch.inf).amax(dim=2)
        parts.append(largest.masked_fill(~inside.any(dim=1)[:, None], 0.0))
    return torch.cat(parts, dim=1)

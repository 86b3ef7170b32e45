"""Word vectors and masks: the first layer of every network that reads sequences."""

from typing import Any

import torch
from torch import nn

from app.learners.neural.batches import Ids

SPREAD = 0.1  # of the random start of a word's vector


class Words(nn.Module):
    """Vectors of the words, with dropout; position by position, zeros where a document has ended.

    In training only the vectors of words in the batch move (see optimizers.py).
    """

    def __init__(self, size: int, dimensions: int, dropout: float) -> None:
        super().__init__()
        self.vectors = nn.Embedding(size, dimensions, padding_idx=0, sparse=True)
        self.dropout = nn.Dropout(dropout)
        if not self.vectors.weight.is_meta:
            nn.init.normal_(self.vectors.weight, std=SPREAD)
            with torch.no_grad():
                self.vectors.weight[0] = 0

    def forward(self, batch: Ids) -> Any:
        """Vectors (documents, positions, dimensions)."""
        return self.dropout(self.vectors(batch.ids))

    def start_from(self, vectors: Any) -> None:
        """Begin with known vectors; rows of not-a-number keep their random start."""
        known = torch.from_numpy(vectors).to(self.vectors.weight.device)
        rows = ~torch.isnan(known).any(dim=1)
        with torch.no_grad():
            self.vectors.weight[: len(known)][rows] = known[rows]


def is_inside(batch: Ids, width: int) -> Any:
    """True (documents, width) at the positions that belong to the document."""
    return torch.arange(width, device=batch.ids.device) < batch.lengths[:, None]

"""Word vectors: the first layer of every network that reads sequences."""

from typing import Any, NamedTuple

import torch
from torch import nn

from app.learners.neural.training.batches import Ids

SPREAD = 0.1  # of the random start of a word's vector


class Text(NamedTuple):
    """A batch as vectors of its different words, and where each word stands.

    `vectors` (words, dimensions) begins with a row of zeros; `places` (documents, positions) are
    rows of it, 0 from the end of a document on. Work done once a word is done, not once a place.
    """

    vectors: Any
    places: Any
    lengths: Any

    def by_place(self) -> Any:
        """The vectors place by place (documents, positions, dimensions)."""
        return nn.functional.embedding(self.places, self.vectors)

    def is_inside(self) -> Any:
        """True (documents, positions) at the places that belong to the document."""
        width = torch.arange(self.places.shape[1], device=self.places.device)
        return width < self.lengths[:, None]


class Words(nn.Module):
    """Vectors of the words of a batch, with dropout.

    Dropout takes the same values of a word wherever it stands in the batch. In training only the
    vectors of words in the batch move (see optimizers.py).
    """

    def __init__(self, size: int, dimensions: int, dropout: float) -> None:
        super().__init__()
        self.vectors = nn.Embedding(size, dimensions, padding_idx=0, sparse=True)
        self.dropout = nn.Dropout(dropout)
        if not self.vectors.weight.is_meta:
            nn.init.normal_(self.vectors.weight, std=SPREAD)
            with torch.no_grad():
                self.vectors.weight[0] = 0

    def forward(self, batch: Ids) -> Text:
        """The batch by its different words."""
        ends = batch.ids.new_zeros(1)  # so that row 0 is always that of padding
        words, places = torch.unique(torch.cat([ends, batch.ids.flatten()]), return_inverse=True)
        vectors = self.dropout(self.vectors(words))
        return Text(vectors, places[1:].view(batch.ids.shape), batch.lengths)

    def start_from(self, vectors: Any) -> None:
        """Begin with known vectors; rows of not-a-number keep their random start."""
        known = torch.from_numpy(vectors).to(self.vectors.weight.device)
        rows = ~torch.isnan(known).any(dim=1)
        with torch.no_grad():
            self.vectors.weight[: len(known)][rows] = known[rows]
            self.vectors.weight[0] = 0

"""Label-wise attention: every label looks at the places of a document that matter to it."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.layers.batch_invariant import precise


class LabelAttention(nn.Module):
    """One logit a label, from that label's own weighted mean of a document's places.

    Mullenbach et al. 2018. Places after a document's end get no weight.
    """

    def __init__(self, dimensions: int, labels: int) -> None:
        super().__init__()
        self.attention = nn.Linear(dimensions, labels, bias=False)
        self.output = nn.Linear(dimensions, labels)
        if not self.output.weight.is_meta:
            nn.init.xavier_uniform_(self.attention.weight)
            nn.init.xavier_uniform_(self.output.weight)

    def forward(self, places: Any, inside: Any) -> Any:
        """Logits from places (documents, positions, dimensions) and which of them count."""
        exact = precise(self, self.output.weight, places)
        weights = functional.linear(exact, self.attention.weight.to(exact.dtype))
        weights = torch.softmax(weights.masked_fill(~inside[:, :, None], -torch.inf), dim=1)
        # A label's logit is the mean of the places' own products, weighted: the same as taking
        # the mean first, without keeping a vector for every document and label.
        products = functional.linear(exact, self.output.weight.to(exact.dtype))
        return ((weights * products).sum(dim=1) + self.output.bias).to(places.dtype)

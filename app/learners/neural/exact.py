"""Exact: a linear layer whose scores do not depend on what else is in the batch."""

from typing import Any

from torch import nn
from torch.nn import functional

LARGEST = 1_000_000  # weights; beyond, doubling them for every request would take too long


class Exact(nn.Linear):
    """Adds up in double precision where it scores on a processor.

    In single precision a matrix product rounds differently for one row than for many, by about
    1e-5 in a logit of 50.
    """

    def forward(self, rows: Any) -> Any:
        """The layer's values, in the precision of the rows."""
        is_large = self.weight.numel() > LARGEST
        if self.training or is_large or rows.device.type != "cpu":
            return super().forward(rows)
        weight, bias = self.weight.double(), self.bias.double()
        return functional.linear(rows.double(), weight, bias).to(rows.dtype)

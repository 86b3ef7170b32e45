"""BatchInvariant: layers whose scores do not depend on what else is in the batch.

In single precision a matrix product rounds differently for one row than for many, by about 1e-5 in
a logit of 50; in double precision nothing of that is left after rounding.
"""

from typing import Any

from torch import nn
from torch.nn import functional

LARGEST = 1_000_000  # weights; beyond, doubling them for every request would take too long


def precise(layer: nn.Module, weight: Any, rows: Any) -> Any:
    """The rows in double precision where a layer with this weight scores on a processor."""
    is_large = weight.numel() > LARGEST
    return rows if layer.training or is_large or rows.device.type != "cpu" else rows.double()


class BatchInvariant(nn.Linear):
    """A linear layer that adds up in double precision where it scores on a processor."""

    def forward(self, rows: Any) -> Any:
        """The layer's values, in the precision of the rows."""
        exact = precise(self, self.weight, rows)
        weight, bias = self.weight.to(exact.dtype), self.bias.to(exact.dtype)
        return functional.linear(exact, weight, bias).to(rows.dtype)

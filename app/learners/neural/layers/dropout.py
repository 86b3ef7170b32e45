"""Dropout whose random numbers are cheap on a processor: a byte an element."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

LEVELS = 256


class ByteDropout(nn.Module):
    """Dropout of a share, rounded to 256ths on a processor; values that stay grow to make up.

    Torch draws a random number of 32 bits an element there, which took a sixth of a step of a small
    encoder. One draw of 64 bits gives eight elements theirs here.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, values: Any) -> Any:
        """The values, some of them 0 in training."""
        dropped = round(self.share * LEVELS)
        if not self.training or not self.share:
            return values
        if values.device.type != "cpu":
            return functional.dropout(values, self.share)
        return values * _mask(values, min(dropped, LEVELS - 1))

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"share={self.share}"


def _mask(values: Any, dropped: int) -> Any:
    """0 with a chance of `dropped` in 256, else what keeps the mean."""
    words = torch.empty(-(-values.numel() // 8), dtype=torch.int64)
    drawn = words.random_(-(2**63), None).view(torch.uint8)[: values.numel()]
    kept = (drawn >= dropped).view(values.shape)
    return kept.to(values.dtype).mul_(LEVELS / (LEVELS - dropped))

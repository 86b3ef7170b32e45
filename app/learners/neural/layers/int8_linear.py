"""Int8Linear: a linear layer served in whole numbers of eight bits, a scale a row on both sides."""

from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

GREATEST = 127


class Int8Rows(NamedTuple):
    """Rows of numbers from -127 to 127, and what each row is to be multiplied with."""

    numbers: Any
    scales: Any


def int8_rows(values: Any) -> Int8Rows:
    """Every row (of the last dimension) rounded to 127ths of its largest absolute value."""
    scales = values.abs().amax(dim=-1, keepdim=True).clamp_(min=1e-12).div_(GREATEST)
    return Int8Rows((values / scales).round_().to(torch.int8), scales)


class Int8Linear(nn.Module):
    """The weights of a linear layer, rounded; inputs are rounded token by token.

    A token's result does not depend on the other tokens, as it would with one scale a batch. Sums
    are exact. Where a gradient is asked for, the rounded weights work in floating point.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.zeros((outputs, inputs), dtype=torch.int8))
        self.register_buffer("scale", torch.ones(outputs))
        self.register_buffer("bias", torch.zeros(outputs))

    @classmethod
    def of(cls, layer: nn.Linear) -> "Int8Linear":
        """The rounded form of a trained layer."""
        made = cls(layer.in_features, layer.out_features)
        numbers, scales = int8_rows(layer.weight.detach())
        made.weight, made.scale = numbers, scales[:, 0]
        made.bias = layer.bias.detach().clone()
        return made

    def forward(self, values: Any) -> Any:
        """The layer's values, in single precision."""
        if (values.requires_grad and torch.is_grad_enabled()) or values.device.type != "cpu":
            return functional.linear(values, self.weight * self.scale[:, None], self.bias)
        return self.product(int8_rows(values))

    def product(self, rows: Int8Rows) -> Any:
        """The same for rows that are rounded already."""
        sums = torch._int_mm(rows.numbers.flatten(0, -2), self.weight.t()).to(torch.float32)
        scaled = sums.mul_(self.scale).view(*rows.numbers.shape[:-1], -1)
        return torch.addcmul(self.bias, scaled, rows.scales)

"""EvenSteps: gradient steps of one length for a whole layer, for the vectors of terms."""

from typing import Any

import torch

MEMORY = 0.98  # of the mean gradient length: about the last 50 steps


class EvenSteps(torch.optim.Optimizer):
    """Moves a layer along its gradient, by `lr` where the gradient is as long as usual.

    Adam gives every weight steps of about the same size, so that a term of two documents moves as
    fast as one of two thousand, and rare terms are learnt by heart. Here a term moves as much as
    its documents ask for. Nothing is kept for each weight, so only terms of the batch cost time.
    """

    def __init__(self, weights: list[Any], lr: float) -> None:
        super().__init__(weights, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Move every layer that has a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.add_(weight.grad, alpha=-group["lr"] / self._length(weight))

    def _length(self, weight: Any) -> float:
        """The usual length of the gradient (1 where there has been none)."""
        gradient, memory = weight.grad, self.state[weight]
        if not memory:
            memory["square"], memory["step"] = weight.new_zeros(()), 0
        values = gradient._values() if gradient.is_sparse else gradient
        square = float(values.float().pow(2).sum())
        memory["square"].mul_(MEMORY).add_((1 - MEMORY) * square)
        memory["step"] += 1
        return float(memory["square"] / (1 - MEMORY ** memory["step"])) ** 0.5 or 1.0

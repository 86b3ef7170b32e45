"""NormalizedSgd: gradient descent by steps of normalized length, for the vectors of terms."""

from typing import Any

import torch

DECAY = 0.98  # of the mean squared norm: about the last 50 steps


class NormalizedSgd(torch.optim.Optimizer):
    """SGD with the gradient of a layer divided by its running root-mean-square norm.

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
                    weight.add_(weight.grad, alpha=-group["lr"] / self._norm(weight))

    def _norm(self, weight: Any) -> float:
        """The root mean square of the gradient's recent norms; 1 where all were 0."""
        gradient, memory = weight.grad, self.state[weight]
        if not memory:
            memory["square"], memory["step"] = weight.new_zeros(()), 0
        values = gradient._values() if gradient.is_sparse else gradient
        square = float(values.float().pow(2).sum())
        memory["square"].mul_(DECAY).add_((1 - DECAY) * square)
        memory["step"] += 1
        return float(memory["square"] / (1 - DECAY ** memory["step"])) ** 0.5 or 1.0

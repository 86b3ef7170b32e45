"""Losses over logits and targets, each the mean over documents and labels."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from app.arrays import Truth

Tensor: TypeAlias = Any
Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]

CLASS_BALANCE = 0.99  # beta of Cui et al. 2019; 0 is plain, towards 1 is inverse frequency
FOCUS_POSITIVE, FOCUS_NEGATIVE, MARGIN = 0.0, 4.0, 0.05  # the paper's choice, Ben-Baruch 2021


def loss_for(name: str, truth: Truth, *, smoothing: float = 0.0) -> Loss:
    """The loss by its name; `truth` (of training) sets the weights of `class-balanced`."""
    weights = torch.from_numpy(_class_weights(truth)) if name == "class-balanced" else None

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        targets = targets * (1 - smoothing) + smoothing / 2 if smoothing else targets
        if name == "asymmetric":
            return asymmetric(logits, targets)
        weight = None if weights is None else weights.to(logits.device)
        return functional.binary_cross_entropy_with_logits(logits, targets, pos_weight=weight)

    return loss


def asymmetric(logits: Tensor, targets: Tensor) -> Tensor:
    """Asymmetric loss (Ben-Baruch et al. 2021): easy negatives count little, or not at all."""
    right = torch.sigmoid(logits)
    wrong = (1 - right + MARGIN).clamp(max=1)
    positive = targets * functional.logsigmoid(logits) * (1 - right) ** FOCUS_POSITIVE
    negative = (1 - targets) * torch.log(wrong.clamp(min=1e-8)) * (1 - wrong) ** FOCUS_NEGATIVE
    return -(positive + negative).mean()


def _class_weights(truth: Truth) -> Any:
    """How much a label's positives count: the fewer there are, the more; at least 1."""
    counts = np.maximum(np.bincount(truth.indices, minlength=truth.shape[1]), 1)
    weights = (1 - CLASS_BALANCE) / (1 - CLASS_BALANCE**counts)
    return (weights / weights.min()).astype(np.float32)

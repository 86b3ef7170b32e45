"""Optimizer: Adam for the layers; sparse optimizers for the vectors of words and of terms."""

from typing import Any, TypeAlias

import torch
from torch import nn

from app.learners.neural.training.normalized_sgd import NormalizedSgd
from app.learners.neural.training.settings import TrainingSettings

Tensors: TypeAlias = dict[str, Any]
OUTPUT = "output."
"""How the names of the layer of labels begin in every network that has a rate of its own for it."""
KINDS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


class Optimizer:
    """All optimizers of a network, moved as one.

    A batch has a few thousand different words of a vocabulary of many more; gradients of word
    vectors are sparse, and moving just those rows saves most of the time of a step.
    """

    def __init__(self, network: Any, settings: TrainingSettings, device: Any) -> None:
        sparse = [module.weight for module in network.modules() if _is_sparse(module, device)]
        terms = [m.weight for m in network.modules() if isinstance(m, nn.EmbeddingBag)]
        words = [weight for weight in sparse if not _is_among(weight, terms)]
        trained = [p for p in network.parameters() if p.requires_grad]
        apart = sparse + terms
        named = [(n, p) for n, p in network.named_parameters() if p.requires_grad]
        dense = _groups([(n, p) for n, p in named if not _is_among(p, apart)], settings)
        rate = settings.learning_rate
        fused = device.type in ("cpu", "cuda")
        self.parameters = trained
        self.optimizers: list[Any] = []
        if dense:
            kind = KINDS[settings.optimizer]
            self.optimizers.append(kind(dense, lr=rate, fused=fused))
        if words:
            self.optimizers.append(torch.optim.SparseAdam(words, lr=rate))
        if terms:
            rate = settings.embedding_rate() * settings.batch_size**0.5
            self.optimizers.append(NormalizedSgd(terms, lr=rate))
        self.rates = [group["lr"] for group in self._groups()]

    def set_rate(self, factor: float) -> None:
        """The learning rates of the next step, as a share of the settings' own."""
        for group, rate in zip(self._groups(), self.rates, strict=True):
            group["lr"] = rate * factor

    def _groups(self) -> list[dict[str, Any]]:
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def step(self, scaler: Any, clip: float) -> None:
        """Move the weights, with a gradient of at most norm `clip` (0: of any)."""
        for optimizer in self.optimizers:
            scaler.unscale_(optimizer)
        if clip:
            self._clip(clip)
        for optimizer in self.optimizers:
            scaler.step(optimizer)
        scaler.update()

    def _clip(self, largest: float) -> None:
        gradients = [_values(p.grad) for p in self.parameters if p.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients]))
        factor = (largest / (norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)

    def tensors(self) -> Tensors:
        """What the optimizers remember, as flat names."""
        return {
            f"{number}/{parameter}/{name}": torch.as_tensor(value).detach().clone()
            for number, optimizer in enumerate(self.optimizers)
            for parameter, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        }

    def restore(self, tensors: Tensors) -> None:
        """Remember again what `tensors` gave."""
        for number, optimizer in enumerate(self.optimizers):
            memory: dict[int, dict[str, Any]] = {}
            for key, value in tensors.items():
                of, parameter, name = key.split("/")
                if int(of) == number:
                    memory.setdefault(int(parameter), {})[name] = _remembered(value)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": memory})


def _groups(named: list[tuple[str, Any]], settings: TrainingSettings) -> list[dict[str, Any]]:
    """Parameters by learning rate and decay: biases and norms are never pulled towards 0."""
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, weight in named:
        rate = settings.output_rate() if name.startswith(OUTPUT) else settings.learning_rate
        decay = settings.weight_decay if weight.ndim > 1 else 0.0
        groups.setdefault((rate, decay), []).append(weight)
    return [{"params": own, "lr": r, "weight_decay": d} for (r, d), own in groups.items()]


def _remembered(value: Any) -> Any:
    """The value as the optimizer keeps it: the sparse one counts its steps in whole numbers."""
    is_count = value.ndim == 0 and not value.is_floating_point()
    return int(value) if is_count else value


def _is_sparse(module: Any, device: Any) -> bool:
    """Whether a module's gradients come sparse; switched off where the device has no such sums."""
    if not isinstance(module, nn.Embedding | nn.EmbeddingBag) or not module.sparse:
        return False
    module.sparse = device.type != "mps"
    return module.sparse and module.weight.requires_grad


def _is_among(weight: Any, weights: list[Any]) -> bool:
    return any(weight is one for one in weights)


def _values(gradient: Any) -> Any:
    return gradient._values() if gradient.is_sparse else gradient

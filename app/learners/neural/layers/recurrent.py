"""Recurrent layers that read documents from both ends, each to its own end only."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.layers.words import Text

GATES = {"gru": 3, "lstm": 4}


class Bidirectional(nn.Module):
    """GRU or LSTM layers; `size` is that of both directions together.

    What the first layer takes from a word is worked out once for each different word of the batch.
    Both directions go through one loop: for the second a document is turned round within its own
    length, so that padding comes last and is never read before a word. (Packed sequences do the
    same, but on CPU their gradients cost time quadratic in the length.)
    """

    def __init__(self, kind: str, dimensions: int, size: int, layers: int) -> None:
        super().__init__()
        half, gates = size // 2, GATES[kind]
        self.kind, self.half, self.size = kind, half, 2 * half
        inputs = [dimensions] + [self.size] * (layers - 1)
        self.taken = nn.ModuleList(nn.Linear(n, 2 * gates * half) for n in inputs)
        self.kept = nn.ParameterList(torch.zeros(2, half, gates * half) for _ in inputs)
        self.kept_bias = nn.ParameterList(torch.zeros(2, 1, gates * half) for _ in inputs)
        if not self.kept[0].is_meta:
            for weight in self.parameters():
                nn.init.uniform_(weight, -(half**-0.5), half**-0.5)

    def forward(self, text: Text) -> Any:
        """Vectors (documents, positions, size)."""
        turned = _turned(text).T
        onward, back = self.taken[0](text.vectors).chunk(2, dim=1)
        places = text.places.T
        steps = torch.stack(
            [
                functional.embedding(places, onward),
                functional.embedding(places.gather(0, turned), back),
            ],
            dim=1,
        )
        states = self._read(steps, 0, turned)
        for layer in range(1, len(self.taken)):
            onward, back = self.taken[layer](states).chunk(2, dim=2)
            steps = torch.stack([onward, _picked(back, turned)], dim=1)
            states = self._read(steps, layer, turned)
        return states.transpose(0, 1)

    def _read(self, steps: Any, layer: int, turned: Any) -> Any:
        """States (positions, documents, size) from steps (positions, 2, documents, gates)."""
        cell = _gru if self.kind == "gru" else _lstm
        weight, bias = self.kept[layer].to(steps.dtype), self.kept_bias[layer].to(steps.dtype)
        hidden = memory = steps.new_zeros((2, steps.shape[2], self.half))
        found = []
        for step in steps.unbind(0):
            hidden, memory = cell(step, torch.baddbmm(bias, hidden, weight), hidden, memory)
            found.append(hidden)
        states = torch.stack(found)
        return torch.cat([states[:, 0], _picked(states[:, 1], turned)], dim=2)


def _gru(taken: Any, kept: Any, hidden: Any, memory: Any) -> tuple[Any, Any]:
    reset, update, new = taken.chunk(3, dim=2)
    kept_reset, kept_update, kept_new = kept.chunk(3, dim=2)
    update = torch.sigmoid(update + kept_update)
    new = torch.tanh(new + torch.sigmoid(reset + kept_reset) * kept_new)
    return torch.lerp(new, hidden, update), memory


def _lstm(taken: Any, kept: Any, hidden: Any, memory: Any) -> tuple[Any, Any]:
    into, forget, new, out = (taken + kept).chunk(4, dim=2)
    memory = torch.sigmoid(forget) * memory + torch.sigmoid(into) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(memory), memory


def _turned(text: Text) -> Any:
    """For each place the one it changes with when a document is turned round; padding stays."""
    numbers = torch.arange(text.places.shape[1], device=text.places.device)
    return torch.where(text.is_inside(), text.lengths[:, None] - 1 - numbers, numbers)


def _picked(places: Any, order: Any) -> Any:
    """The places (positions, documents, size) in another order (positions, documents)."""
    return places.gather(0, order[:, :, None].expand(-1, -1, places.shape[2]))

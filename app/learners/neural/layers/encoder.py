"""A transformer encoder of BERT's form, for weights of BERT, RoBERTa and DistilBERT checkpoints."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.layers.dropout import ByteDropout
from app.learners.neural.layers.int8_linear import Int8Linear

ACTIVATIONS: dict[str, Any] = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
}
PRODUCTS = ("query", "key", "value", "joined", "hidden", "output")
"""The linear layers of a layer."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of an encoder, as its config.json has them."""

    vocabulary: int
    positions: int
    first_position: int
    """RoBERTa counts positions from 2."""
    types: int
    """Token types; 0 where the family has none."""
    dimensions: int
    layers: int
    heads: int
    hidden: int
    activation: str = "gelu"
    epsilon: float = 1e-12


class Encoder(nn.Module):
    """Token numbers and which of them count → a vector a token."""

    def __init__(
        self, shape: Architecture, dropout: float, *, attention_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.first_position = shape.first_position
        self.tokens = nn.Embedding(shape.vocabulary, shape.dimensions)
        self.positions = nn.Embedding(shape.positions, shape.dimensions)
        self.types = nn.Embedding(shape.types, shape.dimensions) if shape.types else None
        self.norm = nn.LayerNorm(shape.dimensions, eps=shape.epsilon)
        self.dropout = ByteDropout(dropout)
        made = (Layer(shape, dropout, attention_dropout) for _ in range(shape.layers))
        self.layers = nn.ModuleList(made)

    def forward(self, vectors: Any, inside: Any) -> Any:
        """From token vectors (windows, tokens, dimensions) to encoded ones."""
        return self.upper(self.embedded(vectors), inside)

    def embedded(self, vectors: Any) -> Any:
        """Token vectors with their positions: what the first layer reads."""
        numbers = torch.arange(vectors.shape[1], device=vectors.device) + self.first_position
        states = vectors + self.positions(numbers)
        if self.types is not None:
            states = states + self.types.weight[0]
        return self.dropout(self.norm(states))

    def lower(self, vectors: Any, inside: Any, n_layers: int) -> Any:
        """What the first layers make of token vectors."""
        states = self.embedded(vectors)
        for layer in self.layers[:n_layers]:
            states = layer(states, inside[:, None, None, :])
        return states

    def upper(self, states: Any, inside: Any, n_below: int = 0) -> Any:
        """What the layers above so many make of their states."""
        for layer in self.layers[n_below:]:
            states = layer(states, inside[:, None, None, :])
        return states

    def freeze_lower(self, n_layers: int) -> None:
        """Leave the embeddings and so many layers as they are in training."""
        self.requires_grad_(False)
        self.layers[n_layers:].requires_grad_(True)

    def to_int8(self) -> None:
        """Round the products of all layers, for serving."""
        for layer in self.layers:
            for name in PRODUCTS:
                setattr(layer, name, Int8Linear.of(getattr(layer, name)))


class Layer(nn.Module):
    """Attention between tokens, then a hidden layer for each; a norm after each of the two."""

    def __init__(self, shape: Architecture, dropout: float, attention_dropout: float = 0.0) -> None:
        super().__init__()
        size = shape.dimensions
        self.heads, self.dropout = shape.heads, ByteDropout(dropout)
        self.attention_dropout = attention_dropout
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.joined = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, eps=shape.epsilon)
        self.hidden = nn.Linear(size, shape.hidden)
        self.output = nn.Linear(shape.hidden, size)
        self.output_norm = nn.LayerNorm(size, eps=shape.epsilon)
        self.activation: Any = ACTIVATIONS[shape.activation]

    def forward(self, states: Any, inside: Any) -> Any:
        """New vectors of the same shape."""
        query, key, value = (
            part(states).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        share = self.attention_dropout if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, inside, dropout_p=share)
        seen = self.dropout(self.joined(seen.transpose(1, 2).flatten(2)))
        states = self.attention_norm(states + seen)
        hidden = self.dropout(self.output(self.activation(self.hidden(states))))
        return self.output_norm(states + hidden)

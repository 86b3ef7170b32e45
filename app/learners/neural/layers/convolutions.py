"""Convolutions over words, of which only the largest values are wanted.

A window's value is the sum of a product for each of its words. The products are taken once for
each different word of the batch; sums are looked up from there; and only windows that turn out to
be the largest take part in the gradient, as no other has one. All this changes no result.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from app.learners.neural.layers.words import Text


class LargestWindows(nn.Module):
    """The largest value of every filter in `pools` equal stretches of each document.

    A window lies inside its document; a document shorter than a window is one window, filled up
    with zeros. A stretch without a window, in a document of fewer windows than pools, is 0.
    """

    def __init__(self, dimensions: int, filters: int, widths: Sequence[int], pools: int) -> None:
        super().__init__()
        self.filters, self.widths, self.pools = filters, tuple(widths), pools
        self.products = nn.Linear(dimensions, filters * sum(widths), bias=False)
        self.bias = nn.Parameter(torch.zeros(filters * len(widths)))
        self.size = filters * len(widths) * pools
        if not self.bias.is_meta:
            self._start(dimensions)

    def _start(self, dimensions: int) -> None:
        """Start as torch's own convolutions do: the wider the window, the smaller."""
        with torch.no_grad():
            for width, part in zip(self.widths, self._split(self.products.weight, 0), strict=True):
                nn.init.uniform_(
                    part, -((dimensions * width) ** -0.5), (dimensions * width) ** -0.5
                )

    def _split(self, values: Any, dim: int) -> Any:
        return values.split([self.filters * width for width in self.widths], dim=dim)

    def forward(self, text: Text) -> Any:
        """Largest values (documents, widths × filters × pools)."""
        products = self._split(self.products(text.vectors), 1)
        biases = self.bias.split(self.filters)
        parts = [
            self._largest(words.reshape(-1, self.filters), text, width) + bias.repeat(self.pools)
            for words, width, bias in zip(products, self.widths, biases, strict=True)
        ]
        return torch.cat(parts, dim=1)

    def _largest(self, products: Any, text: Text, width: int) -> Any:
        """Largest sums of `width` neighbours (documents, filters × pools).

        `products` (words × width, filters): a row for each word and each place in a window.
        """
        rows = _window_rows(text.places, width)
        counts = (text.lengths - width + 1).clamp(min=1)
        with torch.no_grad():
            sums = functional.embedding_bag(rows.flatten(0, 1), products.float(), mode="sum")
            sums = sums.view(*rows.shape[:2], self.filters)
        found = []
        for inside in _stretches(counts, rows.shape[1], self.pools):
            best = sums.masked_fill(~inside[:, :, None], -torch.inf).argmax(dim=1)
            values = _sums_at(products, rows, best)
            found.append(values.masked_fill(~inside.any(dim=1)[:, None], 0.0))
        return torch.cat(found, dim=1)


def _window_rows(places: Any, width: int) -> Any:
    """Rows of the products that make up each window (documents, windows, width)."""
    places = functional.pad(places, (0, max(width - places.shape[1], 0)))
    return places.unfold(1, width, 1) * width + torch.arange(width, device=places.device)


def _stretches(counts: Any, windows: int, pools: int) -> list[Any]:
    """For each stretch, which windows (documents, windows) lie in it."""
    numbers = torch.arange(windows, device=counts.device)
    stretch = numbers * pools // counts[:, None]
    inside = numbers < counts[:, None]
    return [(stretch == pool) & inside for pool in range(pools)]


def _sums_at(products: Any, rows: Any, best: Any) -> Any:
    """The sums of the chosen windows (documents, filters), this time with a gradient."""
    documents = torch.arange(len(rows), device=rows.device)[:, None]
    chosen = rows[documents, best].transpose(1, 2)  # (documents, width, filters)
    values = products.gather(0, chosen.reshape(-1, products.shape[1]))
    return values.view(chosen.shape).sum(dim=1)

"""How much each word of a document speaks for a label: input gradients times inputs, approximate.

To first order, the sum over the words is how far the logit lies from that of an empty input; it is
exact only where the network is linear.
"""

from typing import Any

import torch

from app.learners.neural.layers.words import Text
from app.learners.neural.training.batches import Bags, Ids


def word_contributions(network: Any, batch: Ids, label: int) -> Any:
    """A contribution a position of the one document in the batch, for networks with `from_words`.

    Every position has a vector of its own here, also where a word is repeated.
    """
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        vectors = network.words.vectors(batch.ids[0]).detach().requires_grad_()
        rows = torch.cat([torch.zeros_like(vectors[:1]), vectors])
        places = torch.arange(1, len(rows), device=rows.device)[None]
        logit = network.from_words(Text(rows, places, batch.lengths))[0, label]
        (gradient,) = torch.autograd.grad(logit, vectors)
    return (gradient * vectors).sum(dim=1).detach()


def term_contributions(network: Any, batch: Bags, label: int) -> Any:
    """A contribution a term of the one document in the batch, for networks over bags of terms."""
    with torch.enable_grad():
        weights = batch.weights.detach().requires_grad_()
        logit = network(Bags(batch.terms, weights, batch.starts))[0, label]
        (gradient,) = torch.autograd.grad(logit, weights)
    return (gradient * weights).detach()

"""mlp with a network for each label: each alone, and refused where they would not fit."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from app.errors import InvalidRequestError
from app.learners.neural.mlp import Mlp, SeparateMlpNetwork
from app.learners.neural.training.batches import bags_of


def test_networks_of_their_own_are_those_of_each_label_alone() -> None:
    torch.manual_seed(3)
    network = SeparateMlpNetwork(terms=7, hidden=4, labels=3, dropout=0.0).eval()
    torch.nn.init.normal_(network.hidden_bias)
    rows = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    with torch.no_grad():
        scores = network(bags_of(csr_array(rows), np.arange(5))).numpy()
    terms = network.terms.weight.detach().numpy().reshape(7, 3, 4)
    bias = network.hidden_bias.detach().numpy().reshape(3, 4)
    for label in range(3):
        hidden = np.maximum(rows @ terms[:, label] + bias[label], 0)
        weights = network.weight[label].detach().numpy()
        expected = hidden @ weights + network.bias.detach().numpy()[label]
        np.testing.assert_allclose(scores[:, label], expected, atol=1e-5)


def test_networks_that_would_not_fit_into_memory_are_refused_at_once() -> None:
    learner = Mlp(shared=False)
    with pytest.raises(InvalidRequestError, match=r"40,000 terms, 5,460 labels .*max_features"):
        learner.build({"inputs": 40_000, "labels": 5_460})
    assert learner.build({"inputs": 4, "labels": 2}).n_labels == 2

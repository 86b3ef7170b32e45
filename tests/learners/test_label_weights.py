"""Whatever the layout of the weights, scores and contributions are those of the matrix."""

import numpy as np
import pytest

from app.learners.linear.label_weights import LabelWeights
from tests.learners.made_up import made_up

PICK = np.random.default_rng(5)


@pytest.mark.parametrize("kernels", ["auto", "plain"])
@pytest.mark.parametrize("layout", ["dense", "exact", "format 1", "quantized"])
def test_all_layouts_of_weights_score_alike(
    kernels: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", kernels)
    features, _ = made_up(300, 2)
    sizes = PICK.uniform(0.05, 3, size=(60, 600)) * PICK.choice([-1, 1], size=(60, 600))
    share = 0.9 if layout == "dense" else 0.02
    dense = np.where(PICK.random(sizes.shape) < share, sizes, 0).astype(np.float32)
    bias = PICK.normal(size=600).astype(np.float32)
    weights = LabelWeights.of(type(features)(dense), bias, rounded=layout == "quantized")
    if layout == "format 1":
        old = {**weights.arrays, "starts": weights.arrays["starts"].astype(np.int64)}
        weights = LabelWeights(old)
    assert ("weights" in weights.arrays, "gaps" in weights.arrays) == (
        layout == "dense",
        layout == "quantized",
    )
    stored = weights.matrix().toarray()
    np.testing.assert_allclose(stored, dense, rtol=0.02 if layout == "quantized" else 0)
    np.testing.assert_allclose(weights.scores(features), features @ stored + bias, atol=1e-5)
    columns = np.array([3, 3, 59])
    for label in (0, 255, 599):
        assert np.array_equal(weights.of_label(columns, label), stored[columns, label])

"""Two bytes a weight: the labels stay, the weights move by half a level at most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kernels.linear.quantized_weights import WIDEST_STEP, quantized
from app.kernels.linear.types import LinearArrays

SIZES = st.floats(0.0625, 20, width=32)
ROWS = st.lists(st.dictionaries(st.integers(0, 700), SIZES, min_size=3), min_size=1, max_size=5)


def arrays(rows: list[dict[int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, rows)])
    pairs = [pair for row in rows for pair in sorted(row.items())]
    labels = np.array([label for label, _ in pairs], np.int32)
    return starts, labels, np.array([weight for _, weight in pairs], np.float32)


def test_a_long_way_is_bridged_and_the_next_feature_begins_at_the_first_label() -> None:
    found = quantized(*arrays([{3: 1.0, 5: -1.0, 600: 1.0, 601: 1.0}, {}, {255: -1.0}]))
    assert found is not None
    assert found.starts.tolist() == [0, 6, 6, 8]
    assert found.gaps.tolist() == [3, 2, 255, 255, 85, 1, 255, 0]
    assert found.labels().tolist() == [3, 5, 260, 515, 600, 601, 255, 255]
    assert found.values().tolist() == [1, -1, 0, 0, 1, 1, 0, -1]


@given(ROWS, st.integers(0, 2**32))
def test_every_label_keeps_its_weight_to_within_half_a_level(
    rows: list[dict[int, float]], seed: int
) -> None:
    starts, labels, sizes = arrays(rows)
    values = sizes * np.random.default_rng(seed).choice([-1, 1], len(sizes)).astype(np.float32)
    found = quantized(starts, labels, values)
    if found is None:  # more bridges than weights
        return
    weights = found.values()
    is_real = weights != 0
    assert np.array_equal(found.labels()[is_real], labels)
    off = weights[is_real] / values
    assert np.abs(np.log(off)).max() <= np.log(20 / 0.0625) / 126 / 2 + 1e-4
    counts = [is_real[a:b].sum() for a, b in zip(found.starts, found.starts[1:], strict=False)]
    assert np.array_equal(counts, np.diff(starts))


@pytest.mark.parametrize("entries", [1, 3, 10**6])
def test_a_label_keeps_its_weights_however_few_entries_are_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    monkeypatch.setattr("app.kernels.linear.types.ENTRIES_AT_ONCE", entries)
    rows = [{3: 1.0, 5: -1.0, 600: 2.0}, {}, {255: -1.0, 600: 1.0}, {0: 2.0, 1: 1.0}, {}]
    starts, labels, values = arrays(rows)
    packed = quantized(starts, labels, values)
    assert packed is not None
    bias = np.zeros(601, np.float32)
    for stored in (packed._asdict(), {"starts": starts, "labels": labels, "values": values}):
        linear = LinearArrays.of({**stored, "bias": bias})
        for label in (0, 255, 260, 600):
            expected = [row.get(label, 0.0) for row in rows]
            np.testing.assert_allclose(linear.of_label(label), expected, rtol=1e-6)


def test_weights_that_levels_cannot_hold_or_that_would_need_more_room_stay_as_they_are() -> None:
    wide = float(WIDEST_STEP**127)
    assert quantized(*arrays([{0: 1.0, 1: wide}])) is None
    assert quantized(*arrays([{0: 1.0, 1: 0.0}])) is None
    assert quantized(*arrays([{0: 1.0, 700: 1.0}])) is not None
    assert quantized(*arrays([{0: 1.0, 800: 1.0}])) is None
    assert quantized(*arrays([{}])) is None

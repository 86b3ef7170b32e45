"""Taxonomies: kept as arrays, equal again, and never one that could not be walked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.labels import LabelEntry, LabelIndex, Taxonomy
from app.state import State

ENTRIES = [
    LabelEntry("b", "Ähre ⚘", "what stands in a field", "top"),
    LabelEntry("top", "", "", "root"),
    LabelEntry("root", "Wurzel"),
    LabelEntry("c", "Ähre ⚘"),
]


@st.composite
def forests(draw: Any) -> list[LabelEntry]:
    n = draw(st.integers(1, 12))
    order = draw(st.permutations(range(n)))
    parents = [draw(st.integers(-1, place - 1)) for place in range(n)]
    names = [f"label-{number:02}" for number in order]
    return [LabelEntry(names[i], "", "", names[p] if p >= 0 else "") for i, p in enumerate(parents)]


def test_labels_come_first_then_the_further_ones_of_the_file() -> None:
    taxonomy = Taxonomy.of(ENTRIES, LabelIndex(("a", "b")))
    assert [taxonomy.label(entry) for entry in range(5)] == ["a", "b", "c", "root", "top"]
    assert list(taxonomy.names) == ["", "Ähre ⚘", "Ähre ⚘", "Wurzel", ""]
    assert [taxonomy.label(entry) for entry in taxonomy.ancestors(1)] == ["top", "root"]
    assert taxonomy.ancestors(0) == []


def test_a_taxonomy_is_equal_after_its_state() -> None:
    taxonomy = Taxonomy.of(ENTRIES, LabelIndex(("a", "b")))
    again = Taxonomy.from_state(taxonomy.state(), taxonomy.labels)
    assert again.entries() == taxonomy.entries() == [LabelEntry("a"), *sorted(ENTRIES)]


@settings(deadline=None)
@given(forests())
def test_depths_and_roots_are_those_of_a_walk_upwards(entries: list[LabelEntry]) -> None:
    taxonomy = Taxonomy.of(entries, LabelIndex.of([[e.label] for e in entries[::2]]))
    for entry, (depth, root) in enumerate(zip(taxonomy.depths, taxonomy.roots(), strict=True)):
        above = taxonomy.ancestors(entry)
        assert depth == len(above)
        assert root == (above[-1] if above else entry)


@pytest.mark.parametrize(
    "damage",
    [
        {"parents": np.array([1, 0, -1, -1, -1], np.int32)},
        {"parents": np.array([5, -1, -1, -1, -1], np.int32)},
        {"parents": np.array([-2, -1, -1, -1, -1], np.int32)},
        {"parents": np.full(4, -1, np.int32)},
        {"names_ends": np.array([1, 0, 9, 9, 15])},
        {"names_ends": np.array([0, 1, 18, 18, 24])},
        {"names": np.full(24, 255, np.uint8)},
    ],
)
def test_arrays_that_hold_no_taxonomy_are_refused(damage: dict[str, Any]) -> None:
    taxonomy = Taxonomy.of(ENTRIES, LabelIndex(("a", "b")))
    state = State("taxonomy", {}, taxonomy.state().arrays | damage)
    with pytest.raises(ValueError, match=r"label|string|utf-8"):
        Taxonomy.from_state(state, taxonomy.labels)

"""Many tests at once: Holm's correction, and the letters of rows that no test tells apart."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc

from app.metrics.significance.chi_squared import chi_squared_tail
from app.metrics.significance.holm import holm
from app.metrics.significance.letter_groups import letter_groups

many = settings(max_examples=80, deadline=None)
levels = st.floats(0, 1) | st.sampled_from([0.01, 0.02, 0.05])


def closed_bonferroni(p: list[float]) -> list[float]:
    """A hypothesis is rejected if every set of hypotheses with it is, by Bonferroni's bound."""
    sets = [c for size in range(1, len(p) + 1) for c in combinations(range(len(p)), size)]
    bound = {one: min(1.0, len(one) * min(p[i] for i in one)) for one in sets}
    return [max(bound[one] for one in sets if i in one) for i in range(len(p))]


@many
@given(st.lists(levels, max_size=6))
def test_holms_p_is_that_of_the_closed_test(p: list[float]) -> None:
    assert holm(np.array(p)).tolist() == pytest.approx(closed_bonferroni(p))


@many
@given(st.lists(levels, max_size=12), st.floats(0.001, 0.2))
def test_stepping_down_one_by_one_rejects_the_same(p: list[float], level: float) -> None:
    rejected: set[int] = set()
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] * (len(p) - step) > level:
            break
        rejected.add(i)
    assert set(np.flatnonzero(holm(np.array(p)) <= level).tolist()) == rejected


@many
@given(st.integers(0, 7), st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))))
def test_two_rows_share_a_letter_only_if_no_test_tells_them_apart(
    n: int, drawn: set[tuple[int, int]]
) -> None:
    different = {(a, b) for a, b in drawn if a < b < n}
    letters = [set(row) for row in letter_groups(n, different)]
    assert all(letters)
    for a, b in combinations(range(n), 2):
        assert letters[a].isdisjoint(letters[b]) == ((a, b) in different)


def test_letters_go_on_after_z() -> None:
    groups = letter_groups(28, combinations(range(28), 2))
    assert [groups[0], groups[25], groups[26], groups[27]] == ["a", "z", "a1", "b1"]


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 10, 41])
def test_the_tail_of_chi_squared_is_that_of_scipy(freedom: int) -> None:
    values = [0.0, 1e-9, 0.3, 2.0, 11.0, 90.0, 1200.0, 1e6]
    found = [chi_squared_tail(value, freedom) for value in values]
    np.testing.assert_allclose(found, chdtrc(freedom, values), rtol=1e-12, atol=1e-300)

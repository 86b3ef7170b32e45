"""Whatever stands in an options string, it is read or refused in words, never a traceback."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidRequestError
from app.learners.linear.options import SOLVERS, parse_options

NAMES = st.sampled_from(["-s", "-c", "-e", "-B", "-w1", "-w-1", "-w", "-wnan", "-q", "-", "--", ""])
VALUES = st.sampled_from(["1", "0", "-1", "1.5", "nan", "inf", "-inf", "1e999", "1e-999", "x", ""])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        *((f"-w{wrong} 2", "number of a class") for wrong in ("nan", "inf", "1.5", "", "²", "1_0")),
        *((f"-B {wrong}", "finite") for wrong in ("nan", "inf", "-inf", "1e999")),
        *((f"-w1 {wrong}", "above 0") for wrong in ("nan", "inf", "0")),
        ("-c 1e300 -w1 1e300", "-c times -w1"),
        ("-s nan", "accepted here"),
        ("-s 1.5", "accepted here"),
        (5, "a text"),
        (None, "a text"),
    ],
)
def test_numbers_that_no_training_can_use_are_refused(options: Any, says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        parse_options(options)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=4))
def test_what_is_read_is_finite(words: list[tuple[str, str]]) -> None:
    try:
        options = parse_options(" ".join(f"{name} {value}" for name, value in words))
    except InvalidRequestError:
        return
    assert options.solver in SOLVERS
    assert options.bias is None or 0 <= options.bias < math.inf
    for value in (options.tolerance, options.positive_cost, options.negative_cost):
        assert 0 < value < math.inf

"""Large answers are counted until they are sent; small ones are never refused."""

import pytest

from app.errors import OverloadedError
from app.serving.unsent_answers import SMALL_ANSWER, UnsentAnswers

LARGE = SMALL_ANSWER + 1


def test_an_answer_counts_until_it_is_sent() -> None:
    unsent = UnsentAnswers(10 * LARGE)
    with unsent.take(8 * LARGE) as answer:
        with pytest.raises(OverloadedError):
            unsent.take(3 * LARGE)
        answer.sent(LARGE)
        with unsent.take(3 * LARGE):
            assert unsent.is_full
            with pytest.raises(OverloadedError):
                unsent.refuse_if_full()
    assert unsent.size == 0
    unsent.refuse_if_full()


def test_an_answer_larger_than_all_is_sent_alone() -> None:
    unsent = UnsentAnswers(LARGE)
    with unsent.take(5 * LARGE):
        with pytest.raises(OverloadedError):
            unsent.take(LARGE)
        with unsent.take(SMALL_ANSWER):
            assert unsent.size == 5 * LARGE + SMALL_ANSWER
    assert unsent.size == 0

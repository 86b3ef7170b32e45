"""Who shows no progress is stalled; who was not looked at for a while is not."""

import pytest

from app.server.stall_clock import LONGEST_LOOK, StallClock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("app.server.stall_clock.monotonic", lambda: now[0])
    return now


def test_seconds_count_from_the_last_progress(clock: list[float]) -> None:
    stall, seen = StallClock(allowance=0), []
    for progress in (1, 1, 1, 2, 2):
        clock[0] += 0.5
        seen.append(stall.seconds(progress))
    assert seen == [0, 0.5, 1.0, 0, 0.5]


def test_a_first_progress_may_take_longer(clock: list[float]) -> None:
    stall = StallClock(allowance=10)
    clock[0] += 0.5
    assert stall.seconds(0) == -9.5
    assert stall.seconds(1) == 0


def test_time_in_which_nobody_looked_hardly_counts(clock: list[float]) -> None:
    stall = StallClock(allowance=0)
    clock[0] += 3600
    assert stall.seconds(0) == LONGEST_LOOK

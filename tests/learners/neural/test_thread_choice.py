"""A training takes as many threads as are fastest while it runs, or as many as it was told."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from app.learners.neural.training import thread_choice
from app.learners.neural.training.thread_choice import ROUNDS, STEPS, ThreadChoice
from tests.learners.neural.made_up import data_for, learner_for


class Machine:
    """A processor whose steps take as long as is said for each number of threads."""

    def __init__(self, seconds: Callable[[int], float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.now, self.threads, self.used = seconds, 0.0, 1, list[int]()
        monkeypatch.setattr(thread_choice, "perf_counter", lambda: self.now)

    def set_threads(self, threads: int) -> None:
        self.threads = threads

    def step(self) -> float:
        self.now += self.seconds(self.threads)
        self.used.append(self.threads)
        return 0.5

    def run(self, choice: ThreadChoice, steps: int) -> None:
        for _ in range(steps):
            assert choice.run(self.step) == 0.5


def test_more_threads_are_taken_as_far_as_they_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(lambda threads: {1: 4.0, 2: 2.0, 4: 1.5, 8: 3.0}[threads], monkeypatch)
    choice = ThreadChoice(0, 8, machine.set_threads)
    machine.run(choice, 12 * ROUNDS)
    assert choice.threads == 4
    assert machine.used[-1] == 4


def test_threads_that_are_hardly_faster_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(lambda threads: 1.0 if threads == 1 else 0.95, monkeypatch)
    choice = ThreadChoice(0, 2, machine.set_threads)
    machine.run(choice, 10 * ROUNDS)
    assert choice.threads == 1


def test_the_choice_follows_what_else_the_machine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    load = [0.0]
    machine = Machine(lambda threads: 1.0 / threads + load[0] * (threads - 1), monkeypatch)
    choice = ThreadChoice(0, 2, machine.set_threads)
    machine.run(choice, 10 * ROUNDS)
    assert choice.threads == 2
    load[0] = 5.0
    machine.run(choice, STEPS + 3 * ROUNDS)
    assert choice.threads == 1
    assert machine.used[-STEPS:].count(2) <= STEPS - 10


def test_a_number_that_was_given_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(lambda threads: 1.0 / threads, monkeypatch)
    machine.run(ThreadChoice(1, 8, machine.set_threads), 3 * STEPS)
    assert set(machine.used) == {1}


def test_a_network_trains_with_as_many_threads_as_are_fastest() -> None:
    features, truth, _ = data_for("mlp", 100)
    learner = learner_for("mlp", threads=0, epochs=3).fit(features, truth)
    assert learner.history


@pytest.mark.parametrize("given", [None, "ACTIVE"])
def test_waiting_threads_sleep_unless_told_otherwise(given: str | None) -> None:
    environment = {n: value for n, value in os.environ.items() if n != "OMP_WAIT_POLICY"}
    if given:
        environment["OMP_WAIT_POLICY"] = given
    code = "import os, app.learners.neural as _; print(os.environ['OMP_WAIT_POLICY'])"
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == (given or "PASSIVE")

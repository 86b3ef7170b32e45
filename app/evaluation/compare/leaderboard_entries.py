"""Which kept evaluations stand on a leaderboard, and why others do not."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from app.errors import DamagedEvaluationError, InvalidRequestError
from app.evaluation.compare.comparable import comparable_key, incomparable
from app.evaluation.kept.facts import KeptFacts, read_facts
from app.evaluation.report.headline_figures import is_loss

MOST_ROWS = 20
"""Rows of a leaderboard: with all their pairs a table that can still be read and computed."""


class Entries(NamedTuple):
    """The evaluations on the leaderboard, and for each other one why it is not."""

    facts: dict[str, KeptFacts]
    left_out: dict[str, str]


def chosen_entries(folders: Mapping[str, Path], figure: str) -> Entries:
    """The best of the evaluations that can be compared with most others; newest given first."""
    left_out: dict[str, str] = {}
    facts = dict(_readable(folders, left_out))
    if facts:
        reference = _reference(facts)
        facts = dict(_comparable(facts, reference, left_out))
        if figure not in reference.figures:
            accepted = ", ".join(reference.figures)
            raise InvalidRequestError(f"figure is one of these reports' figures: {accepted}")
    facts = dict(_newest(facts, left_out))
    best = sorted(facts, key=lambda id: rank_key(facts[id].figures.get(figure), figure))
    left_out |= dict.fromkeys(best[MOST_ROWS:], f"only the best {MOST_ROWS} are listed")
    return Entries({id: facts[id] for id in best[:MOST_ROWS]}, left_out)


def _readable(
    folders: Mapping[str, Path], left_out: dict[str, str]
) -> Iterator[tuple[str, KeptFacts]]:
    for id, folder in folders.items():
        try:
            yield id, read_facts(folder)
        except DamagedEvaluationError as error:
            left_out[id] = str(error)


def _reference(facts: Mapping[str, KeptFacts]) -> KeptFacts:
    """The newest of those that the most can be compared with."""
    counts = Counter(comparable_key(one) for one in facts.values())
    return max(facts.values(), key=lambda one: counts[comparable_key(one)])


def _comparable(
    facts: Mapping[str, KeptFacts], reference: KeptFacts, left_out: dict[str, str]
) -> Iterator[tuple[str, KeptFacts]]:
    for id, one in facts.items():
        why = incomparable(one, reference)
        if why is None:
            yield id, one
        else:
            left_out[id] = f"it cannot be compared with the others: {why}"


def _newest(
    facts: Mapping[str, KeptFacts], left_out: dict[str, str]
) -> Iterator[tuple[str, KeptFacts]]:
    """One evaluation of each model version and decision."""
    listed = set()
    for id, one in facts.items():
        system = (one.model, one.version, one.decision)
        if system in listed:
            left_out[id] = "a newer one of the same model and decision is listed"
        else:
            listed.add(system)
            yield id, one


def rank_key(value: float | None, figure: str) -> tuple[bool, float]:
    """Sorts the best first, what is not defined last."""
    if value is None:
        return True, 0.0
    return False, value if is_loss(figure) else -value

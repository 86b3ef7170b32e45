"""Candidates: recipes that a search tries, each the given one with a few settings added.

What the recipe itself sets is never changed: a candidate only fills in what was left open.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.training.recipe import READY_MADE, MemberRecipe
from app.vectorizers.union import PARTS

LEAD = {"lead": [15, 40]}
SHORT_LEAD, LONG_TEXT = {"lead": [15]}, 100
"""Texts of fewer words gain as much by the shorter lead alone, and are served sooner."""
RATIOS = 0.5
COSTS = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
PAIRS = {"ngram_range": [1, 2], "min_df": 2}
TERMS = ("analyzer", "ngram_range", "min_df", "stop_words", "stemmer", "max_features", "kind")
"""Settings that say which terms there are: who sets one of them has chosen his terms."""
FEWEST_WORDS = 30
"""Of an average text, for the first words to be tried: shorter ones are all first words."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member without its C, in words, and the values of C to try it with."""

    name: str
    member: MemberRecipe
    costs: tuple[float, ...]
    """Empty: the recipe sets it."""


@dataclass(frozen=True, slots=True)
class FeatureVariant:
    """Some features, in words."""

    name: str
    features: dict[str, Any]


def candidates(member: MemberRecipe, *, mean_words: float, has_union: bool) -> list[Candidate]:
    """The member as it is, and every variation of what it leaves open."""
    costs = () if "c" in member.settings else COSTS
    found = []
    for variant in _variants(member, mean_words, has_union):
        for power in (0.0,) if "ratios" in member.settings else (0.0, RATIOS):
            settings = {**member.settings, **({"ratios": power} if power else {})}
            tried = replace(member, features=variant.features, settings=settings)
            name = variant.name + (" × count ratios" if power else "")
            found.append(Candidate(name, tried, costs))
    return found


def _variants(member: MemberRecipe, mean_words: float, has_union: bool) -> Iterator[FeatureVariant]:
    given, is_open = member.features, not member.features.keys() & {*TERMS, "parts"}
    takes_lead = (
        "lead" not in given
        and "parts" not in given
        and given.get("kind", "tfidf") == "tfidf"
        and given.get("analyzer", "word") == "word"
        and mean_words >= FEWEST_WORDS
    )
    lead = (LEAD if mean_words >= LONG_TEXT else SHORT_LEAD) if takes_lead else {}
    yield FeatureVariant("words" if is_open else "features as given", given)
    if takes_lead:
        yield FeatureVariant(
            "words and first words" if is_open else "with first words", given | lead
        )
    if has_union and is_open and "lead" not in given:
        yield FeatureVariant("words and pairs", given | PAIRS)
        parts = [dict(part) for part in PARTS]
        words = " and first words" if lead else ""
        yield FeatureVariant(
            f"words, pairs and characters{words}",
            given | {"parts": [parts[0] | lead, *parts[1:]]},
        )


def beside(candidate: Candidate, cost: float | None) -> Candidate:
    """The candidate with those values of C alone that are next to one that was good before."""
    if cost is None or cost not in candidate.costs:
        return candidate
    place = candidate.costs.index(cost)
    return replace(candidate, costs=candidate.costs[max(place - 1, 0) : place + 2])


def why_none(member: MemberRecipe) -> str:
    """Why nothing is tried for a member; empty where there is something to try."""
    if member.learner != "one-vs-rest":
        return f"the learner is {member.learner}"
    if "options" in member.settings or member.settings.get("solver") == "liblinear":
        return "LIBLINEAR's options are given"
    parts = member.features.get("parts", ())
    if any(own.get("select") for own in (member.features, *parts) if isinstance(own, dict)):
        return "terms are selected by their labels"
    if member.features.get("kind", "tfidf") not in ("tfidf", "union", READY_MADE):
        return f"the features are {member.features['kind']}"
    if member.settings.get("c") == "auto":
        return "C is to be chosen by itself"
    return ""

"""The space of `labelserve tune`: the candidates that it starts with, or those of a file."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.errors import InvalidRequestError
from app.learners.base import learner_class
from app.training.recipe import MemberRecipe, Recipe
from app.training.search.candidates import COSTS, LEAD, SHORT_LEAD, Candidate, candidates, why_none

POWERS = (0.25, 1.0)
"""Of count ratios, beside the usual one."""
CLASS_WEIGHTS = (2, 4)


def default_space(recipe: Recipe, *, mean_words: float, learners: Sequence[str]) -> list[Candidate]:
    """What `--quality best` tries, more powers, class weights and stems, and other learners."""
    member = recipe.members[0]
    if reason := why_none(member):
        raise InvalidRequestError(f"nothing to tune: {reason}")
    found = candidates(member, mean_words=mean_words, has_union=True)
    for candidate in [c for c in found if "count ratios" not in c.name and _is_plain(c)]:
        found += _further(candidate)
    return [*found, *(learner_candidate(kind) for kind in learners if kind != member.learner)]


def _is_plain(candidate: Candidate) -> bool:
    features = candidate.member.features
    return "parts" not in features and "ngram_range" not in features


def _further(candidate: Candidate) -> list[Candidate]:
    member, found = candidate.member, []
    if "ratios" not in member.settings:
        found += [
            _changed(candidate, f"count ratios^{power:g}", settings={"ratios": power})
            for power in POWERS
        ]
    found += [
        _changed(candidate, f"positives × {w}", settings={"options": f"-s 1 -c 1 -B 1 -w1 {w}"})
        for w in CLASS_WEIGHTS
    ]
    if not {"stemmer", "analyzer", "kind"} & member.features.keys():
        found.append(_changed(candidate, "English stems", features={"stemmer": "english"}))
    if member.features.get("lead") in (LEAD["lead"], SHORT_LEAD["lead"]):
        found.append(_changed(candidate, "half as much", features={"lead_weight": 0.5}))
    return found


def _changed(
    candidate: Candidate,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    features: Mapping[str, Any] | None = None,
) -> Candidate:
    member = candidate.member
    changed = replace(
        member,
        settings={**member.settings, **(settings or {})},
        features={**member.features, **(features or {})},
    )
    return replace(candidate, name=f"{candidate.name}, {name}", member=changed)


def learner_candidate(kind: str) -> Candidate:
    """A learner with its own settings; those that hold a part of the documents out are refused."""
    found = learner_class(kind)
    if found.needs_validation_set or found.decision_settings or found.reads_label_names:
        raise InvalidRequestError(
            f"--learners: {kind} cannot be tried on folds; train it by itself, or in an ensemble"
        )
    return Candidate(kind, MemberRecipe(kind).with_feature_settings(), ())


def read_space(file: Path) -> list[Candidate]:
    """The candidates of a TOML file: `[[candidates]]` with name, learner, settings, features.

    One-vs-rest is tried at every C unless its settings have one.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("candidates", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError(f"{file}: not TOML: {error}") from error
    if not isinstance(tables, list) or not tables:
        raise InvalidRequestError(f"{file}: accepted: one [[candidates]] or more")
    return [_read(table, number, file) for number, table in enumerate(tables, start=1)]


def _read(table: Mapping[str, Any], number: int, file: Path) -> Candidate:
    unknown = set(table) - {"name", "learner", "settings", "features"}
    if unknown:
        raise InvalidRequestError(
            f"{file}: candidate {number} has no {sorted(unknown)[0]!r}; accepted: name, learner, "
            "settings, features"
        )
    given = {name: value for name, value in table.items() if name != "name"}
    member = Recipe.from_tables({"members": [given]}).members[0].with_feature_settings()
    name = str(table.get("name", f"candidate {number}"))
    if member.learner != "one-vs-rest":
        return replace(learner_candidate(member.learner), name=name, member=member)
    own = {key: value for key, value in member.settings.items() if key != "options"}
    if reason := why_none(replace(member, settings=own)):
        raise InvalidRequestError(f"{file}: candidate {number}: {reason}")
    return Candidate(name, member, () if "c" in member.settings else COSTS)

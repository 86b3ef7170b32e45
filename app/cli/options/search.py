"""`--quality` and `--objective`, and what the commands say of a search."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from app.errors import InvalidRequestError
from app.training.search.objectives import decision_for


class QualityName(StrEnum):
    """How much is tried before training."""

    fast = "fast"
    balanced = "balanced"
    best = "best"


class ObjectiveName(StrEnum):
    """Which F1 a training is to raise."""

    micro = "micro"
    macro = "macro"
    both = "both"


QualityOption = Annotated[
    QualityName | None,
    typer.Option(
        "--quality",
        help="What is tried to fill in settings that are not given: fast nothing, balanced a few "
        "(tens of seconds), best more and ensembles (minutes). balanced, but fast with --recipe.",
    ),
]
ObjectiveOption = Annotated[
    ObjectiveName | None,
    typer.Option(
        "--objective", help="The F1 to raise: micro (default), macro or both; sets --decision."
    ),
]


def quality_name(given: QualityName | None, *, has_recipe: bool) -> str:
    """The quality that was asked for; a recipe file is trained as it stands."""
    return (given or (QualityName.fast if has_recipe else QualityName.balanced)).value


def decision_name(decision: str | None, objective: ObjectiveName | None) -> str | None:
    """The decision that was asked for, by its name or by its objective."""
    if objective is None:
        return decision
    if decision is not None:
        raise InvalidRequestError("--objective sets the decision: leave --decision out, or it")
    return decision_for(objective.value)


def search_rows(figures: dict[str, Any]) -> list[list[str]]:
    """What was tried, what won, and its figure corrected for the choice."""
    search = figures.get("search")
    if search is None:
        return []
    if "not_searched" in search:
        return [["quality", f"{search['quality']}, nothing tried: {search['not_searched']}"]]
    sample = search["sample"]
    size = f"{sample['documents']:,} documents, {sample['labels']:,} labels"
    promise = search.get("promise", {}).items()
    return [
        ["quality", f"{search['quality']}, {len(search['trials'])} trials on {size}"],
        ["best of them", search["winner"]["name"]],
        *([f"held-out {name}, less luck of the choice", f"{value:.4f}"] for name, value in promise),
    ]

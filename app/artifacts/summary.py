"""A version in a few facts, and all versions of a store in a list: what `models.py` shows."""

import re
from collections.abc import Iterator
from typing import Any

from app.artifacts.manifest import Manifest, Part
from app.artifacts.store import Store
from app.errors import AppError

LONGEST_LIST = 20


def version_facts(store: Store, name: str, version: str) -> dict[str, Any]:
    """What one version is, from its manifest; `problem` instead where that cannot be read."""
    facts: dict[str, Any] = {"model": name, "version": version}
    try:
        facts["is_current"] = store.current(name) == version
    except AppError:
        facts["is_current"] = False
    if tried := store.trials_of(name, version):
        facts["on_trial"] = tried
    try:
        return {**facts, **manifest_facts(store.peek(name, version))}
    except AppError as error:
        return {**facts, "problem": str(error)}


def store_facts(store: Store) -> list[dict[str, Any]]:
    """The facts of every version, by model and time."""
    pairs = [(name, version) for name in store.names() for version in store.versions(name)]
    return [version_facts(store, name, version) for name, version in pairs]


def manifest_facts(manifest: Manifest) -> dict[str, Any]:
    """Learners, decision, sizes and figures of a manifest."""
    members = [part for name, part in manifest.state.parts.items() if name.startswith("member")]
    return {
        "created": manifest.created,
        "learner": ", ".join(_kinds(members, "learner")),
        "vectorizer": ", ".join(_kinds(members, "vectorizer")),
        "decision": _decision(manifest.state),
        "labels": _labels(manifest),
        "trained_on": manifest.data.counts,
        "data_sha256": manifest.data.sha256,
        "bytes": sum(file.size for file in manifest.files.values()),
        "figures": manifest.figures,
        "seed": manifest.seed,
        "packages": manifest.packages,
        "timings": manifest.timings,
    }


def shown_recipe(recipe: Any) -> Any:
    """A recipe as others may see it: files without their folders, long lists as their length.

    >>> shown_recipe({"vectors": "/home/ada/words.txt", "costs": [1.0] * 100, "folds": 5})
    {'vectors': 'words.txt', 'costs': '100 values', 'folds': 5}
    """
    if isinstance(recipe, dict):
        return {name: shown_recipe(value) for name, value in recipe.items()}
    if isinstance(recipe, list):
        is_long = len(recipe) > LONGEST_LIST
        return f"{len(recipe)} values" if is_long else [shown_recipe(value) for value in recipe]
    return re.split(r"[/\\]", recipe)[-1] if isinstance(recipe, str) else recipe


def _labels(manifest: Manifest) -> Any:
    """How many labels are answered: those trained, or what they became."""
    relabelling = manifest.state.parts.get("relabelling")
    return manifest.labels if relabelling is None else relabelling.settings["labels"]


def _kinds(members: list[Part], role: str) -> Iterator[str]:
    return (member.parts[role].kind for member in members if role in member.parts)


def _decision(state: Part) -> str:
    if "decision" not in state.parts:
        return ""
    decision = state.parts["decision"]
    return str(decision.settings.get("name", decision.kind))

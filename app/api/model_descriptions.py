"""What GET /models and its relatives answer: a model in brief, its card, its versions."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from app.artifacts.summary import shown_recipe, version_facts
from app.classifier import Classifier
from app.decisions.label_hull import ReliabilityBin, reliability
from app.serving.registry import Loaded, Registry

MOST_VERSIONS = 100

State = Literal["ready", "loading", "failed"]


class Failed(BaseModel):
    """A version that could not be loaded, and why."""

    version: str
    reason: str


class ModelInfo(BaseModel):
    """One model: the version that answers, all that can be named, one that failed to load."""

    name: str
    state: State
    """`ready` as soon as a version answers, also where a newer one is being loaded or failed."""
    version: str | None = None
    versions: list[str] | None = None
    learner: str | None = None
    vectorizer: str | None = None
    decision: str | None = None
    labels: int | None = None
    has_taxonomy: bool | None = None
    """Whether it has a labels file, so that labels have names, and ancestors on request."""
    features: int | None = None
    created: str | None = None
    figures: dict[str, Any] | None = None
    failed: Failed | None = None


class StoredVersion(BaseModel):
    """A version in the models folder, loaded or not; `problem` where its manifest is unreadable."""

    version: str
    is_current: bool
    is_loaded: bool
    created: str | None = None
    learner: str | None = None
    decision: str | None = None
    labels: int | None = None
    bytes: int | None = None
    micro_f1: float | None = None
    problem: str | None = None


class ModelCard(ModelInfo):
    """A model in full: what it was trained on and how, how good it is, what else is stored.

    The recipe has no folders of files in it, and of long lists only how many values they have.
    """

    stored: list[StoredVersion]
    """The newest hundred, the newest first, and the current one."""
    may_promote: bool
    """Whether this service may write the models folder."""
    has_curve: bool = False
    """Whether `GET /models/{name}/curve` knows what to expect of this version."""
    bytes: int | None = None
    trained_on: dict[str, int] | None = None
    data_sha256: str | None = None
    recipe: dict[str, Any] | None = None
    seed: int | None = None
    packages: dict[str, str] | None = None
    timings: dict[str, float] | None = None
    reliability: list[ReliabilityBin] | None = None
    """Probabilities beside shares, on the held-out documents that they were fitted on."""


class CurrentVersion(BaseModel):
    """The version that is to answer."""

    model_config = ConfigDict(extra="forbid")

    version: str


def model_info(registry: Registry, name: str) -> ModelInfo:
    """A model in brief, from memory."""
    failure, loaded = registry.failures.get(name), registry.loaded.get(name)
    failed = None if failure is None else Failed(version=failure.version, reason=failure.reason)
    if loaded is None:
        state: State = "loading" if failed is None else "failed"
        return ModelInfo(name=name, state=state, failed=failed)
    versions = registry.versions(name)
    return _described(loaded).model_copy(update={"failed": failed, "versions": versions})


def model_card(registry: Registry, name: str) -> ModelCard:
    """A model in full; its folder is read."""
    loaded = registry.loaded.get(name)
    return ModelCard(
        **model_info(registry, name).model_dump(),
        stored=list(_stored(registry, name)),
        may_promote=registry.store.may_promote(name),
        **({} if loaded is None else _trained(loaded)),
    )


def _described(loaded: Loaded) -> ModelInfo:
    found, manifest = loaded.model, loaded.model.manifest
    members = found.classifier.members
    return ModelInfo(
        name=found.name,
        state="ready",
        version=found.version,
        learner="+".join(member.learner.kind for member in members),
        vectorizer="+".join(member.vectorizer.kind for member in members),
        decision=found.classifier.decision.name,
        labels=len(found.classifier.answered_labels),
        has_taxonomy=found.classifier.taxonomy is not None,
        features=sum(member.vectorizer.n_features for member in members),
        created=manifest.created,
        figures=manifest.figures,
    )


def _trained(loaded: Loaded) -> dict[str, Any]:
    manifest, classifier = loaded.model.manifest, loaded.model.classifier
    return {
        "has_curve": classifier.hulls is not None and not classifier.has_merged_labels,
        "bytes": sum(file.size for file in manifest.files.values()),
        "trained_on": manifest.data.counts,
        "data_sha256": manifest.data.sha256,
        "recipe": shown_recipe(manifest.recipe),
        "seed": manifest.seed,
        "packages": manifest.packages,
        "timings": manifest.timings,
        "reliability": _reliability(classifier),
    }


def _reliability(classifier: Classifier) -> list[ReliabilityBin] | None:
    if classifier.hulls is None or classifier.calibration is None:
        return None
    return reliability(classifier.hulls, classifier.calibration)


def _stored(registry: Registry, name: str) -> Iterator[StoredVersion]:
    versions = registry.store.versions(name)
    loaded, newest = registry.versions(name), set(versions[-MOST_VERSIONS:])
    for version in reversed(versions):
        if version in newest or version in loaded:
            yield _stored_version(registry, name, version)


def _stored_version(registry: Registry, name: str, version: str) -> StoredVersion:
    facts = version_facts(registry.store, name, version)
    held_out = facts.get("figures", {}).get("held_out") or {}
    known: dict[str, Any] = {field: facts.get(field) for field in StoredVersion.model_fields}
    is_loaded = version in registry.versions(name)
    return StoredVersion(**{**known, "is_loaded": is_loaded, "micro_f1": held_out.get("micro_f1")})

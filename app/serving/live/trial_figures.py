"""Figures of trials over all workers, made of a snapshot of their telemetry."""

from dataclasses import dataclass

from app.serving.live.intervals import Estimate, correlation, mean, quantile, share
from app.serving.live.shadow import OTHERS, ShadowSums
from app.serving.telemetry.snapshot import FamilySnapshot, Snapshot

MOST_LABELS = 100


@dataclass(frozen=True, slots=True)
class Times:
    """How long a side took, in seconds."""

    median: Estimate
    p99: Estimate


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Documents that got a label from both versions, or from one alone.

    `of_current` is the share of the current version's assignments that the shadow makes too,
    `of_shadow` the other way round.
    """

    label: str
    both: int
    only_current: int
    only_shadow: int
    jaccard: Estimate | None
    of_current: Estimate | None
    of_shadow: Estimate | None

    @classmethod
    def of(cls, label: str, counts: list[float]) -> "LabelAgreement":
        """The agreement of these counts: both, only the current version, only the shadow."""
        both, current, shadow = counts
        return cls(
            label,
            int(both),
            int(current),
            int(shadow),
            share(both, both + current + shadow),
            share(both, both + current),
            share(both, both + shadow),
        )


@dataclass(frozen=True, slots=True)
class ShadowFigures:
    """What two versions agreed on. A document without a label from either is agreed on."""

    compared: int
    dropped: int
    failed: int
    jaccard: Estimate | None
    """The mean of documents."""
    all_labels: LabelAgreement | None
    current_labels: float | None
    """Labels a document."""
    shadow_labels: float | None
    more_labels: Estimate | None
    """Labels a document of the shadow, less those of the current version."""
    score_correlation: Estimate | None
    """Of the ten best labels of either."""
    current_seconds: Times | None
    shadow_seconds: Times | None
    by_label: list[LabelAgreement]
    """The hundred that the versions disagree on most often, and beyond a thousand labels the rest
    together, without a name."""


@dataclass(frozen=True, slots=True)
class CanarySide:
    """The requests of one side: answered, refused (4xx), failed (5xx, or broken off)."""

    answered: int
    refused: int
    failed: int
    failed_share: Estimate | None
    seconds: Times | None


def shadow_figures(snapshot: Snapshot, model: str, version: str) -> ShadowFigures:
    """What is known of a shadow until now."""
    families = {family.name: family for family in snapshot}
    sums = _of(families["shadow_sums"], model, version)
    found = ShadowSums(*sums) if sums else ShadowSums(*[0.0] * len(ShadowSums._fields))
    n, labels = found.documents, _labels(families["shadow_label_sums"], model, version)
    total = [float(sum(own)) for own in zip(*labels.values(), strict=True)]
    compared, dropped, failed = (
        int(sum(_of(families["labelserve_shadow_documents"], model, version, outcome)))
        for outcome in ("compared", "dropped", "failed")
    )
    times = families["labelserve_shadow_seconds"]
    return ShadowFigures(
        compared,
        dropped,
        failed,
        mean(found.jaccard, found.jaccard_squared, n),
        LabelAgreement.of(OTHERS, total) if total else None,
        found.current_labels / n if n else None,
        found.shadow_labels / n if n else None,
        mean(found.difference, found.difference_squared, n),
        correlation(found[-6:], n),
        _times(times, model, version, "current"),
        _times(times, model, version, "shadow"),
        _most_disagreed(labels),
    )


def canary_sides(snapshot: Snapshot, model: str, version: str) -> dict[str, CanarySide]:
    """What is known of both sides of a canary until now."""
    families = {family.name: family for family in snapshot}
    requests, times = families["labelserve_canary_requests"], families["labelserve_canary_seconds"]
    sides = {}
    for side in ("current", "canary"):
        answered, refused, failed = (
            int(sum(_of(requests, model, version, side, outcome)))
            for outcome in ("answered", "refused", "failed")
        )
        failed_share = share(failed, answered + refused + failed)
        seconds = _times(times, model, version, side)
        sides[side] = CanarySide(answered, refused, failed, failed_share, seconds)
    return sides


def _most_disagreed(labels: dict[str, list[float]]) -> list[LabelAgreement]:
    def order(item: tuple[str, list[float]]) -> tuple[float, str]:
        label, (_, current, shadow) = item
        return (-(current + shadow), label)

    return [LabelAgreement.of(*item) for item in sorted(labels.items(), key=order)[:MOST_LABELS]]


def _of(family: FamilySnapshot, *labels: str) -> list[float]:
    return family.series.get(labels, [])


def _labels(family: FamilySnapshot, model: str, version: str) -> dict[str, list[float]]:
    return {key[2]: own for key, own in family.series.items() if key[:2] == (model, version)}


def _times(family: FamilySnapshot, *labels: str) -> Times | None:
    counts = _of(family, *labels)[:-1]
    if not counts:
        return None
    median, p99 = (quantile(q, counts, family.bounds) for q in (0.5, 0.99))
    return None if median is None or p99 is None else Times(median, p99)

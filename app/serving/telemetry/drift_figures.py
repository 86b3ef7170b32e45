"""Drift figures of all processes together: made of their counts once these are summed."""

from dataclasses import dataclass

import msgspec

from app.document_drift.figures import LEAST_DOCUMENTS, DriftFigure, drift_figure
from app.serving.telemetry.snapshot import FamilySnapshot, Snapshot

PSI, P_VALUE = "labelserve_drift_psi", "labelserve_drift_p_value"
DOCUMENTS = "labelserve_drift_documents"
LIVE, REFERENCE = "drift_live", "drift_reference"
Series = dict[tuple[str, ...], list[float]]


@dataclass(frozen=True, slots=True)
class ModelDrift:
    """How far the latest documents of a model are from those held out in its training."""

    model: str
    version: str
    documents: int
    figures: list[DriftFigure]

    @property
    def is_judged(self) -> bool:
        """Whether there are enough documents to tell anything."""
        return self.documents >= LEAST_DOCUMENTS


def drift_of(snapshot: Snapshot) -> list[ModelDrift]:
    """Every version that documents were counted for."""
    families = {family.name: family.series for family in snapshot}
    live, reference = families.get(LIVE, {}), families.get(REFERENCE, {})
    measures: dict[tuple[str, str], list[str]] = {}
    for model, version, measure in sorted(live):
        if reference.get((model, version, measure)) and live[model, version, measure]:
            measures.setdefault((model, version), []).append(measure)
    return [
        ModelDrift(
            *key,
            max(int(sum(live[*key, measure])) for measure in own),
            [drift_figure(m, reference[*key, m], live[*key, m], len(own)) for m in own],
        )
        for key, own in measures.items()
    ]


def with_drift_figures(snapshot: Snapshot) -> Snapshot:
    """The snapshot with what Prometheus is shown of drift."""
    found = drift_of(snapshot)
    judged = {
        (one.model, one.version, figure.measure): figure
        for one in found
        if one.is_judged
        for figure in one.figures
    }
    shown: dict[str, Series] = {
        PSI: {key: [figure.psi] for key, figure in judged.items()},
        P_VALUE: {key: [figure.p_value] for key, figure in judged.items()},
        DOCUMENTS: {(one.model, one.version): [one.documents] for one in found},
    }
    return tuple(_filled(family, shown) for family in snapshot)


def _filled(family: FamilySnapshot, shown: dict[str, Series]) -> FamilySnapshot:
    series = shown.get(family.name)
    return family if series is None else msgspec.structs.replace(family, series=series)

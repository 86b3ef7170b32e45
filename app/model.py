"""Model: a trained artifact, verified down to its golden documents, ready to answer."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.artifacts.info import Artifact, Info
from app.artifacts.manifest import Golden, Manifest
from app.artifacts.store import Store
from app.classifier import Classifier
from app.decisions.rules.cost import Cost
from app.decisions.tuning.options import with_current_names
from app.document_drift.reference import DriftReference
from app.errors import AppError, DamagedArtifactError
from app.labels import Relabelling, Taxonomy
from app.metrics.costs import CostTable, ErrorCosts

GOLDEN_DOCUMENTS, GOLDEN_TERMS, GOLDEN_LABELS = 3, 24, 5


@dataclass(frozen=True, slots=True)
class Model:
    """A version of a model in memory: its classifier, its manifest, and what it was trained on."""

    name: str
    version: str
    manifest: Manifest
    classifier: Classifier
    training_counts: NDArray[np.int64]
    fingerprints: NDArray[np.uint64] | None

    @property
    def n_training_documents(self) -> int | None:
        """How many documents it was trained on; None where the manifest does not say."""
        return self.manifest.data.counts.get("documents")

    def info(self) -> Info:
        """What training told about it: to write the model once more, or changed."""
        manifest = self.manifest
        return Info(
            data_sha256=manifest.data.sha256,
            counts=dict(manifest.data.counts),
            training_counts=self.training_counts,
            seed=manifest.seed,
            recipe=dict(manifest.recipe),
            packages=dict(manifest.packages),
            timings=dict(manifest.timings),
            figures=dict(manifest.figures),
            golden=[golden.model_dump(exclude_none=True) for golden in manifest.golden],
            document_histograms=_histograms(self.manifest),
            documents=self.fingerprints,
        )

    @property
    def label_separator(self) -> str:
        """How label cells of its training data were split, as options spell it; "": none were."""
        found = self.manifest.recipe.get("label_separator")
        return found if isinstance(found, str) else ""

    @property
    def has_drift_reference(self) -> bool:
        """Whether it keeps what its held-out documents were like."""
        return self.manifest.document_histograms is not None

    @property
    def drift_reference(self) -> DriftReference | None:
        """What its held-out documents were like; None where it does not keep that."""
        bins = _histograms(self.manifest)
        if bins is None:
            return None
        return DriftReference.of(self.classifier, self.training_counts, bins)

    @property
    def taxonomy(self) -> Taxonomy | None:
        """What its labels file said about the labels; None without one."""
        return self.classifier.taxonomy

    @property
    def relabelling(self) -> Relabelling | None:
        """What its labels became since it was trained; None where they are what they were."""
        return self.classifier.relabelling

    @property
    def tuning_settings(self) -> dict[str, Any]:
        """The settings with which its decision was tuned last."""
        return _tuning_settings(self.manifest.recipe)

    @property
    def costs(self) -> CostTable | None:
        """What errors cost, where its decision was tuned for that; None: it was tuned otherwise."""
        return tuned_costs(self.classifier, self.manifest.recipe)


def load_model(store: Store, reference: str) -> Model:
    """The model `NAME` (its current version) or `NAME@VERSION`, verified before it is returned."""
    return model_from(store.load(*store.resolve(reference)))


def model_from(artifact: Artifact) -> Model:
    """The model of a verified artifact; its golden documents must score as they did."""
    try:
        classifier = Classifier.from_state(artifact.state)
    except AppError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DamagedArtifactError(f"its parts do not fit together: {error}") from error
    check_golden(classifier, artifact.manifest.golden)
    return Model(
        artifact.name,
        artifact.version,
        artifact.manifest,
        classifier,
        artifact.training_counts,
        artifact.documents,
    )


def tuned_costs(classifier: Classifier, recipe: Mapping[str, Any]) -> CostTable | None:
    """What errors cost, where the decision was tuned for that; None: it was tuned otherwise.

    None, too, where labels were merged: each of them had costs of its own.
    """
    if classifier.decision.name != Cost.syntax or classifier.has_merged_labels:
        return None
    names, settings = classifier.column_names, _tuning_settings(recipe)
    costs = (settings.get(name, 1.0) for name in ErrorCosts._fields)
    rows = map(ErrorCosts, *(np.broadcast_to(cost, len(names)).tolist() for cost in costs))
    by_label = zip(names, rows, strict=True)
    return CostTable(by_label={name: row for name, row in by_label if name})


def _histograms(manifest: Manifest) -> dict[str, dict[str, Any]] | None:
    found = manifest.document_histograms
    return None if found is None else {name: bins.model_dump() for name, bins in found.items()}


def _tuning_settings(recipe: Mapping[str, Any]) -> dict[str, Any]:
    source = recipe.get("retuned") or recipe.get("decision") or {}
    return with_current_names(source.get("settings") or {})


def compose_golden(classifier: Classifier, seed: int) -> list[Golden]:
    """Documents made of the vocabulary's own terms in random order, with their best scores."""
    pick = random.Random(seed)  # noqa: S311
    vectorizer = classifier.members[0].vectorizer
    terms = list(vectorizer.terms())
    length = min(GOLDEN_TERMS, len(terms))
    picks = [pick.sample(range(len(terms)), length) for _ in range(GOLDEN_DOCUMENTS)]
    if classifier.is_ready_made:
        golden = [Golden(features=[(column, 1.0) for column in sorted(p)], top=[]) for p in picks]
    else:
        golden = [Golden(text=" ".join(terms[column] for column in p), top=[]) for p in picks]
    scores = classifier.scores(_documents(golden, vectorizer.n_features))
    return [g.model_copy(update={"top": _top(row)}) for g, row in zip(golden, scores, strict=True)]


def check_golden(classifier: Classifier, golden: Sequence[Golden]) -> None:
    """Refuse a classifier that does not score its golden documents as its manifest says."""
    if not golden:
        raise DamagedArtifactError("the manifest has no golden documents")
    documents = _documents(golden, classifier.members[0].vectorizer.n_features)
    tolerance = max(member.learner.score_tolerance for member in classifier.members)
    for number, (document, row) in enumerate(
        zip(golden, classifier.scores(documents), strict=True), start=1
    ):
        for label, expected in document.top:
            close = label < len(row) and abs(row[label] - expected) <= tolerance * (
                1 + abs(expected)
            )
            if not close:
                raise DamagedArtifactError(
                    f"golden document {number} does not score as it did when the model was written"
                )


def _documents(golden: Sequence[Golden], n_features: int) -> Any:
    if golden[0].text is not None:
        return [document.text for document in golden]
    rows = [document.features or [] for document in golden]
    ends = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([column for row in rows for column, _ in row], dtype=np.int32)
    values = np.array([value for row in rows for _, value in row], dtype=np.float32)
    return csr_array((values, columns, ends), shape=(len(rows), n_features))


def _top(row: NDArray[np.float32]) -> list[tuple[int, float]]:
    best = np.argsort(-row, kind="stable")[:GOLDEN_LABELS]
    return [(int(label), float(row[label])) for label in best if np.isfinite(row[label])]

"""Retune: new cuts, hulls, calibration and bands from a labelled set; the members stay as they are.

For when documents or the price of errors have changed, and retraining is too slow or not possible.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from app.arrays import Truth
from app.artifacts.info import Info
from app.classifier import Classifier
from app.datasets.collection import Collection
from app.datasets.fingerprint import fingerprints
from app.decisions.abstention import Abstention
from app.decisions.base import Use
from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import Decision
from app.decisions.expectation.estimate import estimated_expectations
from app.decisions.parser import document_rule
from app.decisions.rules.cost import Cost
from app.decisions.tuning.absent_labels import completed_bands, completed_hulls
from app.decisions.tuning.held_out_figures import (
    count_figures,
    held_out_counts,
    held_out_figures,
)
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.document_drift.measures import DocumentMeasures
from app.document_drift.reference import held_out_histograms
from app.errors import InvalidRequestError
from app.heldout import HeldOut
from app.learners.out_of_fold.scores import out_of_fold_scores
from app.learners.out_of_fold.stratified_folds import stratified_folds
from app.metrics.costs import CostTable, ErrorCosts
from app.model import Model
from app.progress import Progress, silent
from app.training.train import Trained

CHUNK = 512
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be tuned; None: as the model was."""

    decision: str | None = None
    abstain: float | None = None
    settings: dict[str, Any] | None = None
    costs: CostTable | None = None
    """What errors cost; None: as the model was tuned for, or 1 each."""


@dataclass(frozen=True, slots=True)
class Retuned:
    """The model with new decisions, and figures on the labelled set before and after.

    `cross_validated` is what to expect elsewhere: tuned on four fifths, measured on a fifth.
    """

    trained: Trained
    before: dict[str, float]
    after: dict[str, float]
    cross_validated: dict[str, float]
    warnings: list[str]


def retune(
    model: Model,
    labelled: Collection,
    choice: Choice | None = None,
    *,
    jobs: int = 1,
    progress: Progress = silent,
) -> Retuned:
    """The same members, decided anew. A label without a document in the set stays as it was."""
    recipe = _recipe(model, choice or Choice())
    old = model.classifier
    if old.relabelling is not None:
        raise InvalidRequestError(
            "this version was relabelled: retune the version that it was made from, and relabel "
            "that one again"
        )
    if labelled.is_ready_made != old.is_ready_made:
        raise InvalidRequestError("the labelled set and the model differ: texts, or features")
    if recipe.decision == "zero" and not all(m.learner.zero_is_neutral for m in old.members):
        raise InvalidRequestError(
            "decision zero: this learner's 0 is not neutral; use micro-f, macro-f or rank:K"
        )
    truth = old.labels.truth(labelled.label_sets)
    if not truth.nnz:
        raise InvalidRequestError("no document of the labelled set has a label of the model")
    held_out = score_all(old, labelled.documents, truth, jobs=jobs, progress=progress)
    new, costs = _decided(old, held_out, recipe), _costs(recipe, len(old.labels))
    after = held_out_figures(new.decision, held_out, costs)
    info = _info(model, labelled, recipe, {"held_out": after, "exact": held_out.is_exact})
    histograms = None
    if not labelled.is_ready_made:
        measures = DocumentMeasures.of(new, model.training_counts)
        texts = labelled.documents
        histograms = held_out_histograms(measures, texts, held_out, are_own=False)
    return Retuned(
        Trained(new, replace(info, document_histograms=histograms)),
        held_out_figures(old.decision, held_out, costs),
        after,
        _cross_validated(old, held_out, recipe),
        _warnings(model, labelled, truth, recipe),
    )


def score_all(
    classifier: Classifier,
    documents: Any,
    truth: Truth,
    *,
    jobs: int = 1,
    progress: Progress = silent,
) -> HeldOut:
    """The model's scores of documents it was not trained on; sparse where dense would not fit."""
    collected, labels = out_of_fold_scores(truth), np.arange(truth.shape[1])
    for start in range(0, truth.shape[0], CHUNK):
        rows = np.arange(start, min(start + CHUNK, truth.shape[0]))
        chunk = documents[rows[0] : rows[-1] + 1]
        collected.put(rows, labels, classifier.scores(chunk, jobs=jobs))
        progress("score", int(rows[-1]) + 1, truth.shape[0])
    return collected.held_out()


def _recipe(model: Model, choice: Choice) -> Choice:
    """The choice, completed by how the model was decided so far."""
    old = model.classifier
    costs = choice.costs.settings(old.labels.names) if choice.costs else {}
    abstain = old.abstention.target if old.abstention is not None else None
    return Choice(
        choice.decision or old.decision.name,
        choice.abstain if choice.abstain is not None else abstain,
        {"seed": model.manifest.seed, **model.tuning_settings, **(choice.settings or {}), **costs},
        choice.costs,
    )


def _costs(recipe: Choice, n_labels: int) -> ErrorCosts | None:
    """What errors cost, where that was asked for."""
    if recipe.costs is None and recipe.decision != Cost.syntax:
        return None
    return TuningOptions(**(recipe.settings or {})).costs(n_labels)


def _tuned(held_out: HeldOut, hulls: Hulls, old: Decision, recipe: Choice) -> Decision:
    """The decision of the choice; labels that the set does not show keep the old tuned cut."""
    name = recipe.decision or "micro-f"
    decision = tune(name, held_out, hulls, TuningOptions(**(recipe.settings or {})))
    if decision.cuts is None or old.cuts is None:
        return decision
    if not document_rule(name, Use.TRAINING).is_tuned:
        return decision
    return replace(decision, cuts=np.where(hulls.positives > 0, decision.cuts, old.cuts))


def _decided(old: Classifier, held_out: HeldOut, recipe: Choice) -> Classifier:
    hulls = Hulls.of(held_out)
    decision = _tuned(held_out, hulls, old.decision, recipe)
    bands = None
    if recipe.abstain is not None:
        fitted = Abstention.fit(held_out, decision, recipe.abstain)
        bands = completed_bands(fitted, old.abstention, hulls)
    calibration = Calibration.fit(held_out)
    return replace(
        old,
        decision=decision,
        hulls=completed_hulls(hulls, old.hulls),
        expectations=estimated_expectations(held_out),
        calibration=calibration,
        abstention=bands,
    )


def _cross_validated(old: Classifier, held_out: HeldOut, recipe: Choice) -> dict[str, float]:
    """Figures of cuts that were tuned on the other folds of the labelled set."""
    if held_out.n_documents < FOLDS:
        return {}
    truth = csr_array(held_out.truth)
    scores = csr_array(held_out.scores) if issparse(held_out.scores) else held_out.scores
    counts = np.zeros((held_out.n_labels, 3), np.int64)
    for inside, outside in stratified_folds(truth, FOLDS, 0).splits():
        others = HeldOut.of(scores[outside], truth[outside], is_exact=held_out.is_exact)
        decision = _tuned(others, Hulls.of(others), old.decision, recipe)
        counts += held_out_counts(decision, HeldOut.of(scores[inside], truth[inside]))
    return count_figures(counts, held_out.n_documents, _costs(recipe, held_out.n_labels))


def _warnings(model: Model, labelled: Collection, truth: Truth, recipe: Choice) -> list[str]:
    warnings = recipe.costs.unknown(model.classifier.labels.names) if recipe.costs else []
    absent = int((np.asarray(truth.sum(axis=0)).ravel() == 0).sum())
    if absent:
        warnings.append(f"{absent} labels have no document in the labelled set and keep their cut")
    unknown = {label for labels in labelled.label_sets for label in labels}
    unknown -= set(model.classifier.labels.names)
    if unknown:
        warnings.append(f"{len(unknown)} labels of the labelled set are not the model's: left out")
    seen = _seen(model, labelled)
    if seen:
        warnings.append(
            f"{seen} of {len(labelled)} documents were trained on: their scores are too good to "
            "tune on"
        )
    return warnings


def _seen(model: Model, labelled: Collection) -> int:
    if model.fingerprints is None or labelled.is_ready_made:
        return 0
    return int(np.isin(fingerprints(labelled.documents), model.fingerprints).sum())


def _info(model: Model, labelled: Collection, recipe: Choice, figures: dict[str, Any]) -> Info:
    """What the manifest says: the training as it was, and where the decisions come from."""
    source = {
        "model": f"{model.name}@{model.version}",
        "data_sha256": labelled.summary.documents_sha256 or labelled.summary.sha256,
        "documents": len(labelled),
        "decision": recipe.decision,
        "abstain": recipe.abstain,
        "settings": recipe.settings,
    }
    recipe_and_source = {**model.manifest.recipe, "retuned": source}
    return replace(model.info(), recipe=recipe_and_source, figures=figures, timings={})

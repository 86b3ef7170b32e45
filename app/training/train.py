"""The offline story, top to bottom: documents in, a model with tuned decisions out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.artifacts.info import Info
from app.classifier import Classifier
from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.datasets.fingerprint import fingerprints
from app.datasets.labels_file import LabelsFile
from app.decisions.abstention import Abstention
from app.decisions.base import Basis, Use
from app.decisions.calibration.calibration import Calibration
from app.decisions.decision import Decision
from app.decisions.expectation.estimate import estimated_expectations
from app.decisions.parser import decision_of, document_rule
from app.decisions.rules.cost import Cost
from app.decisions.tuning.held_out_figures import held_out_figures
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.document_drift.measures import DocumentMeasures
from app.document_drift.reference import held_out_histograms
from app.engine import Engine
from app.errors import InvalidDataError, InvalidRequestError
from app.evaluation.suspects.suspect_list import Suspect
from app.hand_rules.rules_file import load_rules
from app.heldout import HeldOut
from app.labels import LabelIndex, Taxonomy
from app.learners.base import Fitting, Learner, learner_class
from app.learners.linear.problem_size import problem_size
from app.metrics.costs import CostTable, ErrorCosts
from app.model import compose_golden
from app.progress import Progress, silent
from app.resources.scratch import ScratchFolder
from app.resources.texts import texts_at
from app.training.construct import construct
from app.training.drift import drift_check
from app.training.ensemble import combine, common_rows
from app.training.fold_plan import fold_plan
from app.training.members import FittedMember, TrainingData, built, fit_member
from app.training.memory.plan import MemoryPlan, memory_plan
from app.training.recipe import Recipe
from app.training.suspects import training_suspects

PACKAGES = ("labelserve", "liblinear-official", "llvmlite", "numba", "numpy", "scipy", "torch")


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Everything that decides what comes out (but `jobs` and `engine`, which decide how soon)."""

    data: Collection
    recipe: Recipe
    valid: Collection | None = None
    seed: int = 0
    jobs: int = 1
    device: str = "auto"
    checkpoint: Path | None = None
    keeps_fingerprints: bool = True
    labels_file: LabelsFile | None = None
    most_suspects: int = 0
    """How many labels of the data to list at most that are probably missing or wrong."""
    costs: CostTable | None = None
    """What errors cost; None: as the recipe says, which is 1 each unless it says otherwise."""
    engine: Engine | None = None
    """Where the tasks of fitting run; None: in `jobs` threads of this process."""
    scratch: Path | None = None
    """Where large arrays lie while training; None: in memory as long as they fit."""

    def memory_plan(self) -> MemoryPlan | None:
        """What the training will need; None where that is not known."""
        recipe = self.recipe.for_ready_made() if self.data.is_ready_made else self.recipe
        return memory_plan(self.data, recipe.completed(), jobs=self.jobs, folder=self.scratch)


@dataclass(frozen=True, slots=True)
class Trained:
    """A classifier, and what its manifest will say."""

    classifier: Classifier
    info: Info
    suspects: tuple[Suspect, ...] = ()
    """The most suspect labels of the documents that were held out, where they were asked for."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to the stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def train(job: TrainingJob, progress: Progress = silent) -> Trained:
    """The model of a recipe and a collection; the same for any number of `jobs`."""
    recipe = job.recipe.for_ready_made() if job.data.is_ready_made else job.recipe
    job = replace(job, recipe=recipe.completed())
    check(job)
    watch = Stopwatch()
    labels = LabelIndex.of(job.data.label_sets + (job.valid.label_sets if job.valid else []))
    job = _with_costs(job, labels)
    data = _training_data(job, labels)
    fitting = Fitting(job.jobs, job.seed, job.device, progress, checkpoint=job.checkpoint)
    fitting = replace(fitting, ids=_ids(job.data), engine=job.engine, scratch=_scratch(job))
    plan = fold_plan(job.recipe, job.data)
    with watch.stage("fit"):
        fitted = [fit_member(m, data, plan=plan, fitting=fitting) for m in job.recipe.members]
    with watch.stage("tune"):
        classifier, figures, suspects = _decided(job, labels, fitted, progress)
        figures |= _drift_figures(fitted[0], classifier.decision)
    n_folds = job.recipe.decision.folds if figures and job.valid is None else 0
    n_features = sum(member.vectorizer.n_features for member in classifier.members)
    learners = [member.learner for member in classifier.members]
    figures["size"] = problem_size(learners, n_features, len(labels), n_folds)
    histograms = figures.pop("document_histograms", None)
    classifier = _ruled(classifier)
    if job.labels_file is not None:
        taxonomy = Taxonomy.of(job.labels_file.entries, labels)
        classifier = replace(classifier, taxonomy=taxonomy)
    info = _info(job, classifier, data, figures)
    info = replace(info, timings=watch.seconds, document_histograms=histograms)
    return Trained(classifier, info, tuple(suspects))


def _scratch(job: TrainingJob) -> ScratchFolder | None:
    """Where large arrays go; what cannot fit is refused, but not where others do the work."""
    plan = job.memory_plan()
    if plan is None:
        return None if job.scratch is None else ScratchFolder(job.scratch)
    if job.engine is None:
        plan.check()
    return plan.scratch()


def _ids(data: Collection) -> list[str] | None:
    """The documents' ids, their places where they have none; None where no document has one."""
    if not any(data.ids):
        return None
    return [own or str(place) for place, own in enumerate(data.ids, start=1)]


def check(job: TrainingJob) -> None:
    """Refuse, before any long work, what could not end well."""
    if not any(job.data.label_sets):
        raise InvalidDataError("no document has a label; there is nothing to learn")
    _tuning(job)
    _check_order(job)
    decision = job.recipe.decision
    if job.valid is not None and job.valid.is_ready_made != job.data.is_ready_made:
        raise InvalidRequestError("--valid must be of the same kind as DATA: texts or features")
    for member in job.recipe.members:
        built(member)
    kinds = [learner_class(member.learner) for member in job.recipe.members]
    holds_out = (decision.folds > 1 and len(job.data) > 1) or job.valid is not None
    _check_rules_alone(decision.name, kinds)
    uncentred = next((kind.kind for kind in kinds if not kind.zero_is_neutral), None)
    is_by_cuts = _is_by_cuts(decision.name, Basis(1, uncentred), holds_out=holds_out)
    if job.most_suspects and (not holds_out or job.valid is not None):
        raise InvalidRequestError(
            "--suspects judges labels of DATA by out-of-fold scores: use --folds 2 or more, and "
            "not --valid"
        )
    if decision.abstain is not None and not (holds_out and is_by_cuts):
        raise InvalidRequestError(
            "--abstain needs cuts and held-out scores: use --folds 2 or more, and not rank:K"
        )
    if decision.abstain is not None and not 0 < decision.abstain <= 1:
        raise InvalidRequestError("--abstain takes a precision above 0 and at most 1")
    if decision.folds in (0, 1) and len(kinds) > 1 and job.valid is None:
        raise InvalidRequestError("an ensemble is weighted on held-out scores: use --folds")


def _check_order(job: TrainingJob) -> None:
    decision = job.recipe.decision
    if decision.folds_by != "random" and (decision.folds < 2 or job.valid is not None):
        raise InvalidRequestError(
            "--folds-by orders the parts of out-of-fold scores: use --folds 2 or more, and not "
            "--valid"
        )
    fold_plan(job.recipe, job.data)


def _is_by_cuts(name: str, basis: Basis, *, holds_out: bool) -> bool:
    """Whether the rule decides by cuts alone; one that cannot be trained here is refused."""
    rule = document_rule(name, Use.TRAINING)
    if not rule.is_tuned:
        decision = rule.decision(basis)
        return decision.cuts is not None and decision.most_labels is None
    if not holds_out:
        raise InvalidRequestError(
            f"decision {name} is tuned on held-out scores: use --folds 2 or more and two "
            "documents or more, or --valid FILE, or --decision zero"
        )
    return True


def _tuning(job: TrainingJob) -> TuningOptions:
    settings = {"seed": job.seed, **job.recipe.decision.settings}
    options: TuningOptions = construct("decision", TuningOptions, settings)
    return options


def _with_costs(job: TrainingJob, labels: LabelIndex) -> TrainingJob:
    """The job with what its labels' errors cost in the recipe, which the manifest keeps."""
    if job.costs is None:
        return job
    return replace(job, recipe=job.recipe.with_tuning(**job.costs.settings(labels.names)))


def _training_data(job: TrainingJob, labels: LabelIndex) -> TrainingData:
    data = TrainingData(job.data.documents, labels.truth(job.data.label_sets))
    if not job.data.is_ready_made:
        entries = job.labels_file.entries if job.labels_file else []
        data = replace(data, label_texts=Taxonomy.of(entries, labels).texts())
    if job.valid is None:
        return data
    valid_truth = labels.truth(job.valid.label_sets)
    return replace(data, valid_documents=job.valid.documents, valid_truth=valid_truth)


def _decided(
    job: TrainingJob, labels: LabelIndex, fitted: list[FittedMember], progress: Progress
) -> tuple[Classifier, dict[str, Any], list[Suspect]]:
    """The members joined, with cuts, hulls, calibration and bands from their held-out scores."""
    recipe = job.recipe.decision
    if fitted[0].held_out is None:
        decision = decision_of(recipe.name, Use.TRAINING, Basis(len(labels)))
        return Classifier(labels, (fitted[0].member,), decision), {}, []
    progress("tune decisions", 0, 0)
    members, held_out = combine(fitted)
    hulls = Hulls.of(held_out)
    classifier = Classifier(
        labels,
        members,
        tune(recipe.name, held_out, hulls, _tuning(job)),
        hulls=hulls,
        expectations=estimated_expectations(held_out),
        calibration=Calibration.fit(held_out),
    )
    if recipe.abstain is not None:
        bands = Abstention.fit(held_out, classifier.decision, recipe.abstain)
        classifier = replace(classifier, abstention=bands)
    figures = held_out_figures(classifier.decision, held_out, _costs(job, len(labels)))
    told = {
        "held_out": figures,
        "exact": held_out.is_exact,
        "held_out_by": "validation" if job.valid else recipe.folds_by,
        "held_out_documents": held_out.n_documents,
    }
    rows, most = common_rows(fitted), job.most_suspects
    told["document_histograms"] = _histograms(job, classifier, held_out, rows)
    return classifier, told, training_suspects(job.data, classifier, held_out, rows, most=most)


def _histograms(
    job: TrainingJob, classifier: Classifier, held_out: HeldOut, rows: NDArray[np.int64]
) -> dict[str, Any] | None:
    """What the manifest keeps of the documents that were held out; None for ready-made features."""
    documents = job.data.documents if job.valid is None else job.valid.documents
    if job.data.is_ready_made:
        return None
    truth = classifier.labels.truth(job.data.label_sets)
    measures = DocumentMeasures.of(classifier, np.asarray(truth.sum(axis=0)).ravel())
    texts = texts_at(documents, rows.tolist())
    return held_out_histograms(measures, texts, held_out, are_own=job.valid is None)


def _ruled(classifier: Classifier) -> Classifier:
    """The classifier with the hand-written rules that its learner is to decide by, if any."""
    file, analysis = classifier.members[0].learner.rules_file, classifier.word_analysis
    if not file or analysis is None:
        return classifier
    rules = load_rules(Path(file), analysis, classifier.labels).over(classifier.labels, analysis)
    return replace(classifier, hand_rules=rules)


def _check_rules_alone(decision: str, kinds: list[type[Learner]]) -> None:
    """Refuse hand-written rules as a learner where they would not be what decides."""
    for kind in kinds:
        if kind.decision_settings and len(kinds) > 1:
            raise InvalidRequestError(
                f"{kind.kind} has no scores to add to an ensemble: train without it, and have "
                "labelserve rules apply put the rules over the model"
            )
        if kind.decision_settings.get("name", decision) != decision:
            raise InvalidRequestError(f"{kind.kind} decides by its rules: leave --decision out")


def _costs(job: TrainingJob, n_labels: int) -> ErrorCosts | None:
    """What errors cost, where that was asked for."""
    is_asked = job.costs is not None or job.recipe.decision.name == Cost.syntax
    return _tuning(job).costs(n_labels) if is_asked else None


def _drift_figures(fitted: FittedMember, decision: Decision) -> dict[str, Any]:
    """How the last documents fare in their order, beside how they fare in random folds."""
    if fitted.last is None or fitted.held_out is None:
        return {}
    checked = drift_check(fitted.last, fitted.held_out, decision, fitted.rows)
    return {} if checked is None else {"drift": checked.figures()}


def _info(
    job: TrainingJob, classifier: Classifier, data: TrainingData, figures: dict[str, Any]
) -> Info:
    counts: NDArray[np.int64] = np.asarray(data.truth.sum(axis=0), dtype=np.int64).ravel()
    summary = job.data.summary
    hashes = None
    if job.keeps_fingerprints and not job.data.is_ready_made:
        made = job.data.fingerprints
        hashes = np.unique(fingerprints(job.data.documents) if made is None else made)
    return Info(
        data_sha256=summary.documents_sha256 or summary.sha256,
        counts={
            "documents": len(job.data.label_sets),
            "labels": len(classifier.labels),
            "pairs": int(counts.sum()),
            "unlabelled": sum(not labels for labels in job.data.label_sets),
            **(job.labels_file.counts(classifier.labels) if job.labels_file else {}),
        },
        training_counts=counts,
        seed=job.seed,
        recipe=job.recipe.as_dict() | _labels_file_hash(job) | _of_reading(summary),
        packages=_packages(),
        figures=figures,
        golden=[g.model_dump(exclude_none=True) for g in compose_golden(classifier, job.seed)],
        documents=hashes,
    )


def _labels_file_hash(job: TrainingJob) -> dict[str, Any]:
    return {"labels_file": {"sha256": job.labels_file.sha256}} if job.labels_file else {}


def _of_reading(summary: Summary) -> dict[str, Any]:
    """What the manifest keeps of how data were read: what separated labels, and corrections."""
    separator = summary.label_separator
    return ({"label_separator": separator} if separator else {}) | _corrections(summary)


def _corrections(summary: Summary) -> dict[str, Any]:
    """What the manifest keeps of corrections: the file's hash, and how many changed the data."""
    found = summary.corrections
    if found is None:
        return {}
    changed = {"added": found.added, "removed": found.removed}
    return {"corrections": {"sha256": found.sha256, **changed}}


def _packages() -> dict[str, str]:
    installed = {}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed

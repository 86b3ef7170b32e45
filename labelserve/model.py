"""LabelModel: a trained model in a Python program, loaded from a store or just trained."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

import msgspec

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.classifier import Classifier
from app.datasets.base import Record
from app.datasets.cost_file import load_costs
from app.decisions.decision import Expected
from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.options import answered_counts, relabelling_cautions
from app.evaluation.report.page import page
from app.explanation import explain
from app.model import load_model, tuned_costs
from app.prediction import Query, plan_of
from app.prediction.expected_curve import expected_curve
from app.prediction.offline import FileQuery, file_predictions
from app.state import State
from app.training.publish import publish, training_warnings
from app.training.train import Trained
from labelserve.arguments import (
    EvaluateArguments,
    FilePath,
    PredictArguments,
    asked_of_texts,
    counting,
)
from labelserve.data import Labelled, judged_documents
from labelserve.documents import LabelSets, checked_texts
from labelserve.predictions import ExpectedFigures, TextPrediction
from labelserve.report import EvaluationReport

MODELS_DIR = "models"


def load(models_dir: FilePath, name: str | None = None) -> "LabelModel":
    """The model NAME (its current version) or NAME@VERSION of a store, verified.

    `load("models/demo")` is `load("models", "demo")`, and `load("demo")` looks in `models`, as the
    commands do.
    """
    folder = Path(models_dir)
    if name is None:
        has_folder = folder.parent != Path()
        folder, name = folder.parent if has_folder else Path(MODELS_DIR), folder.name
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder of models {folder}")
    model = load_model(Store(folder), name)
    return LabelModel(Trained(model.classifier, model.info()), model.name, model.version)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LabelModel:
    """A trained model: gives labels to texts, is judged on labelled ones, is saved to a store.

    It never changes, and threads may share it. Pickled (by joblib, say), it becomes arrays and
    settings, as in a store; a store is the safer place, because reading a pickle runs code.
    """

    trained: Trained = field(repr=False)
    name: str = ""
    """The name in the store; empty for a model that was not saved."""
    version: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label it knows, in code-point order."""
        return self.trained.classifier.answered_labels.names

    @property
    def figures(self) -> dict[str, Any]:
        """What its decisions reached on held-out documents while it was trained."""
        return dict(self.trained.info.figures.get("held_out", {}))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the training warned of, such as documents that change with time."""
        return tuple(training_warnings(self.trained.info))

    def predict(
        self, texts: Iterable[str], **asked: Unpack[PredictArguments]
    ) -> list[TextPrediction]:
        """One prediction a text, in order, equal to those of POST /predict.

        Asked by `top_k`, `operating_point` (with `nearest`), `threshold`, `min_probability`,
        `labels`, `explain`, `below_cut` and `ancestors`; by nothing, the model's own decision
        holds.
        """
        return list(self.stream(texts, **asked))

    def stream(
        self, texts: Iterable[str], **asked: Unpack[PredictArguments]
    ) -> Iterator[TextPrediction]:
        """The same, one after another while the texts are read: memory does not grow with them."""
        info, classifier = self.trained.info, self.trained.classifier
        frequencies = info.training_counts / max(info.counts["documents"], 1)
        query = FileQuery(Query(**asked_of_texts(asked)), frequencies, explain)
        records = map(_record, checked_texts(texts))
        predictions = file_predictions(query, classifier, records)
        return (TextPrediction.of(msgspec.to_builtins(found)) for found in predictions)

    def evaluate(
        self,
        data: Labelled,
        labels: LabelSets | None = None,
        **arguments: Unpack[EvaluateArguments],
    ) -> EvaluationReport:
        """The report on texts and their labels, on data that were read, or on a file.

        Counted by `k`, `decision`, `beta`, `zero_division`, `include_test_labels`, `unlabelled`,
        `bootstrap`, `seed`, `check_seen` and `costs` (a file), on `jobs` processors.
        """
        asked = counting(arguments, EvaluateArguments)
        costs = load_costs(asked["costs"]) if "costs" in asked else None
        jobs = processors(asked.get("jobs"))
        options = EvaluationOptions(**{**asked, "costs": costs, "jobs": jobs})
        documents = judged_documents(data, labels)
        report = evaluate(self.trained.classifier, documents, options, info=self._judged())
        return EvaluationReport(report.as_dict(), partial(page, report))

    def expected(self, operating_point: str = "tuned", *, nearest: bool = False) -> ExpectedFigures:
        """What to expect of new documents at an operating point such as `precision>=0.9`."""
        query = Query(operating_point=operating_point, nearest=nearest)
        plan = plan_of(query, self.trained.classifier, held_out=self.figures)
        return ExpectedFigures.of(plan.point or {"name": operating_point})

    def curve(self, average: Literal["micro", "macro"] = "micro") -> list[Expected]:
        """Expected precision and recall along the best operating points, by rising recall."""
        return expected_curve(self.trained.classifier, average)

    def save(self, models_dir: FilePath, name: str, *, promote: bool = True) -> "LabelModel":
        """The model as the store has it now: a new version, which services answer with.

        Without `promote` the version is written, and the model's current version stays.
        """
        wanted = "always" if promote else "never"
        published = publish(self.trained, Store(Path(models_dir)), name, promote=wanted)
        return load(models_dir, f"{name}@{published.version}")

    def _judged(self) -> JudgedModel:
        info, classifier = self.trained.info, self.trained.classifier
        return JudgedModel(
            self.name,
            self.version,
            answered_counts(info.training_counts, classifier.relabelling),
            info.counts.get("documents"),
            info.documents,
            cautions=relabelling_cautions(classifier.relabelling),
            costs=tuned_costs(classifier, info.recipe),
            taxonomy=classifier.taxonomy,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        classifier, info = self.trained.classifier, self.trained.info
        return _rebuilt, (classifier.state(), info, self.name, self.version)

    def __repr__(self) -> str:
        classifier, name = self.trained.classifier, f"{self.name}@{self.version}".strip("@")
        learners = "+".join(member.learner.kind for member in classifier.members)
        parts = [
            f"{len(self.labels):,} labels",
            f"{learners}, decided by {classifier.decision.name}",
        ]
        if "micro_f1" in self.figures:
            parts.append(f"held-out micro-F1 {self.figures['micro_f1']:.4f}")
        return f"<model {name or 'not saved'}: {', '.join(parts)}>"


def processors(jobs: int | None) -> int:
    """As many as were asked for; 0, as in the commands, and None are all."""
    return jobs or os.cpu_count() or 1


def _record(text: str) -> Record:
    return Record(text, (), None, 0)


def _rebuilt(state: State, info: Info, name: str, version: str) -> LabelModel:
    return LabelModel(Trained(Classifier.from_state(state), info), name, version)

"""CheckJob: what a test set holds, found out in a process of its own, and nothing evaluated."""

from dataclasses import dataclass
from typing import Any

from app.datasets.reading import open_dataset
from app.evaluation.options import JudgedModel
from app.serving.evaluating import EvaluationFigures, EvaluationJob, hardened, loaded


@dataclass(frozen=True)
class CheckJob(EvaluationJob):
    """The same as an evaluation, up to its first document, by several models at once."""

    references: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """What was read, and what the models make of it."""
        from app.evaluation.data_check import (
            CheckedModel,
            check,
        )  # here: the process alone needs it

        models = {name: loaded(self.models_dir, name) for name in self.references}
        checked = {
            name: CheckedModel(model.classifier, JudgedModel.of(model))
            for name, model in models.items()
        }
        known = set[str]().union(*(model.classifier.labels.names for model in models.values()))
        with self.file.open("rb") as file:
            return check(open_dataset(file, hardened(self.reading, known)), checked)

    def figures_of(self, content: dict[str, Any]) -> EvaluationFigures:
        """How many documents were read."""
        return EvaluationFigures(content["documents"], {})

"""train: texts and labels in, a model out; the same model as the command `train` gives."""

from pathlib import Path
from typing import Any, Unpack

from app.datasets.collection import Collection
from app.datasets.cost_file import load_costs
from app.datasets.labels_file import load_labels_file
from app.errors import InvalidRequestError
from app.training.recipe import Recipe, read_recipe
from app.training.search.qualities import FAST
from app.training.search.training import searched_training
from app.training.train import TrainingJob
from labelserve.arguments import ReadArguments, TrainArguments, given
from labelserve.data import Labelled, labelled_data
from labelserve.documents import LabelSets
from labelserve.model import LabelModel, processors

LEARNER = {"liblinear": "options", "solver": "solver"}
DECISION = {"decision": "name", "folds": "folds", "folds_by": "folds_by", "abstain": "abstain"}
TUNING = {"fbr": "fbr"}
JOB = {"seed": "seed", "device": "device", "fingerprints": "keeps_fingerprints"}
"""Arguments, and what the product calls them."""


def train(
    data: Labelled, labels: LabelSets | None = None, **arguments: Unpack[TrainArguments]
) -> LabelModel:
    """A model of texts and their labels, of data that were read, or of a file.

    Set by `learner`, `recipe`, `liblinear`, `solver`, `decision`, `folds`, `folds_by`, `fbr`,
    `abstain`, `costs`, `labels_file`, `valid`, `seed`, `jobs`, `device`, `fingerprints`,
    `min_label_documents`, `quality`, `objective` and `progress`, as the command is; only `quality`
    is `fast` unless given. The same data, settings and seed give the same model, whatever `jobs`.
    It can be used at once; `save` puts it into a store.
    """
    asked = given(arguments, TrainArguments)
    recipe = _recipe(asked)
    job = TrainingJob(
        _collection(data, labels, asked, recipe),
        recipe,
        _valid(asked.get("valid")),
        jobs=processors(asked.get("jobs")),
        costs=load_costs(asked["costs"]) if "costs" in asked else None,
        labels_file=load_labels_file(asked["labels_file"]) if "labels_file" in asked else None,
        **_named(asked, JOB),
    )
    progress = {"progress": asked["progress"]} if "progress" in asked else {}
    return LabelModel(searched_training(job, asked.get("quality", FAST), **progress))


def _recipe(asked: dict[str, Any]) -> Recipe:
    source = asked.get("recipe")
    tables = source if source is None or isinstance(source, dict) else Path(source)
    objective = asked.get("objective")
    if objective is not None and "decision" in asked:
        raise InvalidRequestError("objective sets the decision: leave one of them out")
    changes = [f"decision.objective={objective}"] if objective is not None else []
    recipe = read_recipe(tables, learner=asked.get("learner"), changes=changes)
    return recipe.with_options(*(_named(asked, names) for names in (LEARNER, DECISION, TUNING)))


def _collection(
    data: Labelled, labels: LabelSets | None, asked: dict[str, Any], recipe: Recipe
) -> Collection:
    reading: ReadArguments = {}
    if "min_label_documents" in asked:
        reading["min_label_documents"] = asked["min_label_documents"]
    if recipe.decision.order_column:
        reading["order_column"] = recipe.decision.order_column
    return labelled_data(data, labels, reading).collection


def _valid(valid: Any) -> Collection | None:
    """The data to tune on: what was read, a file, or a pair of texts and labels."""
    if valid is None:
        return None
    texts, labels = valid if isinstance(valid, tuple) else (valid, None)
    return labelled_data(texts, labels, {}).collection


def _named(asked: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {ours: asked[name] for name, ours in names.items() if name in asked}

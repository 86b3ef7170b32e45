"""A model with hand-written rules over its decisions: nothing is trained, nothing tuned."""

import hashlib
from dataclasses import replace
from pathlib import Path

from app.errors import InvalidRequestError
from app.hand_rules.rules_file import RulesFile, load_rules
from app.kernels.text.analysis import Analysis
from app.model import Model
from app.training.train import Trained


def rules_for(model: Model, file: Path) -> RulesFile:
    """The rules of a file for the labels and words of a model; mistakes are in it."""
    return load_rules(file, words_read_by(model), model.classifier.answered_labels)


def words_read_by(model: Model) -> Analysis:
    """How the model cuts texts into words; one that reads no texts is refused."""
    analysis = model.classifier.word_analysis
    if analysis is None:
        raise InvalidRequestError(
            "this model reads ready-made features, in which rules find no words: take a model "
            "of texts"
        )
    return analysis


def with_rules(model: Model, file: Path) -> Trained:
    """The model with these rules instead of those it may have had; a mistake is raised."""
    labels, analysis = model.classifier.answered_labels, words_read_by(model)
    rules = rules_for(model, file).over(labels, analysis)
    source = {
        "model": f"{model.name}@{model.version}",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "rules": len(rules.rules),
    }
    info = model.info().with_other_labels()
    info = replace(info, recipe={**info.recipe, "hand_rules": source}, timings={})
    return Trained(replace(model.classifier, hand_rules=rules), info)

"""Every rule of the catalogue gives the same labels by the commands as by the classifier."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from app.artifacts.store import Store
from app.classifier import Classifier
from app.decisions.base import Batch, Use
from app.decisions.decision import Decision
from app.decisions.names import accepted, rules
from app.model import load_model
from tests.decisions.scored_model import (
    basis_of,
    classifier_of,
    label_sets,
    marked,
    records_of,
    store,
    training_counts,
)

SCRIPTS = Path(__file__).parents[2] / "scripts"
SCORES = (np.round(np.random.default_rng(0).standard_normal((12, 5)) * 2) / 2).astype(np.float32)
RULES = list(rules())
STORED = [rule for rule in RULES if not hasattr(rule, "batch_decision")]


@dataclass
class Commands:
    """The scripts, run in this process over one model store."""

    folder: Path

    def run(self, script: str, *arguments: object) -> str:
        module = importlib.import_module(script)
        words = [*map(str, arguments), "--models-dir", str(self.folder)]
        done = CliRunner().invoke(module.app, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    def write(self, classifier: Classifier) -> None:
        store(classifier, SCORES, self.folder)

    @property
    def file(self) -> Path:
        """The documents of the scores, each truly with the first label."""
        file = self.folder.parent / "documents.tsv"
        records = records_of(classifier_of(SCORES, Decision(None, "rank:1", 1)), SCORES)
        file.write_text("".join(f"{one.id}\t{one.labels[0]}\t{one.text}\n" for one in records))
        return file


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return Commands(tmp_path / "models")


def expected_of(rule: Any) -> list[list[int]]:
    """The labels by the rule's own data."""
    if hasattr(rule, "batch_decision"):
        batch = Batch(len(SCORES), SCORES.T, training_counts(SCORES) / 100)
        return marked(SCORES, rule.batch_decision(batch).decide(SCORES))
    return marked(SCORES, rule.decision(basis_of(5)).decide(SCORES))


@pytest.mark.parametrize("kind", STORED)
def test_a_stored_rule_is_what_predict_and_evaluate_apply(kind: Any, commands: Commands) -> None:
    for name in kind.examples:
        rule = kind.read(name)
        classifier = classifier_of(SCORES, rule.decision(basis_of(5)))
        commands.write(classifier)
        lines = commands.folder / "lines"
        predicted = commands.run("predict", "made", commands.file)
        commands.run("evaluate", "made", commands.file, "--predictions", lines)
        assert label_sets(classifier, predicted) == expected_of(rule)
        assert label_sets(classifier, lines.read_text()) == expected_of(rule)


@pytest.mark.parametrize("kind", [rule for rule in RULES if Use.EVALUATION in rule.uses])
def test_evaluate_and_compare_take_the_rule_by_name(kind: Any, commands: Commands) -> None:
    classifier = classifier_of(SCORES, Decision(None, "rank:1", 1))
    commands.write(classifier)
    for name in kind.examples:
        lines, report = commands.folder / "lines", commands.folder / "report"
        asked = (commands.file, "--decision", name)
        commands.run("evaluate", "made", *asked, "--predictions", lines, "--json", report)
        assert label_sets(classifier, lines.read_text()) == expected_of(kind.read(name))
    compared = commands.run("compare", "made", "made", *asked, "--bootstrap", 100, "--json", "-")
    assert f'"decision": "{name}"' in compared


@pytest.mark.parametrize("kind", [rule for rule in RULES if Use.FILE_PREDICTION in rule.uses])
def test_predict_takes_the_rule_by_name(kind: Any, commands: Commands) -> None:
    classifier = classifier_of(SCORES, Decision(None, "rank:1", 1))
    commands.write(classifier)
    for name in kind.examples:
        found = commands.run("predict", "made", commands.file, "--operating-point", name)
        assert label_sets(classifier, found) == expected_of(kind.read(name))


@pytest.mark.parametrize("kind", [rule for rule in RULES if Use.TRAINING in rule.uses])
def test_train_and_retune_take_the_rule_by_name(
    kind: Any, commands: Commands, corpus_file: Path
) -> None:
    name = kind.examples[-1]
    quick = ("--set", "decision.resamples=2", "--folds", 2)
    commands.run("train", corpus_file, "--model", "made", "--decision", name, *quick)
    trained = load_model(Store(commands.folder), "made").classifier.decision
    commands.run("retune", "made", corpus_file, "--decision", name)
    retuned = load_model(Store(commands.folder), "made").classifier.decision
    assert trained.name == retuned.name == name
    assert trained.most_labels == retuned.most_labels
    assert (trained.cuts is None) == (retuned.cuts is None)


@pytest.mark.parametrize(
    ("script", "use"),
    [
        ("train", Use.TRAINING),
        ("retune", Use.TRAINING),
        ("evaluate", Use.EVALUATION),
        ("compare", Use.EVALUATION),
        ("predict", Use.FILE_PREDICTION),
    ],
)
def test_the_help_lists_every_rule_that_the_command_takes(
    script: str, use: Use, commands: Commands
) -> None:
    help_text = CliRunner().invoke(importlib.import_module(script).app, ["--help"]).output
    assert "".join(accepted(use).split()) in "".join(help_text.split())

"""What hand-written rules do on labelled documents: rule by rule, and how often rightly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from app.arrays import Marks
from app.decisions.base import BatchRule
from app.decisions.parser import TUNED
from app.evaluation.chunks import TestDocument, chunks, inputs
from app.evaluation.deciders import decider
from app.evaluation.scorer import Scorer
from app.hand_rules.rule_set import HandRules


@dataclass(slots=True)
class RuleEffect:
    """How many documents a rule held for, and what became of them."""

    fired: int = 0
    """Documents for which it holds."""
    overruled: int = 0
    """Of these, where a later rule of its label holds, too, and counts instead."""
    moved: int = 0
    """Of the others, where the model alone would have decided otherwise."""
    rightly: int = 0
    """Of these, where the document's true labels say what the rule says."""


def firing_effects(rules: HandRules, documents: Iterable[TestDocument]) -> list[RuleEffect]:
    """For each rule how often it holds, and is overruled, without a model."""
    effects = [RuleEffect() for _ in rules.rules]
    for document in documents:
        _count(effects, rules, rules.fired(document.text))
    return effects


def rule_effects(
    scorer: Scorer, rules: HandRules, documents: Iterable[TestDocument], *, jobs: int = 1
) -> list[RuleEffect]:
    """For each rule what it changes in what the scorer decides without any rules."""
    effects = [RuleEffect() for _ in rules.rules]
    decision = decider(TUNED, scorer)
    assert not isinstance(decision, BatchRule)  # noqa: S101 - what is stored needs no batch
    for _, chunk in chunks(documents, len(scorer.labels)):
        scores = scorer.scores(inputs(chunk, scorer), jobs=jobs)
        marks = decision.decide(scores)
        for document, marked in zip(chunk, marks, strict=True):
            for number in _count(effects, rules, rules.fired(document.text)):
                _compare(effects[number], rules, number, (document, marked))
    return effects


def _count(effects: list[RuleEffect], rules: HandRules, fired: Sequence[int]) -> list[int]:
    """Count the rules that hold for a document; those of them that are not overruled."""
    deciding = {rules.columns[number]: number for number in fired}
    for number in fired:
        effects[number].fired += 1
        effects[number].overruled += deciding[rules.columns[number]] != number
    return list(deciding.values())


def _compare(
    effect: RuleEffect, rules: HandRules, number: int, decided: tuple[TestDocument, Marks]
) -> None:
    (document, marked), rule = decided, rules.rules[number]
    if bool(np.asarray(marked)[rules.columns[number]]) != rule.is_assigning:
        effect.moved += 1
        effect.rightly += (rule.label in document.labels) == rule.is_assigning

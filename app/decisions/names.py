"""The names of decisions, read in one place for training, evaluation, prediction and scripts."""

from collections.abc import Iterator
from typing import TypeAlias

from app.catalogue import find
from app.decisions import RULES
from app.decisions.base import Basis, BatchRule, Rule, Use
from app.decisions.decision import Decision
from app.errors import InvalidRequestError

TUNED = "tuned"
"""The decision that is stored with a model; a name wherever there is a model already."""

AnyRule: TypeAlias = Rule | BatchRule


def rules() -> Iterator[type[AnyRule]]:
    """Every rule of the catalogue, in its order."""
    for kind in RULES:
        rule: type[AnyRule] = find(RULES, kind, "decision rule")
        yield rule


def accepted(use: Use) -> str:
    """The names that may be given there, as a list in words."""
    stored = [] if use is Use.TRAINING else [TUNED]
    return ", ".join([*stored, *(rule.syntax for rule in rules() if use in rule.uses)])


def read_rule(name: str, use: Use) -> AnyRule:
    """The rule of that name; an InvalidRequestError lists what is accepted for this use."""
    for kind in rules():
        rule = kind.read(name) if use in kind.uses else None
        if rule is not None:
            return rule
    raise InvalidRequestError(f"{use.value}; accepted: {accepted(use)}")


def document_rule(name: str, use: Use) -> Rule:
    """The rule of that name, which must decide document by document."""
    rule = read_rule(name, use)
    if isinstance(rule, BatchRule):
        raise InvalidRequestError(
            f"{rule.syntax} decides on a whole file, never on single documents"
        )
    return rule


def decision_of(name: str, use: Use, basis: Basis) -> Decision:
    """The decision that the name means on this basis."""
    return document_rule(name, use).decision(basis)

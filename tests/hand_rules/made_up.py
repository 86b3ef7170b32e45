"""Rules made in a test, and classifiers that have them."""

from dataclasses import replace

from app.classifier import Classifier
from app.hand_rules.pattern_syntax import parse_pattern
from app.hand_rules.rule_set import HandRule, HandRules
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex


def rules_of(
    labels: LabelIndex, *rules: tuple[str, str, str], analysis: Analysis | None = None
) -> HandRules:
    """Rules of (label, then, when)."""
    analysis = analysis or Analysis()
    made = [
        HandRule(label, when, then == "assign", parse_pattern(when, analysis), line=line)
        for line, (label, then, when) in enumerate(rules, start=1)
    ]
    return HandRules(tuple(made), labels, analysis)


def ruled(classifier: Classifier, *rules: tuple[str, str, str]) -> Classifier:
    """The classifier with these rules."""
    return replace(classifier, hand_rules=rules_of(classifier.answered_labels, *rules))

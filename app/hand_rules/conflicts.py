"""Rules that cannot count, since a later rule of the same label holds wherever they do."""

from collections.abc import Iterator, Sequence

from app.hand_rules.patterns import AllOf, Pattern
from app.hand_rules.rule_set import HandRule


def conflicts(rules: Sequence[HandRule]) -> list[str]:
    """A sentence for each rule that a later one contradicts or repeats, in their order.

    The later pattern asks for nothing that the earlier one does not ask for: `wheat & farm` never
    counts where `wheat` comes after it.
    """
    return [_sentence(rule, later) for rule, later in _overruled(rules)]


def _overruled(rules: Sequence[HandRule]) -> Iterator[tuple[HandRule, HandRule]]:
    by_label: dict[str, list[tuple[frozenset[Pattern], HandRule]]] = {}
    found: list[tuple[HandRule, HandRule]] = []
    for rule in reversed(rules):
        asked, later = _asked(rule.pattern), by_label.setdefault(rule.label, [])
        wider = next((other for fewer, other in later if fewer <= asked), None)
        if wider is not None:
            found.append((rule, wider))
        later.insert(0, (asked, rule))
    yield from reversed(found)


def _asked(pattern: Pattern) -> frozenset[Pattern]:
    """The conditions that must all hold."""
    return pattern.operands if isinstance(pattern, AllOf) else frozenset({pattern})


def _sentence(rule: HandRule, later: HandRule) -> str:
    says = "says the same" if rule.is_assigning == later.is_assigning else "contradicts it"
    return (
        f"line {rule.line}: this rule never counts: the later one of line {later.line} {says} "
        "wherever it holds"
    )

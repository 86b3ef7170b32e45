"""Reads a file of hand-written rules: `[[rule]]` tables of TOML with label, when, then and note."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import InvalidDataError
from app.hand_rules.pattern_syntax import PatternError, parse_pattern
from app.hand_rules.patterns import Pattern
from app.hand_rules.rule_set import ACTIONS, HandRule, HandRules
from app.hand_rules.toml_places import TablePlaces, line_and_column, table_places
from app.kernels.text.analysis import Analysis
from app.labels.index import LabelIndex

KEYS = ("label", "when", "then", "note")
MOST_RULES, MOST_BYTES = 5000, 4_000_000
AT = re.compile(r" \(at line ([0-9]+), column ([0-9]+)\)$")
AT_END = " (at end of document)"
TABLE = "tables [[rule]] with label, when, then and, if you like, note"


@dataclass(frozen=True, slots=True)
class RulesFile:
    """What a file says: the rules that can be read, and a mistake for each that cannot."""

    rules: tuple[HandRule, ...]
    mistakes: tuple[InvalidDataError, ...]

    def over(self, labels: LabelIndex, analysis: Analysis) -> HandRules:
        """The rules for the labels and words of a model; the first mistake is raised."""
        if self.mistakes:
            raise self.mistakes[0]
        return HandRules(self.rules, labels, analysis)


def load_rules(file: Path, analysis: Analysis, labels: LabelIndex | None = None) -> RulesFile:
    """The rules and mistakes of a file, over the words that the tokenizer sees.

    A label that is not among `labels` is a mistake; None: any label will do.
    """
    content = file.read_bytes()
    if len(content) > MOST_BYTES:
        problem = f"the file has more than {MOST_BYTES:,} bytes; make several rules one"
        return RulesFile((), (InvalidDataError(problem, file=file),))
    try:
        source = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        line, column = line_and_column(before, len(before))
        return RulesFile((), (InvalidDataError("not UTF-8", file=file, line=line, column=column),))
    return _Reader(str(file), source, analysis, labels).read()


class _Reader:
    """One file under way; mistakes are collected."""

    def __init__(
        self, file: str, source: str, analysis: Analysis, labels: LabelIndex | None
    ) -> None:
        self._file, self._source = file, source
        self._analysis, self._labels = analysis, labels
        self._mistakes: list[InvalidDataError] = []

    def read(self) -> RulesFile:
        try:
            rules = self._rules(tomllib.loads(self._source))
        except tomllib.TOMLDecodeError as error:
            rules = []
            self._not_toml(str(error))
        self._mistakes.sort(key=lambda mistake: (mistake.line or 0, mistake.column or 0))
        return RulesFile(tuple(rule for rule in rules if rule), tuple(self._mistakes))

    def _rules(self, content: dict[str, Any]) -> list[HandRule | None]:
        for key in sorted(content.keys() - {"rule"}):
            match = re.search(rf"^[ \t]*\[*[ \t]*({re.escape(key)})", self._source, re.MULTILINE)
            offset = match.start(1) if match else 0
            self._mistake("no such key", offset, found=key, accepted="[[rule]]")
        tables, places = content.get("rule", []), table_places(self._source, "rule")
        if not isinstance(tables, list) or len(tables) != len(places):
            self._mistake("rules are written as tables of their own", 0, accepted=TABLE)
            return []
        if not tables and not self._mistakes:
            self._mistake("there is no rule", 0, accepted=TABLE)
        if len(tables) > MOST_RULES:
            problem = f"there are more than the {MOST_RULES:,} rules that are matched in short time"
            self._mistake(problem, places[MOST_RULES].offset)
        return [self._rule(*each) for each in zip(tables, places, strict=True)]

    def _not_toml(self, message: str) -> None:
        match = AT.search(message)
        if match is not None:
            line, column = int(match[1]), int(match[2])
        else:
            line, column = line_and_column(self._source, len(self._source))
        problem = f"not TOML: {AT.sub('', message).removesuffix(AT_END)}"
        self._mistakes.append(InvalidDataError(problem, file=self._file, line=line, column=column))

    def _rule(self, table: dict[str, Any], places: TablePlaces) -> HandRule | None:
        n_mistakes = len(self._mistakes)
        for key in table:
            if key not in KEYS:
                at, accepted = places.keys.get(key, places.offset), ", ".join(KEYS)
                self._mistake("no such key", at, found=key, accepted=accepted)
        label, when, then, note = (self._text(table, key, places) for key in KEYS)
        if then and then not in ACTIONS:
            accepted = " or ".join(ACTIONS)
            self._mistake("no such action", places.of("then"), found=then, accepted=accepted)
        if label and self._labels is not None and label not in self._labels.columns:
            self._mistake("the model has no such label", places.of("label"), found=label)
        pattern = self._pattern(when, places) if isinstance(table.get("when"), str) else None
        if pattern is None or len(self._mistakes) > n_mistakes:
            return None
        line, _ = line_and_column(self._source, places.offset)
        return HandRule(label, when, then == ACTIONS[0], pattern, note, line)

    def _pattern(self, when: str, places: TablePlaces) -> Pattern | None:
        try:
            return parse_pattern(when, self._analysis)
        except PatternError as error:
            offset = places.of("when", error.offset)
            self._mistake(str(error), offset, found=error.found, accepted=error.accepted)
            return None

    def _text(self, table: dict[str, Any], key: str, places: TablePlaces) -> str:
        """The key's string; a mistake where there is none, or it is empty. Only a note may lack."""
        value = table.get(key, "")
        if key not in table and key != "note":
            self._mistake(f"the rule has no {key}", places.offset, accepted=TABLE)
        elif not isinstance(value, str):
            self._mistake(f"{key} is a text in quotes", places.of(key), found=str(value))
        elif key in ("label", "then") and not value:
            self._mistake(f"{key} is empty", places.of(key))
        return value if isinstance(value, str) else ""

    def _mistake(self, problem: str, offset: int, *, found: str = "", accepted: str = "") -> None:
        line, column = line_and_column(self._source, offset)
        self._mistakes.append(
            InvalidDataError(
                problem, file=self._file, line=line, column=column, found=found, accepted=accepted
            )
        )

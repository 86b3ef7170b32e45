"""Files of rules: what is read, and file, line and column of every mistake."""

from pathlib import Path

import pytest

from app.errors import InvalidDataError
from app.hand_rules.conflicts import conflicts
from app.hand_rules.rules_file import RulesFile, load_rules
from app.kernels.text.analysis import Analysis
from app.labels import LabelIndex

LABELS = LabelIndex(("corn", "wheat"))
GOOD = """# rules of the desk, written by hand: \"\"\"
[[rule]]
label = "wheat"
when = 'wheat & (farm | "cash crop")'
then = "assign"
note = "as in CONSTRUE"

[[rule]]
label = "corn"
when = \"\"\"
maize
| "sweet corn"
\"\"\"
then = "forbid"
"""


def read(text: str | bytes, folder: Path) -> RulesFile:
    file = folder / "rules.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_rules(file, Analysis(), LABELS)


def places(rules: RulesFile) -> list[tuple[int | None, int | None]]:
    return [(mistake.line, mistake.column) for mistake in rules.mistakes]


def rule(when: str = "'wheat'", then: str = '"assign"', label: str = '"wheat"') -> str:
    return f"[[rule]]\nlabel = {label}\nwhen = {when}\nthen = {then}\n"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_is_read_in_its_order(ends: str, mark: bytes, tmp_path: Path) -> None:
    found = read(mark + GOOD.replace("\n", ends).encode(), tmp_path)
    assert found.mistakes == ()
    assert [(r.label, r.then, r.note, r.line) for r in found.rules] == [
        ("wheat", "assign", "as in CONSTRUE", 2),
        ("corn", "forbid", "", 8),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        (rule("'wheat corn'"), 3, 15, "operator is missing"),
        (rule('"wheat corn"'), 3, 15, "operator is missing"),
        (rule(r'"\"interest rate\" wheat"'), 3, 27, "operator is missing"),
        (rule(r'"\u0077heat corn"'), 3, 20, "operator is missing"),
        (rule('"""\nwheat |\n  rye corn"""'), 5, 7, "operator is missing"),
        (rule('"""\\\n   wheat corn"""'), 4, 10, "operator is missing"),
        (rule("'''wheat corn'''"), 3, 17, "operator is missing"),
        (rule("''"), 3, 9, "pattern is empty"),
        (rule("3"), 3, 1, "when is a text"),
        (rule(then='"drop"'), 4, 9, "no such action; accepted: assign or forbid"),
        (rule(label='"rye"'), 2, 10, "no such label"),
        (rule(label='""'), 2, 10, "label is empty"),
        (rule() + "colour = 1\n", 5, 1, "no such key; accepted: label, when, then, note"),
        ("\n" + rule().replace("then", "than"), 5, 1, "no such key"),
        ('[[rule]]\nlabel = "wheat"\nwhen = "wheat"\n', 1, 1, "has no then"),
        (rule() + "[[rules]]\n", 5, 3, "no such key; accepted: \\[\\[rule\\]\\]"),
        ('rule = [{label = "wheat"}]\n', 1, 1, "tables of their own"),
        ("", 1, 1, "there is no rule"),
        (rule("wheat"), 3, 8, "not TOML: Invalid value"),
        (rule() + 'note = "never closed', 5, 21, "not TOML"),
        (b"# caf\xe9\n", 1, 6, "not UTF-8"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_column(
    text: str | bytes, line: int, column: int, problem: str, tmp_path: Path
) -> None:
    found = read(text, tmp_path)
    assert (line, column) in places(found)
    at_place = next(m for m in found.mistakes if (m.line, m.column) == (line, column))
    with pytest.raises(InvalidDataError, match=problem):
        raise at_place
    assert str(at_place).startswith(f"{tmp_path / 'rules.toml'}:{line}:{column}: ")


def test_all_mistakes_are_named_and_the_good_rules_kept(tmp_path: Path) -> None:
    found = read(rule("'wheat corn'") + rule() + rule(label='"rye"'), tmp_path)
    assert places(found) == [(3, 15), (10, 10)]
    assert [r.line for r in found.rules] == [5]
    with pytest.raises(InvalidDataError, match=":3:15:"):
        found.over(LABELS, Analysis())


def test_a_key_in_quotes_is_a_key(tmp_path: Path) -> None:
    found = read(rule().replace("when", '"when"'), tmp_path)
    assert [r.when for r in found.rules] == ["wheat"]


def test_too_many_rules_are_refused(tmp_path: Path) -> None:
    found = read(rule() * 5001, tmp_path)
    assert places(found) == [(4 * 5000 + 1, 1)]


def test_rules_that_a_later_one_contradicts_or_repeats_are_told(tmp_path: Path) -> None:
    text = (
        rule("'wheat & farm'")
        + rule("'rye | corn'")
        + rule("'corn'", label='"corn"')
        + rule("'corn | rye'")
        + rule("'farm'", then='"forbid"')
    )
    assert conflicts(read(text, tmp_path).rules) == [
        "line 1: this rule never counts: the later one of line 17 contradicts it wherever it holds",
        "line 5: this rule never counts: the later one of line 13 says the same wherever it holds",
    ]

"""JSON lines: what each oddity becomes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidDataError
from tests.datasets.cases import read

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1)


def one(line: str) -> tuple[str | None, tuple[str, ...], str]:
    (document,) = read(line.encode(), format="jsonl")
    return document.id, document.labels, document.text


@given(TEXTS, st.lists(NAMES, unique=True), st.booleans())
def test_every_text_and_label_comes_back_as_it_was(
    text: str, labels: list[str], ascii_only: bool
) -> None:
    line = json.dumps({"text": text, "labels": labels}, ensure_ascii=ascii_only)
    assert one(line) == (None, tuple(labels), text)


def test_labels_may_hold_spaces_are_trimmed_and_count_once() -> None:
    line = '{"text": "x", "labels": ["two words", " two words ", "b"]}'
    assert one(line)[1] == ("two words", "b")


def test_labels_and_id_may_be_missing_or_null_and_ids_may_be_numbers() -> None:
    assert one('{"text": "x"}') == (None, (), "x")
    assert one('{"id": null, "labels": null, "text": "x"}') == (None, (), "x")
    assert one('{"id": 7, "text": "x"}') == ("7", (), "x")
    assert one('{"id": "", "text": "x"}') == (None, (), "x")


def test_other_keys_are_passed_over_and_the_last_of_two_equal_keys_counts() -> None:
    assert one('{"text": "x", "date": {"a": [1]}, "text": "y"}') == (None, (), "y")


def test_an_escaped_nul_is_kept_in_the_text() -> None:
    assert one(r'{"text": "a\u0000b"}')[2] == "a\0b"


def test_the_keys_are_named_by_the_options() -> None:
    line = b'{"subject": "s", "body": "b", "tags": ["t"], "no": "7"}'
    (document,) = read(
        line,
        format="jsonl",
        text_columns=("subject", "body"),
        label_column="tags",
        id_column="no",
    )
    assert (document.text, document.labels, document.id) == ("s\nb", ("t",), "7")


@pytest.mark.parametrize(
    ("line", "column", "problem"),
    [
        ('{"text": 1}', 10, 'a wrong value of "text"'),
        ('{"text": null}', 10, 'a wrong value of "text"'),
        ('{"id": "text", "labels": ["x"]}', 1, 'no key "text"'),
        ('{"text": "labels", "labels": ["x", 1]}', 30, 'a wrong value of "labels"'),
        ('{"text": "x", "labels": "y"}', 25, 'a wrong value of "labels"'),
        ('{"text": "x", "labels": [""]}', 25, "an empty label"),
        ('{"text": "x", "labels": [" "]}', 25, "an empty label"),
        (r'{"text": "x", "labels": ["a\nb"]}', 25, "a control character in a label"),
        ('{"text": "x", "id": true}', 21, 'a wrong value of "id"'),
        ('{"text": "x", "id": 1.5}', 21, 'a wrong value of "id"'),
        ('{"text": "x", "id": 1e400}', 21, 'a wrong value of "id"'),
        ('["x"]', 1, "a line that is no JSON object"),
        ("nope", 1, "malformed JSON"),
        ('{"text": "x"', 13, "malformed JSON"),
        ('{"text": "x"} y', 15, "malformed JSON"),
        ('{"text": "x", "n": NaN}', 20, "malformed JSON"),
        ("{'text': 'x'}", 2, "malformed JSON"),
        (r'{"text": "ü \ud800 y"}', 13, "half a surrogate pair in JSON"),
        (r'{"text": "\udc00"}', 11, "half a surrogate pair in JSON"),
        ('{"text": "x", "n": ' + "[" * 100_000, 1, "JSON that is nested too deeply"),
    ],
)
def test_a_bad_line_is_named_with_its_column(line: str, column: int, problem: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        read(f'{{"text": "x"}}\n{line}'.encode(), format="jsonl")
    error = caught.value
    assert (error.line, error.column, error.problem) == (2, column, problem)
    assert error.accepted


def test_a_label_may_have_a_thousand_characters() -> None:
    (document,) = read(b'{"text": "x", "labels": ["%s"]}' % (b"a" * 1000), format="jsonl")
    assert len(document.labels[0]) == 1000


def test_a_delete_character_is_refused_in_a_label() -> None:
    with pytest.raises(InvalidDataError, match="a control character in a label"):
        read(b'{"text": "x", "labels": ["a\x7f"]}', format="jsonl")


def test_the_map_renames_a_label_with_white_space_around_it() -> None:
    (document,) = read(b'{"text": "x", "labels": [" a "]}', format="jsonl", label_map={"a": "b"})
    assert document.labels == ("b",)

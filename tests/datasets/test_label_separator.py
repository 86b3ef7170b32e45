"""Which separator is detected in the columns that people have."""

import io
import random
from collections.abc import Iterator, Sequence

import pytest

from app.datasets.base import ReadOptions
from app.datasets.cells.label_separator import (
    ENOUGH_CELLS,
    MOST_CHARACTERS,
    MOST_ROWS,
    peeked,
    separator_of,
)
from app.datasets.cells.separator_doubts import separator_doubts
from app.datasets.reading import Reading, open_dataset

TAGS = ["python", "pandas", "machine learning", "web", "css", "docker", "linux", "sql", "git"]
SHOPS = ["Home, Garden & Tools", "Books", "Toys, Kids & Baby", "Beauty", "Sports, Outdoors", "Food"]
SURNAMES = ["Doe", "Smith", "Meier", "Novak", "Rossi", "Silva", "Kim", "Dubois", "Berg", "Ito"]
FORENAMES = ["John", "Anna", "Maria", "Peter", "Lucia", "Omar"]
FIRMS = ["Foo, bar & Co", "Baz, Inc.", "Qux, Inc.", "Acme", "Lorem, ipsum", "Dolor, sit & Sons"]
PLACES = ["Paris, France", "Lyon, France", "Rome, Italy", "Milan, Italy", "Bonn, Germany", "Nice"]
PATHS = ["News > Sport", "News > Politics", "Shop > Books > Comics", "News"]


def drawn(names: Sequence[str], join: str, most: int, rows: int = 120) -> list[str]:
    """Cells with one to `most` of the names each."""
    source = random.Random(1)
    return [join.join(source.sample(names, source.randint(1, most))) for _ in range(rows)]


def people(rows: int) -> list[str]:
    source = random.Random(2)
    return [f"{source.choice(SURNAMES)}, {source.choice(FORENAMES)}" for _ in range(rows)]


def rare_tags(rows: int) -> list[str]:
    """Many labels of which most are rare, as tags are."""
    source = random.Random(3)
    names = [f"tag {n}" for n in range(1, 800)]
    weights = [1 / n for n in range(1, 800)]
    cells = (source.choices(names, weights, k=source.randint(1, 6)) for _ in range(rows))
    return [", ".join(dict.fromkeys(cell)) for cell in cells]


COLUMNS = {
    "bars": (drawn(TAGS, "|", 4), "|"),
    "semicolons": (drawn(TAGS, "; ", 4), ";"),
    "commas and spaces": (drawn(TAGS, ", ", 4), ","),
    "commas alone": (drawn(TAGS, ",", 4), ","),
    "sorted commas": ([", ".join(sorted(c.split(", "))) for c in drawn(TAGS, ", ", 3)], ","),
    "rare tags": (rare_tags(900), ","),
    "two labels": (["paid, late"] * 9 + ["paid"] * 5 + ["late"] * 7, ","),
    "lines": (drawn(TAGS, "\n", 3), "newline"),
    "tabs": (drawn(TAGS, "\t", 3), "tab"),
    "doccano's hashes": (drawn(TAGS, "#", 3), "#"),
    "names with commas between bars": (drawn(SHOPS, "|", 2), "|"),
    "people between semicolons": (["Doe, John; Kim, Anna", "Ito, Omar", "Kim, Anna"], ";"),
    "one label each": (drawn(TAGS, ", ", 1), ""),
    "shop categories": (drawn(SHOPS, "?", 1), "none"),
    "people": (people(300), "none"),
    "firms": (drawn(FIRMS, "?", 1), "none"),
    "places": (drawn(PLACES, "?", 1), "none"),
    "languages": (["C#", "F#", "C#", "Java", "C++"] * 5, "none"),
    "escaped names": (["R&amp;D", "Sales", "Q&amp;A"] * 5, ""),
    "paths": (drawn(PATHS, "?", 1), ""),
    "spaced slashes": (drawn(TAGS, " / ", 3), " / "),
    "spaced plus signs": (drawn(TAGS, " + ", 3), " + "),
    "spaced paths": ([path.replace(">", "/") for path in drawn(PATHS, "?", 1)], ""),
    "slashes": (["a/b", "a/c", "d"] * 9, ""),
    "JSON arrays": (['["a", "b, c"]', "[]", '["a"]'], "list"),
    "printed lists": (["['a', 'b']", '["it\'s"]', "[]"], "list"),
    "Label Studio's choices": (["a", '{"choices": ["a", "b"]}'], "list"),
    "brackets that are no lists": (["[urgent] call", "[urgent]", "call"], ""),
    "one row of three": (["billing, late, refund"], ","),
    "one row of a name": (["Doe, John"], "none"),
    "one row of a firm": (["Foo, bar & Co"], "none"),
    "nothing": (["", "  "], ""),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_separator_of_a_column_is_told_from_its_cells(name: str) -> None:
    cells, expected = COLUMNS[name]
    assert separator_of(cells) == expected


def table(cells: Sequence[str]) -> bytes:
    rows = "".join(f'text {i},"{cell}"\n' for i, cell in enumerate(cells))
    return f"text,labels\n{rows}".encode()


def reading_of(cells: Sequence[str], **options: object) -> Reading:
    chosen = ReadOptions(format="csv", **options)  # type: ignore[arg-type]
    return open_dataset(io.BytesIO(table(cells)), chosen)


def test_labels_between_commas_are_few_and_have_no_spaces_around_them() -> None:
    reading = reading_of(drawn(TAGS, ", ", 4))
    assert {label for document in reading for label in document.labels} == set(TAGS)
    assert reading.summary.label_separator == ","
    assert reading.summary.warnings == ()


def test_names_with_commas_stay_whole() -> None:
    reading = reading_of(drawn(SHOPS, "?", 1))
    assert {document.labels for document in reading} == {(name,) for name in SHOPS}
    assert reading.summary.label_separator == "none"


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (",", ("Doe", "John")),
        ("none", ("Doe, John",)),
        ("auto", ("Doe, John",)),
        ("o", ("D", "e, J", "hn")),
    ],
)
def test_a_separator_that_is_given_is_taken(given: str, labels: tuple[str, ...]) -> None:
    reading = reading_of(["Doe, John"], label_separator=given)
    assert [document.labels for document in reading] == [labels]
    assert reading.summary.label_separator == ("none" if given == "auto" else given)


def test_what_is_detected_holds_for_all_rows() -> None:
    cells = [*drawn(TAGS, ", ", 3, rows=ENOUGH_CELLS), "sql, web|git"]
    assert list(reading_of(cells))[-1].labels == ("sql", "web|git")


def test_rows_before_the_first_labels_are_not_lost() -> None:
    documents = list(reading_of([*[""] * 3000, "a; b", "b"]))
    assert [document.line for document in documents] == list(range(2, 3004))
    assert documents[-2].labels == ("a", "b")


def test_only_so_many_rows_are_held_back() -> None:
    taken = []

    def rows() -> Iterator[str]:
        for number in range(100_000):
            taken.append(number)
            yield ""

    cells, again = peeked(rows(), lambda row: row, len)
    assert (cells, next(again)) == ([], "")
    assert len(taken) == MOST_ROWS
    assert len(peeked(iter(["x" * 1000] * 100_000), lambda row: row, len)[0]) == ENOUGH_CELLS
    few, _ = peeked(iter(["x" * MOST_CHARACTERS] * 9), lambda row: row, len)
    assert len(few) == 2


def test_the_labels_of_a_model_tell_the_separator() -> None:
    cells = ["Doe, John", "billing, late"]
    assert separator_of(cells) == "none"
    assert separator_of(cells, known={"billing", "late"}) == ","
    assert separator_of(cells, known={"Doe, John"}) == "none"
    renamed = {"Doe, John": "author"}
    assert separator_of(cells, known={"author"}, label_map=renamed) == "none"
    assert separator_of(["a|b"], known={"unheard"}) == "|"
    assert separator_of(["a, b", "b, a", "a"], known={"a", "b", "a, b", "b, a"}) == "none"


@pytest.mark.parametrize(
    ("cells", "given", "warning"),
    [
        (drawn(TAGS, ", ", 4), "none", "most labels hold ', '"),
        ([f"text number {n}" for n in range(30)], "auto", "nearly all of the 30 labels"),
        (drawn(TAGS, ";", 4), "none", "most labels hold ';'"),
    ],
)
def test_labels_that_look_wrong_are_warned_of(cells: list[str], given: str, warning: str) -> None:
    reading = reading_of(cells, label_separator=given)
    assert list(reading)
    assert any(sentence.startswith(warning) for sentence in reading.summary.warnings)


MIXED = [*drawn(TAGS, ", ", 4), *drawn(TAGS, "; ", 4)]
WORDS = [tag.replace(" ", "-") for tag in TAGS]
NAMES = ["machine learning", "deep learning", "learning theory", "theory", "deep sea", "sea"]


@pytest.mark.parametrize(
    ("cells", "warning"),
    [
        (MIXED, "some cells hold ',' between names"),
        ([*drawn(TAGS, "|", 4), *drawn(TAGS, "/", 3)], "some cells hold '/' between names"),
        (drawn(TAGS, " & ", 4), "some cells hold '&'"),
        ([f"{a}&{b}" for a in TAGS for b in TAGS if a != b], "the words between '&'"),
        (drawn(WORDS, " ", 4), "the words between spaces"),
    ],
)
def test_marks_that_may_be_separators_are_warned_of(cells: list[str], warning: str) -> None:
    reading = reading_of(cells)
    assert list(reading)
    (sentence,) = (found for found in reading.summary.warnings if found.startswith(warning))
    assert not any(tag in sentence for tag in TAGS)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_whose_separator_is_right_are_not_doubted(name: str) -> None:
    cells, separator = COLUMNS[name]
    assert list(separator_doubts(cells, separator)) == []


def test_names_of_several_words_are_not_doubted() -> None:
    assert list(separator_doubts(drawn(NAMES, "; ", 2), ";")) == []
    assert list(separator_doubts(drawn(SHOPS, "|", 2), "|")) == []
    assert list(separator_doubts(["Health & Beauty", "Home & Garden", "Books"] * 9, "")) == []


def test_a_separator_that_is_given_is_not_doubted() -> None:
    reading = reading_of(MIXED, label_separator=";")
    assert list(reading)
    assert not any("some cells" in sentence for sentence in reading.summary.warnings)


def test_lists_in_cells_are_read_without_running_them() -> None:
    cells = ["['a', 'b']", "[]", "['it\\'s', 'x, y']", "__import__('os')"]
    assert [document.labels for document in reading_of(cells)] == [
        ("a", "b"),
        (),
        ("it's", "x, y"),
        ("__import__('os')",),
    ]

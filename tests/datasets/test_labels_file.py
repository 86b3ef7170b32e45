"""Labels files: every form gives the same entries; what is wrong is named by file and line."""

import gzip
import json
from pathlib import Path

import pytest

from app.datasets.labels_file import load_labels_file
from app.errors import InvalidDataError
from app.labels import LabelEntry, LabelIndex, Taxonomy

ENTRIES = (
    LabelEntry("p1", "شبكة", "two\nlines", "p3"),
    LabelEntry("p2", '<b>"bold"</b> & co', "", "p1"),
    LabelEntry("p3", "", "", ""),
)
TABLE = (
    'label,name,description,parent\np1,شبكة,"two\nlines",p3\np2,"<b>""bold""</b> & co",,p1\np3,,,\n'
)


def written(folder: Path, content: str | bytes, name: str = "labels.tsv") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        TABLE.replace(",", "\t").replace("p3\t\t\t", "p3"),
        gzip.compress(TABLE.encode(), mtime=0),  # part of the test's name
        TABLE.replace(",", "\t").partition("\n")[2],
        "\ufeff" + TABLE.replace("label,name", "Label , NAME"),
        json.dumps([entry._asdict() for entry in ENTRIES], indent=2),
        json.dumps([{k: v or None for k, v in entry._asdict().items()} for entry in ENTRIES]),
    ],
)
def test_every_form_of_a_labels_file_gives_the_same_entries(
    content: str | bytes, tmp_path: Path
) -> None:
    assert load_labels_file(written(tmp_path, content)).entries == ENTRIES


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("label\tparent\na\ta\n", ":2:1: a label that is its own ancestor"),
        ("label\tparent\nx\t\na\tb\nb\tc\nc\ta\n", "found 'a → b → c → a'"),
        ("label\tparent\na\t\nb\tc\n", ":3:1: an unknown parent"),
        ("label\nb\na\n\nb\n", ":5:1: a label that stands in line 2, too"),
        ("label\tnmae\n", ":1:2: an unknown column"),
        ("label\tlabel\n", ":1:2: a column twice"),
        ("name\tparent\n", ":1:1: no column label"),
        ("label\tname\n\tx\n", ":2:1: no label"),
        ("label\tname\na\tb\tc\n", ":2:3: 3 fields below 2 columns"),
        ("", ":1:1: no labels"),
        ("[]", ":1:1: no labels"),
        ('[{"label": "a"},\n\n {"label": "a"}]', ":3:1: a label that stands in line 1, too"),
        ('[{"label": "a"},\n {"label": "b", "parnt": "a"}]', ":2:1: an unknown column"),
        ('[{"label": "a"},\n {"label": 7}]', ':2:1: a wrong value of "label"'),
        ('[{"label": "a"},\n {"label": "\\ud800"}]', ":2:1: a label that is not UTF-8"),
        ('[{"label": "a"},\n {"label": "b",}]', ":2:16: malformed JSON"),
        ('[{"label": "a"}\n {"label": "b"}]', ":2:2: malformed JSON"),
        ('[{"label": "a"}] 1', ":1:16: malformed JSON"),
        ('[{"label": "a"},\n "b"]', ":2:1: an element that is no object"),
        ("[" * 100_000, ":1:1: JSON that is nested too deeply"),
        ('[{"label": "a", "description": "\\udc00"}]', "a description that cannot be kept"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(content: str, said: str, tmp_path: Path) -> None:
    file = written(tmp_path, content)
    with pytest.raises(InvalidDataError) as refused:
        load_labels_file(file)
    assert str(refused.value).startswith(f"{file}:")
    assert said in str(refused.value)


def test_a_chain_of_twenty_thousand_labels_is_read_and_closed_into_a_circle_refused(
    tmp_path: Path,
) -> None:
    n = 20_000
    rows = [f"{i:05}\tlabel {i}\t{i - 1:05}" for i in range(1, n)]
    chain = "\n".join(["label\tname\tparent", "00000\troot\t", *rows])
    entries = load_labels_file(written(tmp_path, chain)).entries
    taxonomy = Taxonomy.of(entries, LabelIndex(("19999",)))
    assert taxonomy.depths.max() == n - 1
    assert len(taxonomy.ancestors(0)) == n - 1
    assert taxonomy.label(int(taxonomy.roots()[0])) == "00000"
    circle = chain.replace("root\t", f"root\t{n - 1:05}")
    with pytest.raises(InvalidDataError, match="own ancestor"):
        load_labels_file(written(tmp_path, circle))


def test_a_file_without_a_header_has_its_columns_in_order_and_commas_in_its_names(
    tmp_path: Path,
) -> None:
    found = load_labels_file(written(tmp_path, "p1\tSmith, John, or Johnny\np2\tb\n")).entries
    assert found == (LabelEntry("p1", "Smith, John, or Johnny"), LabelEntry("p2", "b"))


def test_the_file_and_the_data_are_set_against_each_other(tmp_path: Path) -> None:
    rows = "label\tname\na\tsame\nb\tsame\nabove\t\n"
    counts = load_labels_file(written(tmp_path, rows)).counts(LabelIndex(("a", "b", "c")))
    assert list(counts.values()) == [3, 1, 1, 2]

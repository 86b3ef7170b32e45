"""Reports with a labels file: hierarchical figures, top branches, and names, however odd."""

from typing import Any

import numpy as np
import pytest

from app.evaluation import EvaluationOptions, JudgedModel, evaluate
from app.evaluation.measure import label_groups
from app.evaluation.report.page import page
from app.evaluation.report.tables import label_rows, tables
from app.labels import LabelEntry, LabelIndex, Taxonomy
from tests.evaluation.systems import Table, documents_of, made_up

NASTY = "</script><img src=x onerror=alert(1)> שלום &amp;"
SCORES = np.array([[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, 1]], np.float32)
SETS = [["b", "zero"], ["b"], ["c", "d"]]
"""Labels a to d: the first document is given a, which is b's sibling; all else is right."""
ENTRIES = [
    LabelEntry("a", "Ähre", "", "top"),
    LabelEntry("b", "", "", "top"),
    LabelEntry("c", NASTY, "", "other"),
    LabelEntry("other", NASTY),
    LabelEntry("top", "Oben"),
    LabelEntry("zero", "", "", "top"),
]


def judged(entries: list[LabelEntry], **options: Any) -> Any:
    taxonomy = Taxonomy.of(entries, LabelIndex(("a", "b", "c", "d")))
    system = Table(SCORES, ("a", "b", "c", "d"))
    info = JudgedModel("m", "1", np.array([3, 0, 7, 9]), 20, taxonomy=taxonomy)
    return evaluate(system, documents_of(SETS), EvaluationOptions(**options), info=info)


def test_a_sibling_shares_the_branch() -> None:
    """Extended: {a, top} for {b, top}; {b, top}; {c, other, d}: 6 of 7 both ways."""
    found = judged(ENTRIES).as_dict()["decisions"]
    assert list(found["hierarchical"]) == ["precision", "recall", "f1"]
    assert list(found["hierarchical"].values()) == pytest.approx([6 / 7] * 3)
    assert found["micro"]["precision"] == 3 / 4


def test_a_label_that_only_the_file_and_the_test_set_have_brings_its_ancestors() -> None:
    """With `zero`, which is missed, but its parent is right."""
    found = judged(ENTRIES, include_test_labels=True).as_dict()["decisions"]["hierarchical"]
    assert (found["precision"], found["recall"]) == pytest.approx((6 / 7, 6 / 8))


def test_branches_have_every_figure_and_labels_without_one_come_last() -> None:
    report = judged(ENTRIES).as_dict()
    branches = report["partitions"]["branch"]
    told = [(one["branch"], one.get("name"), one["labels"], one["documents"]) for one in branches]
    assert told == [("other", NASTY, 1, 1), ("top", "Oben", 2, 2), (None, None, 1, 1)]
    assert branches[1]["decisions"]["micro"]["f1"] == pytest.approx(1 / 2)
    assert branches[1]["ranking"]["P@1"] == pytest.approx(1 / 2)
    assert branches[0].keys() - {"branch", "name"} == report["partitions"]["label_frequency"][
        0
    ].keys() - {"from", "to"}


def test_a_branch_counts_as_a_system_of_its_labels_alone() -> None:
    system, documents = made_up(80, 6, seed=3)
    names = system.names
    entries = [LabelEntry(name, "", "", "xy"[i % 2]) for i, name in enumerate(names)]
    entries += [LabelEntry("x"), LabelEntry("y")]
    info = JudgedModel(taxonomy=Taxonomy.of(entries, LabelIndex(names)))
    report = evaluate(system, documents, info=info).as_dict()
    for branch, columns in zip(report["partitions"]["branch"], ([0, 2, 4], [1, 3, 5]), strict=True):
        own = tuple(names[column] for column in columns)
        kept = [d for d in documents if set(d.labels) & set(own)]
        alone = evaluate(Table(system.rows[:, columns], own), kept).as_dict()
        assert branch["documents"] == len(kept)
        assert branch["ranking"]["lrap"] == pytest.approx(alone["ranking"]["lrap"])
        cells = [one for one in report["labels"] if one["label"] in own]
        tp, fp, fn = (sum(one[kind] for one in cells) for kind in ("tp", "fp", "fn"))
        assert branch["decisions"]["micro"]["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_of_very_many_branches_the_smallest_are_told_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(label_groups, "MOST_BRANCHES", 1)
    branches = judged(ENTRIES).as_dict()["partitions"]["branch"]
    assert [(one["branch"], one["labels"]) for one in branches] == [("top", 2), (None, 2)]


def test_a_file_of_names_alone_gives_names_and_no_hierarchy() -> None:
    flat = [entry._replace(parent="") for entry in ENTRIES]
    report = judged(flat).as_dict()
    assert "hierarchical" not in report["decisions"]
    assert "branch" not in report["partitions"]
    assert [one["name"] for one in report["labels"]] == ["Ähre", None, NASTY, None]


def test_names_are_escaped_on_the_page_and_shown_in_tables() -> None:
    report = judged(ENTRIES)
    content = page(report)
    assert "<img src=x" not in content
    assert "hierarchical" in content
    assert "top Oben" in content
    figures = report.as_dict()
    shown = {table.rows[0][0] for table in tables(figures) if table.rows}
    assert f"other {NASTY}" in shown
    assert tables(figures)[0].rows[-1][0] == "hierarchical"
    assert label_rows(figures, 4).rows[0][0] == "a Ähre"


def test_chunks_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = judged(ENTRIES).as_dict()
    monkeypatch.setattr("app.evaluation.chunks.DOCUMENTS", 1)
    parts = judged(ENTRIES).as_dict()
    assert parts["decisions"]["hierarchical"] == whole["decisions"]["hierarchical"]
    assert parts["partitions"]["branch"] == whole["partitions"]["branch"]

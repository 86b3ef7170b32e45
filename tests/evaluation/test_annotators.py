"""Agreement of several annotators: by definition, as published, and how files are matched."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from typer.testing import CliRunner

from app.cli.commands import evaluate
from app.datasets.base import Record
from app.errors import InvalidDataError
from app.evaluation.compare.annotators import annotator_agreement
from app.metrics.agreement.fleiss_kappa import fleiss_kappa
from app.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from app.metrics.agreement.ratings import Ratings
from tests.decisions.cases import given_patiently

MISSING = 2
VALUES = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.sampled_from([0, 0, 1, 1, MISSING]))
)
"""(annotators, documents) of one label: not given, given, or not judged."""

FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
"""Of six psychiatrists, how many gave each of five diagnoses; a word a patient."""
KRIPPENDORFF = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
"""The values that four observers gave to twelve units; a dot is a missing one."""


def file_of(label_sets: dict[str, str]) -> list[Record]:
    """Documents by id, each label one letter."""
    return [Record("", tuple(labels), key, 1) for key, labels in label_sets.items()]


def ratings_of(values: np.ndarray) -> Ratings:
    judged = values != MISSING
    given = csr_array((values == 1).sum(axis=0).reshape(-1, 1))
    return Ratings(judged.sum(axis=0), given, len(values))


def literal_alpha(values: np.ndarray) -> float:
    """1 − (n − 1) · Σ o_ck / Σ n_c·n_k over c ≠ k, by the matrix of coincidences."""
    coincidences = np.zeros((2, 2))
    for unit in values.T:
        found = [value for value in unit if value != MISSING]
        for one, other in permutations(found, 2):
            coincidences[one, other] += 1 / (len(found) - 1)
    totals = coincidences.sum(axis=0)
    if not totals.all():
        return float("nan")
    apart = coincidences[0, 1] + coincidences[1, 0]
    return float(1 - (totals.sum() - 1) * apart / (2 * totals[0] * totals[1]))


def literal_kappa(values: np.ndarray) -> float:
    """(P − P_e) / (1 − P_e), P the mean share of pairs of annotators that agree."""
    complete = [unit.tolist() for unit in values.T if MISSING not in unit]
    pairs = [[a == b for a, b in permutations(unit, 2)] for unit in complete]
    everything = [value for unit in complete for value in unit]
    if len(values) < 2 or len(set(everything)) < 2:
        return float("nan")
    agreed = np.mean([np.mean(one) for one in pairs])
    chance = sum((everything.count(value) / len(everything)) ** 2 for value in (0, 1))
    return float((agreed - chance) / (1 - chance))


@given_patiently(VALUES)
def test_both_coefficients_of_a_label_are_those_of_their_definitions(values: np.ndarray) -> None:
    ratings = ratings_of(values)
    for found, literal in (
        (krippendorff_alpha(ratings), literal_alpha(values)),
        (fleiss_kappa(ratings), literal_kappa(values)),
    ):
        assert found.labels[0] == pytest.approx(literal, nan_ok=True)
        assert found.overall == pytest.approx(literal, nan_ok=True)


def test_fleiss_diagnoses_of_30_patients_have_the_published_coefficients() -> None:
    """Fleiss (1971), Table 1: six psychiatrists, five diagnoses; κ = .430, by diagnosis below."""
    counts = np.array([[int(n) for n in patient] for patient in FLEISS.split()])
    assert (counts.sum(axis=1) == 6).all()
    found = fleiss_kappa(Ratings(counts.sum(axis=1), csr_array(counts), 6))
    assert found.overall == pytest.approx(0.430, abs=5e-4)
    assert found.labels == pytest.approx([0.245, 0.245, 0.520, 0.471, 0.566], abs=5e-4)


def test_krippendorffs_worked_examples_have_the_published_alphas() -> None:
    """Krippendorff (2011), A: two observers, two values, .095; C: four, values missing, .743."""
    two = np.array([[int(value) for value in row] for row in ("0100000010", "1110010000")])
    assert krippendorff_alpha(ratings_of(two)).overall == pytest.approx(0.095, abs=5e-4)
    observers = [
        {str(unit): value for unit, value in enumerate(row) if value != "."} for row in KRIPPENDORFF
    ]
    found = annotator_agreement(*map(file_of, observers))
    assert found["krippendorff_alpha"] == pytest.approx(0.743, abs=5e-4)


def test_three_annotators_are_compared_in_pairs_and_with_the_majority_of_the_others() -> None:
    ann = file_of({"1": "ab", "2": "a", "3": "", "4": "c"})
    bob = file_of({"3": "", "1": "a", "2": "b"})
    eve = file_of({"1": "ab", "2": "", "3": "a", "5": "c"})
    found = annotator_agreement(ann, bob, eve, names=["ann", "bob", "eve"])
    assert (found["matched_by"], found["documents"], found["documents_of_all"]) == ("id", 5, 3)
    assert [one["missing_documents"] for one in found["annotators"]] == [["5"], ["4", "5"], ["4"]]
    pairs = {one["first"] + "-" + one["second"]: one for one in found["pairs"]}
    alone = annotator_agreement(ann, bob)
    named = {"first": "ann", "second": "bob"}
    assert {**alone, **pairs["ann-bob"]} == {**alone, **named}
    # Bob and Eve agree on document 1's a alone; where one of the two gave a label there is a tie.
    against = {one["annotator"]: one for one in found["majority"]}["ann"]
    assert (against["documents"], against["ties"]) == (3, 3)
    assert against["overlap"] == pytest.approx(1 / 2)  # 1·a by both; 2·a by Ann alone
    by_label = {one["label"]: one for one in found["by_label"]}
    assert by_label["a"]["given"] == [2, 1, 2]
    assert by_label["c"]["fleiss_kappa"] is None  # no document that all three judged has it


def test_an_even_split_of_the_others_counts_neither_way() -> None:
    files = [file_of({"1": labels}) for labels in ("a", "a", "", "")]
    found = annotator_agreement(*files)
    assert [one["ties"] for one in found["majority"]] == [0, 0, 0, 0]
    assert [one["overlap"] for one in found["majority"]] == [0.0, 0.0, 0.0, 0.0]
    three = annotator_agreement(*files[:3])
    assert [(one["ties"], one["overlap"]) for one in three["majority"]] == [(1, 1), (1, 1), (0, 0)]


def test_a_document_without_labels_is_a_judgement_unless_unlabelled_ones_are_dropped() -> None:
    files = [file_of({"1": "a", "2": ""}), file_of({"1": "a", "2": "b"})]
    assert annotator_agreement(*files)["documents"] == 2
    dropped = annotator_agreement(*files, unlabelled="drop")
    assert (dropped["documents"], dropped["only_second"], dropped["overlap"]) == (1, 1, 1.0)


def test_annotators_that_never_differ_or_never_vary_have_one_or_no_coefficient() -> None:
    same = [file_of({"1": "a", "2": ""})] * 3
    assert annotator_agreement(*same)["fleiss_kappa"] == 1.0
    constant = [file_of({"1": "a", "2": "a"})] * 3
    assert annotator_agreement(*constant)["krippendorff_alpha"] is None


def test_files_that_cannot_be_matched_are_named() -> None:
    disjoint = [file_of({"1": "a"}), file_of({"2": "a"}), file_of({"3": "a"})]
    with pytest.raises(InvalidDataError, match="no document is in two of the files"):
        annotator_agreement(*disjoint)
    twice = [Record("", ("a",), "1", 1)] * 2
    with pytest.raises(InvalidDataError, match=r"bob: an id that occurs twice.*'1'"):
        annotator_agreement(disjoint[0], twice, names=["ann", "bob"])
    nameless = [Record("", ("a",), None, 1)]
    with pytest.raises(InvalidDataError, match=r"2 and 1 and 1 documents \(1, 2, 3\)"):
        annotator_agreement(nameless * 2, nameless, nameless)


def test_the_command_takes_a_file_an_annotator_and_names_what_is_missing(tmp_path: Path) -> None:
    files = []
    for name, label_sets in (("ann", {1: "a b", 2: "a"}), ("bob", {1: "a"}), ("eve", {2: "a"})):
        files.append(str(tmp_path / f"{name}.tsv"))
        lines = [f"{number}\t{labels}\ttext\n" for number, labels in label_sets.items()]
        Path(files[-1]).write_text("".join(lines))
    words = [files[0], "--against", files[1], "--against", files[2]]
    shown = CliRunner().invoke(evaluate.app, words, catch_exceptions=False).stdout
    assert "each against the majority of the others" in shown
    assert "bob.tsv lacks 1 documents: 2" in shown
    written = CliRunner().invoke(evaluate.app, [*words, "--json", "-"], catch_exceptions=False)
    found = json.loads(written.stdout)
    assert [one["annotator"] for one in found["annotators"]] == files
    assert [one["overlap"] for one in found["pairs"]] == [0.5, 1.0, None]  # bob and eve share none

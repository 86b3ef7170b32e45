"""`labelserve learning-curve`, as typed."""

import json
from pathlib import Path

from tests.scripts.conftest import Typed
from tests.training.test_learning_curve import corpus


def test_a_curve_is_shown_with_what_to_expect_and_the_labels_that_need_examples(
    typed: Typed, tmp_path: Path
) -> None:
    data = corpus(520)
    lines = [
        f"{i}\t{labels[0]}\t{text}"
        for i, (text, labels) in enumerate(zip(data.documents, data.label_sets, strict=True))
    ]
    file, result = tmp_path / "data.tsv", tmp_path / "curve.json"
    file.write_text("\n".join(lines) + "\n")
    how = ["--repeats", "1", "--jobs", "1", "--set", "decision.resamples=2", "--json", str(result)]
    code, out, _ = typed("learning-curve", str(file), *how)
    assert code == 0
    found = json.loads(result.read_text())
    assert found["sizes"] == [52, 104, 208, 416]
    assert found["test_documents"] == 104
    assert "1,040 (expected)" in out
    assert "from up to 208 documents" in out
    check = found["figures"]["micro-F1"]["check"]
    assert check["holds"] == (check["low"] <= check["found"] <= check["high"])
    assert {own["label"] for own in found["labels"]} == {"clear", "hard"}


def test_what_cannot_be_a_curve_is_refused_before_training(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "few.tsv"
    file.write_text("".join(f"{i}\ta\tword{i}\n" for i in range(100)))
    code, _, error = typed("learning-curve", str(file))
    assert (code, "at least 200 documents" in error) == (1, True)
    code, _, error = typed("learning-curve", str(file), "--aside", "1")
    assert (code, "--aside" in error) == (2, True)

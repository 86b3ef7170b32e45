"""`labelserve rules`: a file is checked, or applied to a model as a new version."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.artifacts.store import Store
from app.decisions.decision import Decision
from app.model import load_model
from tests.decisions.scored_model import classifier_of, store
from tests.scripts.conftest import Typed

SCORES = np.array([[2.0, -1.0], [-1.0, -1.0], [2.0, 2.0], [-1.0, 2.0]], np.float32)
"""Decided at 0: label000 for texts 0 and 2, label001 for texts 2 and 3."""
TRUTH = [["label000", "label001"], ["label001"], [], ["label001"]]
RULES = """[[rule]]
label = "label001"
when = "term0 | term1 | term3"
then = "assign"

[[rule]]
label = "label001"
when = 'term2'
then = "forbid"

[[rule]]
label = "label000"
when = "term0 | term2"
then = "forbid"

[[rule]]
label = "label000"
when = "term0 & !elsewhere"
then = "assign"

[[rule]]
label = "label000"
when = "nowhere"
then = "assign"
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A store with the model `made`, which scores as above."""
    store(classifier_of(SCORES, Decision(np.zeros(2, np.float32), "zero")), SCORES, tmp_path)
    return tmp_path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules above, in a file."""
    (tmp_path / "rules.toml").write_text(RULES)
    return tmp_path / "rules.toml"


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    """The four texts with their true labels."""
    lines = [
        json.dumps({"text": f"term{row}", "labels": labels}) for row, labels in enumerate(TRUTH)
    ]
    (tmp_path / "test.jsonl").write_text("\n".join(lines))
    return tmp_path / "test.jsonl"


def test_before_and_after_are_as_counted_by_hand(
    typed: Typed, models: Path, rules: Path, test_set: Path
) -> None:
    code, out, _ = typed(
        "rules", "apply", "made", rules, "--test", test_set, "--models-dir", models, "--json", "-"
    )
    result = json.loads(out)
    counts = [(r["fired"], r["overruled"], r["moved"], r["rightly"]) for r in result["rules"]]
    assert (code, result["promoted"]) == (0, True)
    # Texts 0, 1 and 3 are assigned label001, which text 3 has already; text 2 loses it, rightly.
    # Texts 0 and 2 are to lose label000; for text 0 a later rule says otherwise, as the model does.
    assert counts == [(3, 0, 2, 2), (1, 0, 1, 1), (2, 1, 1, 1), (1, 0, 0, 0), (0, 0, 0, 0)]
    # Before: 4 assigned, 2 rightly, of 4 true. After: the truth itself.
    assert result["before"]["micro-precision"] == 2 / 4
    assert result["before"]["micro-recall"] == 2 / 4
    assert result["after"] == dict.fromkeys(result["after"], 1.0)
    assert result["warnings"] == ["line 21: this rule holds for no document of the test set"]
    assert load_model(Store(models), "made").manifest.recipe["hand_rules"]["rules"] == 5


def test_the_table_names_every_rule(
    typed: Typed, models: Path, rules: Path, test_set: Path
) -> None:
    _, out, _ = typed("rules", "apply", "made", rules, "--test", test_set, "--models-dir", models)
    assert "1     label001  assign  term0 | term1 | term3" in out
    assert "before   after" in out


def test_rules_that_make_it_worse_are_not_promoted(
    typed: Typed, models: Path, tmp_path: Path, test_set: Path
) -> None:
    (tmp_path / "bad.toml").write_text(RULES.replace('"assign"', '"forbid"'))
    test_set.write_text((test_set.read_text() + "\n") * 20)
    current = Store(models).current("made")
    common = ("--test", test_set, "--models-dir", models, "--promote", "not-worse")
    code, _, _ = typed("rules", "apply", "made", tmp_path / "bad.toml", *common)
    assert (code, Store(models).current("made")) == (3, current)


def test_predictions_and_evaluations_of_the_new_version_follow_the_rules(
    typed: Typed, models: Path, rules: Path, test_set: Path
) -> None:
    typed("rules", "apply", "made", rules, "--models-dir", models)
    typed("evaluate", "made", test_set, "--models-dir", models, "--json", models / "report")
    report = json.loads((models / "report").read_text())
    assert report["decisions"]["micro"]["f1"] == 1.0
    classifier = load_model(Store(models), "made").classifier
    texts = [f"term{row}" for row in range(4)]
    names = [
        [classifier.labels.names[column] for column in np.flatnonzero(row)]
        for row in classifier.decide(texts)
    ]
    assert names == TRUTH


def test_check_names_every_mistake_and_exits_with_1(
    typed: Typed, models: Path, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(RULES.replace('"label000"', '"label009"', 1).replace("'term2'", "'term2 &'"))
    code, out, err = typed("rules", "check", file, "--model", "made", "--models-dir", models)
    assert code == 1
    assert f"{file}:8:16: something is missing here" in err
    assert f"{file}:12:10: the model has no such label; found 'label009'" in err
    assert "3 rules, mistakes: 2" in out


def test_check_without_a_model_takes_any_label_and_tells_what_never_holds(
    typed: Typed, rules: Path, test_set: Path
) -> None:
    code, out, _ = typed("rules", "check", rules, "--test", test_set, "--json", "-")
    checked = json.loads(out)
    assert (code, checked["mistakes"]) == (0, [])
    assert [rule["fired"] for rule in checked["rules"]] == [3, 1, 2, 1, 0]
    assert checked["warnings"] == ["line 21: this rule holds for no document of the test set"]


def test_a_mistake_writes_no_version(typed: Typed, models: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("[[rule]]\nlabel = 1\n")
    code, _, err = typed("rules", "apply", "made", tmp_path / "wrong.toml", "--models-dir", models)
    assert (code, "wrong.toml:1:1: the rule has no when" in err) == (1, True)
    assert len(Store(models).versions("made")) == 1


def test_a_model_with_rules_is_not_relabelled(
    typed: Typed, models: Path, rules: Path, tmp_path: Path
) -> None:
    typed("rules", "apply", "made", rules, "--models-dir", models)
    (tmp_path / "map.csv").write_text("from,to\nlabel000,other\n")
    code, _, err = typed("models", "relabel", "made", tmp_path / "map.csv", "--models-dir", models)
    assert (code, "has hand-written rules" in err) == (2, True)


@pytest.fixture
def trained_alone(typed: Typed, models: Path, rules: Path, test_set: Path) -> Typed:
    """Runs a training of the rules alone on the four texts."""
    common = ("--model", "alone", "--learner", "hand-rules", "--models-dir", models)
    return lambda *options: typed("train", test_set, *common, *options)


def test_rules_alone_are_a_model(
    trained_alone: Typed, models: Path, rules: Path, test_set: Path
) -> None:
    code, _, _ = trained_alone("--set", f"learner.rules={rules}")
    classifier = load_model(Store(models), "alone").classifier
    marks = classifier.decide([f"term{row}" for row in range(4)])
    assert (code, classifier.calibration) == (0, None)
    assert marks.tolist() == [[True, True], [False, True], [False, False], [False, True]]
    assert not classifier.scores(["term0"]).any()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "set learner.rules to a file"),
        (("--set", "learner.rules=RULES", "--decision", "micro-f"), "leave --decision out"),
        (("--learner", "ensemble:one-vs-rest,hand-rules"), "no scores to add to an ensemble"),
    ],
)
def test_rules_that_would_not_decide_are_refused_as_a_learner(
    options: tuple[str, ...], problem: str, trained_alone: Typed, models: Path, rules: Path
) -> None:
    code, _, err = trained_alone(*(option.replace("RULES", str(rules)) for option in options))
    assert (code, problem in err) == (2, True)
    assert "alone" not in Store(models).names()

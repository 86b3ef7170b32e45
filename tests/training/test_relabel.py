"""scripts/models.py relabel: a version like any other, with honest figures, and a way back."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from app.artifacts.store import Store
from app.cli.commands.models import app
from app.datasets.collection import Collection
from app.datasets.reading import open_dataset
from app.decisions.operating_points import OperatingPoints
from app.decisions.tuning.hulls import Hulls
from app.errors import InvalidRequestError
from app.evaluation import JudgedModel, evaluate
from app.labels import LabelEntry, Taxonomy
from app.model import Model, load_model
from app.prediction import Query, plan_of
from app.training.relabel import relabel, without_labels
from app.training.retune import retune

ALL = {"crash": "fault", "login": "fault", "printer": "", "shipping": "parcels"}


@pytest.fixture
def models(named_models: Path, tmp_path: Path) -> Path:
    shutil.copytree(named_models, tmp_path / "models")
    return tmp_path / "models"


def relabelled(models: Path, renamed: dict[str, str], *options: str) -> dict[str, Any]:
    file = models.parent / "renamed.csv"
    file.write_text("from,to\n" + "".join(f"{old},{new}\n" for old, new in renamed.items()))
    words = ["relabel", "named", str(file), "--models-dir", str(models), "--json", "-", *options]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report_of(model: Model, corpus_file: Path) -> dict[str, Any]:
    documents = open_dataset(corpus_file)
    return evaluate(model.classifier, documents, info=JudgedModel.of(model)).as_dict()


def test_a_relabelled_version_is_verified_promoted_and_reversible(models: Path) -> None:
    store = Store(models)
    first = store.current("named")
    found = relabelled(models, ALL)
    assert (found["renamed"], found["merged"], found["hidden"]) == (1, 2, 1)
    assert (found["from"], found["labels"]) == (first, 3)
    assert store.current("named") == found["version"] != first
    new = load_model(store, "named")
    assert new.classifier.answered_labels.names == ("billing", "fault", "parcels")
    assert new.manifest.recipe["relabelled"]["model"] == f"named@{first}"  # type: ignore[index, call-overload]
    store.promote("named", str(first))
    assert load_model(store, "named").classifier.answered_labels.names[1] == "crash"


def test_never_promoted_where_that_is_asked(models: Path) -> None:
    first = Store(models).current("named")
    relabelled(models, ALL, "--promote", "never")
    assert Store(models).current("named") == first


def test_renaming_keeps_every_figure_and_hiding_or_merging_says_they_were_before(
    models: Path,
) -> None:
    old = load_model(Store(models), "named")
    figures = relabel(old, {"crash": "zz"}).trained.info.figures
    assert figures == old.manifest.figures
    for renamed in ({"crash": ""}, {"crash": "login"}):
        info = relabel(old, renamed).trained.info
        assert info.figures == {"before_relabelling": old.manifest.figures}
        assert info.golden == old.info().golden


def test_a_renamed_model_gives_the_report_of_the_old_one_under_other_names(
    models: Path, corpus_file: Path
) -> None:
    old = load_model(Store(models), "named")
    before = report_of(old, corpus_file)
    relabelled(models, {"crash": "zz", "shipping": "aa"})
    after = report_of(load_model(Store(models), "named"), corpus_file)
    names = {"crash": "zz", "shipping": "aa"}
    renamed = [
        entry | {"label": names.get(entry["label"], entry["label"])} for entry in before["labels"]
    ]
    assert after["labels"] == sorted(renamed, key=lambda entry: str(entry["label"]))
    for name in ("P@1", "PSP@1", "NDCG@5", "lrap", "mrr"):
        assert after["ranking"][name] == pytest.approx(before["ranking"][name])
    assert after["decisions"]["micro"] == before["decisions"]["micro"]
    assert after["decisions"]["hierarchical"] == before["decisions"]["hierarchical"]
    assert after["calibration"]["ece"] == pytest.approx(before["calibration"]["ece"])
    assert after["partitions"]["branch"] == before["partitions"]["branch"]


def test_a_report_on_merged_labels_says_what_is_not_known(models: Path, corpus_file: Path) -> None:
    relabelled(models, ALL)
    report = report_of(load_model(Store(models), "named"), corpus_file)
    fault = report["labels"][1]
    assert fault["label"] == "fault"
    assert fault["threshold"] is fault["training_documents"] is None
    assert report["ranking"]["PSP@1"] is None
    assert report["partitions"]["label_frequency"] == []
    assert any("labels were merged" in warning for warning in report["warnings"])
    assert any("never answers any more" in warning for warning in report["warnings"])
    assert report["decisions"]["micro"]["f1"] > 0.9


def test_operating_points_are_those_of_the_labels_that_are_left(models: Path) -> None:
    old = load_model(Store(models), "named").classifier
    assert old.hulls is not None
    hidden = old.labels.columns["crash"]
    kept = [column for column in range(5) if column != hidden]
    vertices = np.concatenate(
        [np.arange(old.hulls.offsets[c], old.hulls.offsets[c + 1]) for c in kept]
    )
    sizes = np.diff(old.hulls.offsets)[kept]
    left = Hulls(
        np.append(0, np.cumsum(sizes)),
        old.hulls.fp[vertices],
        old.hulls.tp[vertices],
        old.hulls.cuts[vertices],
        old.hulls.positives[kept],
        old.hulls.n_documents,
    )
    without = OperatingPoints(without_labels(old.hulls, [hidden]))
    for name in ("f1", "macro:f2", "recall>=0.9", "precision>=0.95", "each:precision>=0.9"):
        wanted, found = OperatingPoints(left).find(name), without.find(name)
        assert found.expected == wanted.expected
        assert found.cuts is not None
        assert wanted.cuts is not None
        assert found.cuts[kept].tolist() == wanted.cuts.tolist()
        assert found.cuts[hidden] == np.inf


def test_explanations_sum_to_the_score_of_a_merged_label(models: Path) -> None:
    from app.explanation import explain

    relabelled(models, ALL)
    classifier = load_model(Store(models), "named").classifier
    plan = plan_of(Query(explain=3), classifier, explainer=explain)
    (found,) = plan.predictions(["password login reset crash"])
    label = next(label for label in found.labels if label.label == "fault")
    assert label.because is not None
    assert label.bias is not None
    assert label.rest is not None
    total = sum(term.weight for term in label.because) + label.bias + label.rest
    assert total == pytest.approx(label.score, abs=1e-4)


def test_a_second_relabelling_starts_from_what_the_first_one_answers(models: Path) -> None:
    relabelled(models, ALL)
    found = relabelled(models, {"fault": "broken", "parcels": "broken"})
    assert (found["renamed"], found["merged"], found["hidden"]) == (0, 3, 0)
    classifier = load_model(Store(models), "named").classifier
    assert classifier.column_names == ("billing", "broken", "broken", "", "broken")


def test_names_and_parents_follow_the_labels(models: Path) -> None:
    old = load_model(Store(models), "named")
    renamed = relabel(old, {"crash": "fault", "billing": ""}).trained.classifier.taxonomy
    assert renamed is not None
    entries = {entry.label: entry for entry in renamed.entries()}
    assert entries["fault"] == LabelEntry("fault", "Absturz", "", "trouble")
    assert entries["login"].parent == "fault"
    assert entries["billing"].name == "Rechnung & <b>Zahlung</b>"
    up = relabel(old, {"login": "crash"}).trained.classifier.taxonomy
    assert up is not None
    assert up.entries()[1] == LabelEntry("crash", "Absturz", "", "trouble")
    down = relabel(old, {"crash": "login"}).trained.classifier.taxonomy
    assert down is not None
    assert {e.label: e.parent for e in down.entries()}["login"] == "trouble"


@pytest.mark.parametrize(
    ("renamed", "said"),
    [
        ({"crsh": "x"}, "the model has no label 'crsh'"),
        ({"crash": "crash"}, "nothing would change"),
        (dict.fromkeys(("billing", "crash", "login", "printer", "shipping"), ""), "hidden"),
        ({"billing": "shipping", "printer": "shipping"}, "its own ancestor"),
    ],
)
def test_what_cannot_be_relabelled_is_refused(
    models: Path, renamed: dict[str, str], said: str
) -> None:
    model = load_model(Store(models), "named")
    entries = [
        LabelEntry("shipping", "", "", "middle"),
        LabelEntry("middle", "", "", "printer"),
        LabelEntry("printer"),
    ]
    taxonomy = Taxonomy.of(entries, model.classifier.labels)
    model = replace(model, classifier=replace(model.classifier, taxonomy=taxonomy))
    with pytest.raises(InvalidRequestError, match=said):
        relabel(model, renamed)


def test_a_relabelled_version_is_not_retuned(models: Path, corpus: Collection) -> None:
    relabelled(models, ALL)
    with pytest.raises(InvalidRequestError, match="was relabelled"):
        retune(load_model(Store(models), "named"), corpus)


def test_costs_follow_the_labels_and_are_not_known_of_merged_ones(models: Path) -> None:
    old = load_model(Store(models), "named")
    decision = replace(old.classifier.decision, name="cost")
    tuned = replace(old, classifier=replace(old.classifier, decision=decision))
    for renamed, labels in (
        ({"crash": "zz"}, {"billing", "login", "printer", "shipping", "zz"}),
        ({"crash": ""}, {"billing", "login", "printer", "shipping"}),
    ):
        costs = replace(tuned, classifier=relabel(tuned, renamed).trained.classifier).costs
        assert costs is not None
        assert set(costs.by_label) == labels
    merged = relabel(tuned, {"crash": "login"}).trained.classifier
    assert replace(tuned, classifier=merged).costs is None

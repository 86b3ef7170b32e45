"""`cost`: the cheapest of all cuts, and where the costs come from."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.artifacts.store import Store
from app.cli.commands import evaluate
from app.cli.commands import retune as retune_command
from app.datasets.collection import Collection, load_collection
from app.datasets.cost_file import load_costs
from app.decisions.tuning.cost import least_cost
from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.options import TuningOptions
from app.decisions.tuning.tune import tune
from app.errors import InvalidDataError, InvalidRequestError
from app.heldout import HeldOut
from app.metrics.costs import CostTable, ErrorCosts
from app.model import load_model
from app.training.publish import documents_of, publish
from app.training.recipe import read_recipe
from app.training.retune import Choice, retune
from app.training.train import TrainingJob, train
from tests.conftest import write_corpus
from tests.decisions.cases import dense_truth, every_cut, given_patiently, held_outs
from tests.evaluation.systems import judged, made_up

COSTS = st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0, 7.0]), min_size=3, max_size=3)
"""Sums of these have no rounding error, so that equal costs are found equal."""


@given_patiently(held_outs(), COSTS, COSTS)
def test_without_resamples_no_cut_of_a_label_is_cheaper_nor_as_cheap_and_higher(
    data: HeldOut, wrong: list[float], missed: list[float]
) -> None:
    m = data.n_labels
    options = TuningOptions(resamples=0, wrong=wrong[:m], missed=missed[:m])
    hulls, truth = Hulls.of(data), dense_truth(data)
    marks = tune("cost", data, hulls, options).decide(data.scores)
    total = 0.0
    for label, column in enumerate(data.scores.T):
        tried = []
        for cut in every_cut(column):  # from the highest to the lowest
            given = column > np.float32(cut)
            errors = (given & ~truth[:, label]).sum(), (~given & truth[:, label]).sum()
            tried.append((wrong[label] * errors[0] + missed[label] * errors[1], given.tolist()))
        cost, first = min(tried, key=lambda one: one[0])
        assert marks[:, label].tolist() == first
        total += cost
    assert least_cost(hulls, options.costs(m)) == total


def test_costs_of_one_each_are_the_errors_and_dear_misses_lower_the_cuts() -> None:
    random = np.random.default_rng(0)
    scores = random.standard_normal((400, 3)).astype(np.float32)
    data = HeldOut.of(scores, scores + random.normal(0, 1, scores.shape) > 1)
    cuts = [
        tune("cost", data, Hulls.of(data), TuningOptions(missed=missed)).cuts
        for missed in (1.0, 10.0, [10.0, 1.0, 10.0])
    ]
    assert (cuts[0] > cuts[1]).all()
    # Each label draws its own resamples in turn: only the order of costs is certain.
    assert (cuts[2][[0, 2]] < cuts[0][[0, 2]]).all()


def test_costs_that_fit_no_label_set_or_are_no_costs_are_refused() -> None:
    for bad in ([1.0, -1.0], -1, "x", [float("nan")], True):
        with pytest.raises(InvalidRequestError, match="missed is a cost"):
            TuningOptions(missed=bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="one number for all labels, or 3 numbers"):
        TuningOptions(wrong=[1.0, 2.0]).costs(3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", "a,1,5\n*,2,3\n"),
        ("c.tsv", "missed\tlabel\twrong\n5\ta\t1\n3\t*\t2\n"),
        ("c.json", '[{"label": "a", "wrong": 1, "missed": 5},{"label":"*","wrong":2,"missed":3}]'),
    ],
)
def test_costs_are_read_alike_from_every_format(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    table = load_costs(file)
    assert table.settings(["a", "b"]) == {"wrong": [1.0, 2.0], "missed": [5.0, 3.0]}
    assert table.settings(["b", "c"]) == {"wrong": 2.0, "missed": 3.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,1,5\nb,-1,2\n", "2:1: a bad cost of a wrong one.*'-1'"),
        ("a,1,nan\n", "1:1: a bad cost of a missed one"),
        ("a,1\n", "1:1: not three columns"),
        ("a,1,2\na,1,2\n", "2:1: a label twice"),
        (",1,2\n", "1:1: an empty label"),
        ('[\n{"label": "a", "wrong": 1}]', "2:1: not a row of costs"),
        ('[\n{"label"', "2:9: malformed JSON"),
        ("[1]", "1:1: not an array of objects"),
    ],
)
def test_a_bad_cost_is_named_by_line(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / ("c.json" if text.startswith("[") else "c.csv")
    file.write_text(text)
    with pytest.raises(InvalidDataError, match=says):
        load_costs(file)


def test_the_report_counts_costs_beside_f_and_what_nothing_and_the_best_cuts_cost() -> None:
    system, documents = made_up()
    costs = CostTable(ErrorCosts(1, 3), {"label-2": ErrorCosts(10, 0.5)}, {"strange": "c.csv:7"})
    report = judged(system, documents, costs=costs)
    rows = {one["label"]: one for one in report["labels"]}
    for name, one in rows.items():
        wrong, missed = (10, 0.5) if name == "label-2" else (1, 3)
        assert one["cost"] == wrong * one["fp"] + missed * one["fn"]
    found = report["costs"]
    assert found["total"] == sum(one["cost"] for one in rows.values())
    assert found["per_document"] == pytest.approx(found["total"] / 60)
    support = sum(one["support"] * (0.5 if n == "label-2" else 3) for n, one in rows.items())
    assert found["nothing"] == support
    assert 0 < found["best_cuts"] <= min(found["total"], found["nothing"])
    assert "c.csv:7: no such label: 'strange'" in report["warnings"]
    assert "costs" not in judged(system, documents)


def test_a_models_costs_are_kept_and_retuned_with_unless_others_are_given(
    corpus: Collection, tmp_path: Path
) -> None:
    table = CostTable(ErrorCosts(1, 4), {"crash": ErrorCosts(2, 2)})
    recipe = read_recipe(None, changes=["decision.name=cost", "decision.resamples=2"])
    trained = train(TrainingJob(corpus, recipe, costs=table))
    assert trained.info.figures["held_out"]["cost_per_document"] >= 0
    store = Store(tmp_path)
    published = publish(trained, store, "m", test=lambda: documents_of(corpus))
    assert published.report is not None
    assert published.report.as_dict()["costs"]["nothing"] > 0  # the model knows its costs
    model = load_model(store, "m")
    names = model.classifier.labels.names
    assert model.costs is not None
    assert model.costs.settings(names) == table.settings(names)
    labelled = load_collection(write_corpus(tmp_path / "v.jsonl", 40, seed=5))
    even = CostTable(ErrorCosts(3, 3))
    for choice, expected in ((Choice(), table), (Choice(costs=even), even), (Choice(), even)):
        retuned = retune(load_model(store, "m"), labelled, choice)
        assert set(retuned.before) == set(retuned.after) == set(retuned.cross_validated)
        publish(retuned.trained, store, "m")
        again = load_model(store, "m")
        assert again.costs is not None
        assert again.costs.settings(names) == expected.settings(names)
        assert json.dumps(again.manifest.recipe["retuned"])


def test_the_commands_read_costs_and_name_labels_that_have_costs_alone(
    tiny_models: Path, corpus_file: Path, tmp_path: Path
) -> None:
    models, file = tmp_path / "models", tmp_path / "costs.tsv"
    shutil.copytree(tiny_models, models)
    file.write_text("label\twrong\tmissed\n*\t1\t9\ncrsh\t1\t2\n")
    words = ["tiny", str(corpus_file), "--models-dir", str(models), "--costs", str(file)]
    words += ["--json", "-"]
    found = json.loads(CliRunner().invoke(evaluate.app, words, catch_exceptions=False).stdout)
    missed = sum(one["support"] for one in found["labels"])
    assert found["costs"]["nothing"] == 9 * missed
    assert f"{file}:3: no such label: 'crsh'" in found["warnings"]
    done = CliRunner().invoke(retune_command.app, [*words, "--decision", "cost"])
    found = json.loads(done.stdout)
    assert found["after"]["cost_per_document"] <= found["before"]["cost_per_document"]
    assert f"{file}:3: no such label: 'crsh'" in found["warnings"]

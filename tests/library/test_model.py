"""labelserve.read, load, train and the model: the same answers as the product gives elsewhere."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import labelserve
from app.artifacts.store import Store
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.evaluation import JudgedModel, evaluate
from app.model import load_model
from app.training.publish import publish
from app.training.relabel import relabel
from tests.conftest import write_corpus

ROOT = Path(__file__).parents[2]
TEXTS = ["the invoice was charged twice", "parcel late, courier lost the box", "", "paper jam"]


@pytest.fixture(scope="module")
def model(tiny_models: Path) -> labelserve.LabelModel:
    return labelserve.load(tiny_models, "tiny")


@pytest.fixture(scope="module")
def trained(corpus: Collection) -> labelserve.LabelModel:
    return labelserve.train(corpus.documents, corpus.label_sets, jobs=1)


def arrays(folder: Path) -> dict[str, Any]:
    return {file.name: np.load(file) for file in folder.glob("*.npy")}


def saved(model: labelserve.LabelModel, models_dir: Path) -> Path:
    return models_dir / "m" / model.save(models_dir, "m").version


def test_a_model_is_loaded_by_folder_and_name_by_path_and_by_version(tiny_models: Path) -> None:
    version = Store(tiny_models).current("tiny")
    for arguments in [("tiny",), (f"tiny@{version}",)]:
        assert labelserve.load(tiny_models, *arguments).version == version
    assert labelserve.load(tiny_models / "tiny").name == "tiny"
    assert labelserve.load(str(tiny_models / f"tiny@{version}")).version == version


def test_a_name_alone_is_looked_for_in_the_folder_models(
    tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder of models models"):
        labelserve.load("tiny")
    (tmp_path / "models").symlink_to(tiny_models)
    assert labelserve.load("tiny").name == "tiny"
    with pytest.raises(labelserve.AppError, match="no such model; there are: tiny"):
        labelserve.load("other")


def test_the_command_gives_the_same_model(corpus_file: Path, tmp_path: Path) -> None:
    options = ["--folds", "3", "--liblinear", "-s 1 -c 2", "--seed", "7", "--fbr", "0.2"]
    options += ["--quality", "fast"]
    options += ["--models-dir", str(tmp_path / "command")]
    subprocess.run(
        [sys.executable, "scripts/train.py", corpus_file, "--model", "m", *options],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    store = Store(tmp_path / "command")
    wanted = arrays(store.path / "m" / store.resolve("m")[1])
    settings: Any = {"folds": 3, "liblinear": "-s 1 -c 2", "seed": 7, "fbr": 0.2, "jobs": 1}
    data = labelserve.read(corpus_file)
    lists = saved(labelserve.train(data.texts, data.labels, **settings), tmp_path / "lists")
    read = saved(labelserve.train(data, **settings), tmp_path / "read")
    for folder in (lists, read):
        found = arrays(folder)
        assert found.keys() == wanted.keys()
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    manifests = [json.loads((f / "manifest.json").read_text()) for f in (read, lists)]
    sealed = store.peek(*store.resolve("m")).checksum
    assert manifests[0]["checksum"] == sealed
    assert manifests[1]["recipe"] == manifests[0]["recipe"]


def test_a_model_answers_before_it_is_saved_as_it_does_afterwards(
    trained: labelserve.LabelModel, tmp_path: Path
) -> None:
    kept = trained.save(tmp_path, "m")
    assert (kept.name, kept.version) == ("m", Store(tmp_path).current("m"))
    assert kept.predict(TEXTS, explain=2) == trained.predict(TEXTS, explain=2)
    again = kept.save(tmp_path, "copy")
    assert (
        arrays(tmp_path / "copy" / again.version).keys()
        == arrays(tmp_path / "m" / kept.version).keys()
    )
    assert trained.save(tmp_path, "m", promote=False).version != Store(tmp_path).current("m")


def test_a_recipe_as_tables_trains_what_the_same_file_does(
    corpus: Collection, tmp_path: Path
) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text('[features]\nmin_df = 3\n[decision]\nname = "rank:2"\nfolds = 0\n')
    tables = {"features": {"min_df": 3}, "decision": {"name": "rank:2", "folds": 0}}
    models = [
        labelserve.train(corpus.documents, corpus.label_sets, recipe=r) for r in (file, tables)
    ]
    assert models[0].predict(TEXTS) == models[1].predict(TEXTS)
    assert all(len(found.labels) == 2 for found in models[0].predict(TEXTS[:2]))
    assert tables["decision"] == {"name": "rank:2", "folds": 0}


def test_every_kind_of_iterable_gives_the_same_predictions_in_order(
    model: labelserve.LabelModel,
) -> None:
    wanted = model.predict(TEXTS, top_k=2)
    series = pd.Series(TEXTS, index=[3, 1, 2, 0])
    for texts in [tuple(TEXTS), iter(TEXTS), np.array(TEXTS), series, (t for t in TEXTS)]:
        assert model.predict(texts, top_k=2) == wanted
    assert model.predict([]) == []


def test_a_stream_answers_before_the_last_text_is_there(model: labelserve.LabelModel) -> None:
    taken = []

    def texts() -> Iterator[str]:
        for number in range(10_000):
            taken.append(number)
            yield TEXTS[0]

    assert next(model.stream(texts())).labels == ("billing",)
    assert len(taken) < 1000


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("one text", r"one text was given.*write \[text\]"),
        (["a", None], r"texts\[1\] is None; every text is a str"),
        (pd.Series(["a", "b", float("nan")], dtype=object), r"texts\[2\] is nan"),
        (pd.Series(["a", None], dtype="string[python]"), r"texts\[1\] is (of type NAType|nan)"),
        ([3], r"texts\[0\] is of type int"),
        (pd.DataFrame({"text": ["a"]}), r"a table was given.*table\['text'\]"),
        ({"text": "a"}, "a table was given"),
    ],
)
def test_what_is_no_text_is_named_by_its_position(
    model: labelserve.LabelModel, texts: Any, sentence: str
) -> None:
    with pytest.raises(TypeError, match=sentence):
        model.predict(texts)


@pytest.mark.parametrize(
    ("asked", "error", "sentence"),
    [
        ({"topk": 3}, TypeError, "no such argument: 'topk'; accepted: .*top_k"),
        ({"top_k": 0}, ValueError, "top_k is a number from 1"),
        ({"labels": "login"}, TypeError, r"write \['login'\]"),
        ({"labels": ["none"]}, labelserve.AppError, "no such label"),
        ({"threshold": 0, "min_probability": 0.5}, labelserve.AppError, "at most one of"),
        ({"operating_point": "precision>=1"}, labelserve.AppError, "cannot be reached"),
    ],
)
def test_a_question_that_has_no_answer_is_refused_before_any_text(
    model: labelserve.LabelModel, asked: Any, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        model.stream(TEXTS, **asked)


def test_labels_that_are_no_lists_are_refused(corpus: Collection) -> None:
    texts = ["a", "b"]
    for labels, sentence in [
        (["billing", "login"], r"labels\[0\] is a str; every document has a list"),
        ([["billing"], None], r"labels\[1\] is None"),
        ([["billing"], [3]], r"labels\[1\] has a label that is of type int"),
    ]:
        with pytest.raises(TypeError, match=sentence):
            labelserve.train(texts, labels)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="more texts than label sets, of which there are 1"):
        labelserve.train(texts, [["billing"]])
    with pytest.raises(TypeError, match="texts need their labels"):
        labelserve.train(texts)


def test_a_report_equals_the_evaluation_of_the_file(
    model: labelserve.LabelModel, tiny_models: Path, tmp_path: Path
) -> None:
    file = write_corpus(tmp_path / "test.jsonl", 40, seed=1)
    loaded = load_model(Store(tiny_models), "tiny")
    data = labelserve.read(file)
    whole = evaluate(loaded.classifier, data, info=JudgedModel.of(loaded)).as_dict()
    for report in [
        model.evaluate(file),
        model.evaluate(data),
        model.evaluate(data.texts, data.labels),
    ]:
        found = report.as_dict()
        for part in ("decisions", "ranking", "labels", "warnings", "model", "version"):
            assert found[part] == whole[part]
    report = model.evaluate(data, k=[2], zero_division=1, decision="rank:1")
    assert "P@2" in report.as_dict()["ranking"]
    assert f"micro-F1 {report.micro_f1:.4f}" in repr(report)
    report.to_html(tmp_path / "report.html")
    assert "40 documents" in (tmp_path / "report.html").read_text()


def test_data_are_read_with_the_options_of_the_commands(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("n,subject,body,topic\n7,late,parcel,A+B\n8,jam,paper,A\n")
    data = labelserve.read(
        tmp_path / "d.csv",
        text_columns=["subject", "body"],
        label_column="topic",
        label_separator="+",
        id_column="n",
        min_label_documents=2,
    )
    assert data.ids == ["7", "8"]
    assert data.labels == [("A",), ("A",)]
    assert [text.split() for text in data.texts] == [["late", "parcel"], ["jam", "paper"]]
    assert repr(data) == "<data: 2 documents, 1 labels, 2 pairs>"
    parts = data.split(0.5, seed=1)
    assert sorted(text for part in parts for text in part.texts) == sorted(data.texts)


def test_a_model_tells_what_to_expect(model: labelserve.LabelModel) -> None:
    expected = model.expected("recall>=0.5")
    assert expected.recall is not None
    assert expected.recall >= 0.5
    assert model.expected().name == "tuned"
    recalls = [point.recall for point in model.curve()]
    assert recalls == sorted(recalls)
    assert set(model.labels) == {"billing", "crash", "login", "printer", "shipping"}
    assert repr(model).startswith(f"<model tiny@{model.version}: 5 labels, one-vs-rest")


def test_a_copy_of_a_model_predicts_the_same(trained: labelserve.LabelModel) -> None:
    again = copy.deepcopy(trained)
    assert again.predict(TEXTS) == trained.predict(TEXTS)
    assert again.expected("f2") == trained.expected("f2")


def test_a_prediction_is_read_at_a_glance(model: labelserve.LabelModel) -> None:
    best, *_ = model.predict(TEXTS, top_k=1, explain=1)
    (score,) = best.scores
    assert repr(best) == f"<billing {score.probability:.2f}>"
    assert best.labels == ("billing",)
    ((begin, end),) = score.because[0].at
    assert TEXTS[0][begin:end] == score.because[0].term
    with pytest.raises(AttributeError):
        best.scores = ()  # type: ignore[misc]


def test_labels_below_their_cut_come_apart(tiny_models: Path) -> None:
    (found,) = labelserve.load(tiny_models, "tiny").predict(TEXTS[:1], below_cut=2)
    assert len(found.below_cut) == 2
    assert not set(found.labels) & {score.label for score in found.below_cut}
    for score in found.below_cut:
        assert (score.probability or 0) <= (score.threshold_probability or 0)


def test_a_labels_file_gives_names_and_ancestors(corpus: Collection, tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text("label\tname\tparent\nbilling\tRechnung\tmoney\nmoney\t\t\n")
    model = labelserve.train(corpus.documents, corpus.label_sets, jobs=1, labels_file=file)
    assert [warning.partition(" ")[0] for warning in model.warnings] == ["4"]
    (found,) = model.predict(TEXTS[:1], ancestors=True, top_k=1)
    assert (found.scores[0].label, found.scores[0].name) == ("billing", "Rechnung")
    assert [above.label for above in found.scores[0].ancestors] == ["money"]
    report = model.evaluate(corpus.documents, corpus.label_sets).as_dict()
    assert report["decisions"]["hierarchical"]["f1"] > 0.9


def test_a_relabelled_model_is_one_of_its_new_labels(
    named_models: Path, tmp_path: Path, corpus: Collection
) -> None:
    stored = load_model(Store(named_models), "named")
    renamed = relabel(stored, {"crash": "login", "printer": "", "shipping": "aa"})
    version = publish(renamed.trained, Store(tmp_path), "named").version
    model = labelserve.load(tmp_path, f"named@{version}")
    assert model.labels == ("aa", "billing", "login")
    assert model.predict(["parcel courier box", "toner"])[0].labels == ("aa",)
    report = model.evaluate(corpus.documents, corpus.label_sets).as_dict()
    assert [entry["label"] for entry in report["labels"]] == list(model.labels)
    assert any("labels were merged" in warning for warning in report["warnings"])
    with pytest.raises(InvalidRequestError, match="merged"):
        model.curve()

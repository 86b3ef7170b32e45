"""What a model keeps of its held-out documents, and what is told of others beside them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency

from app.artifacts.manifest import checksum, manifest_bytes, read_manifest
from app.artifacts.store import Store
from app.datasets.collection import Collection, load_collection
from app.document_drift.counter import ALL_OF_THE_FIRST, ONE_IN, DriftCounter
from app.document_drift.figures import population_stability, same_shares
from app.document_drift.histogram import DocumentHistogram
from app.document_drift.reference import DriftReference, held_out_histograms
from app.errors import DamagedArtifactError
from app.heldout import HeldOut
from app.kernels.text.analysis import Analysis
from app.model import Model, load_model
from app.training.publish import documents_of, measure
from app.training.recipe import read_recipe
from app.training.relabel import relabel
from app.training.retune import retune
from app.training.train import TrainingJob, train
from app.vectorizers.tfidf import Tfidf
from app.vectorizers.union import Union
from tests.conftest import write_corpus

MEASURES = {
    "characters",
    "labels",
    "unknown_terms",
    "probability_frequent",
    "probability_middling",
    "probability_rare",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return load_collection(write_corpus(tmp_path_factory.mktemp("drift") / "train.jsonl", 400))


@pytest.fixture(scope="module")
def model(data: Collection, tmp_path_factory: pytest.TempPathFactory) -> Model:
    store = Store(tmp_path_factory.mktemp("models"))
    trained = train(TrainingJob(data, read_recipe(None)))
    return load_model(store, f"m@{store.write('m', trained.classifier.state(), trained.info)}")


def reference(model: Model) -> DriftReference:
    found = model.drift_reference
    assert found is not None
    return found


def test_a_model_keeps_a_histogram_of_every_measure_and_no_text(
    model: Model, data: Collection
) -> None:
    histograms = reference(model).histograms
    assert set(histograms) == MEASURES
    assert {int(one.counts.sum()) for one in histograms.values()} == {len(data)}
    assert model.info().document_histograms is not None
    assert "password" not in str(model.manifest.document_histograms)


def test_sparse_held_out_scores_give_the_same_histograms_as_dense_ones(
    model: Model, data: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = model.classifier.scores(data.documents)
    truth = model.classifier.labels.truth(data.label_sets)
    measures = reference(model).measures
    found = []
    for form in (scores, csr_array(scores)):
        held_out = HeldOut.of(form, truth)
        found.append(held_out_histograms(measures, data.documents, held_out, are_own=True))
        monkeypatch.setattr("app.document_drift.reference.CHUNK_CELLS", 100)
    assert found[0] == found[1]
    monkeypatch.setattr("app.document_drift.reference.MOST_CELLS", 1250)
    few = held_out_histograms(measures, data.documents, held_out, are_own=True) or {}
    assert {sum(bins["counts"]) for bins in few.values()} == {250}


def test_few_documents_are_no_reference_and_models_written_before_have_none(
    tiny_models: Path,
) -> None:
    tiny = load_model(Store(tiny_models), "tiny")
    assert tiny.drift_reference is None
    assert "document_histograms" not in tiny.manifest.model_dump(exclude_none=True)


def test_resamples_of_the_same_documents_are_quiet(model: Model, tmp_path: Path) -> None:
    found = reference(model)
    drifted = []
    for seed in range(20):
        own = load_collection(write_corpus(tmp_path / "own.jsonl", 300, seed=seed + 100))
        figures = found.figures(
            found.counted(own.documents, model.classifier.scores(own.documents))
        )
        drifted += [figure for figure in figures if figure.is_drifted]
    assert drifted == []


def test_a_report_says_how_far_its_documents_are_from_those_held_out(
    model: Model, tmp_path: Path
) -> None:
    data = load_collection(write_corpus(tmp_path / "test.jsonl", 400, seed=77))
    quiet = measure(model, lambda: documents_of(data)).content
    assert {one["measure"] for one in quiet["drift"]} == MEASURES
    assert not [one for one in quiet["warnings"] if "differ from those held out" in one]
    documents = [" ".join([text, "palabras de otro idioma"] * 3) for text in data.documents]
    other = replace(data, documents=documents)
    moved = measure(model, lambda: documents_of(other)).content
    (warning,) = [one for one in moved["warnings"] if "differ from those held out" in one]
    assert "characters (PSI" in warning
    assert "unknown_terms (PSI" in warning


def test_a_report_on_a_model_without_histograms_says_nothing_of_drift(
    tiny_models: Path, corpus: Collection
) -> None:
    tiny = load_model(Store(tiny_models), "tiny")
    assert "drift" not in measure(tiny, lambda: documents_of(corpus)).content


def test_long_files_are_counted_in_part_the_same_every_time(model: Model) -> None:
    n = ALL_OF_THE_FIRST + 10 * ONE_IN
    scores = np.repeat(model.classifier.scores(["toner"]), n, axis=0)
    found = []
    for size in (n, 1000):
        counter = DriftCounter(reference(model))
        for start in range(0, n, size):
            own = ["toner"] * len(scores[start : start + size])
            counter.add(own, scores[start : start + size])
        found.append(counter.figures())
    assert found[0] == found[1]
    assert {one["documents"] for one in found[0]} == {ALL_OF_THE_FIRST + 10}


def test_retuning_keeps_what_the_labelled_documents_are_like(model: Model, tmp_path: Path) -> None:
    labelled = load_collection(write_corpus(tmp_path / "own.jsonl", 250, seed=3))
    kept = retune(model, labelled).trained.info.document_histograms
    assert kept is not None
    assert set(kept) == MEASURES
    assert {sum(bins["counts"]) for bins in kept.values()} == {250}
    few = load_collection(write_corpus(tmp_path / "few.jsonl", 50, seed=3))
    assert retune(model, few).trained.info.document_histograms is None


def test_merged_or_hidden_labels_leave_their_number_unknown(model: Model) -> None:
    renamed = relabel(model, {"crash": "fault"}).trained.info.document_histograms
    assert set(renamed or {}) == MEASURES
    hidden = relabel(model, {"crash": ""}).trained.info.document_histograms
    assert set(hidden or {}) == MEASURES - {"labels"}


@pytest.mark.parametrize(
    "bins",
    [
        {"edges": [1.0, 1.0], "counts": [1, 1, 1]},
        {"edges": [1.0, 2.0], "counts": [1, 1]},
        {"edges": [], "counts": [1]},
        {"edges": [1.0], "counts": [0, 0]},
        {"edges": [1.0], "counts": [1, -1]},
        {"edges": [1.0], "counts": [1, 1], "text": "toner"},
    ],
)
def test_bins_that_are_none_are_refused_with_the_manifest(
    model: Model, bins: dict[str, Any]
) -> None:
    fields = model.manifest.model_dump(exclude_none=True)
    good = manifest_bytes(fields)
    assert read_manifest(good, "m").document_histograms == model.manifest.document_histograms
    fields["document_histograms"] = {"characters": bins}
    fields["checksum"] = checksum(fields)
    text = json.dumps(fields).encode()
    with pytest.raises(DamagedArtifactError, match="document_histograms"):
        read_manifest(text, "m")


def test_a_bin_is_kept_for_what_is_smaller_than_anything_seen() -> None:
    ones = DocumentHistogram.of(np.ones(100))
    assert ones.counted(np.array([0.0, 1.0, 1.0, 5.0])).tolist() == [1, 2, 1]


def test_the_index_is_that_of_the_definition_and_the_test_that_of_scipy() -> None:
    expected, found = np.array([400.0, 300.0, 300.0]), np.array([100.0, 150.0, 250.0])
    p, q = (expected + 0.5) / 1001.5, (found + 0.5) / 501.5
    assert population_stability(expected, found) == pytest.approx(((q - p) * np.log(q / p)).sum())
    table = np.stack([expected, found])
    assert same_shares(expected, found) == pytest.approx(chi2_contingency(table).pvalue)
    empty = np.zeros(3)
    assert same_shares(expected, empty) == 1.0
    assert same_shares(np.array([5.0, 0.0]), np.array([9.0, 0.0])) == 1.0


@pytest.mark.parametrize(
    "settings", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (3, 4)}]
)
def test_unknown_terms_are_those_that_are_not_in_the_vocabulary(settings: dict[str, Any]) -> None:
    vectorizer = Tfidf(**settings)
    texts = ["bank of england", "bank of japan and bank of italy", "rates of banks"]
    vectorizer.fit_transform(texts)
    terms = set(vectorizer.terms())
    new = ["bank of norway", "", "of of of"]
    expected = []
    for text in new:
        own = vectorizer.analysis.terms(text)
        expected.append(sum(term not in terms for term in own) / max(len(own), 1))
    assert vectorizer.unknown_terms(new).tolist() == pytest.approx(expected)
    assert [len(vectorizer.analysis.terms(text)) for text in new] == [
        vectorizer.analysis.n_terms(text) for text in new
    ]


def test_a_text_of_the_training_data_knows_only_what_others_have() -> None:
    vectorizer = Tfidf()
    texts = ["bank of england", "bank of japan", "bank rates rates"]
    vectorizer.fit_transform(texts)
    own = vectorizer.unknown_terms(texts, are_own=True).tolist()
    assert own == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    alone = []
    for left_out in range(3):
        other = Tfidf()
        other.fit_transform(texts[:left_out] + texts[left_out + 1 :])
        alone += other.unknown_terms([texts[left_out]]).tolist()
    assert own == pytest.approx(alone)


def test_a_union_tells_unknown_words_by_its_words() -> None:
    union = Union()
    union.fit_transform(["bank of england", "bank of japan"])
    assert union.unknown_terms(["bank norway"]).tolist() == [0.5]
    assert Analysis().n_terms("bank norway") == 2

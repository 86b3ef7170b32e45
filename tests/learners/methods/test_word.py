"""WORD: labels by their names, with and without a labels file."""

from io import BytesIO

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.datasets.collection import load_collection
from app.errors import InvalidRequestError
from app.labels import LabelEntry, LabelIndex, Taxonomy
from app.learners.base import Fitting
from app.learners.untrained.word import Word
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train
from tests.learners.made_up import made_up


def test_the_score_is_the_cosine_with_the_words_of_the_label() -> None:
    rows = csr_array(np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], np.float32))
    documents = csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]], np.float32))
    truth = csr_array(np.zeros((2, 2), np.bool_))
    scores = Word().fit(documents, truth, Fitting(label_rows=rows)).scores(documents)
    np.testing.assert_allclose(scores, [[0.6, 0.0], [0.48, 0.8]], atol=1e-6)


def test_a_label_is_its_name_and_description_or_its_own_words() -> None:
    labels = LabelIndex(("money-fx", "wheat"))
    entries = [LabelEntry("wheat", "Wheat", "a grain"), LabelEntry("other")]
    assert Taxonomy.of(entries, labels).texts() == ["money fx", "Wheat a grain"]


def test_names_count_and_the_training_documents_labels_do_not() -> None:
    lines = ["Wheat\tgold coins are old", "gold-coins\tthe wheat harvest is in"] * 10
    data = load_collection(BytesIO("\n".join(lines).encode()))
    trained = train(TrainingJob(data, read_recipe(None, learner="word")))
    scores = trained.classifier.scores(["a harvest of wheat", "old gold"])
    assert trained.classifier.labels.names == ("Wheat", "gold-coins")
    assert scores[0, 0] > 0 == scores[0, 1]
    assert scores[1, 1] > 0 == scores[1, 0]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [(None, "needs texts"), (csr_array((3, 7), dtype=np.float32), "leave out features.select")],
)
def test_what_it_cannot_read_is_said(rows: object, sentence: str) -> None:
    with pytest.raises(InvalidRequestError, match=sentence):
        Word().fit(*made_up(20, 3), Fitting(label_rows=rows))

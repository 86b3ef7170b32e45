"""PECOS from text to the five best labels: its vectorizer and its one-vs-rest."""

import tempfile

import numpy as np
from pecos.utils.featurization.text.vectorizers import Vectorizer
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MultiLabelBinarizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus()
config = {"type": "tfidf", "kwargs": {"ngram_range": [1, 1], "max_df_ratio": 1.0, "threads": 1}}
vectorizer = Vectorizer.train(train, config)
features = vectorizer.predict(train, threads=1).astype(np.float32)
marks = csr_matrix(MultiLabelBinarizer(sparse_output=True).fit_transform(labels), dtype=np.float32)
with tempfile.TemporaryDirectory() as folder:  # loaded for prediction only it is much faster
    XLinearModel.train(features, marks, threads=2).save(folder)
    model = XLinearModel.load(folder, is_predict_only=True)


def top_five(texts):
    """The five best labels of each text."""
    rows = vectorizer.predict(texts, threads=1).astype(np.float32)
    return model.predict(rows, only_topk=5, threads=1)


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:1000], lambda t: top_five([t])),
    },
    version="libpecos",
)

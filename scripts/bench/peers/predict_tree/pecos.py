"""PECOS's tree at tens of thousands of labels: its vectorizer, its clusters, text to five best."""

import tempfile

import numpy as np
from pecos.utils.featurization.text.vectorizers import Vectorizer
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MultiLabelBinarizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus("yso-en-mid")
config = {"type": "tfidf", "kwargs": {"ngram_range": [1, 1], "max_df_ratio": 1.0, "threads": 1}}
vectorizer = Vectorizer.train(train, config)
features = vectorizer.predict(train, threads=1).astype(np.float32)
marks = csr_matrix(MultiLabelBinarizer(sparse_output=True).fit_transform(labels), dtype=np.float32)
clusters = Indexer.gen(LabelEmbeddingFactory.create(marks, features, method="pifa"), threads=1)
with tempfile.TemporaryDirectory() as folder:  # loaded for prediction only it is much faster
    XLinearModel.train(features, marks, C=clusters, threads=1).save(folder)
    model = XLinearModel.load(folder, is_predict_only=True)


def top_five(text):
    """The five best labels of a text."""
    rows = vectorizer.predict([text], threads=1).astype(np.float32)
    return model.predict(rows, only_topk=5, beam_size=10, threads=1)


run_rounds({"one": lambda: one_by_one(test[:1000], top_five)}, labels=marks.shape[1])

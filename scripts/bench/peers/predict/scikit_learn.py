"""scikit-learn's vectorizer and one stacked matrix of the same weights that our model has."""

import os

import numpy as np
import sklearn
from dense_scores import top_columns
from sklearn.feature_extraction.text import TfidfVectorizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, _), (test, _) = corpus()
vectorizer = TfidfVectorizer(dtype=np.float32).fit(train)
stacked = np.load(os.path.join(os.environ["LABELSERVE_BENCH_MODELS"], "stacked.npy"))
weights, bias = stacked[:-1], stacked[-1]


def top_five(texts):
    """The five best columns of each text."""
    return top_columns(vectorizer.transform(texts) @ weights + bias)


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:1000], lambda t: top_five([t])),
    },
    version=f"scikit-learn {sklearn.__version__}",
)

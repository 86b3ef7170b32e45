"""PECOS's TF-IDF vectorizer: words between blanks only, so not quite the same work."""

from contestant import compete, corpus
from pecos.utils.featurization.text.vectorizers import Vectorizer

(train, _), (test, _) = corpus()
CONFIG = {"type": "tfidf", "kwargs": {"ngram_range": [1, 1], "max_df_ratio": 1.0, "threads": 1}}
fitted = Vectorizer.train(train, CONFIG)


def fit_transform():
    """Learn the words, then the rows of the same texts."""
    Vectorizer.train(train, CONFIG).predict(train, threads=1)


compete(
    {"fit_transform": fit_transform, "transform": lambda: fitted.predict(test, threads=1)},
    version="libpecos",
)

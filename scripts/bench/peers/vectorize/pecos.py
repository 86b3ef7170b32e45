"""PECOS's TF-IDF vectorizer: words between blanks only, so not quite the same work."""

from pecos.utils.featurization.text.vectorizers import Vectorizer
from timed_rounds import corpus, run_rounds

(train, _), (test, _) = corpus()
CONFIG = {"type": "tfidf", "kwargs": {"ngram_range": [1, 1], "max_df_ratio": 1.0, "threads": 1}}
fitted = Vectorizer.train(train, CONFIG)


def fit_transform():
    """Learn the words, then the rows of the same texts."""
    Vectorizer.train(train, CONFIG).predict(train, threads=1)


run_rounds(
    {"fit_transform": fit_transform, "transform": lambda: fitted.predict(test, threads=1)},
    version="libpecos",
)

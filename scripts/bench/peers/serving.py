"""What all peer servers share: scikit-learn's vectorizer and one stacked matrix of our weights."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

WORK = Path(os.environ["LABELSERVE_BENCH_SERVE"])


def texts(file):
    """The texts of a corpus in LibMultiLabel's form."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[-1] for line in lines]


class Model:
    """Text in, the five best labels out."""

    def __init__(self):
        facts = json.loads((WORK / "facts.json").read_text())
        self.vectorizer = TfidfVectorizer(dtype=np.float32).fit(texts(facts["train"]))
        stacked = np.load(facts["stacked"])
        self.weights, self.bias = stacked[:-1], stacked[-1]
        self.labels = facts["labels"]

    def best(self, text, k=5):
        """The k best labels with their scores."""
        scores = (self.vectorizer.transform([text]) @ self.weights + self.bias)[0]
        top = np.argpartition(-scores, k)[:k]
        top = top[np.argsort(-scores[top])]
        return [{"label": self.labels[i], "score": float(scores[i])} for i in top]

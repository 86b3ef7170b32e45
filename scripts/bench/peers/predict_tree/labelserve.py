"""Our tree at tens of thousands of labels: text to the five best, as a served model does it."""

import numpy as np
from timed_rounds import corpus, one_by_one, run_rounds

from app.classifier import Member
from app.decisions.decision import best
from app.labels import LabelIndex
from app.learners.tree.tree import Tree
from app.vectorizers.tfidf import Tfidf

(train, labels), (test, _) = corpus("yso-en-mid")
index, vectorizer = LabelIndex.of(labels), Tfidf()
features = vectorizer.fit_transform(train)
member = Member(vectorizer, Tree().fit(features, index.truth(labels)))
everything = np.full(len(index.names), -np.inf, np.float32)


def top_five(text):
    """The five best labels of a text."""
    return best(member.scores([text])[0], everything, 5)


top_five(test[0])
run_rounds({"one": lambda: one_by_one(test[:1000], top_five)}, labels=len(index.names))

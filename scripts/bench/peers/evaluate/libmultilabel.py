"""LibMultiLabel: the same file through its own linear evaluation loop, its default batch of 256."""

import os

import libmultilabel.linear as linear
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer
from timed_rounds import run_rounds

FOLDER = os.path.dirname(os.environ["LABELSERVE_BENCH_MODELS"])
METRICS = ["Micro-F1", "Macro-F1", "P@1", "P@3", "P@5", "R@5", "RP@5", "NDCG@5"]
BATCH = 256


def rows(name):
    """Texts and label lists of a plain file."""
    with open(os.path.join(FOLDER, name), encoding="utf-8", newline="\n") as file:
        fields = [line.rstrip("\n").split("\t", 2) for line in file]
    return [field[-1] for field in fields], [field[-2].split() for field in fields]


texts, labels = rows("evaluated-train.txt")
vectorizer, binarizer = TfidfVectorizer(), MultiLabelBinarizer(sparse_output=True)
features = vectorizer.fit_transform(texts)
marks = binarizer.fit_transform(labels).astype("d")
model = linear.train_1vsrest(marks, features, False, "-s 1 -c 1 -B 1 -e 0.1")
del texts, labels, features


def report():
    """The metrics that it has, over the whole file."""
    texts, labels = rows("evaluated-test.txt")
    known = set(binarizer.classes_)
    truth = binarizer.transform([[one for one in row if one in known] for row in labels])
    features = vectorizer.transform(texts)
    metrics = linear.get_metrics(METRICS, marks.shape[1])
    for start in range(0, features.shape[0], BATCH):
        part = slice(start, start + BATCH)
        metrics.update(linear.predict_values(model, features[part]), truth[part].toarray())
    found = metrics.compute()
    return {"micro_f1": float(found["Micro-F1"]), "p1": float(found["P@1"])}


run_rounds({"file": report}, version="libmultilabel")

"""LibMultiLabel's one-vs-rest behind its vectorizer (scikit-learn's), five best labels."""

import libmultilabel.linear as linear
from dense_scores import top_columns
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer
from timed_rounds import corpus, one_by_one, run_rounds

(train, labels), (test, _) = corpus()
vectorizer = TfidfVectorizer()
features = vectorizer.fit_transform(train)
marks = MultiLabelBinarizer(sparse_output=True).fit_transform(labels).astype("d")
model = linear.train_1vsrest(marks, features, False, "-s 1 -B 1 -e 0.1")


def top_five(texts):
    """The five best labels of each text."""
    return top_columns(linear.predict_values(model, vectorizer.transform(texts)))


run_rounds(
    {
        "batch": lambda: top_five(test),
        "one": lambda: one_by_one(test[:30], lambda t: top_five([t])),
    },
    version="libmultilabel",
)

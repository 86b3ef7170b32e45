"""scikit-learn's TfidfVectorizer on the benchmark's texts."""

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from timed_rounds import corpus, run_rounds

(train, _), (test, _) = corpus()
fitted = TfidfVectorizer().fit(train)
run_rounds(
    {
        "fit_transform": lambda: TfidfVectorizer().fit_transform(train),
        "transform": lambda: fitted.transform(test),
    },
    version=f"scikit-learn {sklearn.__version__}",
)

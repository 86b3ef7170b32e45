"""scikit-learn's TfidfVectorizer on the benchmark's texts."""

import sklearn
from contestant import compete, corpus
from sklearn.feature_extraction.text import TfidfVectorizer

(train, _), (test, _) = corpus()
fitted = TfidfVectorizer().fit(train)
compete(
    {
        "fit_transform": lambda: TfidfVectorizer().fit_transform(train),
        "transform": lambda: fitted.transform(test),
    },
    version=f"scikit-learn {sklearn.__version__}",
)

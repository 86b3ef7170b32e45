"""Label faults planted in a corpus: pairs dropped, flipped, or swapped with a sibling."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.datasets.collection import Collection
from app.labels import LabelIndex
from app.training.members import built
from app.training.recipe import Recipe

SHARE = 0.05
SIBLINGS = 5
Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Planted:
    """A corpus with faults in its labels, and the labels as they were."""

    corpus: Collection
    labels: LabelIndex
    """Of the faulty corpus."""
    given: Marks
    true: Marks

    @property
    def n_faults(self) -> int:
        """Pairs that differ."""
        return int((self.given != self.true).sum())


def planted(corpus: Collection, kind: str, seed: int) -> Planted:
    """Faults in 5 % as many pairs as the corpus has."""
    names = LabelIndex.of(corpus.label_sets)
    true = names.truth(corpus.label_sets).toarray()
    given = true.copy()
    n_faults = round(SHARE * true.sum())
    KINDS[kind](corpus, given, n_faults, np.random.default_rng(seed))
    faulty = with_labels(corpus, names, given)
    labels = LabelIndex.of(faulty.label_sets)
    columns = [names.columns[name] for name in labels.names]
    return Planted(faulty, labels, given[:, columns], true[:, columns])


def with_labels(corpus: Collection, labels: LabelIndex, marks: Marks) -> Collection:
    """The same documents with other labels."""
    sets = [tuple(labels.names[label] for label in np.flatnonzero(row)) for row in marks]
    return replace(corpus, label_sets=sets)


def dropped(_: Collection, given: Marks, n: int, random: np.random.Generator) -> None:
    """Labels that are missing."""
    pairs = np.argwhere(given)
    document, label = random.permutation(pairs)[:n].T
    given[document, label] = False


def flipped(corpus: Collection, given: Marks, n: int, random: np.random.Generator) -> None:
    """Half of them missing; half given to any document, as frequent as the labels are."""
    labels, true = np.nonzero(given)[1], given.copy()
    dropped(corpus, given, n - n // 2, random)
    added = 0
    while added < n // 2:
        document, label = random.integers(len(given)), random.choice(labels)
        if not true[document, label] and not given[document, label]:
            given[document, label] = True
            added += 1


def swapped(corpus: Collection, given: Marks, n: int, random: np.random.Generator) -> None:
    """A label in place of one of the five whose documents are most like its own."""
    siblings, true, swaps = _siblings(corpus, given), given.copy(), 0
    for document, label in random.permutation(np.argwhere(given)):
        free = [s for s in siblings[label] if not (true[document, s] or given[document, s])]
        if free and swaps < n // 2:
            given[document, label], given[document, random.choice(free)] = False, True
            swaps += 1


def _siblings(corpus: Collection, given: Marks) -> NDArray[np.int64]:
    """Of every label the five others whose mean documents are nearest by cosine."""
    vectorizer, _ = built(Recipe().completed().members[0])
    features = csr_array(vectorizer.fit_transform(corpus.documents))
    sums = csr_array(given.T.astype(np.float32)) @ features
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
    alike = (sums @ sums.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-9)
    np.fill_diagonal(alike, -1)
    return np.argsort(-alike, axis=1)[:, :SIBLINGS]


KINDS: dict[str, Callable[[Collection, Marks, int, np.random.Generator], None]] = {
    "dropped": dropped,
    "flipped": flipped,
    "swapped": swapped,
}

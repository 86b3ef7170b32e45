"""Term counts in plain Python: the definition of tokens.py, and used without a compiler."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.kernels.text.analysis import Analysis
from app.kernels.text.counts import Counts
from app.kernels.text.leads import NO_LEADS, LeadColumns
from app.kernels.vocabulary.vocabulary import Vocabulary


def count_known(
    texts: Sequence[str],
    analysis: Analysis,
    vocabulary: Vocabulary,
    *,
    leads: LeadColumns = NO_LEADS,
    jobs: int = 1,
) -> Counts:
    """How often each term of the vocabulary stands in each text; other terms are passed over.

    The terms of first words are counted again in the columns that `leads` gives them.
    """
    columns, rows = vocabulary.columns, []
    for text in texts:
        row = Counter(columns[t] for t in analysis.terms(text) if t in columns)
        for length, own in leads.by_length():
            terms = analysis.lead_terms(text, length)
            row.update(int(own[columns[term]]) for term in terms if term in columns)
        row.pop(-1, None)  # terms that have no column among the first words
        rows.append(sorted(row.items()))
    return _stacked(rows)


def learn(texts: Sequence[str], analysis: Analysis, *, jobs: int = 1) -> tuple[Vocabulary, Counts]:
    """All terms of the texts in code-point order, and how often each stands in each text."""
    rows = [Counter(analysis.terms(text)) for text in texts]
    vocabulary = Vocabulary.of(sorted(set().union(*rows)))
    columns = vocabulary.columns
    return vocabulary, _stacked([sorted((columns[t], n) for t, n in row.items()) for row in rows])


def merged(vocabularies: Sequence[Vocabulary]) -> tuple[Vocabulary, list[NDArray[np.int32]]]:
    """The terms of several vocabularies as one, and for each of them the columns of its terms."""
    whole = Vocabulary.of(sorted({term for own in vocabularies for term in own.terms}))
    columns = [[whole.columns[term] for term in own.terms] for own in vocabularies]
    return whole, [np.array(own, np.int32) for own in columns]


def _stacked(rows: list[list[tuple[int, int]]]) -> Counts:
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    pairs = np.array([pair for row in rows for pair in row], dtype=np.int32).reshape(-1, 2)
    return Counts(indptr, pairs[:, 0].copy(), pairs[:, 1].copy())

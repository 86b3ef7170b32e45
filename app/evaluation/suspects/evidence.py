"""evidence: how much speaks for a fault in a pair of document and label, in log-odds.

With faults of a kind spread over labels as the labels themselves are, Bayes' rule gives for a label
that was not given the log-odds of its probability p; for one that was given, the log-odds of the
label's frequency less those of p. So a rare label is not suspect for being unlikely, only for being
more unlikely than the label is everywhere. Three things that p does not know are added: what the
document's other labels explain, how labels go together, and whether the document has any label.
docs/label-quality.md has the study.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.evaluation.suspects.co_occurrence import CoOccurrence
from app.evaluation.suspects.label_pairs import LabelPairs

LEAST = 1e-6
FAULTY = 0.05
"""Share of the pairs that is taken to be faulty where nothing else is known."""


class EvidenceWeights(NamedTuple):
    """What counts how much, as chosen on corpora that are not reported (label_noise.py).

    The more labels documents have, the less a document as a whole says: the first two are divided
    by the mean number of labels, if above 1.
    """

    unexplained: float = 4.0
    """Of a document none of whose given labels is likely: it probably misses one."""
    competing: float = 6.0
    """Of a likely label that was not given: those that were given are probably wrong."""
    together: float = 2.0
    """Of how labels go together."""
    surest: float = 0.8
    """The highest probability that a document without any label misses one."""
    trust: float = 0.0
    """Log-odds by which given labels are trusted more than absent ones; 0: as Bayes' rule says."""


def evidence(
    pairs: LabelPairs,
    frequency: NDArray[np.float64],
    co_occurrence: CoOccurrence | None = None,
    weights: EvidenceWeights | None = None,
) -> NDArray[np.float64]:
    """The log-odds of a fault for each pair, up to a constant; `frequency` is the labels' share.

    Within a document and a kind, a higher probability never makes a missing label less suspect nor
    a wrong one more.
    """
    weights = weights or EvidenceWeights()
    given, probability = pairs.is_given, pairs.probability.astype(np.float64)
    own = log_odds(probability)
    found = np.where(given, log_odds(frequency)[pairs.label] - own - weights.trust, own)
    competing = weights.competing * _competing(pairs)
    unexplained = weights.unexplained * _unexplained(pairs)
    found += np.where(given, competing, unexplained) / max(frequency.sum(), 1)
    if co_occurrence is not None:
        found += _unlabelled(co_occurrence.labels_of_documents, weights.surest)[pairs.document]
        lifts = weights.together * co_occurrence.mean_lifts(pairs)
        found += np.where(given, -lifts, lifts)
    return np.asarray(found)


def frequencies(documents: NDArray[np.int64], n_documents: int) -> NDArray[np.float64]:
    """The share of documents that carry each label, half a document added to either side."""
    return np.asarray((documents + 0.5) / (n_documents + 1))


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(p / (1 − p)), with p kept a little from 0 and 1."""
    kept = np.clip(probability, LEAST, 1 - LEAST)
    return np.asarray(np.log(kept / (1 - kept)))


def _unexplained(pairs: LabelPairs) -> NDArray[np.float64]:
    """1 less the sum of the probabilities of the document's given labels; at least 0."""
    given = np.where(pairs.is_given, pairs.probability, 0)
    supported = np.bincount(pairs.document, given, pairs.n_documents)
    return np.asarray(np.maximum(1 - supported, 0)[pairs.document])


def _competing(pairs: LabelPairs) -> NDArray[np.float64]:
    """The highest probability of a label that the document was not given."""
    highest = np.zeros(pairs.n_documents)
    absent = ~pairs.is_given
    np.maximum.at(highest, pairs.document[absent], pairs.probability[absent])
    return highest[pairs.document]


def _unlabelled(labels_of_documents: NDArray[np.int64], surest: float) -> NDArray[np.float64]:
    """For each document without a label, what that says for a fault; 0 for the others.

    If labels go missing as `FAULTY` has it, so many documents of one label lose theirs; the more
    there are without one beyond that, the likelier they have none by nature.
    """
    is_bare = labels_of_documents == 0
    lost = FAULTY * int(np.count_nonzero(labels_of_documents == 1))
    missing = min(lost / max(int(np.count_nonzero(is_bare)), 1), surest)
    raised, usual = log_odds(np.array([missing, FAULTY])).tolist()
    return np.where(is_bare, max(raised - usual, 0.0), 0.0)

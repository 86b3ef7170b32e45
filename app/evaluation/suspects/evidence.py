"""evidence: how much speaks for a fault in a pair of document and label, in log-odds.

With faults of a kind spread over labels as the labels themselves are, Bayes' rule gives for a label
that was not given the log-odds of its probability p; for one that was given, the log-odds of the
label's frequency less those of p. So a rare label is not suspect for being unlikely, only for being
more unlikely than the label is everywhere. Two things that p does not know are added: what the
document's other labels explain, and how labels go together. docs/label-quality.md has the study.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.evaluation.suspects.co_occurrence import CoOccurrence
from app.evaluation.suspects.label_pairs import LabelPairs

LEAST = 1e-6


class EvidenceWeights(NamedTuple):
    """What counts how much, as chosen on arxiv-cs60k (scripts/studies/label_noise.py)."""

    unexplained: float = 6.0
    """Of the document: one none of whose given labels is likely probably misses one, and where a
    label that was not given is likely, those that were given are probably wrong. The more labels
    documents have, the less this says: it is divided by their mean number, if above 1."""
    together: float = 2.0
    """Of how labels go together."""
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
    unexplained = weights.unexplained / max(frequency.sum(), 1)
    found += unexplained * np.where(given, _competing(pairs), _unexplained(pairs))
    if co_occurrence is not None:
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

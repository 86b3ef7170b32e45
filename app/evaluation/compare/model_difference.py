"""Two models side by side without any data: recipe, training data, labels, figures, weights."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from app.artifacts.manifest import Manifest
from app.classifier import Classifier, Member
from app.kernels.linear.types import LinearArrays

SHOWN = 20
"""Labels and weights that are listed; of all others the number is told."""


class Described(NamedTuple):
    """A model as it is compared: what its manifest says, and what it computes with."""

    manifest: Manifest
    classifier: Classifier


def difference(a: Described, b: Described, *, shown: int = SHOWN) -> dict[str, Any]:
    """What differs, part by part; a part that is equal in both is empty.

    `recipe`, `data` and `figures` list the values that differ as {"name", "a", "b"}.
    """
    return {
        "recipe": _changed(a.manifest.recipe, b.manifest.recipe),
        "data": _changed(_data(a.manifest), _data(b.manifest)),
        "labels": _labels(a, b, shown),
        "figures": _changed(a.manifest.figures, b.manifest.figures),
        "weights": _weights(a.classifier, b.classifier, shown),
    }


def _data(manifest: Manifest) -> dict[str, Any]:
    return {"sha256": manifest.data.sha256, **manifest.data.counts}


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[dict[str, Any]]:
    first, second = dict(_leaves(a)), dict(_leaves(b))
    names = [*first, *(name for name in second if name not in first)]
    rows = ({"name": name, "a": first.get(name), "b": second.get(name)} for name in names)
    return [row for row in rows if row["a"] != row["b"]]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested mappings, under its dotted name."""
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, inner in value.items():
        yield from _leaves(inner, f"{name}.{key}" if name else str(key))


def _labels(a: Described, b: Described, shown: int) -> dict[str, Any]:
    first, second = (one.classifier.answered_labels.names for one in (a, b))
    sides = {"only_a": (first, set(second)), "only_b": (second, set(first))}
    found: dict[str, Any] = {}
    for side, (names, others) in sides.items():
        rest = [name for name in names if name not in others]
        if rest:
            found |= {side: rest[:shown], f"n_{side}": len(rest)}
    return found


def _weights(a: Classifier, b: Classifier, shown: int) -> dict[str, Any]:
    """The weights that moved most, over the terms and labels that both have; empty where none did.

    `moved` of a label is the length of what changed, as a share of the longer of its two vectors.
    """
    first, second = _linear(a), _linear(b)
    if first is None or second is None:
        return {"compared": False}
    terms, labels = _common(first.terms, second.terms), _common(first.labels, second.labels)
    own, other = first.aligned(terms, labels), second.aligned(terms, labels)
    moved = (other - own).tocoo()
    lengths = np.maximum(_lengths(own), _lengths(other))
    shares = np.divide(_lengths(moved), lengths, out=np.zeros(len(labels)), where=lengths > 0)
    most = np.argsort(-np.abs(moved.data), kind="stable")[:shown]
    return {
        "compared": True,
        "terms": {"both": len(terms), "a": len(first.terms), "b": len(second.terms)},
        "moved": float(np.sqrt((moved.data**2).sum() / max((lengths**2).sum(), 1e-300))),
        "labels": [
            {"label": labels[i], "moved": float(shares[i])}
            for i in islice(np.argsort(-shares, kind="stable").tolist(), shown)
            if shares[i] > 0
        ],
        "terms_moved": [
            {
                "label": labels[moved.col[i]],
                "term": terms[moved.row[i]],
                "a": float(own[moved.row[i], moved.col[i]]),
                "b": float(other[moved.row[i], moved.col[i]]),
            }
            for i in most.tolist()
        ],
    }


class _Linear(NamedTuple):
    terms: Sequence[str]
    labels: Sequence[str]
    arrays: LinearArrays

    def aligned(self, terms: Sequence[str], labels: Sequence[str]) -> csr_array:
        """(terms, labels): the weights of these, in their order, in double precision."""
        rows, columns = _positions(self.terms, terms), _positions(self.labels, labels)
        weights: csr_array = self.arrays.matrix()[rows][:, columns]
        return weights.astype(np.float64)


def _linear(classifier: Classifier) -> _Linear | None:
    """The one linear member; None where scores are no single weighted sum of terms."""
    if len(classifier.members) != 1:
        return None
    member: Member = classifier.members[0]
    arrays = member.learner.linear_weights()
    return (
        None
        if arrays is None
        else _Linear(_numbered(member.vectorizer.terms()), classifier.labels.names, arrays)
    )


def _numbered(terms: Sequence[str]) -> list[str]:
    """The terms, those that several parts of the features have made different by a number.

    >>> _numbered(["rate", "cut", "rate"])
    ['rate', 'cut', 'rate (2)']
    """
    seen: Counter[str] = Counter()
    names = []
    for term in terms:
        seen[term] += 1
        names.append(term if seen[term] == 1 else f"{term} ({seen[term]})")
    return names


def _common(a: Sequence[str], b: Sequence[str]) -> list[str]:
    known = set(b)
    return [name for name in a if name in known]


def _positions(names: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    position = {name: i for i, name in enumerate(names)}
    return np.array([position[name] for name in wanted], np.int64)


def _lengths(weights: csr_array) -> NDArray[np.float64]:
    """(labels,): the length of each label's vector."""
    squares: NDArray[np.float64] = np.asarray(weights.multiply(weights).sum(axis=0)).ravel()
    return np.sqrt(squares)

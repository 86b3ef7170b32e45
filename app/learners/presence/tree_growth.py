"""One binary tree for one label: which term to ask for next, and when to stop."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.learners.presence.bitsets import Bits, Candidates, information_gain, sizes

LEAF = -1


@dataclass(frozen=True, slots=True)
class GrowthLimits:
    """When a node is not split any more."""

    max_depth: int
    min_documents: int
    """Of each side of a split."""
    min_gain: float
    """Bits, summed over the node's documents, that a split must bring."""
    smoothing: float
    """Documents of the label's overall share that are added to every leaf."""


@dataclass(slots=True)
class GrownTree:
    """Nodes in the order they were made: the root first, children after their parent."""

    columns: list[int] = field(default_factory=list)
    """The term that a node asks for; LEAF where it asks for none."""
    absent: list[int] = field(default_factory=list)
    present: list[int] = field(default_factory=list)
    """The children; 0 at leaves."""
    values: list[float] = field(default_factory=list)
    """The log-odds of the label among the node's documents."""


def grown_tree(
    candidates: Candidates, positive: Bits, inside: Bits, limits: GrowthLimits
) -> GrownTree:
    """A tree for the documents `inside`, of which `positive` have the label.

    Each node asks for the term of highest information gain; ties go to the lower column.
    """
    tree, n, p = GrownTree(), int(sizes(inside)), int(sizes(positive & inside))
    share = (p + 0.5) / (n + 1.0)
    waiting = [(_add(tree), inside, 0)]
    while waiting:
        node, members, depth = waiting.pop()
        n, p = int(sizes(members)), int(sizes(members & positive))
        tree.values[node] = _log_odds(p, n, share, limits.smoothing)
        term = _best_term(candidates, positive, members, (n, p), limits)
        if term is None or depth == limits.max_depth:
            continue
        held = candidates.documents[term]
        tree.columns[node] = int(candidates.columns[term])
        tree.absent[node], tree.present[node] = _add(tree), _add(tree)
        waiting.append((tree.absent[node], members & ~held, depth + 1))
        waiting.append((tree.present[node], members & held, depth + 1))
    return tree


def _best_term(
    candidates: Candidates,
    positive: Bits,
    members: Bits,
    counts: tuple[int, int],
    limits: GrowthLimits,
) -> int | None:
    """The candidate to split by; None where no split is allowed or pays."""
    n, p = counts
    if p in (0, n) or n < 2 * limits.min_documents or not len(candidates.columns):
        return None
    here = candidates.documents & members
    holding = sizes(here).astype(np.float64)
    both = sizes(here & positive).astype(np.float64)
    gain: NDArray[np.float64] = n * information_gain(both, holding, float(p), float(n))
    too_few = np.minimum(holding, n - holding) < limits.min_documents
    gain[too_few] = -1.0
    best = int(np.argmax(gain))
    return best if gain[best] >= limits.min_gain else None


def _log_odds(p: int, n: int, share: float, smoothing: float) -> float:
    probability = (p + smoothing * share) / (n + smoothing)
    return float(np.log(probability) - np.log1p(-probability))


def _add(tree: GrownTree) -> int:
    """A new leaf's number."""
    tree.columns.append(LEAF)
    tree.absent.append(0)
    tree.present.append(0)
    tree.values.append(0.0)
    return len(tree.columns) - 1

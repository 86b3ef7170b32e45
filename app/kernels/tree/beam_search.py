"""Beam search down a label tree, compiled."""

from math import exp, log, log1p
from typing import Any

import numpy as np

from app.kernels.array_table import read_only
from app.kernels.compiler import inner, kernel
from app.kernels.intrinsics import prefetch
from app.kernels.tree.types import CHILD, CUBED_HINGE, SQUARED_HINGE, STEEPNESS, LabelTree

U64 = np.uint64
"""Numba tests signed indices for being negative, on each access; unsigned ones it does not."""
NEGLIGIBLE = np.float32(17)
"""exp(−17) is below half a unit in the last place of 1: added, it changes no float32."""


@kernel
def search(rows: Any, tree: Any, beam: Any, link: Any, share: Any, scores: Any) -> None:
    """Add the path likelihoods of the labels that each document's beam reaches to `scores`.

    Scores are logarithms, -inf at first; `share` is the logarithm of this tree's share of the
    likelihood, where several trees vote. On every level the best `beam` nodes are expanded; among
    equals the one that was reached first.
    """
    starts, columns, values = rows
    n_children, longest = longest_span(tree.child_starts), longest_span(starts)
    margins = np.empty(beam * n_children, np.float32)
    matches = np.empty((beam * longest, 3), np.int64)
    # Two beams, the level's and the next one's, change places after each level.
    nodes, paths = np.empty((2, beam), np.int32), np.empty((2, beam), np.float32)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        now, n_now = 0, np.int64(1)
        nodes[0, 0], paths[0, 0] = 0, 0.0
        while n_now:
            level, n_next = nodes[now, :n_now], np.int64(0)
            n_matches = match_rows(tree, level, columns[begin:end], matches)
            add_margins(tree, level, matches[:n_matches], values[begin:end], margins, n_children)
            for i in range(n_now):
                node, path = nodes[now, i], paths[now, i]
                for child in range(tree.child_starts[node], tree.child_starts[node + 1]):
                    margin = margins[i * n_children + child - tree.child_starts[node]]
                    score, target = path + link_value(margin, link), tree.targets[child]
                    if target >= 0:
                        scores[row, target] = log_add(scores[row, target], score + share)
                    else:
                        n_next = insert(nodes[1 - now], paths[1 - now], n_next, -target - 1, score)
            now, n_now = 1 - now, n_next


@inner
def longest_span(starts: Any) -> Any:
    """The largest difference of two neighbouring starts."""
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@inner
def match_rows(tree: Any, nodes: Any, columns: Any, matches: Any) -> Any:
    """Write the weight rows of a document's features at some nodes; how many.

    A match is (row, index of the feature, index of the node). All rows of a level are found, and
    their entries prefetched, before the first is read: the cache misses of a level overlap.
    """
    n_matches, n_nodes = 0, len(tree.child_starts) - 1
    for at in range(len(columns)):
        begin, end = tree.feature_starts[columns[at]], tree.feature_starts[columns[at] + 1]
        for i in range(len(nodes)):
            node = nodes[i]
            # A feature's nodes rise: at most n_nodes − node rows come after this one's, at most
            # `node` before it. That narrows the binary search, often to nothing.
            low = max(begin, end - (n_nodes - node))
            size = min(end, begin + node + 1) - low
            while size > 0:  # written without branches that depend on the data
                half = size >> 1
                is_before = tree.row_nodes[low + half] < node
                low = low + half + 1 if is_before else low
                size = size - half - 1 if is_before else half
            if low < end and tree.row_nodes[low] == node:
                prefetch(tree.entry_starts, low)
                matches[n_matches, 0], matches[n_matches, 1], matches[n_matches, 2] = low, at, i
                n_matches += 1
    for i in range(n_matches):
        # The first and the last entry: a short row has no other cache lines.
        prefetch(tree.entries, tree.entry_starts[matches[i, 0]])
        prefetch(tree.entries, tree.entry_starts[matches[i, 0] + 1] - 1)
    return n_matches


@inner
def add_margins(
    tree: Any, nodes: Any, matches: Any, values: Any, margins: Any, n_children: Any
) -> None:
    """Write the margins of the nodes' children, `n_children` for each node: bias plus matches."""
    for i in range(len(nodes)):
        first_child = tree.child_starts[nodes[i]]
        for child in range(first_child, tree.child_starts[nodes[i] + 1]):
            margins[i * n_children + child - first_child] = tree.biases[child]
    weights = tree.entries.view(np.float32)  # the child's index in the low bits does not matter
    for i in range(len(matches)):
        row, value, own = matches[i, 0], values[matches[i, 1]], U64(matches[i, 2] * n_children)
        for entry in range(U64(tree.entry_starts[row]), U64(tree.entry_starts[row + 1])):
            margins[own + U64(tree.entries[entry] & CHILD)] += value * weights[entry]


@inner
def log_add(one: Any, other: Any) -> Any:
    """log(exp(one) + exp(other)), without overflow."""
    low, high = min(one, other), max(one, other)
    if not high - low <= NEGLIGIBLE:  # also where both are -inf, whose difference is NaN
        return high
    return high + np.float32(log(np.float32(1) + exp(low - high)))


@inner
def link_value(margin: Any, link: Any) -> Any:
    """What a margin adds to its path's score, the logarithm of a likelihood: at most 0."""
    lack = max(np.float32(1) - margin, np.float32(0))
    if link == SQUARED_HINGE:
        return -lack * lack
    if link == CUBED_HINGE:
        return -lack * lack * lack
    steep = STEEPNESS * margin
    if steep > 0:
        return np.float32(-log1p(exp(-steep)))
    return np.float32(steep - log1p(exp(steep)))


@inner
def insert(nodes: Any, paths: Any, n_kept: Any, node: Any, score: Any) -> Any:
    """Insert a node into the beam, best first, where it is good enough; how many nodes it has."""
    if n_kept == len(nodes):
        if not score > paths[n_kept - 1]:
            return n_kept
        n_kept -= 1
    rank = n_kept
    while rank > 0 and score > paths[rank - 1]:
        paths[rank], nodes[rank] = paths[rank - 1], nodes[rank - 1]
        rank -= 1
    paths[rank], nodes[rank] = score, node
    return n_kept + 1


def warm() -> None:
    """Compile everything here."""
    one, starts = np.ones(1, np.float32), np.array([0, 1])
    none = np.zeros(1, np.int32)
    rows = (read_only(starts), read_only(none), read_only(one))
    tree = (starts, none, one, starts, none, starts, none.astype(np.uint32))
    share = np.float32(0)
    search(rows, LabelTree(*map(read_only, tree)), 1, 0, share, np.zeros((1, 1), np.float32))

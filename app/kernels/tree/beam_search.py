"""Beam search down a label tree, compiled."""

from math import exp, log, log1p
from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.simd import prefetch
from app.kernels.text.types import fixed
from app.kernels.tree.types import CHILD, CUBED_HINGE, SQUARED_HINGE, STEEPNESS, LabelTree

U64 = np.uint64
"""Places that are never negative need no test for it."""
UNSEEN = np.float32(17)
"""A likelihood that is smaller by this power of e changes nothing in single precision."""


@kernel
def search(rows: Any, tree: Any, beam: Any, link: Any, share: Any, scores: Any) -> None:
    """Join each document's path scores of the labels its beam reaches to those of other trees.

    Scores begin as -inf and are joined as logarithms of likelihoods that add up; `share` is the
    logarithm of this tree's share of them. On every level the best `beam` nodes go on; among equals
    the one that was reached first.
    """
    starts, columns, values = rows
    most, longest = longest_span(tree.child_starts), longest_span(starts)
    margins, found = np.empty(beam * most, np.float32), np.empty((beam * longest, 3), np.int64)
    nodes, paths = np.empty((2, beam), np.int32), np.empty((2, beam), np.float32)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        now, n_now = 0, 1
        nodes[0, 0], paths[0, 0] = 0, 0.0
        while n_now:
            n_next = 0
            n_found = find_rows(tree, nodes[now, :n_now], columns[begin:end], found)
            add_margins(tree, nodes[now, :n_now], found[:n_found], values[begin:end], margins, most)
            for place in range(n_now):
                node, path = nodes[now, place], paths[now, place]
                for child in range(tree.child_starts[node], tree.child_starts[node + 1]):
                    margin = margins[place * most + child - tree.child_starts[node]]
                    score, target = path + worth(margin, link), tree.targets[child]
                    if target >= 0:
                        scores[row, target] = joined(scores[row, target], score + share)
                    else:
                        n_next = insert(nodes[1 - now], paths[1 - now], n_next, -target - 1, score)
            now, n_now = 1 - now, n_next


@inner
def longest_span(starts: Any) -> Any:
    """The most that lies between two starts."""
    most = 0
    for i in range(len(starts) - 1):
        most = max(most, starts[i + 1] - starts[i])
    return most


@inner
def find_rows(tree: Any, nodes: Any, columns: Any, found: Any) -> Any:
    """Fill in the rows of a document's features and some nodes, with both's places; how many.

    All of a level's rows are found, and their entries asked for, before the first is read: the
    memory is waited for once a level.
    """
    n_found, n_nodes = 0, len(tree.child_starts) - 1
    for at in range(len(columns)):
        begin, end = tree.feature_starts[columns[at]], tree.feature_starts[columns[at] + 1]
        for place in range(len(nodes)):
            node = nodes[place]
            low = max(begin, end - (n_nodes - node))  # no more rows than nodes can come after it
            size = min(end, begin + node + 1) - low  # nor before it
            while size > 0:
                half = size >> 1
                is_before = tree.row_nodes[low + half] < node
                low = low + half + 1 if is_before else low
                size = size - half - 1 if is_before else half
            if low < end and tree.row_nodes[low] == node:
                prefetch(tree.entry_starts, low)
                found[n_found, 0], found[n_found, 1], found[n_found, 2] = low, at, place
                n_found += 1
    for i in range(n_found):
        prefetch(tree.entries, tree.entry_starts[found[i, 0]])
        prefetch(tree.entries, tree.entry_starts[found[i, 0] + 1] - 1)
    return n_found


@inner
def add_margins(tree: Any, nodes: Any, found: Any, values: Any, margins: Any, most: Any) -> None:
    """Fill in the margins of the nodes' children, `most` for each node, by the rows found."""
    for place in range(len(nodes)):
        first_child = tree.child_starts[nodes[place]]
        for child in range(first_child, tree.child_starts[nodes[place] + 1]):
            margins[place * most + child - first_child] = tree.biases[child]
    weights = tree.entries.view(np.float32)
    for i in range(len(found)):
        row, value, own = found[i, 0], values[found[i, 1]], U64(found[i, 2] * most)
        for entry in range(U64(tree.entry_starts[row]), U64(tree.entry_starts[row + 1])):
            margins[own + U64(tree.entries[entry] & CHILD)] += value * weights[entry]


@inner
def joined(old: Any, new: Any) -> Any:
    """The logarithm of the two likelihoods' sum."""
    low, high = min(old, new), max(old, new)
    if not high - low <= UNSEEN:  # also where both are -inf
        return high
    return high + np.float32(log(np.float32(1) + exp(low - high)))


@inner
def worth(margin: Any, link: Any) -> Any:
    """What a margin adds to the path's score: 0 at best."""
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
    """Put a node among the best so far, best first; how many there are now."""
    if n_kept == len(nodes):
        if not score > paths[n_kept - 1]:
            return n_kept
        n_kept -= 1
    place = n_kept
    while place > 0 and score > paths[place - 1]:
        paths[place], nodes[place] = paths[place - 1], nodes[place - 1]
        place -= 1
    paths[place], nodes[place] = score, node
    return n_kept + 1


def warm() -> None:
    """Compile everything here."""
    one, starts = np.ones(1, np.float32), np.array([0, 1])
    none = np.zeros(1, np.int32)
    rows = (fixed(starts), fixed(none), fixed(one))
    tree = (starts, none, one, starts, none, starts, none.astype(np.uint32))
    share = np.float32(0)
    search(rows, LabelTree(*map(fixed, tree)), 1, 0, share, np.zeros((1, 1), np.float32))

"""Beam search down a label tree, compiled."""

from math import exp, log1p
from typing import Any

import numpy as np

from app.kernels.beam_forms import CUBED_HINGE, SQUARED_HINGE, STEEPNESS, LabelTree
from app.kernels.compiler import inner, kernel
from app.kernels.forms import fixed
from app.kernels.vectors import prefetch


@kernel
def search(rows: Any, tree: Any, beam: Any, link: Any, scores: Any) -> None:
    """Join each document's path scores of the labels its beam reaches to those of other trees.

    Scores begin as -inf and are joined as logarithms of likelihoods that add up. On every level the
    best `beam` nodes go on; among equals the one that was reached first.
    """
    starts, columns, values = rows
    most = 0
    for node in range(len(tree.child_starts) - 1):
        most = max(most, tree.child_starts[node + 1] - tree.child_starts[node])
    longest = 0
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    margins, found = np.empty(most, np.float32), np.empty((beam * longest, 2), np.int64)
    nodes, paths = np.empty((2, beam), np.int32), np.empty((2, beam), np.float32)
    found_starts = np.empty(beam + 1, np.int64)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        now, n_now = 0, 1
        nodes[0, 0], paths[0, 0] = 0, 0.0
        while n_now:
            n_next = 0
            find_rows(tree, nodes[now, :n_now], columns[begin:end], found, found_starts)
            for place in range(n_now):
                node, path = nodes[now, place], paths[now, place]
                own = found[found_starts[place] : found_starts[place + 1]]
                add_margins(tree, node, own, values[begin:end], margins)
                for child in range(tree.child_starts[node], tree.child_starts[node + 1]):
                    margin = margins[child - tree.child_starts[node]]
                    score, target = path + worth(margin, link), tree.targets[child]
                    if target >= 0:
                        scores[row, target] = joined(scores[row, target], score)
                    else:
                        n_next = insert(nodes[1 - now], paths[1 - now], n_next, -target - 1, score)
            now, n_now = 1 - now, n_next


@inner
def find_rows(tree: Any, nodes: Any, columns: Any, found: Any, found_starts: Any) -> None:
    """Fill in the rows of some nodes and a document's features, and the features' places.

    All of a level's rows are found, and their entries asked for, before the first is read: the
    memory is waited for once a level.
    """
    n_found = 0
    for place in range(len(nodes)):
        node, found_starts[place] = nodes[place], n_found
        for at in range(len(columns)):
            low, end = tree.feature_starts[columns[at]], tree.feature_starts[columns[at] + 1]
            size = end - low
            while size > 0:
                half = size >> 1
                is_before = tree.row_nodes[low + half] < node
                low = low + half + 1 if is_before else low
                size = size - half - 1 if is_before else half
            if low < end and tree.row_nodes[low] == node:
                prefetch(tree.entry_starts, low)
                found[n_found, 0], found[n_found, 1] = low, at
                n_found += 1
    found_starts[len(nodes)] = n_found
    for i in range(n_found):
        entry = tree.entry_starts[found[i, 0]]
        prefetch(tree.entry_children, entry)
        prefetch(tree.entry_values, entry)


@inner
def add_margins(tree: Any, node: Any, found: Any, values: Any, margins: Any) -> None:
    """Fill in the margins of a node's children by the rows that were found for it."""
    first_child = tree.child_starts[node]
    for child in range(first_child, tree.child_starts[node + 1]):
        margins[child - first_child] = tree.biases[child]
    for i in range(len(found)):
        row, value = found[i, 0], values[found[i, 1]]
        for entry in range(tree.entry_starts[row], tree.entry_starts[row + 1]):
            margins[tree.entry_children[entry]] += value * tree.entry_values[entry]


@inner
def joined(old: Any, new: Any) -> Any:
    """The logarithm of the two likelihoods' sum."""
    if old == -np.inf:
        return new
    return max(old, new) + np.float32(log1p(exp(min(old, new) - max(old, new))))


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
    tree = (starts, none, one, starts, none, starts, none.astype(np.uint16), one)
    search(rows, LabelTree(*map(fixed, tree)), 1, 0, np.zeros((1, 1), np.float32))

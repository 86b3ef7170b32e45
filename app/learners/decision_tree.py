"""Decision trees: one per label, asking whether terms are in the text (Yang 1999: DTree)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Scores, Truth
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.csr_rows import CsrRows
from app.learners.base import LTC_FEATURES, Evidence, Fitting, Learner
from app.learners.ordered_map import for_parts, results_of
from app.learners.presence.bitsets import TermPresence, bits_of
from app.learners.presence.tree_growth import LEAF, GrownTree, GrowthLimits, grown_tree
from app.state import State

ROWS_A_TASK = 256
NODES = ("columns", "absent", "present")


class DecisionTree(Learner):
    """One tree per label over its `terms` terms of highest information gain; score: log-odds.

    A node is split while each side keeps `min_documents` and the split tells `min_gain` bits about
    the node's documents, down to `max_depth`.
    """

    kind: ClassVar[str] = "decision-tree"
    zero_is_neutral: ClassVar[bool] = True
    feature_settings: ClassVar[Mapping[str, Any]] = LTC_FEATURES

    def __init__(
        self,
        terms: int = 100,
        max_depth: int = 20,
        min_documents: int = 2,
        min_gain: float = 4.0,
        smoothing: float = 1.0,
    ) -> None:
        self.terms = terms
        self._limits = GrowthLimits(max_depth, min_documents, min_gain, smoothing)
        self._arrays: dict[str, NDArray[Any]] = {}

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Grow one tree per label."""
        fitting = fitting or Fitting()
        presence = TermPresence.of(features, truth)
        everything = bits_of(np.ones(truth.shape[0], np.bool_))

        def grown(label: int) -> GrownTree:
            candidates = presence.candidates(label, self.terms)
            positive = bits_of(presence.marks(label))
            return grown_tree(candidates, positive, everything, self._limits)

        labels = range(truth.shape[1])
        self._arrays = _joined(results_of(grown, labels, fitting.jobs, fitting.progress))
        return self

    def for_labels(self, labels: NDArray[np.int64]) -> "DecisionTree":
        """The same settings; each label has a tree of its own."""
        return DecisionTree(**self._settings())

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """The log-odds at the leaf that a document reaches."""
        return np.asarray(self._arrays["values"][self.leaves(features, jobs=jobs)])

    def leaves(self, features: Features, *, jobs: int = 1) -> NDArray[np.int32]:
        """The leaf that each document reaches in each label's tree."""
        roots = self._arrays["roots"]
        leaves = np.empty((features.shape[0], len(roots)), np.int32)
        starts, columns, _ = CsrRows.of(features)
        trees = tuple(read_only(self._arrays[name]) for name in ("roots", *NODES))
        walk = kernels("presence.tree_walk").tree_leaves

        def fill(some: slice) -> None:
            rows = (starts[some.start : some.stop + 1], columns)
            walk(rows, trees, np.zeros(features.shape[1], np.bool_), leaves[some])

        for_parts(fill, len(leaves), ROWS_A_TASK, jobs)
        return leaves

    def evidence(
        self,
        columns: NDArray[Any],
        values: NDArray[np.float32],
        labels: Sequence[int],
        terms: Sequence[str],
    ) -> list[Evidence]:
        """The path that the document takes through each label's tree, as a rule."""
        return [self._evidence(label, set(columns.tolist()), terms) for label in labels]

    def _evidence(self, label: int, present: set[int], terms: Sequence[str]) -> Evidence:
        arrays, node, path = self._arrays, int(self._arrays["roots"][label]), []
        start = float(arrays["values"][node])
        while (column := int(arrays["columns"][node])) != LEAF:
            path.append(("" if column in present else "!") + terms[column])
            node = int(arrays["present" if column in present else "absent"][node])
        weight = float(arrays["values"][node]) - start
        names = [" & ".join(path)] if path else []
        return Evidence("rule", names, np.full(len(names), weight), start)

    def label_rules(self, label: int, terms: Sequence[str]) -> list[tuple[str, float]]:
        """Every path from the root of the label's tree to a leaf, with the leaf's log-odds."""
        paths: list[tuple[list[str], int]] = [([], int(self._arrays["roots"][label]))]
        rules = []
        while paths:
            path, node = paths.pop()
            column = int(self._arrays["columns"][node])
            if column == LEAF:
                rules.append((" & ".join(path), float(self._arrays["values"][node])))
                continue
            for side, sign in (("absent", "!"), ("present", "")):
                paths.append(([*path, sign + terms[column]], int(self._arrays[side][node])))
        return rules

    def _settings(self) -> dict[str, Any]:
        return {"terms": self.terms, **asdict(self._limits)}

    def state(self) -> State:
        """Settings and the nodes of all trees."""
        return State(self.kind, self._settings(), self._arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        learner = cls(**state.settings)
        learner._arrays = state.arrays
        return learner


def _joined(trees: list[GrownTree]) -> dict[str, NDArray[Any]]:
    """The nodes of all trees end to end, and where each tree begins."""
    sizes = [len(tree.columns) for tree in trees]
    roots = np.cumsum([0, *sizes])[:-1].astype(np.int32)
    shift = np.repeat(roots, sizes)
    return {
        "roots": roots,
        "columns": np.array([c for tree in trees for c in tree.columns], np.int32),
        "absent": np.array([n for tree in trees for n in tree.absent], np.int32) + shift,
        "present": np.array([n for tree in trees for n in tree.present], np.int32) + shift,
        "values": np.array([v for tree in trees for v in tree.values], np.float32),
    }

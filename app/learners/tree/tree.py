"""Tree: labels in a hierarchy of clusters, searched by a beam, for thousands of labels and more.

After Bonsai (Khandagale et al. 2020) and PECOS: only the documents below a node train it, and only
the nodes a document's beam reaches are scored.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from app.arrays import Features, Scores, Truth
from app.errors import InvalidRequestError
from app.kernels import compiled, kernels, warm
from app.kernels.array_table import read_only
from app.kernels.csr_rows import CsrRows
from app.kernels.tree.types import LINKS, LabelTree, packed
from app.learners.base import Fitting, Learner
from app.learners.linear.block_training import takes_blocks
from app.learners.linear.options import parse_options
from app.learners.ordered_map import for_parts
from app.learners.tree.label_clusters import grown, label_vectors
from app.learners.tree.training import NodeTraining
from app.state import State

ROWS_A_TASK = 64
LOWEST = {"children": 2, "leaf": 2, "depth": 1, "beam": 1, "n_trees": 1}


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How a tree is grown, trained and searched.

    A node is split into at most `children` clusters while it has more labels than a `leaf` may have
    and is not at the last `depth`; `beam` nodes a level go on. `link` says what a margin is worth.
    """

    options: str
    children: int = 16
    leaf: int = 100
    depth: int = 10
    beam: int = 10
    n_trees: int = 3
    link: str = "cubed-hinge"
    prune: float = 0.1

    def __post_init__(self) -> None:
        if self.link not in LINKS:
            raise InvalidRequestError(f"tree: no such link; accepted: {', '.join(LINKS)}")
        for name, lowest in LOWEST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or value < lowest:
                raise InvalidRequestError(f"tree: {name} is a whole number of at least {lowest}")


class Tree(Learner):
    """Path scores of the labels that a beam of nodes reaches; all other labels have none.

    A score is the sum of what each margin on the way is worth, in log space: 0 at best, falling as
    the label becomes less likely, so that a cut on it makes sense. `n_trees` trees, grown from
    different random clusters, have the logarithm of their mean likelihood as score.
    """

    kind: ClassVar[str] = "tree"
    vectorizer_kind: ClassVar[str] = "tfidf"
    settings_type: ClassVar[type | None] = TreeSettings

    def __init__(self, options: str = "-s 1 -c 1 -B 1 -e 0.5", **settings: Any) -> None:
        self.settings = TreeSettings(options, **settings)
        self._parsed = parse_options(options)
        self._trees: list[LabelTree] = []
        self._n_labels = 0

    def fit(self, features: Features, truth: Truth, fitting: Fitting | None = None) -> Self:
        """Cluster the labels, then train every node."""
        fitting = fitting or Fitting()
        warm(fitting.progress, ("tree.row_groups", "solver.block_descent"))
        self._n_labels = truth.shape[1]
        vectors = label_vectors(features, truth)
        labels = np.flatnonzero(np.bincount(truth.indices, minlength=truth.shape[1]))
        limits = (self.settings.children, self.settings.leaf, self.settings.depth)
        trees = []
        for number in range(self.settings.n_trees if len(labels) else 0):
            seed = fitting.seed * 1_000_003 + number * 10_007
            nodes = NodeTraining.of(
                (features, truth),
                self._parsed,
                grown(vectors, labels, limits=limits, seed=seed),
                prune=self.settings.prune,
                uses_blocks=compiled() and takes_blocks(self._parsed),
                seed=seed,
            )
            trees.append(nodes.tree(fitting))
        self._trees = [_fixed(tree) for tree in trees]
        return self

    def scores(self, features: Features, *, jobs: int = 1) -> Scores:
        """Log-space path scores, at most 0; -inf for labels that no beam reached."""
        features = features if features.has_sorted_indices else features.sorted_indices()
        rows = CsrRows.of(features)
        scores = np.full((features.shape[0], self._n_labels), -np.inf, np.float32)
        search = kernels("tree.beam_search").search
        beam, link = self.settings.beam, LINKS[self.settings.link]
        share = np.float32(-np.log(max(len(self._trees), 1)))

        def fill(some: slice) -> None:
            for tree in self._trees:
                search(rows.at(some), tree, beam, link, share, scores[some])

        for_parts(fill, len(scores), ROWS_A_TASK, jobs)
        return scores

    def state(self) -> State:
        """Settings, and each tree's arrays as a part."""
        settings = {**asdict(self.settings), "n_labels": self._n_labels}
        trees = [State("tree-arrays", {}, tree._asdict()) for tree in self._trees]
        return State(self.kind, settings, {}, {f"tree{i}": tree for i, tree in enumerate(trees)})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal learner again."""
        settings: dict[str, Any] = dict(state.settings)
        n_labels = settings.pop("n_labels")
        learner = cls(**settings)
        learner._n_labels = n_labels
        parts = [state.parts[f"tree{i}"] for i in range(len(state.parts))]
        learner._trees = [_fixed(LabelTree(**_with_entries(part.arrays))) for part in parts]
        return learner


def _fixed(tree: LabelTree) -> LabelTree:
    return LabelTree(*(read_only(array) for array in tree))


def _with_entries(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """A tree's arrays, also of a model whose children and values were still apart."""
    current = dict(arrays)
    if "entry_children" in current:
        current["entries"] = packed(current.pop("entry_children"), current.pop("entry_values"))
    return current

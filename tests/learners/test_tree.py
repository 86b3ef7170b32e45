"""Labels in a tree: clusters of like labels, and a beam that finds what a full search finds."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.errors import InvalidRequestError
from app.kernels import kernels
from app.kernels.array_table import read_only
from app.kernels.tree.types import CHILD, LINKS, LabelTree, packed
from app.learners.tree.label_clusters import grown, label_vectors, shared_out, split
from app.learners.tree.tree import Tree
from app.state import State
from tests.learners.made_up import made_up, marks

FEATURES, TRUTH = made_up(300, 40)
SMALL = {"children": 3, "leaf": 4, "prune": 0.0, "n_trees": 1}
BY_HAND = LabelTree(
    np.array([0, 2, 4]),
    np.array([2, -2, 0, 1], np.int32),  # the root has label 2 and node 1, which has labels 0 and 1
    np.array([0.5, 0.0, -1.0, 0.5], np.float32),
    np.array([0, 1, 2]),
    np.array([1, 0], np.int32),  # feature 0 has a row for node 1, feature 1 for the root
    np.array([0, 2, 3]),
    packed(np.array([0, 1, 1]), np.array([1.0, -1.0, 0.5], np.float32)),
)


@pytest.mark.parametrize("mode", ["auto", "plain"])
def test_a_path_adds_up_what_its_margins_are_worth(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", mode)
    document = (np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0], np.float32))
    scores = np.full((1, 4), -np.inf, np.float32)
    tree = LabelTree(*map(read_only, BY_HAND))
    kernels("tree.beam_search").search(
        tuple(map(read_only, document)), tree, 1, LINKS["squared-hinge"], np.float32(0), scores
    )
    # margins: label 2: 0.5; node 1: 0 + 2·0.5 = 1; below it label 0: −1 + 1 = 0, label 1: 0.5 − 1
    np.testing.assert_allclose(scores, [[-1.0, -2.25, -0.25, -np.inf]], rtol=1e-6)


@pytest.mark.parametrize("link", sorted(LINKS))
@pytest.mark.parametrize("n_trees", [1, 2])
def test_compiled_and_plain_search_agree(
    link: str, n_trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(**{**SMALL, "n_trees": n_trees}, beam=2, link=link).fit(FEATURES, TRUTH)
    compiled = tree.scores(FEATURES[:20])
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    np.testing.assert_allclose(tree.scores(FEATURES[:20]), compiled, rtol=1e-4, atol=1e-5)


def test_without_a_compiler_a_tree_is_trained_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    some = FEATURES[:40]
    compiled = Tree("-e 1e-3", **SMALL).fit(FEATURES, TRUTH).scores(some)
    monkeypatch.setenv("LABELSERVE_KERNELS", "plain")
    plain = Tree("-e 1e-3", **SMALL).fit(FEATURES, TRUTH).scores(some)
    assert np.corrcoef(np.maximum(compiled, -9).ravel(), np.maximum(plain, -9).ravel())[0, 1] > 0.97


def test_a_wide_beam_scores_every_label_and_a_narrow_one_the_same_where_it_reaches() -> None:
    wide = Tree(**SMALL, beam=1000).fit(FEATURES, TRUTH)
    narrow = Tree(**SMALL, beam=2).fit(FEATURES, TRUTH)
    everything, some = wide.scores(FEATURES), narrow.scores(FEATURES)
    assert np.isfinite(everything).all()
    reached = np.isfinite(some)
    assert 0 < reached.mean() < 1
    assert np.array_equal(some[reached], everything[reached])
    assert (everything <= 0).all()


def test_a_label_without_documents_is_never_reached() -> None:
    dense = np.hstack([TRUTH.toarray(), np.zeros((300, 1), bool)])
    scores = Tree(**SMALL, beam=1000).fit(FEATURES, marks(dense)).scores(FEATURES)
    assert (scores[:, 40] == -np.inf).all()


def test_no_label_at_all_gives_no_score() -> None:
    scores = Tree().fit(FEATURES, marks(np.zeros((300, 3), bool))).scores(FEATURES)
    assert (scores == -np.inf).all()


def test_several_trees_score_the_logarithm_of_their_mean_likelihood() -> None:
    both = Tree(**{**SMALL, "n_trees": 2}, beam=3).fit(FEATURES, TRUTH)
    alone = []
    for part in both.state().parts.values():
        state = both.state()
        single = type(state)(state.kind, {**state.settings, "n_trees": 1}, {}, {"tree0": part})
        alone.append(np.exp(Tree.from_state(single).scores(FEATURES).astype(np.float64)))
    with np.errstate(divide="ignore"):
        expected = np.log((alone[0] + alone[1]) / 2)
    np.testing.assert_allclose(both.scores(FEATURES), expected, rtol=1e-4, atol=1e-5)


def test_an_entry_keeps_its_child_and_a_value_to_three_digits() -> None:
    values = np.random.default_rng(4).normal(size=500).astype(np.float32)
    children = np.arange(500)
    entries = packed(children, values)
    assert (entries & CHILD).tolist() == children.tolist()
    np.testing.assert_allclose(entries.view(np.float32), values, rtol=2**-8)


def test_a_tree_saved_with_children_and_values_apart_is_read_all_the_same() -> None:
    tree = Tree(**SMALL).fit(FEATURES, TRUTH)
    state = tree.state()
    arrays = dict(state.parts["tree0"].arrays)
    entries = arrays.pop("entries")
    arrays["entry_children"] = (entries & CHILD).astype(np.uint16)
    arrays["entry_values"] = (entries & ~CHILD).view(np.float32)
    older = State(state.kind, state.settings, {}, {"tree0": State("tree-arrays", {}, arrays)})
    assert np.array_equal(Tree.from_state(older).scores(FEATURES), tree.scores(FEATURES))


def test_every_label_is_in_the_tree_once_and_no_node_is_too_large() -> None:
    vectors = label_vectors(FEATURES, TRUTH)
    branches = grown(vectors, np.arange(40), limits=(3, 4, 10), seed=1)
    leaves = [
        g[0] for b in branches for g, node in zip(b.below, b.nodes, strict=True) if node is None
    ]
    assert sorted(leaves) == list(range(40))
    assert max(len(branch.below) for branch in branches) <= 4
    shallow = grown(vectors, np.arange(40), limits=(3, 4, 2), seed=1)
    assert max(len(branch.below) for branch in shallow) > 4


@pytest.mark.parametrize("mode", ["auto", "plain"])
def test_labels_of_like_documents_share_a_cluster(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELSERVE_KERNELS", mode)
    noise = np.random.default_rng(0).random((30, 6)) * 0.1
    noise[np.arange(30), np.arange(30) % 3] += 1
    clusters = split(csr_array(noise.astype(np.float32)), 3, seed=0)
    assert len(set(clusters[:3])) == 3
    assert clusters.tolist() == clusters[:3].tolist() * 10


def test_labels_that_cannot_be_told_apart_are_dealt_out() -> None:
    clusters = split(csr_array((9, 4), dtype=np.float32), 3, seed=0)
    assert np.bincount(clusters).tolist() == [3, 3, 3]


def test_a_label_goes_elsewhere_only_when_the_likest_clusters_are_full() -> None:
    likeness = np.random.default_rng(3).random((50, 7)).astype(np.float32)
    clusters = shared_out(likeness, 8)
    sizes = np.bincount(clusters, minlength=7)
    assert sizes.max() == 8
    own = likeness[np.arange(50), clusters]
    went_elsewhere = likeness > own[:, None]
    assert went_elsewhere.any()
    assert (np.broadcast_to(sizes, (50, 7))[went_elsewhere] == 8).all()


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"link": "none"}, "squared-hinge"), ({"beam": 0}, "beam"), ({"leaf": 1.5}, "leaf")],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        Tree(**settings)


def test_a_node_with_more_children_than_entries_can_name_is_refused() -> None:
    truth = csr_array((np.ones(70_000, np.bool_), (np.arange(70_000) % 300, np.arange(70_000))))
    with pytest.raises(InvalidRequestError, match="65,536"):
        Tree(leaf=100_000).fit(FEATURES, truth)


def test_trees_of_one_learner_grow_from_different_clusters() -> None:
    first, second = Tree(**{**SMALL, "n_trees": 2}).fit(FEATURES, TRUTH).state().parts.values()
    assert not np.array_equal(first.arrays["targets"], second.arrays["targets"])

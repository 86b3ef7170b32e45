"""Trials on shared folds choose what a recipe leaves open, and nothing that it says."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from app.datasets.base import Summary
from app.datasets.collection import Collection
from app.errors import InvalidRequestError
from app.labels import LabelIndex
from app.learners.base import Fitting
from app.training.fold_plan import FoldPlan
from app.training.recipe import MemberRecipe, read_recipe
from app.training.search.candidates import COSTS, Candidate, beside, candidates
from app.training.search.choice import choice
from app.training.search.crossed_cuts import Objective, crossed_counts
from app.training.search.objectives import decision_for, objective_of
from app.training.search.qualities import quality_of
from app.training.search.training import searched_training
from app.training.search.trial import Trial
from app.training.search.trial_sample import FOLDS, trial_sample
from app.training.search.trials import SampleFeatures, trials_of
from app.training.train import Trained, TrainingJob


def texts(n_documents: int = 300, n_words: int = 40, seed: int = 0) -> Collection:
    """Documents of common words, and of a few words each that tell their labels."""
    random = np.random.default_rng(seed)
    documents, label_sets = [], []
    for _ in range(n_documents):
        labels = sorted({f"l{label}" for label in random.integers(0, 4, random.integers(1, 3))})
        words = [f"w{word}" for word in random.integers(0, 60, n_words)]
        words[:: n_words // 3] = [f"{random.choice(labels)}x{random.integers(0, 9)}"] * len(
            words[:: n_words // 3]
        )
        documents.append(" ".join(words))
        label_sets.append(labels)
    return Collection(documents, label_sets, [""] * n_documents, Summary())


def trained(recipe: dict[str, Any] | None = None, **job: Any) -> Trained:
    given = {"data": texts(), "quality": "balanced", **job}
    quality = given.pop("quality")
    return searched_training(TrainingJob(recipe=read_recipe(recipe), **given), quality)


def settings_of(model: Trained) -> dict[str, Any]:
    return {**model.info.recipe["members"][0]["settings"]}


def test_fast_trains_what_the_recipe_says_and_tells_of_no_search() -> None:
    model = trained(quality="fast")
    assert "search" not in model.info.figures
    assert "search" not in model.info.timings
    assert settings_of(model) == {}


def test_balanced_chooses_c_features_and_ratios_and_says_what_it_tried() -> None:
    model = trained()
    search = model.info.figures["search"]
    assert len(search["trials"]) == len(COSTS) + 3 * 3
    best = max(search["trials"], key=lambda trial: trial["micro_f1"])
    assert search["winner"]["micro_f1"] == best["micro_f1"]
    assert settings_of(model)["c"] in COSTS
    assert search["optimism"] >= 0
    promise = model.info.figures["held_out"]["micro_f1"] - search["optimism"]
    assert search["promise"] == {"micro_f1": pytest.approx(promise)}


def test_the_recipe_that_was_found_trains_the_same_model_without_a_search() -> None:
    model = trained()
    recipe = model.info.recipe
    tables = {"members": recipe["members"]}
    again = trained(tables, quality="fast")
    assert again.info.recipe["members"] == recipe["members"]
    for one, other in zip(_arrays(model), _arrays(again), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_choice_does_not_depend_on_the_number_of_processors() -> None:
    one, two = trained(jobs=1), trained(jobs=2)
    assert one.info.figures == two.info.figures
    for mine, other in zip(_arrays(one), _arrays(two), strict=True):
        np.testing.assert_array_equal(mine, other)


def _arrays(model: Trained) -> list[Any]:
    state = model.classifier.members[0].learner.state()
    return [state.arrays[name] for name in sorted(state.arrays)]


@pytest.mark.parametrize(
    ("recipe", "section", "kept"),
    [
        ({"learner": {"c": 3.0}}, "settings", {"c": 3.0}),
        ({"learner": {"ratios": 0.25}}, "settings", {"ratios": 0.25}),
        ({"features": {"lead": [5]}}, "features", {"lead": [5]}),
        ({"features": {"ngram_range": [1, 2]}}, "features", {"ngram_range": [1, 2]}),
        ({"features": {"analyzer": "char_wb"}}, "features", {"analyzer": "char_wb"}),
        ({"features": {"parts": [{"min_df": 2}]}}, "features", {"parts": [{"min_df": 2}]}),
    ],
)
@pytest.mark.parametrize("has_union", [False, True])
def test_what_a_recipe_sets_is_in_every_candidate(
    recipe: dict[str, Any], section: str, kept: dict[str, Any], has_union: bool
) -> None:
    member = read_recipe(recipe).members[0]
    found = candidates(member, mean_words=100, has_union=has_union)
    assert found
    for candidate in found:
        assert getattr(candidate.member, section).items() >= kept.items()
        assert "lead" not in candidate.member.features or "char_wb" not in str(candidate)
    assert (found[0].costs == ()) == (kept.keys() == {"c"})


def test_short_texts_have_no_first_words_of_their_own() -> None:
    names = [c.name for c in candidates(MemberRecipe(), mean_words=12, has_union=True)]
    assert names
    assert not any("first" in name for name in names)


def test_other_candidates_are_tried_beside_the_best_c_of_the_first() -> None:
    first = candidates(MemberRecipe(), mean_words=12, has_union=False)[0]
    assert beside(first, 1.0).costs == (0.5, 1.0, 2.0)
    assert beside(first, COSTS[0]).costs == COSTS[:2]
    assert beside(first, None).costs == COSTS


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ({"learner": {"kind": "rocchio"}}, "rocchio"),
        ({"learner": {"options": "-s 1 -c 4"}}, "LIBLINEAR"),
        ({"learner": {"c": "auto"}}, "C is"),
        ({"features": {"select": "df", "keep": 50}}, "selected"),
        ({"learner": {"kind": "ensemble:one-vs-rest,rocchio"}}, "ensemble"),
        ({"decision": {"name": "zero"}}, "untuned"),
    ],
)
def test_nothing_is_tried_where_the_recipe_leaves_nothing_open(
    recipe: dict[str, Any], reason: str
) -> None:
    search = trained(recipe).info.figures["search"]
    assert reason in search["not_searched"]


def test_nothing_is_tried_on_few_documents() -> None:
    assert "fewer than 200" in trained(data=texts(150)).info.figures["search"]["not_searched"]


def test_no_such_quality_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidRequestError, match="fast, balanced, best"):
        quality_of("quick")


def test_an_objective_is_the_name_of_its_decision() -> None:
    assert [decision_for(name) for name in ("micro", "macro", "both")] == [
        "micro-f",
        "macro-f",
        "both-f",
    ]
    assert objective_of("macro-f") == Objective(0, 1)
    assert objective_of("rank:3") == Objective(1, 0)
    assert read_recipe({"decision": {"objective": "both"}}).decision.name == "both-f"
    with pytest.raises(InvalidRequestError, match="leave the name out"):
        read_recipe({"decision": {"objective": "both", "name": "macro-f"}})
    with pytest.raises(InvalidRequestError, match="micro, macro, both"):
        read_recipe({"decision": {"objective": "speed"}})


def trial(name: str, right: list[int]) -> Trial:
    """One label with ten positives a fold, of which so many are found."""
    counts = np.array([[[found, 0, 10 - found]] for found in right])
    return Trial(name, (MemberRecipe(),), counts, 0.0, 1)


def test_a_winner_by_luck_in_one_fold_is_corrected_for_it() -> None:
    lucky, steady = trial("lucky", [10, 4, 4]), trial("steady", [6, 6, 5])
    chosen = choice([lucky, steady], Objective())
    assert chosen.trial.name == "lucky"
    # Without the first fold the other wins; without the second or third it stays.
    assert chosen.corrected == pytest.approx(2 * (6 + 4 + 4) / (14 + 30))
    assert chosen.optimism == pytest.approx(2 * 18 / 48 - chosen.corrected)


def test_a_winner_in_every_fold_keeps_its_figure() -> None:
    chosen = choice([trial("worse", [5, 5, 5]), trial("better", [6, 6, 6])], Objective())
    assert chosen.trial.name == "better"
    assert chosen.optimism == 0


def test_crossed_counts_are_those_of_cuts_that_never_saw_the_part() -> None:
    """Against the plain definition: every cut between scores of the others, one label, micro."""
    random = np.random.default_rng(1)
    truth = random.random((90, 1)) < 0.3
    scores = (random.standard_normal((90, 1)) + 1.5 * truth).astype(np.float32)
    parts = (np.arange(90) % 3).astype(np.int32)
    counts = crossed_counts(scores, truth, parts, Objective(0, 1))
    for part in range(3):
        others, inside = parts != part, parts == part
        levels = np.sort(scores[others, 0])
        cuts = np.append((levels[1:] + levels[:-1]) / 2, levels[:1] - 1)
        values = [_f1(scores[others, 0] > cut, truth[others, 0]) for cut in cuts]
        best = cuts[int(np.argmax(values))]
        marks, true = scores[inside, 0] > best, truth[inside, 0]
        expected = [(marks & true).sum(), (marks & ~true).sum(), (~marks & true).sum()]
        assert counts[part, 0].tolist() == expected


def _f1(marks: Any, truth: Any) -> float:
    return float(2 * (marks & truth).sum() / max(marks.sum() + truth.sum(), 1))


def test_best_tries_more_and_an_ensemble_only_where_it_pays() -> None:
    search = trained(quality="best").info.figures["search"]
    names = [own["name"] for own in search["trials"]]
    assert any("characters" in name for name in names)
    assert len(search["trials"]) > len(COSTS) + 3 * 3


def test_ready_made_features_choose_c_and_ratios_alone() -> None:
    random = np.random.default_rng(0)
    sets = texts().label_sets
    marks = np.array([[f"l{label}" in own for label in range(4)] for own in sets], np.float32)
    rows = marks @ random.standard_normal((4, 30)) + random.standard_normal((len(sets), 30))
    data = Collection(
        csr_array(rows.astype(np.float32)), sets, [""] * len(sets), Summary(), is_ready_made=True
    )
    model = trained(data=data)
    search = model.info.figures["search"]
    assert len(search["trials"]) == len(COSTS) + 3
    assert model.info.recipe["members"][0]["features"] == {"kind": "ready-made"}


def test_trials_along_an_order_learn_from_what_came_before_alone() -> None:
    data = texts()
    order = np.random.default_rng(3).permutation(len(data))
    truth = LabelIndex.of(data.label_sets).truth(data.label_sets)
    changed = truth.toarray()
    last = order[-len(order) // 4 :]
    changed[last] = 1 - changed[last]
    one, other = (_tried(data, marks, order) for marks in (truth, csr_array(changed)))
    scored = order[len(order) // 4 :]
    assert one.counts.shape[0] == FOLDS
    assert one.counts[:, :, [0, 2]].sum() == truth[scored].sum()
    assert one.scores is not None
    assert other.scores is not None
    np.testing.assert_array_equal(one.scores, other.scores)  # labels of the last teach nothing


def _tried(data: Collection, truth: Any, order: Any) -> Trial:
    sample = trial_sample(
        data.documents, truth, FoldPlan(order=order), words=40, most_work=1e9, seed=0
    )
    member, fitting = MemberRecipe("one-vs-rest"), Fitting()
    features = SampleFeatures(sample, fitting)
    (trial,) = trials_of(
        Candidate("words", member, (1.0,)), sample, features, objective=Objective(), fitting=fitting
    )
    return trial


def test_a_search_holds_out_as_the_recipe_says() -> None:
    random = trained()
    forward = trained({"decision": {"folds_by": "order"}})
    tables = [model.info.figures["search"]["trials"] for model in (random, forward)]
    assert len(tables[0]) == len(tables[1])
    assert tables[0] != tables[1]


def test_a_plan_among_some_documents_keeps_their_order() -> None:
    plan = FoldPlan(order=np.array([3, 1, 0, 2]))
    order = plan.among(np.array([0, 1, 3])).order
    assert order is not None
    assert order.tolist() == [2, 1, 0]

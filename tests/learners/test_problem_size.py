"""Run time and space as LibMultiLabel counts them."""

from app.datasets.collection import Collection
from app.training.recipe import read_recipe
from app.training.train import TrainingJob, train


def test_a_training_says_what_it_solved_and_keeps(corpus: Collection) -> None:
    recipe = read_recipe(None, changes=["decision.folds=3", "decision.resamples=0"])
    trained = train(TrainingJob(corpus, recipe))
    member, size = trained.classifier.members[0], trained.info.figures["size"]
    assert size["problems"] == 5 + 3 * 5
    assert size["dense_bytes"] == 8 * member.vectorizer.n_features * 5
    arrays = member.learner.state().arrays.values()
    assert size["bytes"] == sum(array.nbytes for array in arrays)


def test_learners_that_solve_no_problems_count_none(corpus: Collection) -> None:
    trained = train(TrainingJob(corpus, read_recipe(None, learner="rocchio")))
    assert trained.info.figures["size"]["problems"] is None


def test_a_search_for_costs_counts_every_cost_and_fold(corpus: Collection) -> None:
    changes = ["decision.folds=0", "decision.name=zero"]
    recipe = read_recipe(None, learner="cost-sensitive", changes=changes)
    assert train(TrainingJob(corpus, recipe)).info.figures["size"]["problems"] == 5 * (7 * 3 + 1)

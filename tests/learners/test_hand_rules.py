"""The learner of models that hand-written rules decide alone: it says nothing, and comes back."""

import numpy as np
import pytest

from app.errors import InvalidRequestError
from app.learners.untrained.hand_rules import HandRulesAlone
from tests.learners.made_up import made_up


def test_it_scores_every_label_0_and_comes_back_from_its_state() -> None:
    features, truth = made_up(20, 4)
    learner = HandRulesAlone("rules.toml").fit(features, truth)
    again = HandRulesAlone.from_state(learner.state())
    assert again.scores(features).tolist() == np.zeros((20, 4)).tolist()
    assert again.scores(features[:0]).shape == (0, 4)
    assert again.rules_file == ""
    (nothing,) = again.contributions(np.arange(3), np.ones(3, np.float32), [2])
    assert (nothing.weights.sum(), nothing.bias) == (0, 0)


def test_without_a_file_of_rules_there_is_nothing_to_fit() -> None:
    with pytest.raises(InvalidRequestError, match=r"learner\.rules"):
        HandRulesAlone().fit(*made_up(20, 4))

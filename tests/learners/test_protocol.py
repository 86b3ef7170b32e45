"""The hooks of learners and vectorizers: declared in base.py, stated soundly, never looked for."""

import ast
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from app.decisions.tuning.tune import TuningOptions
from app.learners import LEARNERS
from app.learners.base import Learner, learner_class
from app.state import State
from app.training.construct import construct, construct_part
from app.vectorizers import VECTORIZERS
from app.vectorizers.base import Vectorizer, vectorizer_class

APP = Path(__file__).parent.parent.parent / "app"
KNOWS_HOOKS = [
    *(APP / "learners").rglob("*.py"),
    *(APP / "vectorizers").rglob("*.py"),
    *(APP / "training").rglob("*.py"),
    *(APP / "kernels" / "linear").rglob("*.py"),
    APP / "classifier.py",
    APP / "explanation.py",
]


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_learner_states_what_the_parts_it_names_accept(kind: str) -> None:
    learner = learner_class(kind)
    assert Learner in learner.__mro__
    assert learner.kind == kind
    construct_part("features", vectorizer_class(learner.features), learner.feature_settings)
    construct("decision", TuningOptions, learner.tuning_settings)
    construct_part("learner", learner, learner.untuned_settings)
    assert learner.settings_type is None or is_dataclass(learner.settings_type)


@pytest.mark.parametrize("kind", VECTORIZERS)
def test_a_vectorizer_is_found_under_its_own_name(kind: str) -> None:
    vectorizer = vectorizer_class(kind)
    assert Vectorizer in vectorizer.__mro__
    assert vectorizer.kind == kind
    assert vectorizer.settings_type is None or is_dataclass(vectorizer.settings_type)


def test_a_learner_that_lacks_a_method_cannot_be_made() -> None:
    class Halfway(Learner):
        kind = "halfway"

        def state(self) -> State:
            return State(self.kind)

    with pytest.raises(TypeError, match=r"abstract methods .*fit.*from_state.*scores"):
        Halfway()  # type: ignore[abstract]


@pytest.mark.parametrize("file", KNOWS_HOOKS, ids=lambda file: str(file.relative_to(APP)))
def test_no_hook_is_looked_for_by_its_name(file: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    looked_for = [
        node.lineno
        for node in calls
        if isinstance(node.func, ast.Name)
        and (node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3))
    ]
    assert looked_for == []

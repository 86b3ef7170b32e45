"""The papers' methods as recipes of ours, and how far each is the same."""

from dataclasses import dataclass, replace
from itertools import product

from app.papers.rows import SAME
from app.training.recipe import Recipe, read_recipe


@dataclass(frozen=True, slots=True)
class Method:
    """A method under the paper's name: our learner, the settings that differ from its defaults."""

    name: str
    learner: str
    changes: tuple[str, ...] = ()
    same: str = SAME
    """`yes`, or `differs: how`."""
    choices: tuple[tuple[str, ...], ...] = ()
    """Changes of which those are taken that do best on training data; empty: there is no choice."""

    def recipe(self, *, is_ready_made: bool) -> Recipe:
        """The recipe, for texts or for rows of features."""
        recipe = read_recipe(None, learner=self.learner, changes=self.changes)
        return (recipe.for_ready_made() if is_ready_made else recipe).completed()

    def chosen(self, choice: tuple[str, ...]) -> "Method":
        """The method with one of its choices made."""
        return replace(self, changes=(*self.changes, *choice), choices=())


def grid(**values: tuple[object, ...]) -> tuple[tuple[str, ...], ...]:
    """Every combination of settings of the learner, the first ones of all first.

    >>> grid(k=(5, 10), centred=(True,))
    (('learner.k=5', 'learner.centred=true'), ('learner.k=10', 'learner.centred=true'))
    """
    written = [
        [f"learner.{name}={str(value).lower()}" for value in own] for name, own in values.items()
    ]
    return tuple(product(*written))

"""LeadCounts: terms and first words of a group of texts counted, as a task of a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.engine import Engine, Extent, Task, TaskArrays
from app.kernels import kernels
from app.kernels.text.leads import LeadColumns
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.state import State
from app.vectorizers.tfidf_settings import TfidfSettings
from app.vectorizers.workers.learnt_terms import CountedGroup
from app.vectorizers.workers.shared_groups import TextArrays, bytes_of, texts_of


@dataclass(frozen=True, slots=True)
class LeadCounts:
    """Some texts, and the vocabulary of all."""

    kind: ClassVar[str] = "lead-counts"
    stored: ClassVar[slice] = slice(2, None)
    settings: TfidfSettings
    vocabulary: Mapping[str, NDArray[Any]]
    texts: TextArrays

    def shared(self) -> State:
        """The settings, and the arrays of the vocabulary and of the texts."""
        return State(self.kind, asdict(self.settings), {**self.vocabulary, **self.texts})

    @classmethod
    def from_shared(cls, state: State) -> "LeadCounts":
        """The same again."""
        return cls(TfidfSettings(**state.settings), state.arrays, state.arrays)

    def run(self, task: Task) -> TaskArrays:
        """The columns that occur; the number of counts of each text; columns and counts, which
        stay. Every term has a column among all first words."""
        vocabulary = Vocabulary.from_arrays(dict(self.vocabulary))
        leads = every_lead(self.settings, len(vocabulary))
        counts = kernels("text.tokens").count_known(
            texts_of(self.texts), self.settings.analysis(), vocabulary, leads=leads
        )
        used = np.flatnonzero(np.bincount(counts.columns))
        return (used, np.diff(counts.indptr), counts.columns, counts.counts)

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The texts."""
        return Extent(len(arrays[1]), bytes_of(self.texts))


def every_lead(settings: TfidfSettings, n_terms: int) -> LeadColumns:
    """A column for each term among each number of first words."""
    return LeadColumns.of(settings.lead, np.ones((len(settings.lead), n_terms), np.bool_))


def lead_counts_on(
    engine: Engine, groups: Sequence[TextArrays], settings: TfidfSettings, vocabulary: Vocabulary
) -> tuple[NDArray[np.bool_], list[CountedGroup]]:
    """Which of all columns occur, and the counts of every group in them, by workers."""
    names = {name: engine.store(array) for name, array in vocabulary.arrays().items()}
    works = (LeadCounts(settings, names, group) for group in groups)
    is_used = np.zeros(len(vocabulary) * (1 + len(settings.lead)), np.bool_)
    counted = []
    for used, *own in engine.map_each(works):
        is_used[used] = True
        counted.append(CountedGroup(*own))
    return is_used, counted

"""LearntTerms: the terms of a group of texts and their counts, as a task of a worker."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.arrays import occurrences
from app.engine import ArrayName, Engine, Extent, Task, TaskArrays
from app.kernels import kernels
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.state import State
from app.vectorizers.tfidf_settings import TfidfSettings
from app.vectorizers.workers.shared_groups import TextArrays, bytes_of, texts_of


@dataclass(frozen=True, slots=True)
class LearntTerms:
    """Some texts, and how they are cut into terms."""

    kind: ClassVar[str] = "learnt-terms"
    stored: ClassVar[slice] = slice(5, None)
    settings: TfidfSettings
    texts: TextArrays

    def shared(self) -> State:
        """The settings, and the texts' arrays."""
        return State(self.kind, asdict(self.settings), dict(self.texts))

    @classmethod
    def from_shared(cls, state: State) -> "LearntTerms":
        """The same again."""
        return cls(TfidfSettings(**state.settings), state.arrays)

    def run(self, task: Task) -> TaskArrays:
        """The terms, packed, and where each ends; in how many texts each stands, and how often;
        the number of terms of each text; columns and counts, which stay."""
        analysis = self.settings.analysis()
        vocabulary, counts = kernels("text.tokens").learn(texts_of(self.texts), analysis)
        if self.settings.binary:
            counts.counts.fill(1)
        frequencies = occurrences(counts.columns, len(vocabulary))
        uses = np.bincount(counts.columns, counts.counts, minlength=len(vocabulary))
        terms = (vocabulary.packed, vocabulary.ends, frequencies, uses.astype(np.int64))
        return (*terms, np.diff(counts.indptr), counts.columns, counts.counts)

    def extent(self, task: Task, arrays: TaskArrays) -> Extent:
        """The texts."""
        return Extent(len(arrays[4]), bytes_of(self.texts))


class CountedGroup(NamedTuple):
    """The counts of a group of texts: how many each text has; where columns and counts are."""

    sizes: NDArray[np.int64]
    columns: ArrayName
    counts: ArrayName


@dataclass(frozen=True, slots=True)
class LearntTexts:
    """The terms of all texts, what is to be known of each, and the counts of every group."""

    vocabulary: Vocabulary
    frequencies: NDArray[np.int64]
    """In how many texts each term stands."""
    uses: NDArray[np.float64]
    """How often it stands there."""
    columns_of: list[NDArray[np.int32]]
    """For each group, the column of each of its own columns."""
    groups: list[CountedGroup]

    def total_uses(self) -> NDArray[np.float64]:
        """How often each term stands in all texts."""
        return self.uses


def learn_on(engine: Engine, groups: Sequence[TextArrays], settings: TfidfSettings) -> LearntTexts:
    """The terms of all groups, and their counts, by workers."""
    vocabularies, frequencies, uses, counted = [], [], [], []
    table = np.zeros(0, np.uint32)  # nothing is looked up: these terms are put to others
    for arrays in engine.map_each(LearntTerms(settings, group) for group in groups):
        packed, ends, own_frequencies, own_uses, *own_counts = arrays
        vocabularies.append(Vocabulary(packed, ends, table))
        frequencies.append(own_frequencies)
        uses.append(own_uses)
        counted.append(CountedGroup(*own_counts))
    vocabulary, columns_of = kernels("text.tokens").merged(vocabularies)
    in_texts = _added(frequencies, columns_of, len(vocabulary))
    in_all = _added(uses, columns_of, len(vocabulary)).astype(np.float64)
    return LearntTexts(vocabulary, in_texts, in_all, columns_of, counted)


def _added(
    of_groups: Sequence[NDArray[np.int64]], columns_of: Sequence[NDArray[np.int32]], n_terms: int
) -> NDArray[np.int64]:
    """The sum over all groups of what each says of its own terms."""
    total = np.zeros(n_terms, np.int64)
    for own, columns in zip(of_groups, columns_of, strict=True):
        total[columns] += own  # no column comes twice
    return total

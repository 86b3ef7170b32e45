"""Tf-idf: texts → rows of weighed terms, the same matrix as scikit-learn's TfidfVectorizer."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import Features, Truth
from app.engine import Engine
from app.errors import DamagedArtifactError, InvalidDataError
from app.folds import Folds
from app.kernels import kernels
from app.kernels.linear.types import FittedTfidf
from app.kernels.text.analysis import Analysis
from app.kernels.text.counts import Counts, kept
from app.kernels.text.leads import NO_LEADS, LeadColumns
from app.kernels.text.offsets import terms_with_offsets
from app.kernels.vocabulary.vocabulary import Vocabulary
from app.progress import Progress, silent
from app.resources.scratch import ScratchFolder
from app.state import State
from app.vectorizers.base import TermSpans, Vectorizer
from app.vectorizers.fold_vocabulary import is_known, narrowed, rescaled
from app.vectorizers.selection import TermUse, frequent_enough
from app.vectorizers.term_selection.chosen_terms import chosen_terms
from app.vectorizers.tfidf_settings import TfidfSettings
from app.vectorizers.workers.lead_counts import every_lead, lead_counts_on
from app.vectorizers.workers.learnt_terms import learn_on
from app.vectorizers.workers.shared_groups import TextArrays, shared_groups
from app.vectorizers.workers.weighed_rows import CountedTexts, sparse_rows, weighed_on


class Tfidf(Vectorizer):
    """Counts terms, weighs them by their rarity, and scales each row to length 1."""

    kind: ClassVar[str] = "tfidf"
    settings_type: ClassVar[type | None] = TfidfSettings

    def __init__(self, **settings: Any) -> None:
        self.settings = TfidfSettings(**settings)
        self.analysis = self.settings.analysis()
        self.vocabulary = Vocabulary.empty()
        self.frequencies: NDArray[np.uint32] = np.zeros(1, np.uint32)
        self.leads = self._learnt = NO_LEADS
        """The columns of first words now, and as they were learnt, whatever is selected since."""
        self.idf: NDArray[np.float64] = np.zeros(0)
        self._terms: list[str] = []

    @property
    def n_features(self) -> int:
        """How many columns there are: one a term, and those of first words."""
        return len(self.idf)

    def fit_transform(
        self, documents: Sequence[Any], *, jobs: int = 1, progress: Progress = silent
    ) -> Features:
        """Learn the terms and their weights, and the rows of these texts."""
        progress("vectorize", 0, len(documents))
        learnt = kernels("text.tokens").learn(documents, self.analysis, jobs=jobs)
        return self._fitted(learnt, documents, jobs, progress)

    def fit_transform_on(
        self,
        engine: Engine,
        documents: Sequence[Any],
        *,
        jobs: int,
        progress: Progress = silent,
        scratch: ScratchFolder | None = None,
    ) -> Features:
        """The same rows; of many texts, workers learn the terms, count and weigh them."""
        groups = shared_groups(engine, documents)
        if groups is None:
            return self.fit_transform(documents, jobs=jobs, progress=progress)
        progress("vectorize", 0, len(documents))
        learnt = learn_on(engine, groups, self.settings)
        use = TermUse(learnt.frequencies, len(documents), learnt.total_uses)
        keep = self._keep_frequent(learnt.vocabulary, use)
        renumbered = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        if self.settings.lead:
            counted = self._leads_on(engine, groups)
        else:
            numbers = (renumbered[columns] for columns in learnt.columns_of)
            counted = CountedTexts(learnt.groups, numbers, int(learnt.frequencies[keep].sum()))
        del learnt, use
        self.idf = self._rarity()
        rows = weighed_on(engine, counted, self.idf, self.settings, scratch)
        progress("vectorize", len(documents), len(documents))
        return rows

    def _leads_on(self, engine: Engine, groups: list[TextArrays]) -> CountedTexts:
        """The columns that first words of these texts have, and the counts in all columns."""
        is_used, counted = lead_counts_on(engine, groups, self.settings, self.vocabulary)
        self.leads = self._learnt = every_lead(self.settings, len(self.vocabulary)).kept(is_used)
        numbers = engine.store(np.where(is_used, np.cumsum(is_used) - 1, -1).astype(np.int32))
        n_entries = sum(int(group.sizes.sum()) for group in counted)
        return CountedTexts(counted, [numbers] * len(counted), n_entries)

    def _fitted(
        self,
        learnt: tuple[Vocabulary, Counts],
        documents: Sequence[Any],
        jobs: int,
        progress: Progress,
    ) -> Features:
        """Keep the terms that are frequent enough, and weigh them."""
        vocabulary, counts = learnt
        if self.settings.binary:
            counts.counts.fill(1)
        keep = self._keep_frequent(vocabulary, TermUse.of(counts, len(vocabulary)))
        if not keep.all():
            counts = kept(counts, keep)
        if self.settings.lead:
            self.leads, counts = self._with_leads(documents, jobs)
            self._learnt = self.leads
        self.idf = self._rarity()
        progress("vectorize", len(documents), len(documents))
        return self._weighed(counts, jobs)

    def _keep_frequent(self, vocabulary: Vocabulary, use: TermUse) -> NDArray[np.bool_]:
        """Take the terms that are frequent enough, and mark them."""
        keep = frequent_enough(use, self.settings)
        if not keep.any():
            raise InvalidDataError("no terms are left: texts are empty, or the limits too narrow")
        self.vocabulary = vocabulary if keep.all() else vocabulary.kept(keep)
        self.frequencies = np.append(use.frequencies[keep], use.n_documents).astype(np.uint32)
        return keep

    def transform(self, documents: Sequence[Any], *, jobs: int = 1) -> Features:
        """Rows of tf-idf weights; a text without a known term is an empty row."""
        tokens = kernels("text.tokens")
        counts = tokens.count_known(
            documents, self.analysis, self.vocabulary, leads=self.leads, jobs=jobs
        )
        return self._weighed(counts, jobs)

    def held_out_rows(self, features: Features, folds: Folds) -> Features:
        """The rows without terms that no document outside the fold has, scaled to length 1 again.

        The idf stays that of all documents.
        """
        return rescaled(features, is_known(features, features.indices, folds))

    @property
    def selects_terms(self) -> bool:
        """Whether the settings name a measure to select terms by."""
        return bool(self.settings.select)

    def select(
        self, features: Features, truth: Truth, documents: NDArray[Any] | None = None
    ) -> Features:
        """Keep the chosen terms only; rows are scaled to length 1 on these.

        The idf stays that of all documents.
        """
        if not self.selects_terms:
            return features
        every = np.arange(features.shape[0])
        keep = self._chosen(features, truth, every if documents is None else documents)
        is_term = keep[: len(self.vocabulary)]
        self.leads = self.leads.kept(keep) if self.settings.lead else NO_LEADS
        self.vocabulary = self.vocabulary.kept(is_term)
        self.frequencies = self.frequencies[np.append(is_term, True)]
        self.idf = self.idf[keep]
        return narrowed(features, keep)

    def selected_rows(self, features: Features, truth: Truth, documents: NDArray[Any]) -> Features:
        """The rows on the terms that these documents choose, or have where none are selected."""
        return narrowed(features, self._chosen(features, truth, documents))

    def terms(self) -> Sequence[str]:
        """The terms in column order; those of first words come again for each lead."""
        if not self.settings.lead:
            return self.vocabulary.terms
        if len(self._terms) != self.n_features:
            terms = self.vocabulary.terms
            self._terms = terms + [terms[number] for number in self.leads.terms]
        return self._terms

    def fitted_tfidf(self) -> FittedTfidf | None:
        """What a kernel needs to go from text to scores in one step; None if it cannot."""
        if self.analysis.stem is not None:
            return None
        scheme, binary = self.settings.scheme, self.settings.binary
        return FittedTfidf(self.analysis, self.vocabulary, self.idf, scheme, binary, self.leads)

    def word_analysis(self) -> Analysis:
        """Its own, where terms are made of words; else words as they are by default."""
        return self.analysis if self.analysis.analyzer == "word" else Analysis()

    def unknown_terms(
        self, documents: Sequence[Any], *, are_own: bool = False
    ) -> NDArray[np.float64]:
        """The share of each text's terms that are not in the vocabulary; 0 for an empty text."""
        counts = kernels("text.tokens").count_known(documents, self.analysis, self.vocabulary)
        found = counts.counts.astype(np.float64)
        if are_own:  # as if the vocabulary had been learnt without the text
            found[self.frequencies[counts.columns] <= self._least_frequency()] = 0.0
        totals = np.concatenate([[0.0], np.cumsum(found)])[counts.indptr]
        every = np.array([self.analysis.n_terms(text) for text in documents], np.float64)
        unknown: NDArray[np.float64] = (every - np.diff(totals)) / np.maximum(every, 1.0)
        return unknown

    def term_spans(self, text: str) -> TermSpans:
        """The row of one text, and where each of its terms stands in the text as sent."""
        row = self.transform([text])
        spans: dict[int, list[tuple[int, int]]] = {int(column): [] for column in row.indices}
        known = self.vocabulary.columns
        for length, columns in ((None, None), *self.leads.by_length()):
            for term, start, end in terms_with_offsets(text, self.analysis, length):
                if term in known and end > start:
                    column = known[term] if columns is None else int(columns[known[term]])
                    if column >= 0:
                        spans[column].append((start, end))
        return TermSpans(row.indices, row.data, spans)

    def state(self) -> State:
        """Settings; packed terms with their hash table; in how many documents they stand.

        `leads` (leads, terms) says which terms have columns among the first words.
        """
        arrays = {**self.vocabulary.arrays(), "frequencies": self.frequencies}
        if self.settings.lead:
            arrays["leads"] = self.leads.has_column
        return State(self.kind, asdict(self.settings), arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build an equal vectorizer again; nothing is read before it is needed."""
        vectorizer = cls(**state.settings)
        vectorizer.vocabulary = Vocabulary.from_arrays(state.arrays)
        vectorizer.frequencies = state.arrays["frequencies"]
        n_terms, lead = len(vectorizer.vocabulary), vectorizer.settings.lead
        if len(vectorizer.frequencies) != n_terms + 1:
            raise DamagedArtifactError("the vocabulary and its frequencies differ in number")
        if lead:
            has_column = np.asarray(state.arrays["leads"], np.bool_)
            if has_column.shape != (len(lead), n_terms):
                raise DamagedArtifactError("the vocabulary and the columns of first words differ")
            vectorizer.leads = LeadColumns.of(lead, has_column)
        vectorizer.idf = vectorizer._rarity()
        return vectorizer

    def _with_leads(self, documents: Sequence[Any], jobs: int) -> tuple[LeadColumns, Counts]:
        """The columns that first words of these texts have, and the counts in all columns."""
        n_columns = len(self.vocabulary) * (1 + len(self.settings.lead))
        every = every_lead(self.settings, len(self.vocabulary))
        tokens = kernels("text.tokens")
        counts = tokens.count_known(
            documents, self.analysis, self.vocabulary, leads=every, jobs=jobs
        )
        self.vocabulary.tables.clear()  # that of every column is needed no more
        is_used = np.bincount(counts.columns, minlength=n_columns) > 0
        return every.kept(is_used), kept(counts, is_used)

    def _least_frequency(self) -> float:
        """In how many documents a term of the vocabulary must stand."""
        min_df = self.settings.min_df
        return max(1, min_df if isinstance(min_df, int) else min_df * self.frequencies[-1])

    def _rarity(self) -> NDArray[np.float64]:
        """The idf of every column: first words have that of their term, times their weight."""
        idf = rarity(self.frequencies, self.settings.scheme)
        return np.concatenate([idf, self.settings.lead_weight * idf[self.leads.terms]])

    def _chosen(self, features: Features, truth: Truth, documents: NDArray[Any]) -> Any:
        """Marks the columns to keep, by these documents: of terms, and of first words with them."""
        rows, settings = features[documents], self.settings
        n_terms = features.shape[1] - len(self._learnt.terms)
        keep = chosen_terms(
            rows[:, :n_terms],
            truth[documents],
            select=settings.select or "df",
            keep=settings.keep or n_terms,
            over=settings.select_over,
        )
        is_used = np.bincount(rows.indices, minlength=features.shape[1])[n_terms:] > 0
        return np.append(keep, keep[self._learnt.terms] & is_used)

    def _weighed(self, counts: Counts, jobs: int) -> Features:
        if self.settings.binary:
            counts.counts.fill(1)
        weights = kernels("text.tfidf").tfidf_weights(counts, self.idf, self.settings.scheme)
        return sparse_rows(weights, counts.columns, counts.indptr, self.n_features)


def rarity(frequencies: NDArray[np.uint32], scheme: str) -> NDArray[np.float64]:
    """The idf of each term: ln((1 + D)/(1 + df)) + 1, or ln(D/df) for the SMART schemes."""
    frequency, n_documents = frequencies[:-1].astype(np.float64), float(frequencies[-1])
    if scheme in ("tfidf", "log"):
        return np.log((1.0 + n_documents) / (1.0 + frequency)) + 1.0
    return np.log(n_documents / frequency)

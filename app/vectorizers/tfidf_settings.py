"""The settings of tf-idf, checked: the names of scikit-learn's where it has the same thing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from app.errors import InvalidRequestError
from app.kernels.text.analysis import Analysis
from app.vectorizers.term_selection.chosen_terms import OVER, SELECTIONS

ANALYZERS = ("word", "char", "char_wb")
SCHEMES = ("tfidf", "log", "ltc", "atc", "ntc")
REMEMBERED = 2**17  # stems: enough for the words of a large corpus, bounded for a long-lived server


@dataclass(frozen=True, slots=True)
class TfidfSettings:
    """How texts become terms, which terms stay, and how they are weighed.

    `min_df` and `max_df` are numbers of documents when whole, shares of them when fractions.
    `select` keeps the `keep` terms that tell most of the labels. `lead` are numbers of words: the
    first so many of a text count again in columns of their own, weighed with `lead_weight`.
    """

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: str | tuple[str, ...] = ()
    stemmer: str = ""
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    binary: bool = False
    scheme: str = "tfidf"
    select: str = ""
    keep: int | None = None
    select_over: str = "max"
    lead: tuple[int, ...] = ()
    lead_weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram_range", tuple(self.ngram_range))
        if isinstance(self.lead, list):
            object.__setattr__(self, "lead", tuple(self.lead))
        if not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(self.stop_words))
        self._check()

    def _check(self) -> None:
        _need(self.analyzer in ANALYZERS, "analyzer", f"one of {', '.join(ANALYZERS)}")
        _need(self.scheme in SCHEMES, "scheme", f"one of {', '.join(SCHEMES)}")
        _need(_is_range(self.ngram_range), "ngram_range", "two whole numbers, 1 <= first <= second")
        listed = not isinstance(self.stop_words, str)
        _need(listed or self.stop_words in ("", "english"), "stop_words", "'english' or a list")
        for name in ("min_df", "max_df"):
            _need(_is_frequency(getattr(self, name)), name, "a whole number >= 1 or a share 0…1")
        limit = self.max_features
        _need(limit is None or (type(limit) is int and limit > 0), "max_features", "a number >= 1")
        words_only = self.analyzer == "word" or not (self.stop_words or self.stemmer)
        _need(words_only, "stop_words and stemmer", "with the analyzer 'word' only")
        if self.stemmer:
            _stem(self.stemmer)
        for name in ("lowercase", "binary"):
            _need(type(getattr(self, name)) is bool, name, "true or false")
        self._check_selection()
        self._check_lead()

    def _check_selection(self) -> None:
        _need(self.select in ("", *SELECTIONS), "select", f"one of {', '.join(SELECTIONS)}")
        _need(self.select_over in OVER, "select_over", f"one of {', '.join(OVER)}")
        whole = type(self.keep) is int and self.keep > 0
        _need(whole if self.select else self.keep is None, "keep", "a number >= 1, with select")
        # atc weighs a term by the most frequent one of its text, which may not be kept.
        _need(not self.select or self.scheme != "atc", "scheme", "any but atc, with select")

    def _check_lead(self) -> None:
        _need(_is_lead(self.lead), "lead", "a list of rising whole numbers >= 1")
        _need(not self.lead or self.analyzer == "word", "lead", "with the analyzer 'word' only")
        weight = self.lead_weight
        is_weight = type(weight) in (int, float) and 0 < weight < float("inf")
        _need(is_weight, "lead_weight", "a number above 0")

    def analysis(self) -> Analysis:
        """How a text is cut into terms."""
        stem = _stem(self.stemmer) if self.stemmer else None
        shortest, longest = self.ngram_range
        return Analysis(self.analyzer, shortest, longest, self.lowercase, self._stop_words(), stem)

    def _stop_words(self) -> frozenset[str]:
        if self.stop_words == "english":
            from app.vectorizers.stop_words import ENGLISH

            return ENGLISH
        return frozenset(self.stop_words)


def _need(is_right: bool, name: str, accepted: str) -> None:
    if not is_right:
        raise InvalidRequestError(f"tfidf {name}: not accepted; accepted: {accepted}")


def _is_range(value: tuple[Any, ...]) -> bool:
    whole = len(value) == 2 and all(type(n) is int for n in value)
    return whole and 1 <= value[0] <= value[1]


def _is_lead(value: Any) -> bool:
    whole = isinstance(value, tuple) and all(type(n) is int and n >= 1 for n in value)
    return whole and list(value) == sorted(set(value))


def _is_frequency(value: Any) -> bool:
    if type(value) is int:
        return value >= 1
    return type(value) is float and 0.0 <= value <= 1.0


def _stem(language: str) -> Callable[[str], str]:
    """A Snowball stemmer that remembers the words it has seen."""
    from snowballstemmer import algorithms, stemmer

    known = sorted(algorithms())
    _need(language in known, "stemmer", f"one of {', '.join(known)}")
    word_stemmer, lock = stemmer(language), Lock()

    @lru_cache(maxsize=REMEMBERED)
    def stem(word: str) -> str:
        with lock:  # a Snowball stemmer works in fields of its own
            return str(word_stemmer.stemWord(word))

    return stem

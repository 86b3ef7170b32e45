"""Text → terms: the definition that the kernels must equal."""

import re
from collections.abc import Callable
from dataclasses import dataclass

WORDS = re.compile(r"\w\w+")
WIDE_SPACES = re.compile(r"\s\s+")
LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Analysis:
    """How a text is segmented into terms, in the words of scikit-learn's vectorizers."""

    analyzer: str = "word"
    shortest: int = 1
    longest: int = 1
    lowercase: bool = True
    stop_words: frozenset[str] = frozenset()
    stem: Callable[[str], str] | None = None

    def terms(self, text: str) -> list[str]:
        """All terms of a text, with repetitions, in no promised order."""
        if self.analyzer == "word":
            return self._word_ngrams(self.stemmed(self.words(text)))
        text = self.cleaned(text)
        if self.analyzer == "char":
            return self._character_ngrams(WIDE_SPACES.sub(" ", text))
        return [term for word in text.split() for term in self._padded_ngrams(f" {word} ")]

    def n_terms(self, text: str) -> int:
        """How many terms a text has, with repetitions.

        >>> Analysis(longest=2).n_terms("Bank of England raises rates")
        9
        """
        if self.analyzer != "word":
            return len(self.terms(text))
        n_words = len(self.words(text))
        return sum(max(0, n_words - n + 1) for n in range(self.shortest, self.longest + 1))

    def lead_terms(self, text: str, n_words: int) -> list[str]:
        """The terms that the first words of a text make; stop words are not counted among them.

        >>> Analysis(longest=2).lead_terms("Bank of England raises rates", 2)
        ['bank', 'of', 'bank of']
        """
        return self._word_ngrams(self.stemmed(self.words(text)[:n_words]))

    def cleaned(self, text: str) -> str:
        """Lower-cased; half a surrogate pair, which no file can hold, becomes U+FFFD."""
        text = text.lower() if self.lowercase else text
        return text if text.isascii() else LONE_SURROGATES.sub("\ufffd", text)

    def words(self, text: str) -> list[str]:
        """The words of a text in reading order, without stop words, before they are stemmed.

        >>> Analysis(stop_words=frozenset({"of"})).words("Bank of England, 1997")
        ['bank', 'england', '1997']
        """
        words: list[str] = WORDS.findall(self.cleaned(text))
        return [word for word in words if word not in self.stop_words] if self.stop_words else words

    def stemmed(self, words: list[str]) -> list[str]:
        """The words as terms have them: stemmed, where that is asked for."""
        return [self.stem(word) for word in words] if self.stem else words

    def _word_ngrams(self, tokens: list[str]) -> list[str]:
        if self.longest == 1:
            return tokens
        lengths = range(self.shortest, self.longest + 1)
        return [" ".join(tokens[i : i + n]) for n in lengths for i in range(len(tokens) - n + 1)]

    def _padded_ngrams(self, word: str) -> list[str]:
        """The n-grams of a padded word; a word shorter than all of them counts once, whole."""
        return self._character_ngrams(word) if len(word) >= self.shortest else [word]

    def _character_ngrams(self, text: str) -> list[str]:
        lengths = range(self.shortest, self.longest + 1)
        return [text[i : i + n] for n in lengths for i in range(len(text) - n + 1)]

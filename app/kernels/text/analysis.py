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
        text = self.cleaned(text)
        if self.analyzer == "word":
            return self._word_ngrams(self._tokens(text))
        if self.analyzer == "char":
            return self._character_ngrams(WIDE_SPACES.sub(" ", text))
        return [term for word in text.split() for term in self._padded_ngrams(f" {word} ")]

    def cleaned(self, text: str) -> str:
        """Lower-cased; half a surrogate pair, which no file can hold, becomes U+FFFD."""
        text = text.lower() if self.lowercase else text
        return text if text.isascii() else LONE_SURROGATES.sub("\ufffd", text)

    def _tokens(self, text: str) -> list[str]:
        tokens: list[str] = WORDS.findall(text)
        if self.stop_words:
            tokens = [token for token in tokens if token not in self.stop_words]
        return [self.stem(token) for token in tokens] if self.stem else tokens

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

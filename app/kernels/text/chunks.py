"""Texts some at a time, so that what is made of them never has to be there all at once."""

from collections.abc import Iterable, Iterator


def text_chunks(texts: Iterable[str], n_characters: int) -> Iterator[list[str]]:
    """Texts one after another, about so many characters at a time.

    Their borders depend on the texts alone.

    >>> list(text_chunks(["ab", "c", "defg", "h"], 3))
    [['ab', 'c'], ['defg'], ['h']]
    """
    some: list[str] = []
    n_so_far = 0
    for text in texts:
        some.append(text)
        n_so_far += len(text)
        if n_so_far >= n_characters:
            yield some
            some, n_so_far = [], 0
    if some:
        yield some

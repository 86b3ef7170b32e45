"""Compact letter display: letters that two rows share if and only if no test tells them apart."""

from collections.abc import Iterable


def letter_groups(n: int, different: Iterable[tuple[int, int]]) -> list[str]:
    """For each of n rows in their order, its letters; `different` has the pairs told apart.

    Each letter is a largest set of rows of which no two are told apart, the first letters those of
    the first rows (Piepho 2004). After z comes a1.

    >>> letter_groups(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    groups = [frozenset(range(n))]
    for one, other in different:
        split = [group for group in groups if {one, other} <= group]
        rest = [group for group in groups if group not in split]
        parts = [group - {left_out} for group in split for left_out in (one, other)]
        groups = _largest([*rest, *parts])
    groups.sort(key=sorted)
    return [
        "".join(_letter(i) for i, group in enumerate(groups) if row in group) for row in range(n)
    ]


def _largest(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """The groups that no other holds, each once."""
    unique = set(groups)
    return [group for group in unique if not any(group < other for other in unique)]


def _letter(number: int) -> str:
    after_z, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(after_z) if after_z else "")

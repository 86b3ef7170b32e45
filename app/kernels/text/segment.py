"""A text's units, compiled: its words, or its characters, cleaned and laid end to end."""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, kernel
from app.kernels.text.characters import OTHER, SPACE, WIDE, WORD
from app.kernels.vocabulary.hashing import found, hashed
from app.kernels.vocabulary.hashing_plain import HASH_START, HASH_STEP

WORDS, CHARACTERS, INSIDE_WORDS = 0, 1, 2
BLANK = 32


@inner
def cut_units(text: Any, place: Any, cutting: Any, units: Any) -> Any:
    """How many units and groups the text at `place` (begin, end) has; they are left in `units`."""
    if cutting.analyzer == WORDS:
        return words(text, place, cutting, units)
    if cutting.analyzer == CHARACTERS:
        return characters(text, place, cutting, units)
    return padded_words(text, place, cutting, units)


@kernel
def words(text: Any, place: Any, cutting: Any, units: Any) -> Any:
    """Runs of two or more word characters that are no stop words, with a blank after each.

    Their hashes are taken on the way, since most terms are single words.
    """
    at, stop = place
    into, n_units = 0, 0
    while at < stop:
        letter = cutting.letters[text[at]]
        start, n_more, value = into, 0, np.uint32(HASH_START)
        while letter != OTHER:
            if letter != WIDE:
                units.cleaned[into] = letter
                value = np.uint32((value ^ np.uint32(letter)) * np.uint32(HASH_STEP))
                at, into = at + 1, into + 1
            else:
                point, width = decoded(text, at)
                if cutting.classes[point] != WORD:
                    break
                for i in range(width):
                    units.cleaned[into + i] = text[at + i]
                value = hashed(value, text, at, at + width)
                at, into, n_more = at + width, into + width, n_more + width - 1
            if at >= stop:
                break
            letter = cutting.letters[text[at]]
        is_word = into - start - n_more >= 2
        if is_word and not is_stop_word(cutting.stops, units.cleaned, (value, start, into)):
            units.starts[n_units], units.ends[n_units] = start, into
            units.hashes[n_units] = value
            units.cleaned[into] = BLANK
            into, n_units = into + 1, n_units + 1
        else:
            into = start
        at += width_at(text, at, stop)
    units.group_ends[0] = n_units
    return n_units, 1


@inner
def is_stop_word(stops: Any, cleaned: Any, span: Any) -> Any:
    """Whether this word (hash, begin, end) is to be passed over."""
    return len(stops.ends) > 0 and found(stops, cleaned, span) >= 0


@kernel
def characters(text: Any, place: Any, cutting: Any, units: Any) -> Any:
    """All characters; white space of two or more in a row is one blank."""
    at, stop = place
    into, n_units = 0, 0
    while at < stop:
        spaces_end = end_of_spaces(text, at, stop, cutting)
        width = width_at(text, at, stop)
        if spaces_end > at + width:
            into, at = add_blank(units, n_units, into), spaces_end
        else:
            into = add_character(text, (at, width), cutting, units, n_units, into)
            at += width
        n_units += 1
    units.group_ends[0] = n_units
    return n_units, 1


@kernel
def padded_words(text: Any, place: Any, cutting: Any, units: Any) -> Any:
    """The characters of each word between white space, with a blank before and after: a group."""
    at, stop = place
    into, n_units, n_groups = 0, 0, 0
    while True:
        at = end_of_spaces(text, at, stop, cutting)
        if at >= stop:
            return n_units, n_groups
        into = add_blank(units, n_units, into)
        n_units += 1
        while at < stop and not is_space(text, at, cutting):
            width = width_at(text, at, stop)
            into = add_character(text, (at, width), cutting, units, n_units, into)
            at, n_units = at + width, n_units + 1
        into = add_blank(units, n_units, into)
        n_units += 1
        units.group_ends[n_groups] = n_units
        n_groups += 1


@inner
def add_blank(units: Any, n_units: Any, into: Any) -> Any:
    """Lay down a blank as the next unit; where the one after it begins."""
    units.cleaned[into] = BLANK
    units.starts[n_units], units.ends[n_units] = into, into + 1
    units.hashes[n_units] = hashed(np.uint32(HASH_START), units.cleaned, into, into + 1)
    return into + 1


@inner
def add_character(text: Any, spot: Any, cutting: Any, units: Any, n_units: Any, into: Any) -> Any:
    """Lay down the character at `spot` (begin, width) as the next unit; where the next begins."""
    at, width = spot
    units.starts[n_units] = into
    for i in range(width):
        byte = text[at + i]
        is_upper = cutting.lowercase and 65 <= byte <= 90
        units.cleaned[into + i] = byte + 32 if is_upper else byte
    units.ends[n_units] = into + width
    units.hashes[n_units] = hashed(np.uint32(HASH_START), units.cleaned, into, into + width)
    return into + width


@inner
def end_of_spaces(text: Any, at: Any, stop: Any, cutting: Any) -> Any:
    """Where the white space that begins here ends; `at` itself if there is none."""
    while at < stop and is_space(text, at, cutting):
        at += width_at(text, at, stop)
    return at


@inner
def is_space(text: Any, at: Any, cutting: Any) -> Any:
    """Whether a white space character begins here."""
    if text[at] < 128:
        byte = text[at]
        return byte == BLANK or 9 <= byte <= 13 or 28 <= byte <= 31
    return cutting.classes[decoded(text, at)[0]] == SPACE


@inner
def width_at(text: Any, at: Any, stop: Any) -> Any:
    """How many bytes the character here has; 1 at the end of the text."""
    if at >= stop or text[at] < 192:
        return 1
    if text[at] < 224:
        return 2
    return 3 if text[at] < 240 else 4


@inner
def decoded(text: Any, at: Any) -> Any:
    """The code point of the character that begins here, and how many bytes it has."""
    first = text[at]
    if first < 224:
        return (first & 31) << 6 | (text[at + 1] & 63), 2
    if first < 240:
        return (first & 15) << 12 | (text[at + 1] & 63) << 6 | (text[at + 2] & 63), 3
    tail = (text[at + 1] & 63) << 12 | (text[at + 2] & 63) << 6 | (text[at + 3] & 63)
    return (first & 7) << 18 | tail, 4

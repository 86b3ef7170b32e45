"""A text segmented into tokens, its words or its characters, compiled.

Tokens are lower-cased on the way and packed one after the other, so that an n-gram, too, is one
span of bytes.
"""

from typing import Any

import numpy as np

from app.kernels.compiler import inner, outlined
from app.kernels.text.characters import OTHER, SPACE, WIDE, WORD
from app.kernels.vocabulary.hashing import column_of, hashed
from app.kernels.vocabulary.hashing_plain import HASH_START, HASH_STEP

WORDS, CHARACTERS, INSIDE_WORDS = 0, 1, 2
BLANK = 32


@inner
def segment(text: Any, span: Any, segmentation: Any, segments: Any) -> Any:
    """Write the tokens of the text at `span` (begin, end) to `segments`; (tokens, groups)."""
    if segmentation.analyzer == WORDS:
        return segment_words(text, span, segmentation, segments)
    if segmentation.analyzer == CHARACTERS:
        return segment_characters(text, span, segmentation, segments)
    return segment_inside_words(text, span, segmentation, segments)


@outlined
def segment_words(text: Any, span: Any, segmentation: Any, segments: Any) -> Any:
    """Write the runs of two or more word characters that are no stop words, a blank after each.

    Their hashes are taken on the way, since most terms are single words.
    """
    at, stop = span
    n_bytes, n_tokens = np.int64(0), np.int64(0)
    while at < stop:
        letter = segmentation.letters[text[at]]
        start, n_more, value = n_bytes, 0, np.uint32(HASH_START)
        while letter != OTHER:
            if letter != WIDE:
                segments.cleaned[n_bytes] = letter
                value = np.uint32((value ^ np.uint32(letter)) * np.uint32(HASH_STEP))
                at, n_bytes = at + 1, n_bytes + 1
            else:
                point, width = decoded(text, at)
                if segmentation.classes[point] != WORD:
                    break
                for i in range(width):
                    segments.cleaned[n_bytes + i] = text[at + i]
                value = hashed(value, text, at, at + width)
                # A word needs two characters, not two bytes: `n_more` counts the bytes beyond.
                at, n_bytes, n_more = at + width, n_bytes + width, n_more + width - 1
            if at >= stop:
                break
            letter = segmentation.letters[text[at]]
        is_word = n_bytes - start - n_more >= 2
        token = (value, start, n_bytes)
        if is_word and not is_stop_word(segmentation.stop_words, segments.cleaned, token):
            segments.starts[n_tokens], segments.ends[n_tokens] = start, n_bytes
            segments.hashes[n_tokens] = value
            segments.cleaned[n_bytes] = BLANK
            n_bytes, n_tokens = n_bytes + 1, n_tokens + 1
        else:
            n_bytes = start  # the next word is written over this one
        at += width_at(text, at, stop)  # over the character that ended the word
    segments.group_ends[0] = n_tokens
    return n_tokens, 1


@inner
def is_stop_word(stop_words: Any, cleaned: Any, token: Any) -> Any:
    """Whether the token (hash, begin, end) is a stop word."""
    return len(stop_words.ends) > 0 and column_of(stop_words, cleaned, token) >= 0


@outlined
def segment_characters(text: Any, span: Any, segmentation: Any, segments: Any) -> Any:
    """Write all characters; white space of two or more in a row is one blank."""
    at, stop = span
    n_bytes, n_tokens = np.int64(0), np.int64(0)
    while at < stop:
        spaces_end = end_of_spaces(text, at, stop, segmentation)
        width = width_at(text, at, stop)
        if spaces_end > at + width:
            n_bytes, at = add_blank(segments, n_tokens, n_bytes), spaces_end
        else:
            character = (at, width)
            n_bytes = add_character(text, character, segmentation, segments, n_tokens, n_bytes)
            at += width
        n_tokens += 1
    segments.group_ends[0] = n_tokens
    return n_tokens, 1


@outlined
def segment_inside_words(text: Any, span: Any, segmentation: Any, segments: Any) -> Any:
    """Write the characters of each word between white space, padded by blanks: a group a word."""
    at, stop = span
    n_bytes, n_tokens, n_groups = np.int64(0), np.int64(0), np.int64(0)
    while True:
        at = end_of_spaces(text, at, stop, segmentation)
        if at >= stop:
            return n_tokens, n_groups
        n_bytes = add_blank(segments, n_tokens, n_bytes)
        n_tokens += 1
        while at < stop and not is_space(text, at, segmentation):
            width = width_at(text, at, stop)
            character = (at, width)
            n_bytes = add_character(text, character, segmentation, segments, n_tokens, n_bytes)
            at, n_tokens = at + width, n_tokens + 1
        n_bytes = add_blank(segments, n_tokens, n_bytes)
        n_tokens += 1
        segments.group_ends[n_groups] = n_tokens
        n_groups += 1


@inner
def add_blank(segments: Any, token: Any, begin: Any) -> Any:
    """Write a blank as this token, its byte at `begin`; where the next token begins."""
    segments.cleaned[begin] = BLANK
    segments.starts[token], segments.ends[token] = begin, begin + 1
    segments.hashes[token] = hashed(np.uint32(HASH_START), segments.cleaned, begin, begin + 1)
    return begin + 1


@inner
def add_character(
    text: Any, character: Any, segmentation: Any, segments: Any, token: Any, begin: Any
) -> Any:
    """Write a character (at, width) as this token, from `begin` on; where the next one begins."""
    at, width = character
    segments.starts[token] = begin
    for i in range(width):
        byte = text[at + i]
        is_upper = segmentation.lowercase and 65 <= byte <= 90  # the rest was lowered by Python
        segments.cleaned[begin + i] = byte + 32 if is_upper else byte
    segments.ends[token] = begin + width
    segments.hashes[token] = hashed(np.uint32(HASH_START), segments.cleaned, begin, begin + width)
    return begin + width


@inner
def end_of_spaces(text: Any, at: Any, stop: Any, segmentation: Any) -> Any:
    """The end of the white space that begins here; `at` itself if there is none."""
    while at < stop and is_space(text, at, segmentation):
        at += width_at(text, at, stop)
    return at


@inner
def is_space(text: Any, at: Any, segmentation: Any) -> Any:
    """Whether a white space character begins here."""
    if text[at] < 128:
        byte = text[at]
        # What str.isspace says of ASCII: blank, tab to carriage return, the four separators.
        return byte == BLANK or 9 <= byte <= 13 or 28 <= byte <= 31
    return segmentation.classes[decoded(text, at)[0]] == SPACE


@inner
def width_at(text: Any, at: Any, stop: Any) -> Any:
    """How many bytes the UTF-8 character here has, by its first one; 1 at the end of the text."""
    if at >= stop or text[at] < 192:
        return 1
    if text[at] < 224:
        return 2
    return 3 if text[at] < 240 else 4


@inner
def decoded(text: Any, at: Any) -> Any:
    """The code point of the character that begins here, and how many bytes it has."""
    # The first byte has 5, 4 or 3 bits of the code point, each byte after it 6.
    first = text[at]
    if first < 224:
        return (first & 31) << 6 | (text[at + 1] & 63), 2
    if first < 240:
        return (first & 15) << 12 | (text[at + 1] & 63) << 6 | (text[at + 2] & 63), 3
    tail = (text[at + 1] & 63) << 12 | (text[at + 2] & 63) << 6 | (text[at + 3] & 63)
    return (first & 7) << 18 | tail, 4

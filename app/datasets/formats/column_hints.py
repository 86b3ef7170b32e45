"""What an error says about the columns or keys that there are, and which one may be meant."""

from collections.abc import Sequence
from difflib import get_close_matches

# The likelier ones first.
TEXTS: tuple[str, ...] = (
    "text",
    "body",
    "content",
    "message",
    "description",
    "comment",
    "review",
    "sentence",
)
TEXTS += ("document", "abstract", "question", "utterance", "tweet", "post", "article", "query")
TEXTS += ("prompt", "input", "data", "summary", "title", "subject")
LABELS: tuple[str, ...] = (
    "label",
    "tag",
    "categories",
    "category",
    "topic",
    "class",
    "target",
    "code",
    "genre",
)
LABELS += ("keyword", "intent", "sentiment", "annotation")
MOST_NAMES, LONGEST_NAME = 20, 40


def text_hint(names: Sequence[str], asked: Sequence[str] = ()) -> str:
    """The names that there are, and the option with the likeliest columns of texts.

    >>> text_hint(["Subject", "Body"], ["Body", "Subjct"])
    'there are: Subject, Body; did you mean --text-columns Body,Subject'
    """
    meant = [next(iter(get_close_matches(name, names, 1)), "") for name in asked]
    if meant and all(meant):
        return f"{names_hint(names)}; did you mean --text-columns {_quoted(','.join(meant))}"
    return _hint(names, TEXTS, "--text-columns")


def label_hint(names: Sequence[str]) -> str:
    """The names that there are, and the option with the likeliest column of labels.

    >>> label_hint(["id", "Tags"])
    'there are: id, Tags; did you mean --label-column Tags'
    """
    return _hint(names, LABELS, "--label-column")


def names_hint(names: Sequence[str]) -> str:
    """The first names of a header or of an object's keys, cut to a readable length."""
    shown = ", ".join(name[:LONGEST_NAME] for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"there are: {shown or 'none'}{more}"


def _hint(names: Sequence[str], likely: Sequence[str], option: str) -> str:
    """The likely words in their order; a name that holds one comes after those that are one."""
    folded = [(name.strip().lower(), name) for name in names]
    alike = [name for word in likely for other, name in folded if other == word]
    alike += [name for word in likely for other, name in folded if word in other]
    meant = f"; did you mean {option} {_quoted(alike[0])}" if alike else ""
    return f"{names_hint(names)}{meant}"


def _quoted(name: str) -> str:
    return name if name.replace(",", "_").isidentifier() else f"'{name}'"

"""Label names as written → the labels of a document: trimmed, mapped, each once."""

from collections.abc import Iterable, Mapping

CONTROLS = {*map(chr, range(32)), "\x7f", "\u2028", "\u2029"}
LONGEST = 1000
REMEMBERED = 1 << 18
ACCEPTED = f"label names of 1 to {LONGEST} characters, none of them a control character"


class BadLabelError(ValueError):
    """A name that cannot be a label; `position` is its place among the names given."""

    def __init__(self, problem: str, name: str, position: int, accepted: str = ACCEPTED) -> None:
        self.problem, self.name, self.position, self.accepted = problem, name, position, accepted
        super().__init__(problem)


class LabelSets:
    """Turns names as written into labels; remembers every name, so that each is checked once.

    White space around a name is removed. An empty name is passed over (nothing stands between
    two separators), or refused where `empty_is_bad` (a list that holds an empty string).
    """

    def __init__(self, label_map: Mapping[str, str] | None, *, empty_is_bad: bool = False) -> None:
        self._map = label_map or {}
        self._empty_is_bad = empty_is_bad
        self._known: dict[str, str] = {}

    def __call__(self, names: Iterable[str]) -> tuple[str, ...]:
        """The labels in the order of their names; a label that is repeated counts once."""
        known = self._known
        try:
            labels = [known[name] for name in names]
        except KeyError:
            labels = [self._label(name, position) for position, name in enumerate(names)]
        if len(labels) == 1 and labels[0]:
            return (labels[0],)
        return tuple(dict.fromkeys(filter(None, labels)))

    def _label(self, name: str, position: int) -> str:
        label = name.strip()
        if not label and self._empty_is_bad:
            raise BadLabelError("an empty label", name, position)
        if not CONTROLS.isdisjoint(label):
            raise BadLabelError("a control character in a label", name, position)
        if any("\ud800" <= character <= "\udfff" for character in label):
            raise BadLabelError("a label that is not UTF-8", ascii(name), position)
        if len(label) > LONGEST:
            raise BadLabelError("a label that is too long", name, position)
        if len(self._known) >= REMEMBERED:  # many spellings of few labels must not fill the memory
            self._known.clear()
        return self._known.setdefault(name, self._map.get(label, label))

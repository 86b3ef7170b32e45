"""A vectorizer, learner or tuner made from a recipe's settings, each checked by name and type."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from app.errors import InvalidRequestError

PLAIN = {
    str: "a word in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def construct(what: str, kind: Any, settings: Mapping[str, Any]) -> Any:
    """`kind(**settings)`; a setting that it does not have, or of another type, is refused."""
    accepted = _accepted(kind)
    for name, value in settings.items():
        if name not in accepted:
            known = ", ".join(accepted)
            raise InvalidRequestError(f"{what} has no setting {name!r}; accepted: {known}")
        if not _fits(value, accepted[name]):
            raise InvalidRequestError(f"{what}: {name} is {PLAIN[accepted[name]]}")
    return kind(**settings)


def _accepted(kind: Any) -> dict[str, Any]:
    """Name → type of every setting: the constructor's own, then those of its `settings_type`."""
    hints = get_type_hints(kind.__init__)
    found = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and not _is_internal(hints[name]):
            found[name] = hints[name]
    if hasattr(kind, "settings_type"):
        types = get_type_hints(kind.settings_type)
        found.update({field.name: types[field.name] for field in fields(kind.settings_type)})
    return found


def _is_internal(hint: Any) -> bool:
    """Whether only code can give it: an array is nothing that a recipe can spell."""
    return "ndarray" in str(hint)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a plain type; other types are checked by whoever takes them."""
    if hint not in PLAIN:
        return True
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is hint

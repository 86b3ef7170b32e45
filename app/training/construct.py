"""A vectorizer, learner or tuner made from a recipe's settings, each checked by name and type."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from app.errors import InvalidRequestError
from app.learners.base import Learner
from app.vectorizers.base import Vectorizer

PLAIN = {
    str: "a word in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
UNNAMED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def construct_part(
    what: str, kind: type[Vectorizer] | type[Learner], settings: Mapping[str, Any]
) -> Any:
    """`construct` of a vectorizer or a learner, with the settings of its `settings_type`."""
    return construct(what, kind, settings, further=kind.settings_type)


def construct(
    what: str, kind: Any, settings: Mapping[str, Any], *, further: type | None = None
) -> Any:
    """`kind(**settings)`; a setting that it does not have, or of another type, is refused.

    `further` is the dataclass of the settings that the constructor takes as `**settings`.
    """
    accepted = {**_parameters(kind), **(_fields(further) if further else {})}
    for name, value in settings.items():
        if name not in accepted:
            known = ", ".join(accepted) or "none"
            raise InvalidRequestError(f"{what} has no setting {name!r}; accepted: {known}")
        if not _fits(value, accepted[name]):
            raise InvalidRequestError(f"{what}: {name} is {PLAIN[accepted[name]]}")
    return kind(**settings)


def _parameters(kind: Any) -> dict[str, Any]:
    """Name → type of every setting that the constructor names."""
    hints, parameters = get_type_hints(kind.__init__), inspect.signature(kind).parameters
    named = [name for name, parameter in parameters.items() if parameter.kind not in UNNAMED]
    return {name: hints[name] for name in named if not _is_internal(hints[name])}


def _fields(settings_type: type) -> dict[str, Any]:
    """Name → type of every field of a dataclass of settings."""
    hints = get_type_hints(settings_type)
    return {field.name: hints[field.name] for field in fields(settings_type)}


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

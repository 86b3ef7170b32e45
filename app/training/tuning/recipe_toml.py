"""A recipe as a TOML file, which `labelserve train --recipe` reads."""

from typing import Any

from app.training.recipe import DECISION_KEYS, Recipe


def recipe_toml(recipe: Recipe) -> str:
    """The members and the decision, a table each."""
    lines = []
    for member in recipe.members:
        lines += ["[[members]]", f"learner = {_value(member.learner)}"]
        lines += [f"settings = {_value(member.settings)}", f"features = {_value(member.features)}"]
        lines.append("")
    decision = {key: getattr(recipe.decision, key) for key in DECISION_KEYS}
    lines.append("[decision]")
    for key, value in (decision | recipe.decision.settings).items():
        if value is not None:
            lines.append(f"{key} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A value in TOML's words.

    >>> _value({"lead": (15, 40), "binary": True, "scheme": 'l"og'})
    '{ lead = [15, 40], binary = true, scheme = "l\\\\"og" }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_value(own)}" for key, own in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)

"""Recipe: what to train, as data; read from TOML, changed by `key=value`, kept in the manifest."""

import tomllib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from app.decisions.tuning.options import with_current_names
from app.errors import InvalidRequestError
from app.learners.base import learner_class
from app.training.search.objectives import decision_for

SECTIONS = ("features", "learner", "decision", "members")
DECISION_KEYS = ("name", "folds", "folds_by", "abstain")
ENSEMBLE = "ensemble:"
READY_MADE = "ready-made"


@dataclass(frozen=True, slots=True)
class MemberRecipe:
    """One learner with its settings and the features it wants."""

    learner: str = "one-vs-rest"
    settings: dict[str, Any] = field(default_factory=dict)
    features: dict[str, Any] = field(default_factory=dict)

    @property
    def vectorizer(self) -> str:
        """The vectorizer's kind: as given, `union` of parts, else the learner's own choice."""
        own = learner_class(self.learner).vectorizer_kind
        if "parts" in self.features and own != "tfidf":
            problem = f"features.parts join tf-idf features, but {self.learner} reads {own}"
            raise InvalidRequestError(problem)
        return str(self.features.get("kind") or ("union" if "parts" in self.features else own))

    @property
    def vectorizer_settings(self) -> dict[str, Any]:
        """The features section without its kind."""
        return {key: value for key, value in self.features.items() if key != "kind"}

    def with_feature_settings(self) -> Self:
        """The same member, with its learner's feature settings where the recipe has none."""
        learner = learner_class(self.learner)
        settings = dict(learner.feature_settings)
        if self.vectorizer == "union":  # each part says itself which terms it has
            settings = {name: value for name, value in settings.items() if name == "scheme"}
        elif self.vectorizer != learner.vectorizer_kind:
            return self
        return replace(self, features={**settings, **self.features})

    def for_ready_made(self) -> Self:
        """The same member, reading rows of features as they come; networks of texts refuse."""
        if learner_class(self.learner).vectorizer_kind != "tfidf":
            raise InvalidRequestError(
                f"{self.learner} reads texts, but the data are ready-made features; "
                "use a linear learner, a tree or mlp"
            )
        if settings := {k: v for k, v in self.features.items() if (k, v) != ("kind", READY_MADE)}:
            raise InvalidRequestError(
                f"features.{next(iter(settings))}: the data are ready-made features, which are "
                "taken as they stand; leave the features' settings out, or train on texts"
            )
        return replace(self, features={"kind": READY_MADE})

    def with_untuned_settings(self) -> Self:
        """The same member, with its learner's settings for the decision `zero`."""
        settings = learner_class(self.learner).untuned_settings
        return replace(self, settings={**settings, **self.settings})


@dataclass(frozen=True, slots=True)
class DecisionRecipe:
    """How scores become labels: the rule, and how it is tuned on held-out scores."""

    name: str = "micro-f"
    folds: int = 5
    abstain: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    folds_by: str = "random"
    """`random`, `order` (of the documents in the data), or the column that gives their order."""

    @property
    def order_column(self) -> str:
        """The column that gives the documents' order; empty where folds need none."""
        return "" if self.folds_by in ("random", "order") else self.folds_by


@dataclass(frozen=True, slots=True)
class Recipe:
    """Members (one, unless it is an ensemble) and a decision."""

    members: tuple[MemberRecipe, ...] = (MemberRecipe(),)
    decision: DecisionRecipe = DecisionRecipe()

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> Self:
        """A recipe from the sections of a TOML file; an unknown section is refused by name."""
        for section in tables:
            if section not in SECTIONS:
                accepted = ", ".join(SECTIONS)
                raise InvalidRequestError(f"recipe: no section [{section}]; accepted: {accepted}")
        decision = _table(tables, "decision")
        known = {key: decision.pop(key) for key in DECISION_KEYS if key in decision}
        members = _members(tables)
        known = {**learner_class(members[0].learner).decision_settings, **known}
        if "objective" in decision:
            known["name"] = _by_objective(str(decision.pop("objective")), known)
        return cls(members, DecisionRecipe(**known, settings=with_current_names(decision)))

    def completed(self) -> Self:
        """The recipe with each learner's own settings filled in where it has none.

        `zero` is the untuned reference: plain tf-idf and every weight, as in the figures that
        scikit-learn's vectorizer and LIBLINEAR give by themselves.
        """
        if self.decision.name == "zero":
            return replace(self, members=tuple(m.with_untuned_settings() for m in self.members))
        tuning: dict[str, Any] = {}
        for member in self.members:
            tuning |= learner_class(member.learner).tuning_settings
        members = tuple(member.with_feature_settings() for member in self.members)
        return replace(self, members=members).with_decision(
            settings={**tuning, **self.decision.settings}
        )

    def with_decision(self, **changes: Any) -> Self:
        """The same recipe, decided otherwise."""
        return replace(self, decision=replace(self.decision, **changes))

    def for_ready_made(self) -> Self:
        """The same recipe for data that are rows of features, not texts."""
        return replace(self, members=tuple(member.for_ready_made() for member in self.members))

    def with_tuning(self, **settings: Any) -> Self:
        """The same recipe, with more settings for the tuner."""
        return self.with_decision(settings={**self.decision.settings, **settings})

    def with_learner(self, **settings: Any) -> Self:
        """The same recipe, with more settings for every member's learner."""
        members = (replace(m, settings={**m.settings, **settings}) for m in self.members)
        return replace(self, members=tuple(members))

    def with_options(
        self, learner: Mapping[str, Any], decision: Mapping[str, Any], tuning: Mapping[str, Any]
    ) -> Self:
        """The same recipe, with those options that were given: the others are None."""
        recipe = self.with_learner(**{k: v for k, v in learner.items() if v is not None})
        recipe = recipe.with_tuning(**{k: v for k, v in tuning.items() if v is not None})
        return recipe.with_decision(**{k: v for k, v in decision.items() if v is not None})

    def as_dict(self) -> dict[str, Any]:
        """What the manifest keeps."""
        return asdict(self)


def read_recipe(
    source: Path | Mapping[str, Any] | None,
    *,
    learner: str | None = None,
    changes: Iterable[str] = (),
) -> Recipe:
    """The recipe of a TOML file or its tables (or the default one), `--learner`, `--set` applied"""
    if isinstance(source, Path):
        try:
            tables = _toml(source.read_text("utf-8"), str(source))
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"{source}: not UTF-8, at byte {error.start}") from None
    else:
        tables = deepcopy(dict(source or {}))
    for change in changes:
        _apply(tables, change)
    if learner is not None:
        tables.setdefault("learner", {})["kind"] = learner
    return Recipe.from_tables(tables)


def _by_objective(objective: str, known: Mapping[str, Any]) -> str:
    """The decision's name, where a recipe says what it is to serve."""
    name = decision_for(objective)
    if known.get("name", name) != name:
        raise InvalidRequestError(f"decision.objective {objective} is {name}: leave the name out")
    return name


def _members(tables: Mapping[str, Any]) -> tuple[MemberRecipe, ...]:
    """`[[members]]` as they stand; else one a learner named in `[learner] kind`."""
    shared = _table(tables, "features")
    if "members" in tables:
        members = tables["members"]
        are_tables = isinstance(members, list | tuple) and all(
            isinstance(each, dict) for each in members
        )
        if not members or not are_tables:
            raise InvalidRequestError("recipe: members are one table or more, [[members]]")
        return tuple(_member(table, shared) for table in members)
    learner = _table(tables, "learner")
    kind = str(learner.pop("kind", "one-vs-rest"))
    if not kind.startswith(ENSEMBLE):
        return (_member({"learner": kind, "settings": learner}, shared),)
    kinds = [name.strip() for name in kind.removeprefix(ENSEMBLE).split(",") if name.strip()]
    members = tuple(_member({"learner": name}, shared) for name in kinds)
    if len(members) < 2:
        raise InvalidRequestError("an ensemble needs two learners or more: ensemble:A,B")
    return members


def _member(table: Mapping[str, Any], shared: Mapping[str, Any]) -> MemberRecipe:
    unknown = set(table) - {"learner", "settings", "features"}
    if unknown:
        name = sorted(unknown)[0]
        raise InvalidRequestError(
            f"recipe: members have no {name!r}; accepted: learner, settings, features"
        )
    kind = str(table.get("learner", "one-vs-rest"))
    learner_class(kind)  # an unknown or missing learner is named here, before any data is read
    features = {**shared, **_table(table, "features")}
    return MemberRecipe(kind, _table(table, "settings"), features)


def _table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A copy of the table of this name, empty where there is none."""
    found = tables.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidRequestError(f"recipe: {name} is a table, [{name}]")
    return dict(found)


def _apply(tables: dict[str, Any], change: str) -> None:
    """One `section.key=value`; the value is TOML, or a plain word."""
    path, equals, value = change.partition("=")
    *sections, key = path.strip().split(".")
    if not equals or not sections or sections[0] not in SECTIONS:
        raise InvalidRequestError(
            f"--set takes section.key=value with section one of {', '.join(SECTIONS)}"
        )
    table: Any = tables
    for section in sections:
        if isinstance(table, list):
            table = table[_position(section, len(table))]
        else:
            table = table.setdefault(section, {})
    table[key] = _value(value.strip())


def _position(section: str, n_members: int) -> int:
    if not section.isdecimal() or int(section) >= n_members:
        raise InvalidRequestError(
            f"--set members.N…: N is 0 to {n_members - 1}; the recipe file has that many members"
        )
    return int(section)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError(f"{file}: not TOML: {error}") from error

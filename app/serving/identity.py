"""Identity: who calls, until when, and what they may ask for."""

from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from app.errors import ExpiredKeyError, ForbiddenError
from app.settings import SCOPES


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """How much a caller may ask for; None: as much as they like."""

    requests_per_minute: int | None = None
    documents_per_day: int | None = None


UNLIMITED = KeyLimits()


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls, what they may do, and on which models (patterns; empty: on all)."""

    name: str
    scopes: frozenset[str]
    models: tuple[str, ...] = ()
    expires: datetime | None = None
    limits: KeyLimits | None = None
    """None: none are set, and nothing is counted."""

    def refuse_expired(self) -> None:
        """Raise ExpiredKeyError once the time is over."""
        if self.expires is not None and datetime.now(UTC) >= self.expires:
            raise ExpiredKeyError(self.expires)

    def may_still(self, scope: str, model: str) -> bool:
        """Whether what was begun with this scope on this model may go on."""
        try:
            self.refuse_expired()
            self.require(scope)
        except (ExpiredKeyError, ForbiddenError):
            return False
        return self.may_use(model)

    def require(self, scope: str) -> None:
        """Raise ForbiddenError unless the scope was given; admin implies the others."""
        if scope not in self.scopes and "admin" not in self.scopes:
            raise ForbiddenError(f"this needs the scope {scope}")

    def may_use(self, model: str) -> bool:
        """Whether the model is within this caller's patterns."""
        return not self.models or any(fnmatchcase(model, pattern) for pattern in self.models)

    def require_model(self, model: str) -> None:
        """Raise ForbiddenError for a model outside this caller's patterns."""
        if self.models and not self.may_use(model):
            raise ForbiddenError("this key does not reach that model")


ANYONE = Identity("anyone", frozenset(SCOPES))

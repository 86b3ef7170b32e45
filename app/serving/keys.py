"""API keys: random secrets, kept only as SHA-256 hashes, with scopes and model patterns."""

import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic

from app.errors import ForbiddenError, InvalidRequestError, SettingsError, UnauthorizedError
from app.settings import SCOPES

LOOK_AGAIN_SECONDS = 1.0

log = logging.getLogger("labelserve.keys")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls, what they may do, and on which models (patterns; empty: on all)."""

    name: str
    scopes: frozenset[str]
    models: tuple[str, ...] = ()

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


@dataclass(frozen=True, slots=True)
class Key:
    """One line of the keys file; the secret itself is nowhere."""

    id: str
    sha256: str
    scopes: tuple[str, ...]
    models: tuple[str, ...]
    created: str

    @property
    def identity(self) -> Identity:
        """Who a caller with this key is."""
        return Identity(self.id, frozenset(self.scopes), self.models)


class KeysFile:
    """The keys of one file, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._look_at = 0.0
        self._keys = self._read()

    def keys(self) -> list[Key]:
        """All keys, oldest first."""
        if monotonic() >= self._look_at and self._stamp() != self._seen:
            try:
                self._keys = self._read()
            except SettingsError as error:
                log.error("%s; the keys read before stay valid", error)
        return self._keys

    def identify(self, secret: bytes) -> Identity:
        """Whose secret this is, or UnauthorizedError; the time taken tells nothing."""
        digest = hashlib.sha256(secret).hexdigest()
        found = None
        for key in self.keys():
            if hmac.compare_digest(key.sha256, digest):
                found = key
        if found is None:
            raise UnauthorizedError("no valid key was sent; send Authorization: Bearer <key>")
        return found.identity

    def create(self, scopes: Iterable[str], models: Iterable[str] = ()) -> tuple[Key, str]:
        """Add a key; its secret is returned here and never again."""
        wanted = tuple(scopes)
        if not wanted or set(wanted) - set(SCOPES):
            raise InvalidRequestError(f"scopes are one or more of: {', '.join(SCOPES)}")
        secret = f"ls_{secrets.token_urlsafe(32)}"
        now = datetime.now(UTC).isoformat(timespec="seconds")
        digest = hashlib.sha256(secret.encode()).hexdigest()
        key = Key(secrets.token_hex(4), digest, wanted, tuple(models), now)
        self._write([*self.keys(), key])
        return key, secret

    def revoke(self, id: str) -> None:
        """Remove a key; it stops working within seconds."""
        keys = self.keys()
        if id not in {key.id for key in keys}:
            known = ", ".join(key.id for key in keys) or "none"
            raise InvalidRequestError(f"no such key; there are: {known}")
        self._write([key for key in keys if key.id != id])

    def _stamp(self) -> tuple[int, int, int] | None:
        self._look_at = monotonic() + LOOK_AGAIN_SECONDS
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> list[Key]:
        self._seen = self._stamp()
        try:
            lines = json.loads(self._path.read_text())["keys"]
            return [_key(line) for line in lines]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SettingsError(f"{self._path} is not a keys file of scripts/keys.py") from error

    def _write(self, keys: list[Key]) -> None:
        content = {"keys": [{field: getattr(k, field) for field in Key.__slots__} for k in keys]}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(content, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self._path)
        self._keys, self._seen = keys, self._stamp()


def _key(line: dict[str, object]) -> Key:
    scopes, models = line["scopes"], line["models"]
    if not isinstance(scopes, list) or not isinstance(models, list) or set(scopes) - set(SCOPES):
        raise ValueError("scopes and models are lists")
    return Key(
        str(line["id"]), str(line["sha256"]), tuple(scopes), tuple(models), str(line["created"])
    )

"""API keys: random secrets, kept only as SHA-256 hashes, with scopes, models and limits."""

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated

import msgspec

from app.artifacts import folders
from app.errors import InvalidRequestError, SettingsError, UnauthorizedError, errno_text
from app.serving.identity import UNLIMITED, Identity, KeyLimits
from app.settings import SCOPES

LOOK_AGAIN_SECONDS = 1.0
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]

log = logging.getLogger("labelserve.keys")


class Key(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of the keys file; the secret itself is nowhere. What is None was not set."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    scopes: tuple[str, ...]
    models: tuple[str, ...]
    created: str
    expires: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    requests_per_minute: AtLeastOne | None = None
    documents_per_day: AtLeastOne | None = None

    def __post_init__(self) -> None:
        """Refuse scopes that are none."""
        if not self.scopes or set(self.scopes) - set(SCOPES):
            raise ValueError(f"scopes are one or more of: {', '.join(SCOPES)}")

    @property
    def limits(self) -> KeyLimits:
        """How much it may ask for."""
        return KeyLimits(self.requests_per_minute, self.documents_per_day)

    @property
    def identity(self) -> Identity:
        """Who a caller with this key is."""
        limits = None if self.limits == UNLIMITED else self.limits
        return Identity(self.id, frozenset(self.scopes), self.models, self.expires, limits)


class KeysDocument(msgspec.Struct):
    """The whole file."""

    keys: list[Key]


class KeysFile:
    """The keys of one file, read again when it changes; `on_failure` is told where that fails."""

    def __init__(self, path: Path, on_failure: Callable[[], None] = lambda: None) -> None:
        self._path, self._on_failure = path, on_failure
        self._look_at, self._failure = 0.0, ""
        self._seen = self._stamp()
        self._take(self._read() if self._seen else [])

    def keys(self) -> list[Key]:
        """All keys, oldest first; those read before where the file cannot be read any more."""
        if monotonic() >= self._look_at:
            stamp = self._stamp()
            if stamp != self._seen:
                self._read_again(stamp)
        return self._keys

    def identify(self, secret: bytes) -> Identity:
        """Whose secret this is, expired or not, or UnauthorizedError; the time tells nothing."""
        digest, found = hashlib.sha256(secret).hexdigest(), None
        self.keys()
        for known, identity in self._identities:
            if hmac.compare_digest(known, digest):
                found = identity
        if found is None:
            raise UnauthorizedError("no valid key was sent; send Authorization: Bearer <key>")
        return found

    def create(
        self,
        scopes: Iterable[str],
        models: Iterable[str] = (),
        *,
        lifetime: timedelta | None = None,
        limits: KeyLimits = UNLIMITED,
    ) -> tuple[Key, str]:
        """Add a key; its secret is returned here and never again."""
        secret, now = f"ls_{secrets.token_urlsafe(32)}", datetime.now(UTC).replace(microsecond=0)
        try:
            key = Key(
                secrets.token_hex(4),
                hashlib.sha256(secret.encode()).hexdigest(),
                tuple(scopes),
                tuple(models),
                now.isoformat(),
                None if lifetime is None else now + lifetime,
                limits.requests_per_minute,
                limits.documents_per_day,
            )
        except ValueError as error:
            raise InvalidRequestError(str(error)) from None
        with self._changing() as keys:
            keys.append(key)
        return key, secret

    def revoke(self, id: str) -> None:
        """Remove a key; it stops working within seconds."""
        with self._changing() as keys:
            if id not in {key.id for key in keys}:
                known = ", ".join(key.id for key in keys) or "none"
                raise InvalidRequestError(f"no such key; there are: {known}")
            keys[:] = [key for key in keys if key.id != id]

    def _stamp(self) -> tuple[int, int, int] | None:
        self._look_at = monotonic() + LOOK_AGAIN_SECONDS
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> list[Key]:
        what = f"{self._path} is not a keys file of labelserve keys"
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=KeysDocument).keys
        except OSError as error:
            raise SettingsError(f"{self._path} cannot be read: {errno_text(error)}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SettingsError(f"{what}: {error}") from error

    def _read_again(self, stamp: tuple[int, int, int] | None) -> None:
        """Take what the file holds now; where it cannot be read, try again at the next look."""
        try:
            self._take(self._read())
            self._seen, self._failure = stamp, ""
        except SettingsError as error:
            self._on_failure()
            if str(error) != self._failure:
                log.error("%s; the keys read before stay valid", error)
            self._failure = str(error)

    def _take(self, keys: list[Key]) -> None:
        self._keys = keys
        self._identities = [(key.sha256, key.identity) for key in keys]

    @contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys as the file has them now, to be changed; by one process at a time.

        They are on the disk when the block has ended, and unchanged where it has not.
        """
        folder = self._path.parent
        folders.make_folder(folder)
        with folders.locked(folder):
            folders.clean(folder)
            keys = self._read() if self._path.exists() else []
            yield keys
            content = msgspec.json.format(msgspec.json.encode(KeysDocument(keys)), indent=1)
            folders.write_file(self._path, content + b"\n", 0o600)
        self._take(keys)
        self._seen, self._look_at = None, 0.0  # others may have changed it since: look again


def lifetime_of(text: str) -> timedelta:
    """How long `90d`, `12h` and so on are; InvalidRequestError for other words.

    >>> lifetime_of("90d").days
    90
    """
    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", text.strip())
    if found is None:
        raise InvalidRequestError("a lifetime is a number and m, h, d or w, such as 90d")
    return timedelta(**{UNITS[found[2]]: int(found[1])})

"""A version as one file: a ZIP archive, its entries stored as they are, the same bytes every time.

Packed models come from elsewhere. Nothing of an archive is written before its directory has passed
every check, and nothing appears in the store before the version is verified like any other.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from app.artifacts import folders
from app.artifacts.info import Artifact
from app.artifacts.store import Store
from app.artifacts.tree import NAME as FILE_NAME
from app.artifacts.verification import open_artifact
from app.artifacts.versions import is_name, is_version
from app.errors import ConflictError, DamagedArtifactError

MANIFEST = "manifest.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that ZIP can express: bytes depend on no clock
UNIX, PLAIN_FILE = 3, 0o100644 << 16
IS_ENCRYPTED = 1
PIECE = 1 << 20
MOST_DIRECTORY_BYTES = 1 << 20  # of the archive's own list of files: thousands of them

END = struct.Struct("<4s4H2LH")
WIDE_END, WIDE_LOCATOR = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
"""The records at the end of an archive; the wide ones where a length does not fit 32 bits."""
NOT_HERE = 0xFFFFFFFF
"""A length that only the wide record has."""


class Unpacked(NamedTuple):
    """What an archive held."""

    name: str
    version: str
    is_new: bool
    """Whether the store did not have it yet."""


def pack(store: Store, name: str, version: str, file: Path) -> int:
    """Write the version, verified, as one archive; how many bytes that took."""
    artifact, folder = store.load(name, version), store.folder(name, version)
    with folders.whole_file(file) as target:
        with ZipFile(target, "w", ZIP_STORED) as archive:
            for member in (MANIFEST, *sorted(artifact.manifest.files)):
                _add(archive, folder / member, f"{name}/{version}/{member}")
        return target.tell()


def unpack(
    store: Store, file: Path, *, name: str = "", check: Callable[[Artifact], object]
) -> Unpacked:
    """Put an archive's version into the store, under its own name or another; it is not promoted.

    `check` sees the verified files before anybody else does, and raises where it refuses them.
    """
    with file.open("rb") as source, _damages_named():
        length = _checked_length(source)
        with ZipFile(source) as archive:
            packed_name, version = _checked(archive.infolist(), length)
            folders.clean(store.path)
            with folders.unfinished(store.path) as hidden:
                _extract(archive, hidden / version)
                artifact = open_artifact(hidden / version, name or packed_name, version)
                check(artifact)
                return _published(store, artifact, hidden / version)


def _published(store: Store, artifact: Artifact, folder: Path) -> Unpacked:
    """The verified folder under its name in the store, unless an equal one is there."""
    name, version = artifact.name, artifact.version
    is_new = folders.publish(folder, store.writable(name) / version)
    if not is_new and store.peek(name, version) != artifact.manifest:
        raise ConflictError(
            f"the store has another {name}@{version}; --name unpacks this one under another name"
        )
    return Unpacked(name, version, is_new)


def _add(archive: ZipFile, path: Path, member: str) -> None:
    entry = ZipInfo(member, EPOCH)
    entry.create_system, entry.external_attr = UNIX, PLAIN_FILE
    entry.file_size = path.stat().st_size  # decides whether the entry needs 64-bit lengths
    with path.open("rb") as source, archive.open(entry, "w") as target:
        copyfileobj(source, target, PIECE)


def _extract(archive: ZipFile, folder: Path) -> None:
    folder.mkdir()
    for member in archive.infolist():
        path = folder / member.filename.rpartition("/")[2]
        with archive.open(member) as source, folders.whole_file(path) as target:
            copyfileobj(source, target, PIECE)


@contextmanager
def _damages_named() -> Iterator[None]:
    """What the ZIP reader says of archives that are none becomes our error."""
    try:
        yield
    except (BadZipFile, NotImplementedError, EOFError, UnicodeError, struct.error) as error:
        raise DamagedArtifactError(f"this is no packed model, or a damaged one: {error}") from None


def _checked(members: list[ZipInfo], length: int) -> tuple[str, str]:
    """The model and version of an archive whose every entry is a plain file of one version."""
    names = [member.filename for member in members]
    if len(set(names)) != len(names):
        raise DamagedArtifactError("the archive names a file twice")
    places = {tuple(name.split("/")[:-1]) for name in names}
    if len(places) != 1 or len(place := places.pop()) != 2:
        raise DamagedArtifactError("a packed model is the files of one NAME/VERSION/, no others")
    if not is_name(place[0]) or not is_version(place[1]):
        raise DamagedArtifactError("the archive's folders are no model's name and version")
    for member in members:
        _check_entry(member)
    if sum(member.file_size for member in members) > length:
        raise DamagedArtifactError("the archive's files overlap: it claims more than it holds")
    return place[0], place[1]


def _check_entry(member: ZipInfo) -> None:
    """Entries are stored: one that is compressed, or claims more than it holds, may be a bomb."""
    if not FILE_NAME.fullmatch(member.filename.rpartition("/")[2]):
        raise DamagedArtifactError("the archive holds a file that no model has")
    if member.compress_type != ZIP_STORED or member.compress_size != member.file_size:
        raise DamagedArtifactError("a packed model's files are stored, not compressed")
    if member.flag_bits & IS_ENCRYPTED:
        raise DamagedArtifactError("a packed model's files are not encrypted")


def _checked_length(source: BinaryIO) -> int:
    """The bytes of an archive; refused: what is none, or lists so much that it fills the memory."""
    length = source.seek(0, 2)
    end = _record(source, length - END.size, END, b"PK\5\6")
    if end is None:
        raise DamagedArtifactError("this is no packed model: it does not end as a ZIP archive does")
    locator = _record(source, length - END.size - WIDE_LOCATOR.size, WIDE_LOCATOR, b"PK\6\7")
    wide = None if locator is None else _record(source, locator[2], WIDE_END, b"PK\6\6")
    listed = [end[5] if end[5] != NOT_HERE else 0, 0 if wide is None else wide[8]]
    if max(listed) > MOST_DIRECTORY_BYTES:
        raise DamagedArtifactError("the archive lists far more files than a model has")
    return length


def _record(
    source: BinaryIO, at: int, layout: struct.Struct, mark: bytes
) -> tuple[Any, ...] | None:
    """The record of this layout at this place; None where there is none."""
    if at < 0:
        return None
    source.seek(at)
    content = source.read(layout.size)
    is_there = len(content) == layout.size and content.startswith(mark)
    return layout.unpack(content) if is_there else None

"""WebFiles: the files of app/web as they are served, under one hash of them all."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

FOLDER = Path(__file__).parents[1] / "web"
MEDIA_TYPES = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
INDEX = "index.html"
PLACE_OF_HASH = b"{hash}"
"""In index.html: where the hash stands in the addresses of the other files."""


@dataclass(frozen=True, slots=True)
class WebFile:
    """One file: its bytes, plain and by gzip, and its media type."""

    plain: bytes
    gzipped: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class WebFiles:
    """All files by their path below app/web; `hash` changes with any of them."""

    files: MappingProxyType[str, WebFile]
    hash: str

    @property
    def index(self) -> WebFile:
        """The page itself."""
        return self.files[INDEX]


@cache
def web_files() -> WebFiles:
    """What lies in app/web, read and compressed once: this takes milliseconds."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in MEDIA_TYPES)
    contents = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(b"%s\0%d\0%s" % (name.encode(), len(content), content))
    tree = digest.hexdigest()[:16]
    contents[INDEX] = contents[INDEX].replace(PLACE_OF_HASH, tree.encode())
    files = {name: _file(name, content) for name, content in contents.items()}
    return WebFiles(MappingProxyType(files), tree)


def _file(name: str, content: bytes) -> WebFile:
    zipped = gzip.compress(content, mtime=0)
    return WebFile(content, zipped, MEDIA_TYPES[Path(name).suffix])

"""Where uploads and results lie in the data folder, and which data folder it is."""

import os
import re
import secrets
from pathlib import Path

from app.artifacts.folders import make_folder, sync_folder
from app.errors import StorageFullError
from app.serving.spool import storage_errors

STORAGE_FILE = "storage-id"
STORAGE_ID = re.compile(r"[0-9a-f]{32}")


def sqlite_file(data_dir: Path) -> Path:
    """The table of jobs, where no other database is named."""
    return data_dir / "jobs.sqlite"


def job_folder(data_dir: Path, id: str) -> Path:
    """All that a job leaves on disk."""
    return data_dir / "evaluations" / id


def results_folder(data_dir: Path, id: str, token: int) -> Path:
    """What one try of a job has written; the token of the job's row says which try counts."""
    return job_folder(data_dir, id) / str(token)


def make_results_folder(results: Path) -> None:
    """Make the folder of a try, which nobody else has made."""
    make_folder(results.parent, 0o700)
    results.mkdir(mode=0o700)


def sync_results(results: Path) -> None:
    """Bring the entries of a try's folder, and of those above it, through to the disk."""
    for folder in (results, *results.parents[:3]):
        sync_folder(folder)


def storage_id(data_dir: Path) -> str:
    """The id of this data folder, made once at random.

    Whoever shares the folder shares its jobs; the jobs of other folders are left alone.
    """
    path = data_dir / STORAGE_FILE
    with storage_errors():
        make_folder(data_dir, 0o700)
        if not path.exists():
            _publish(path, secrets.token_hex(16))
        found = path.read_text().strip()
        for folder in (data_dir, data_dir.parent):  # whoever made it may not have come so far
            sync_folder(folder)
    if not STORAGE_ID.fullmatch(found):
        raise StorageFullError(f"{path} holds no id; remove it where no evaluation is waited for")
    return found


def _publish(path: Path, content: str) -> None:
    """Write the file whole, unless another process was first."""
    mine = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with mine.open("x") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(mine, path)  # fails where the file is there already
    except FileExistsError:
        pass
    finally:
        mine.unlink(missing_ok=True)

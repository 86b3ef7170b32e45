"""Copy the evaluations of a data folder's SQLite file to PostgreSQL, or back.

    python scripts/maintenance/move_jobs.py DATA_DIR to|from postgresql://user@host/database

Stop every replica and worker first. Uploads and reports stay where they are, in DATA_DIR.
"""

import sys
from contextlib import closing
from pathlib import Path

from app.errors import AppError
from app.serving.jobs.database import open_database
from app.serving.jobs.upkeep.moving import copy_jobs

USAGE = 2


def main(arguments: list[str]) -> int:
    """The exit code."""
    if len(arguments) != 3 or arguments[1] not in ("to", "from"):
        print(__doc__, file=sys.stderr)
        return USAGE
    folder, direction, url = arguments
    with (
        closing(open_database(None, Path(folder))) as file,
        closing(open_database(url, Path(folder))) as server,
    ):
        source, target = (file, server) if direction == "to" else (server, file)
        try:
            print(f"{copy_jobs(source, target)} evaluations were copied")
        except AppError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

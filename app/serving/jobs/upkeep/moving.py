"""Moving evaluations from one database to another, in either direction."""

from app.errors import ConflictError
from app.serving.jobs.database import Database
from app.serving.jobs.job import COLUMNS
from app.serving.jobs.upkeep import statements


def copy_jobs(source: Database, target: Database) -> int:
    """Write every row of the source to the target, all or none; how many they were.

    ConflictError where the target has rows: two tables are not made one. What runs is copied as it
    is: its lease runs out, and a worker of the target claims it anew.
    """
    rows = source.rows(statements.EVERYTHING)
    with target.transaction() as run:
        if run(statements.IS_ANY):
            raise ConflictError("the database to copy to has evaluations already")
        for row in rows:
            run(statements.COPY, **{name: row[name] for name in COLUMNS})
    return len(rows)

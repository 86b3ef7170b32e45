"""The statements of upkeep, for both databases (see app/serving/jobs/statements.py)."""

from app.serving.jobs.job import COLUMNS

ENDED = "state IN ('done', 'failed', 'cancelled')"
UNCOUNTED = f"storage = :storage AND counted = 0 AND {ENDED}"

IS_ANY_UNCOUNTED = f"SELECT 1 FROM {{jobs}} WHERE {UNCOUNTED} LIMIT 1"
TAKE_UNCOUNTED = f"UPDATE {{jobs}} SET counted = 1 WHERE {UNCOUNTED} RETURNING *"
OWNED = """
    SELECT id, owner, model FROM {jobs}
    WHERE storage = :storage AND state IN ('queued', 'running') AND owner IS NOT NULL
"""
RETAINED = f"""
    SELECT id, upload, bytes, pinned, {{now}} - finished AS age FROM {{jobs}}
    WHERE storage = :storage AND {ENDED} ORDER BY finished, id
"""
IDS = "SELECT id FROM {jobs}"
TRIED = """
    SELECT id, token, state FROM {jobs}
    WHERE storage = :storage AND (token > 1 OR state IN ('failed', 'cancelled'))
"""
EVERYTHING = "SELECT * FROM {jobs} ORDER BY created, id"
IS_ANY = "SELECT 1 FROM {jobs} LIMIT 1"
PARAMETERS = ", ".join(f":{name}" for name in COLUMNS)
COPY = f"INSERT INTO {{jobs}} ({', '.join(COLUMNS)}) VALUES ({PARAMETERS})"

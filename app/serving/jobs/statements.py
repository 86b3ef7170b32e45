"""The statements on the table of jobs, written once for both databases.

`Database` says what stands for what: `:name`, `{jobs}`, `{now}`, `{skip_locked}`.
"""

from app.serving.jobs.job import COLUMNS

VALUES = ", ".join("{now} + :created" if name == "created" else f":{name}" for name in COLUMNS)
INSERT = f"INSERT INTO {{jobs}} ({', '.join(COLUMNS)}) VALUES ({VALUES}) RETURNING *"
CANCEL = """
    UPDATE {jobs} SET state = 'cancelled', finished = {now}, lease_until = NULL
    WHERE id = :id AND state IN ('queued', 'running') RETURNING *
"""
UPDATE = """
    UPDATE {jobs} SET pinned = COALESCE(:pinned, pinned), note = COALESCE(:note, note)
    WHERE id = :id RETURNING *
"""
DELETE = """
    DELETE FROM {jobs} WHERE id = :id AND state IN ('done', 'failed', 'cancelled') RETURNING id
"""
UPLOAD_IN_USE = """
    SELECT 1 FROM {jobs} WHERE upload = :upload AND storage = :storage
    AND (keep = 1 OR state IN ('queued', 'running')) LIMIT 1
"""
COUNTS = "SELECT state, COUNT(*) AS number FROM {jobs} GROUP BY state"
OLDEST = "SELECT {now} - MIN(created) AS age FROM {jobs} WHERE state = 'queued'"
NEWEST = "SELECT MAX(created) - {now} AS ahead FROM {jobs}"
MODELS = "SELECT DISTINCT model FROM {jobs} ORDER BY model"
STATE_OF_TRY = "SELECT state FROM {jobs} WHERE id = :id AND token = :token"
GET = "SELECT * FROM {jobs} WHERE id = :id"

READY = """
    storage = :storage AND (
        state = 'queued' AND (due <= {now} OR due > {now} + :longest_pause)
        OR state = 'running' AND (lease_until < {now} OR lease_until > {now} + 2 * :lease)
    )
"""
"""A job that waits, or whose worker was not heard of.

A time further ahead than was ever written comes of a clock that was set back since.
"""
IN_TURN = "CASE WHEN deaths < 3 THEN 0 ELSE deaths END, created, id"
"""The oldest first; a job that has lost worker after worker lets the others go before it."""
HOPELESS = "state = 'running' AND deaths + 1 >= :most_deaths"
NEXT = f"""
    SELECT CASE WHEN {HOPELESS} THEN 1 ELSE 0 END AS is_hopeless
    FROM {{jobs}} WHERE {READY} ORDER BY {IN_TURN} LIMIT 1
"""
GIVE_UP = f"""
    UPDATE {{jobs}} SET
        state = 'failed', deaths = deaths + 1, token = token + 1, finished = {{now}},
        lease_until = NULL, error = :error
    WHERE {HOPELESS} AND {READY}
"""
CLAIM = f"""
    UPDATE {{jobs}} SET
        state = 'running', token = token + 1, worker = :worker, started = {{now}},
        lease_until = {{now}} + :lease, documents_done = 0,
        deaths = deaths + CASE WHEN state = 'running' THEN 1 ELSE 0 END
    WHERE id = (
        SELECT id FROM {{jobs}} WHERE {READY} AND NOT ({HOPELESS})
        ORDER BY {IN_TURN} LIMIT 1 {{skip_locked}}
    )
    RETURNING *
"""
OURS = "WHERE id = :id AND token = :token AND state = 'running' RETURNING *"
RENEW = f"""
    UPDATE {{jobs}} SET
        lease_until = {{now}} + :lease, documents_done = :done,
        documents_expected = COALESCE(:expected, documents_expected)
    {OURS}
"""
FINISH = f"""
    UPDATE {{jobs}} SET
        state = 'done', finished = {{now}}, lease_until = NULL, error = NULL, data = :data,
        documents_done = :documents, documents_expected = :documents,
        headline = :headline, bytes = :bytes
    {OURS}
"""
FAIL = f"""
    UPDATE {{jobs}} SET
        state = 'failed', finished = {{now}}, lease_until = NULL, failures = failures + 1,
        error = :error
    {OURS}
"""
TRY_AGAIN = f"""
    UPDATE {{jobs}} SET
        state = 'queued', started = NULL, lease_until = NULL, worker = NULL, documents_done = 0,
        failures = failures + :failed, due = {{now}} + :pause,
        error = COALESCE(:error, error)
    {OURS}
"""

"""The table of jobs: statements that both databases take."""

TABLE = "evaluation_jobs"

STATEMENTS = (
    f"""
    CREATE TABLE IF NOT EXISTS {TABLE} (
        id TEXT PRIMARY KEY,
        batch TEXT NOT NULL,
        state TEXT NOT NULL,
        model TEXT NOT NULL,
        version TEXT NOT NULL,
        upload TEXT NOT NULL,
        data TEXT,
        name TEXT NOT NULL,
        storage TEXT NOT NULL,
        owner TEXT,
        reading TEXT NOT NULL,
        options TEXT NOT NULL,
        keep BIGINT NOT NULL,
        created DOUBLE PRECISION NOT NULL,
        started DOUBLE PRECISION,
        finished DOUBLE PRECISION,
        due DOUBLE PRECISION NOT NULL,
        lease_until DOUBLE PRECISION,
        worker TEXT,
        token BIGINT NOT NULL,
        deaths BIGINT NOT NULL,
        failures BIGINT NOT NULL,
        error TEXT,
        documents_done BIGINT NOT NULL,
        documents_expected BIGINT,
        headline TEXT,
        bytes BIGINT NOT NULL,
        pinned BIGINT NOT NULL,
        note TEXT NOT NULL,
        counted BIGINT NOT NULL
    )
    """,
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_state ON {TABLE} (state, storage, created)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_time ON {TABLE} (created, id)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_model ON {TABLE} (model, created, id)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_data ON {TABLE} (data, created, id)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_by_upload ON {TABLE} (upload)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_uncounted ON {TABLE} (storage, counted, state)",
)

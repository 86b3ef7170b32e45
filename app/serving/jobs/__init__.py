"""Evaluations as jobs: a table in SQLite or PostgreSQL, leases on its rows, workers that run them.

database.py, dialects.py        connections, and where the two databases differ
schema.py, statements.py        the table, and all that is said to it
job.py, job_options.py          a job: a row of the table as a dataclass, and its options
job_table.py                    what the API does: submit, look up, list, cancel, delete
leases.py                       what a worker does: claim, renew, finish, fail, release
folders.py, uploads.py          where uploads and results lie in DATA_DIR
archive.py, checking.py         what routes do with evaluations, and with data that are only checked
workers/                        the processes that work on jobs; started and watched by a service
upkeep/                         what is counted when a job ends, and what is removed in time
"""

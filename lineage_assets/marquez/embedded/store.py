"""Where received events are kept: one SQLite file, one connection, used by one thread at a time.

Knows tables, not OpenLineage. A transaction is whole or not there; times are microseconds since 1970.
Ids are made from what they stand for, so the same events in the same order give the same ids in every store.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid5

from lineage_assets.errors import LineageAssetsError

LAYOUT = 1
"""Raised when the tables change; a file of another layout is refused, never guessed at."""

_IDS = UUID("6f2c1b6e-6d0f-5c0e-9c39-7a1f5e0d9b11")

_TABLES = """
CREATE TABLE events (id INTEGER PRIMARY KEY, kind, type, at, body);
CREATE INDEX events_at ON events (at);
CREATE TABLE namespaces (name PRIMARY KEY, created_at, updated_at, description);
CREATE TABLE sources (name PRIMARY KEY, connection_url, created_at, updated_at);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, namespace, name, simple_name, parent, type, created_at, updated_at,
  description, location, current_version, run, UNIQUE (namespace, name));
CREATE TABLE job_versions (id PRIMARY KEY, version, job, created_at, location, run);
CREATE INDEX job_versions_job ON job_versions (job);
CREATE TABLE job_version_datasets (version, dataset, io, PRIMARY KEY (version, dataset, io)) WITHOUT ROWID;
CREATE INDEX job_version_datasets_dataset ON job_version_datasets (dataset);
CREATE TABLE edges (job, dataset, io, PRIMARY KEY (job, dataset, io)) WITHOUT ROWID;
CREATE INDEX edges_dataset ON edges (dataset);
CREATE TABLE runs (id PRIMARY KEY, job, created_at, updated_at, state, started_at, ended_at, args, version);
CREATE INDEX runs_updated ON runs (job, updated_at);
CREATE TABLE run_inputs (run, version, PRIMARY KEY (run, version)) WITHOUT ROWID;
CREATE TABLE datasets (id INTEGER PRIMARY KEY, namespace, name, created_at, updated_at, source_name, description,
  current_version, deleted, UNIQUE (namespace, name));
CREATE TABLE dataset_names (namespace, name, dataset, PRIMARY KEY (namespace, name)) WITHOUT ROWID;
CREATE TABLE dataset_versions (id PRIMARY KEY, version, dataset, created_at, run, lifecycle_state, fields);
CREATE INDEX dataset_versions_dataset ON dataset_versions (dataset, created_at);
CREATE INDEX dataset_versions_run ON dataset_versions (run);
CREATE TABLE facets (owner, kind, name, run, at, facet, PRIMARY KEY (owner, kind, name, run));
CREATE TABLE column_lineage (dataset, field, of_dataset, of_field, version, of_version, transformation_description,
  transformation_type, at, PRIMARY KEY (dataset, field, of_dataset, of_field)) WITHOUT ROWID;
CREATE INDEX column_lineage_of ON column_lineage (of_dataset, of_field);
"""
_DEFAULT = (
    "The default global namespace for dataset, job, and run metadata not belonging to a user-specified namespace."
)


class OtherLayoutError(LineageAssetsError):
    """The file was written by another version of this server."""

    def __init__(self, file: Path, found: int) -> None:
        self.file = file
        self.found = found
        super().__init__(
            f"The lineage store {file} has layout {found}, this version reads layout {LAYOUT}. "
            "Move the file away and start again; what it held is on record in Dagster."
        )


def made_id(*parts: object) -> str:
    """An id that stands for these parts."""
    return str(uuid5(_IDS, "\x1f".join(map(str, parts))))


class Store:
    """The file, open. Readers see whole events only: nothing is read while a transaction is open."""

    def __init__(self, file: Path, now: int) -> None:
        self.db = sqlite3.connect(file, check_same_thread=False, isolation_level=None, cached_statements=256)
        self.db.row_factory = sqlite3.Row
        # FULL syncs the log at each commit: what was answered survives a kill of the process and a power cut.
        self.db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;")
        found: int = self.db.execute("PRAGMA user_version").fetchone()[0]
        if found == 0:
            with self.writing() as db:
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute("INSERT INTO namespaces VALUES ('default', ?, ?, ?)", (now, now, _DEFAULT))
                db.execute(f"PRAGMA user_version = {LAYOUT}")
        elif found != LAYOUT:
            self.close()
            raise OtherLayoutError(file, found)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: kept when the block ends, undone when it raises."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def close(self) -> None:
        self.db.close()

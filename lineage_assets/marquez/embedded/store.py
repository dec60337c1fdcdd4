"""Where received events are kept: one SQLite file, one connection, one lock.

Knows tables, not OpenLineage. A transaction is whole or not there; times are microseconds since 1970.
Ids are made from names, so the same events give the same ids in every store.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from uuid import UUID, uuid5

from lineage_assets.errors import LineageAssetsError

LAYOUT = 1
"""Raised when the tables change; a file of another layout is refused, never guessed at."""

_IDS = UUID("6f2c1b6e-6d0f-5c0e-9c39-7a1f5e0d9b11")

_TABLES = """
CREATE TABLE events (id INTEGER PRIMARY KEY, kind TEXT, type TEXT, at INTEGER, body TEXT);
CREATE INDEX events_at ON events (at);
CREATE TABLE namespaces (name TEXT PRIMARY KEY, created_at INTEGER, updated_at INTEGER, description TEXT);
CREATE TABLE sources (name TEXT PRIMARY KEY, uri TEXT, created_at INTEGER, updated_at INTEGER);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, namespace TEXT, name TEXT, simple_name TEXT, parent INTEGER, type TEXT,
  created_at INTEGER, updated_at INTEGER, description TEXT, location TEXT, version TEXT, run TEXT,
  UNIQUE (namespace, name));
CREATE TABLE job_versions (id TEXT PRIMARY KEY, version TEXT UNIQUE, job INTEGER, created_at INTEGER, location TEXT,
  run TEXT);
CREATE INDEX job_versions_job ON job_versions (job);
CREATE TABLE job_version_datasets (version TEXT, dataset INTEGER, io TEXT, PRIMARY KEY (version, dataset, io))
  WITHOUT ROWID;
CREATE INDEX job_version_datasets_dataset ON job_version_datasets (dataset);
CREATE TABLE edges (job INTEGER, dataset INTEGER, io TEXT, PRIMARY KEY (job, dataset, io)) WITHOUT ROWID;
CREATE INDEX edges_dataset ON edges (dataset);
CREATE TABLE runs (id TEXT PRIMARY KEY, job INTEGER, created_at INTEGER, updated_at INTEGER, state TEXT,
  started_at INTEGER, ended_at INTEGER, args TEXT, version TEXT);
CREATE INDEX runs_started ON runs (job, started_at);
CREATE INDEX runs_updated ON runs (job, updated_at);
CREATE TABLE run_inputs (run TEXT, version TEXT, PRIMARY KEY (run, version)) WITHOUT ROWID;
CREATE TABLE datasets (id INTEGER PRIMARY KEY, namespace TEXT, name TEXT, created_at INTEGER, updated_at INTEGER,
  source TEXT, description TEXT, version TEXT, deleted INTEGER NOT NULL DEFAULT 0,
  UNIQUE (namespace, name));
CREATE TABLE dataset_names (namespace TEXT, name TEXT, dataset INTEGER, PRIMARY KEY (namespace, name)) WITHOUT ROWID;
CREATE TABLE dataset_versions (id TEXT PRIMARY KEY, version TEXT UNIQUE, dataset INTEGER, created_at INTEGER, run TEXT,
  lifecycle TEXT, fields TEXT);
CREATE INDEX dataset_versions_dataset ON dataset_versions (dataset, created_at);
CREATE INDEX dataset_versions_run ON dataset_versions (run);
CREATE TABLE facets (owner TEXT, kind TEXT, name TEXT, run TEXT, at INTEGER, facet TEXT,
  PRIMARY KEY (owner, kind, name, run));
CREATE TABLE column_lineage (out_dataset INTEGER, out_field TEXT, in_dataset INTEGER, in_field TEXT, out_version TEXT,
  in_version TEXT, description TEXT, type TEXT, at INTEGER,
  PRIMARY KEY (out_dataset, out_field, in_dataset, in_field)) WITHOUT ROWID;
CREATE INDEX column_lineage_in ON column_lineage (in_dataset, in_field);
"""

_DEFAULT_NAMESPACE = (
    "The default global namespace for dataset, job, and run metadata not belonging to a user-specified namespace."
)


class OtherLayoutError(LineageAssetsError):
    """The file was written by another version of this server."""

    def __init__(self, file: Path, found: int) -> None:
        self.file = file
        self.found = found
        super().__init__(
            f"The lineage store {file} has layout {found}, this version reads layout {LAYOUT}. "
            "Move the file away; `lineage-assets lineage replay` fills a new one."
        )


def made_id(*parts: object) -> str:
    """An id that stands for these parts, the same in every store."""
    return str(uuid5(_IDS, "\x1f".join(map(str, parts))))


class Store:
    """The file, open; every use is under one lock, so a reader sees whole events only."""

    def __init__(self, file: Path, now: int) -> None:
        self._lock = RLock()
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None, cached_statements=256)
        self._db.row_factory = sqlite3.Row
        # NORMAL in WAL mode: a crash of the process loses nothing, a power cut at most the last events.
        self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        found: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found == 0:
            with self.writing() as db:
                for statement in filter(str.strip, _TABLES.split(";")):
                    db.execute(statement)
                db.execute("INSERT INTO namespaces VALUES ('default', ?, ?, ?)", (now, now, _DEFAULT_NAMESPACE))
                db.execute(f"PRAGMA user_version = {LAYOUT}")
        elif found != LAYOUT:
            self.close()
            raise OtherLayoutError(file, found)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: kept when the block ends, undone when it raises."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._db

    def close(self) -> None:
        with self._lock:
            self._db.close()

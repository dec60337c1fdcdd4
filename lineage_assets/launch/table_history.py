"""The ancestry of a local Iceberg table, read from its catalog and metadata file without a JVM.

Knows the JDBC catalog on SQLite that a machine's own warehouse has; of any other catalog it says nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

_NO_SNAPSHOT = -1
"""What older writers say of an empty table."""


def table_ancestry(catalog: Path, table: str) -> frozenset[int]:
    """The snapshots that the table's current data descends from, itself included; empty when it cannot be read.

    `table` is `catalog.namespace.name`. Format: Iceberg table spec, "Table Metadata Fields" and "Snapshot References".
    """
    metadata = _metadata(catalog, table)
    parents = {one["snapshot-id"]: one.get("parent-snapshot-id") for one in metadata.get("snapshots", [])}
    current = _current(metadata)
    found: set[int] = set()
    while current is not None:
        found.add(current)
        current = parents.get(current)
    return frozenset(found)


def current_snapshot(catalog: Path, table: str) -> int | None:
    """The table's current snapshot; None when it has none or cannot be read."""
    return _current(_metadata(catalog, table))


def _current(metadata: Mapping[str, Any]) -> int | None:
    current = metadata.get("refs", {}).get("main", {}).get("snapshot-id", metadata.get("current-snapshot-id"))
    return None if current in (None, _NO_SNAPSHOT) else int(current)


def _metadata(catalog: Path, table: str) -> Mapping[str, Any]:
    location = _metadata_location(catalog, table)
    if location is None or not location.is_file():
        return {}
    read: dict[str, Any] = json.loads(location.read_text(encoding="utf-8"))
    return read


def _metadata_location(catalog: Path, table: str) -> Path | None:
    if not catalog.is_file():
        return None
    catalog_name, _, below = table.partition(".")
    namespace, _, name = below.rpartition(".")
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
        row = connection.execute(
            "SELECT metadata_location FROM iceberg_tables"
            " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
            (catalog_name, namespace, name),
        ).fetchone()
    # Hadoop writes a path as it is, with or without its scheme: what looks quoted is part of the name.
    return None if row is None else Path(row[0].removeprefix("file://").removeprefix("file:"))

"""The datasets of an event into rows: names, versions, facets, column lineage.

A write makes a version per run; a read maps the current version, or makes the first one.
"""

import json
from sqlite3 import Connection
from typing import Any

from lineage_assets.marquez.embedded.event import DatasetPart, Facets
from lineage_assets.marquez.embedded.store import made_id

_KINDS = {"dataQualityMetrics": "input", "dataQualityAssertions": "input", "outputStatistics": "output"}
"""Facets of a dataset that Marquez counts as facets of a run's input or output, wherever they were sent."""


def keep_namespace(db: Connection, name: str, at: int) -> None:
    db.execute("INSERT OR IGNORE INTO namespaces VALUES (?, ?, ?, NULL)", (name, at, at))


def keep_facets(db: Connection, owner: str, kind: str, facets: Facets, said: tuple[str | None, int]) -> None:
    """Facets said by a run at a time; of the same name and run, the later one is kept."""
    run, at = said
    db.executemany(
        "INSERT INTO facets VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET facet = excluded.facet, at = excluded.at"
        " WHERE excluded.at >= at",
        [
            (owner, _KINDS.get(name, kind) if kind == "dataset" else kind, name, run or "", at, json.dumps(facet))
            for name, facet in facets.items()
        ],
    )


def read_dataset(db: Connection, part: DatasetPart, at: int, run: str | None) -> tuple[int, str]:
    """A dataset as an input: the dataset and the version that was read."""
    dataset, source = _keep_dataset(db, part, at)
    current = db.execute("SELECT version FROM datasets WHERE id = ?", (dataset,)).fetchone()["version"]
    version = current if current is not None else _keep_version(db, part, (dataset, source, at), (run, None))
    _add_fields(db, version, _fields(part))
    if run is not None:
        db.execute("INSERT OR IGNORE INTO run_inputs VALUES (?, ?)", (run, version))
    if current is None:
        db.execute("UPDATE datasets SET version = ?, updated_at = ? WHERE id = ?", (version, at, dataset))
    keep_facets(db, version, "dataset", part.facets, (run, at))
    keep_facets(db, version, "input", part.of_run, (run, at))
    return dataset, version


def write_dataset(db: Connection, part: DatasetPart, at: int, run: str | None) -> tuple[int, str]:
    """A dataset as an output: the dataset and the version of this run."""
    dataset, source = _keep_dataset(db, part, at)
    version = _keep_version(db, part, (dataset, source, at), (run, run))
    keep_facets(db, version, "dataset", part.facets, (run, at))
    keep_facets(db, version, "output", part.of_run, (run, at))
    if run is not None:
        _keep_column_lineage(db, part, (dataset, version), run, at)
    return dataset, version


def _keep_dataset(db: Connection, part: DatasetPart, at: int) -> tuple[int, str]:
    """The dataset with this name, or with this name as a symlink."""
    keep_namespace(db, part.namespace, at)
    source = part.facets.get("dataSource", {})
    source_name = source.get("name", "default")
    db.execute(
        "INSERT INTO sources VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET uri = excluded.uri, updated_at = excluded.updated_at",
        (source_name, source.get("uri", ""), at, at),
    )
    description = part.facets.get("documentation", {}).get("description")
    dropped = _lifecycle(part).upper() == "DROP"
    known = db.execute(
        "SELECT dataset FROM dataset_names WHERE namespace = ? AND name = ?", (part.namespace, part.name)
    ).fetchone()
    if known is None:
        dataset = db.execute(
            "INSERT INTO datasets (namespace, name, created_at) VALUES (?, ?, ?) RETURNING id",
            (part.namespace, part.name, at),
        ).fetchone()["id"]
        _name_dataset(db, part.namespace, part.name, dataset)
    else:
        dataset = known["dataset"]
    db.execute(
        "UPDATE datasets SET updated_at = ?, source = ?, description = ?, deleted = ? WHERE id = ?",
        (at, source_name, description, dropped, dataset),
    )
    for other in part.facets.get("symlinks", {}).get("identifiers", ()):
        keep_namespace(db, other["namespace"], at)
        _name_dataset(db, other["namespace"], other["name"], dataset)
    return int(dataset), source_name


def _name_dataset(db: Connection, namespace: str, name: str, dataset: int) -> None:
    """The first dataset to have a name keeps it."""
    db.execute("INSERT OR IGNORE INTO dataset_names VALUES (?, ?, ?)", (namespace, name, dataset))


def _keep_version(
    db: Connection, part: DatasetPart, of: tuple[int, str, int], runs: tuple[str | None, str | None]
) -> str:
    """The version that this run makes of a dataset with this schema."""
    (dataset, source, at), (for_run, made_by) = of, runs
    fields = json.dumps(_fields(part))
    version = made_id("dataset version", part.namespace, part.name, source, _lifecycle(part), fields, for_run)
    row = made_id("dataset version row", version)
    db.execute(
        "INSERT INTO dataset_versions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET run = excluded.run",
        (row, version, dataset, at, made_by, _lifecycle(part), fields),
    )
    return row


def _lifecycle(part: DatasetPart) -> str:
    return str(part.facets.get("lifecycleStateChange", {}).get("lifecycleStateChange", ""))


def _fields(part: DatasetPart) -> dict[str, list[Any]]:
    """Column name to type and description."""
    fields = part.facets.get("schema", {}).get("fields") or ()
    return {field["name"]: [field.get("type"), field.get("description")] for field in fields}


def _add_fields(db: Connection, version: str, fields: dict[str, list[Any]]) -> None:
    """A reader's schema adds columns to the version it read, as Marquez has it."""
    if not fields:
        return
    known = json.loads(db.execute("SELECT fields FROM dataset_versions WHERE id = ?", (version,)).fetchone()["fields"])
    if fields.keys() - known.keys():
        db.execute("UPDATE dataset_versions SET fields = ? WHERE id = ?", (json.dumps(fields | known), version))


def _keep_column_lineage(db: Connection, part: DatasetPart, out: tuple[int, str], run: str, at: int) -> None:
    """Columns whose inputs are columns of datasets that this run read; others say nothing."""
    columns = part.facets.get("columnLineage", {}).get("fields") or {}
    if not columns:
        return
    read: dict[tuple[str, str], tuple[int, str, dict[str, Any]]] = {
        (row["namespace"], row["name"]): (row["dataset"], row["id"], json.loads(row["fields"]))
        for row in db.execute(
            "SELECT d.namespace, d.name, v.* FROM run_inputs i JOIN dataset_versions v ON v.id = i.version"
            " JOIN datasets d ON d.id = v.dataset WHERE i.run = ?",
            (run,),
        )
    }
    written = _fields(part)
    rows = []
    for column, lineage in columns.items():
        for source in lineage.get("inputFields") or () if column in written else ():
            dataset, version, fields = read.get((source["namespace"], source["name"]), (0, "", {}))
            if source["field"] in fields:
                said = (lineage.get("transformationDescription"), lineage.get("transformationType"))
                rows.append((out[0], column, dataset, source["field"], out[1], version, *said, at))
    db.executemany(
        "INSERT INTO column_lineage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " out_version = excluded.out_version, in_version = excluded.in_version, description = excluded.description,"
        " type = excluded.type, at = excluded.at WHERE excluded.at >= at",
        rows,
    )

"""The datasets of an event into rows: names, versions, facets, column lineage.

A write makes a version per run; a read maps the current version, or makes the first one.
"""

import json
from collections.abc import Sequence
from sqlite3 import Connection, Row
from typing import Any

from lineage_assets.marquez.embedded.event import Event, Facets, Part
from lineage_assets.marquez.embedded.store import made_id

_KINDS = {"dataQualityMetrics": "input", "dataQualityAssertions": "input", "outputStatistics": "output"}
"""Facets of a dataset that Marquez counts as facets of a run's input or output, wherever they were sent."""


def keep_places(db: Connection, event: Event) -> None:
    """The namespaces and sources that the event names, once each."""
    parts = (*event.inputs, *event.outputs)
    named = [() if event.job is None else (event.job.namespace,), (part.namespace for part in parts)]
    named += [(other["namespace"] for other in _symlinks(part)) for part in parts]
    db.executemany(
        "INSERT OR IGNORE INTO namespaces VALUES (?, ?, ?, NULL)",
        [(name, event.at, event.at) for name in {name for names in named for name in names}],
    )
    db.executemany(
        "INSERT INTO sources VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET connection_url = excluded.connection_url, updated_at = excluded.updated_at",
        [(*source, event.at, event.at) for source in dict(map(_source, parts)).items()],
    )


def keep_facets(db: Connection, owner: str, kind: str, facets: Facets, event: Event) -> None:
    """Facets that the event says; of the same name, those of the later event stay.

    What is said of an input or output is kept for each run; what is said of a dataset, the latest only.
    """
    rows = []
    for name, facet in facets.items():
        of = _KINDS.get(name, kind) if kind == "dataset" else kind
        rows.append((owner, of, name, "" if of == "dataset" else event.run or "", event.at, json.dumps(facet)))
    db.executemany(
        "INSERT INTO facets VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (owner, kind, name, run) DO UPDATE"
        " SET facet = excluded.facet, at = excluded.at WHERE excluded.at >= at",
        rows,
    )


def read_dataset(db: Connection, part: Part, event: Event) -> int:
    """A dataset as an input of the event's run."""
    dataset = _keep_dataset(db, part, event.at)
    current = db.execute(
        "SELECT v.id, v.fields FROM datasets d JOIN dataset_versions v ON v.id = d.current_version WHERE d.id = ?",
        (dataset,),
    ).fetchone()
    version = current["id"] if current is not None else _keep_version(db, part, event, dataset, made_by=None)
    if event.run is not None:
        db.execute("INSERT OR IGNORE INTO run_inputs VALUES (?, ?)", (event.run, version))
    if current is None:
        db.execute("UPDATE datasets SET current_version = ? WHERE id = ?", (version, dataset))
    else:
        _add_fields(db, current, _fields(part))
    keep_facets(db, version, "dataset", part.facets, event)
    keep_facets(db, version, "input", part.of_run, event)
    return dataset


def write_dataset(db: Connection, part: Part, event: Event) -> tuple[int, str]:
    """A dataset as an output: the dataset and the version of the event's run."""
    dataset = _keep_dataset(db, part, event.at)
    version = _keep_version(db, part, event, dataset, made_by=event.run)
    keep_facets(db, version, "dataset", part.facets, event)
    keep_facets(db, version, "output", part.of_run, event)
    _keep_column_lineage(db, part, event, (dataset, version))
    return dataset, version


def _keep_dataset(db: Connection, part: Part, at: int) -> int:
    """The dataset with this name, or with this name as a symlink."""
    name = (part.namespace, part.name)
    known = db.execute("SELECT dataset FROM dataset_names WHERE namespace = ? AND name = ?", name).fetchone()
    if known is None:
        db.execute("INSERT INTO datasets (namespace, name, created_at) VALUES (?, ?, ?)", (*name, at))
    dataset = int(known["dataset"] if known is not None else db.execute("SELECT last_insert_rowid()").fetchone()[0])
    db.execute(
        "UPDATE datasets SET updated_at = ?, source_name = ?, description = ?, deleted = ? WHERE id = ?",
        (
            *(at, _source(part)[0], part.facets.get("documentation", {}).get("description")),
            *(_lifecycle(part).upper() == "DROP", dataset),
        ),
    )
    names = [] if known is not None else [name]
    names += [(other["namespace"], other["name"]) for other in _symlinks(part)]
    # The first dataset to have a name keeps it.
    db.executemany("INSERT OR IGNORE INTO dataset_names VALUES (?, ?, ?)", [(*other, dataset) for other in names])
    return dataset


def _keep_version(db: Connection, part: Part, event: Event, dataset: int, *, made_by: str | None) -> str:
    """The version that a run makes of a dataset with this schema; the row's id is another than the version's."""
    fields, source = json.dumps(_fields(part)), part.facets.get("dataSource", {}).get("name")
    version = made_id("dataset version", part.namespace, part.name, source, _lifecycle(part), fields, event.run)
    row = made_id("dataset version row", version)
    db.execute(
        "INSERT INTO dataset_versions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET run = excluded.run",
        (row, version, dataset, event.at, made_by, _lifecycle(part), fields),
    )
    return row


def _symlinks(part: Part) -> Sequence[Facets]:
    return part.facets.get("symlinks", {}).get("identifiers") or ()


def _source(part: Part) -> tuple[str, str]:
    """Name and address of where the dataset is."""
    source = {"name": "default", "uri": "", **part.facets.get("dataSource", {})}
    return source["name"], source["uri"]


def _lifecycle(part: Part) -> str:
    return str(part.facets.get("lifecycleStateChange", {}).get("lifecycleStateChange", ""))


def _fields(part: Part) -> dict[str, list[Any]]:
    """Column name to type and description."""
    fields = part.facets.get("schema", {}).get("fields") or ()
    return {field["name"]: [field.get("type"), field.get("description")] for field in fields}


def _add_fields(db: Connection, version: Row, fields: dict[str, list[Any]]) -> None:
    """A reader's schema adds columns to the version it read, as Marquez has it."""
    known = json.loads(version["fields"])
    if fields.keys() - known.keys():
        db.execute("UPDATE dataset_versions SET fields = ? WHERE id = ?", (json.dumps(fields | known), version["id"]))


def _keep_column_lineage(db: Connection, part: Part, event: Event, written: tuple[int, str]) -> None:
    """Columns made of columns of datasets that this run read; what is said of others is not kept."""
    columns = part.facets.get("columnLineage", {}).get("fields")
    if not columns:
        return
    inputs = db.execute(
        "SELECT d.namespace, d.name, v.* FROM run_inputs i JOIN dataset_versions v ON v.id = i.version"
        " JOIN datasets d ON d.id = v.dataset WHERE i.run = ?",
        (event.run,),
    )
    read = {(row["namespace"], row["name"]): (row, json.loads(row["fields"])) for row in inputs}
    rows = []
    for column in columns.keys() & _fields(part).keys():
        said = [columns[column].get(key) for key in ("transformationDescription", "transformationType")]
        for source in columns[column].get("inputFields") or ():
            row, fields = read.get((source["namespace"], source["name"]), (None, {}))
            if row is not None and source["field"] in fields:
                pair = (written[0], column, row["dataset"], source["field"])
                rows.append((*pair, written[1], row["id"], *said, event.at))
    db.executemany(
        "INSERT INTO column_lineage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (dataset, field, of_dataset, of_field) DO UPDATE SET"
        " version = excluded.version, of_version = excluded.of_version,"
        " transformation_description = excluded.transformation_description,"
        " transformation_type = excluded.transformation_type, at = excluded.at WHERE excluded.at >= at",
        rows,
    )

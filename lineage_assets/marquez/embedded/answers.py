"""Rows as Marquez's JSON: runs, jobs, datasets and their versions.

Reads only. Every function takes rows of ``store`` and gives what Marquez 0.50 would answer for them.
"""

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Connection, Row
from typing import Any

from lineage_assets.marquez.embedded.instants import instant_text
from lineage_assets.marquez.embedded.store import made_id

Json = dict[str, Any]

OF_DATASET = ("dataset", "input")
"""Kinds of facets that a dataset shows; those of outputs show in its runs, and in a version asked for by id."""
OF_VERSION = (*OF_DATASET, "output")


def facets_of(db: Connection, owner: str, kinds: Sequence[str], run: str | None = None) -> Json:
    """Facets by name, the later one of each."""
    chosen = " AND run = ?" if run is not None else ""
    rows = db.execute(
        f"SELECT name, facet FROM facets WHERE owner = ? AND kind IN ({', '.join('?' * len(kinds))}){chosen}"  # noqa: S608
        " ORDER BY at, rowid",
        (owner, *kinds, *(() if run is None else (run,))),
    )
    return {row["name"]: json.loads(row["facet"]) for row in rows}


def named(row: Row | Mapping[str, Any]) -> Json:
    return {"namespace": row["namespace"], "name": row["name"]}


def namespace_answer(row: Row) -> Json:
    return {
        "name": row["name"],
        "createdAt": instant_text(row["created_at"]),
        "updatedAt": instant_text(row["updated_at"]),
        "ownerName": "anonymous",
        "description": row["description"],
        "isHidden": False,
    }


def source_answer(row: Row) -> Json:
    return {
        "type": "POSTGRESQL",
        "name": row["name"],
        "createdAt": instant_text(row["created_at"]),
        "updatedAt": instant_text(row["updated_at"]),
        "connectionUrl": row["uri"],
        "description": None,
    }


def run_core(run: Row, job_version: Json | None) -> Json:
    """A run without what it read, wrote and said."""
    started, ended = run["started_at"], run["ended_at"]
    return {
        "id": run["id"],
        "createdAt": instant_text(run["created_at"]),
        "updatedAt": instant_text(run["updated_at"]),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": run["state"] if run["state"] is not None else "NEW",
        "startedAt": instant_text(started),
        "endedAt": instant_text(ended),
        "durationMs": None if started is None or ended is None else (ended - started) // 1000,
        "args": {},
        "jobVersion": job_version,
        "inputDatasetVersions": [],
        "outputDatasetVersions": [],
        "facets": {},
    }


def run_answer(db: Connection, run: Row, *, of_job_version: bool = False) -> Json:
    """A run; as the latest of a job version it shows the job's facets in place of its own."""
    job = db.execute("SELECT namespace, name FROM jobs WHERE id = ?", (run["job"],)).fetchone()
    version = db.execute("SELECT version FROM job_versions WHERE id = ?", (run["version"],)).fetchone()
    answer = run_core(run, None if version is None else {**named(job), "version": version["version"]})
    read = db.execute(
        f"{_VERSION_IDS} JOIN run_inputs i ON i.version = v.id WHERE i.run = ? ORDER BY d.name", (run["id"],)
    ).fetchall()
    written = db.execute(f"{_VERSION_IDS} WHERE v.run = ? ORDER BY d.name", (run["id"],)).fetchall()
    for side, kind, rows in (("input", "input", read), ("output", "output", written)):
        answer[f"{side}DatasetVersions"] = [
            {
                "datasetVersionId": {**named(row), "version": row["version"]},
                "facets": {} if of_job_version else facets_of(db, row["id"], [kind], run["id"]),
            }
            for row in rows
        ]
    answer["args"] = json.loads(run["args"])
    answer["facets"] = facets_of(db, run["id"], ["job" if of_job_version else "run"])
    return answer


_VERSION_IDS = "SELECT v.id, v.version, d.namespace, d.name FROM dataset_versions v JOIN datasets d ON d.id = v.dataset"


def job_core(db: Connection, job: Row) -> Json:
    """What a job's own answer and its node in the graph share."""
    parent = db.execute("SELECT namespace, name FROM jobs WHERE id = ?", (job["parent"],)).fetchone()
    return {
        "id": named(job),
        "type": job["type"],
        **named(job),
        "simpleName": job["simple_name"],
        "parentJobName": None if parent is None else parent["name"],
        "parentJobUuid": None if parent is None else made_id("job", *parent),
        "createdAt": instant_text(job["created_at"]),
        "updatedAt": instant_text(job["updated_at"]),
        "location": job["location"],
        "description": job["description"],
    }


def job_answer(db: Connection, job: Row) -> Json:
    runs = db.execute("SELECT * FROM runs WHERE job = ? ORDER BY updated_at DESC LIMIT 10", (job["id"],)).fetchall()
    latest = [run_answer(db, run) for run in runs]
    version = db.execute("SELECT * FROM job_versions WHERE id = ?", (job["version"],)).fetchone()
    inputs, outputs = ([], []) if version is None else version_datasets(db, version["id"])
    if latest and not inputs and not outputs:
        inputs, outputs = (
            [named(used["datasetVersionId"]) for used in latest[0][f"{side}DatasetVersions"]]
            for side in ("input", "output")
        )
    facets = {} if version is None or version["run"] is None else facets_of(db, version["run"], ["job"])
    job_type = facets.get("jobType", {})
    return {
        **job_core(db, job),
        "inputs": inputs,
        "outputs": outputs,
        "latestRun": latest[0] if latest else None,
        "latestRuns": latest or None,
        "facets": facets,
        "currentVersion": job["version"],
        "labels": [job_type[key] for key in ("jobType", "integration") if job_type.get(key)],
        "tags": [],
    }


def version_datasets(db: Connection, job_version: str) -> tuple[list[Json], list[Json]]:
    rows = db.execute(
        "SELECT d.namespace, d.name, u.io FROM job_version_datasets u JOIN datasets d ON d.id = u.dataset"
        " WHERE u.version = ? ORDER BY d.namespace, d.name",
        (job_version,),
    ).fetchall()
    return (
        [named(row) for row in rows if row["io"] == "INPUT"],
        [named(row) for row in rows if row["io"] == "OUTPUT"],
    )


def job_version_answer(db: Connection, job: Row, version: Row) -> Json:
    inputs, outputs = version_datasets(db, version["id"])
    run = db.execute("SELECT * FROM runs WHERE id = ?", (version["run"],)).fetchone()
    return {
        "id": {**named(job), "version": version["version"]},
        **named(job),
        "version": version["version"],
        "createdAt": instant_text(version["created_at"]),
        "location": version["location"],
        "inputs": inputs,
        "outputs": outputs,
        "latestRun": None if run is None else run_answer(db, run, of_job_version=True),
    }


def dataset_core(dataset: Row, version: Row | None) -> Json:
    """What a dataset's own answer and its node in the graph share."""
    return {
        "id": named(dataset),
        "type": "DB_TABLE",
        **named(dataset),
        "physicalName": dataset["name"],
        "createdAt": instant_text(dataset["created_at"]),
        "updatedAt": instant_text(dataset["updated_at"]),
        "sourceName": dataset["source"],
        "fields": [] if version is None else _fields(version),
        "tags": [],
        "lastModifiedAt": None,
        "description": dataset["description"],
        "lastLifecycleState": None if version is None else version["lifecycle"],
    }


def dataset_answer(db: Connection, dataset: Row, *, with_facets: bool = True) -> Json:
    version = current_version(db, dataset)
    return {
        **dataset_core(dataset, version),
        "currentVersion": dataset["version"],
        "columnLineage": _column_lineage(db, dataset["id"]),
        "facets": facets_of(db, version["id"], OF_DATASET) if with_facets and version is not None else {},
        "deleted": bool(dataset["deleted"]),
    }


def current_version(db: Connection, dataset: Row) -> Row | None:
    row: Row | None = db.execute("SELECT * FROM dataset_versions WHERE id = ?", (dataset["version"],)).fetchone()
    return row


def dataset_version_answer(db: Connection, dataset: Row, version: Row, kinds: Sequence[str]) -> Json:
    run = db.execute("SELECT * FROM runs WHERE id = ?", (version["run"],)).fetchone()
    return {
        "id": named(dataset),
        "type": "DB_TABLE",
        **named(dataset),
        "physicalName": dataset["name"],
        "createdAt": instant_text(version["created_at"]),
        "version": version["version"],
        "sourceName": dataset["source"],
        "fields": _fields(version),
        "tags": [],
        "lifecycleState": version["lifecycle"],
        "description": dataset["description"],
        "currentSchemaVersion": made_id("schema", dataset["id"], version["fields"]),
        "createdByRun": None if run is None else run_answer(db, run),
        "facets": facets_of(db, version["id"], kinds),
    }


def _fields(version: Row) -> list[Json]:
    known = json.loads(version["fields"]).items()
    return [{"name": name, "type": type_, "tags": [], "description": said} for name, (type_, said) in known]


def _column_lineage(db: Connection, dataset: int) -> list[Json] | None:
    rows = db.execute(
        "SELECT c.*, d.namespace, d.name FROM column_lineage c JOIN datasets d ON d.id = c.in_dataset"
        " WHERE c.out_dataset = ? ORDER BY c.out_field, d.namespace, d.name, c.in_field",
        (dataset,),
    )
    columns: dict[str, Json] = {}
    for row in rows:
        said = {"transformationDescription": row["description"], "transformationType": row["type"]}
        column = columns.setdefault(row["out_field"], {"name": row["out_field"], "inputFields": [], **said})
        column["inputFields"].append(
            {"namespace": row["namespace"], "dataset": row["name"], "field": row["in_field"], **said}
        )
    return list(columns.values()) or None

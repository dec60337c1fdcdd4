"""Rows as Marquez's JSON: runs, jobs, datasets and their versions.

Reads only. Every function takes rows of ``store`` and gives what Marquez 0.50 would answer for them.
"""

import json
from collections.abc import Sequence
from functools import cache
from sqlite3 import Connection, Row
from typing import Any

from lineage_assets.marquez.embedded.instants import instant_text
from lineage_assets.marquez.embedded.store import made_id

Json = dict[str, Any]

OF_DATASET = ("dataset", "input")
"""Kinds of facets that a dataset shows; those of outputs show in its runs, and in a version asked for by id."""
OF_VERSION = (*OF_DATASET, "output")


def shown(row: Row | Json, columns: str) -> Json:
    """These columns under Marquez's names, ``created_at`` as ``createdAt`` and as text."""
    return {_camel(key): instant_text(row[key]) if key.endswith("_at") else row[key] for key in columns.split()}


@cache
def _camel(column: str) -> str:
    first, *others = column.split("_")
    return first + "".join(word.title() for word in others)


def named(row: Row | Json) -> Json:
    return shown(row, "namespace name")


def one(db: Connection, query: str, *values: object) -> Row | None:
    row: Row | None = db.execute(query, values).fetchone()
    return row


def facets_of(db: Connection, owner: str | None, kinds: Sequence[str], run: str | None = None) -> Json:
    """Facets by name, the later one of each; those of one run, or of all."""
    rows = db.execute(
        f"SELECT name, facet FROM facets WHERE owner = ? AND kind IN ({', '.join('?' * len(kinds))})"  # noqa: S608
        " AND (? IS NULL OR run = ?) ORDER BY at, rowid",
        (owner, *kinds, run, run),
    )
    return {row["name"]: json.loads(row["facet"]) for row in rows}


def run_core(run: Row | Json, job_version: Json | None) -> Json:
    """A run without what it read, wrote and said."""
    started, ended = run["started_at"], run["ended_at"]
    return {
        **shown(run, "id created_at updated_at started_at ended_at state"),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "jobVersion": job_version,
        "durationMs": None if started is None or ended is None else (ended - started) // 1000,
        "args": {},
        "facets": {},
        "inputDatasetVersions": [],
        "outputDatasetVersions": [],
    }


def run_answer(db: Connection, run: Row, *, of_job_version: bool = False) -> Json:
    """A run; as the latest of a job version it shows the job's facets in place of its own."""
    version = one(
        db,
        "SELECT j.namespace, j.name, v.version FROM job_versions v JOIN jobs j ON j.id = ? WHERE v.id = ?",
        *(run["job"], run["version"]),
    )
    answer = run_core(run, None if version is None else shown(version, "namespace name version"))
    of = "SELECT v.id, v.version, d.namespace, d.name FROM dataset_versions v JOIN datasets d ON d.id = v.dataset"
    sides = {"input": "JOIN run_inputs i ON i.version = v.id WHERE i.run = ?", "output": "WHERE v.run = ?"}
    for side, chosen in sides.items():
        answer[f"{side}DatasetVersions"] = [
            {
                "datasetVersionId": shown(row, "namespace name version"),
                "facets": {} if of_job_version else facets_of(db, row["id"], [side], run["id"]),
            }
            for row in db.execute(f"{of} {chosen} ORDER BY d.name", (run["id"],)).fetchall()
        ]
    answer["args"] = json.loads(run["args"])
    answer["facets"] = facets_of(db, run["id"], ["job" if of_job_version else "run"])
    return answer


def job_core(job: Row | Json, parent_name: str | None) -> Json:
    """What a job's own answer and its node in the graph share."""
    return {
        "id": named(job),
        **shown(job, "namespace name simple_name type created_at updated_at location description"),
        "parentJobName": parent_name,
        "parentJobUuid": None if parent_name is None else made_id("job", job["parent"]),
    }


def job_answer(db: Connection, job: Row) -> Json:
    runs = db.execute("SELECT * FROM runs WHERE job = ? ORDER BY updated_at DESC LIMIT 10", (job["id"],)).fetchall()
    latest = [run_answer(db, run) for run in runs]
    version = one(db, "SELECT * FROM job_versions WHERE id = ?", job["current_version"])
    used = _used(db, job["current_version"])
    if latest and not used["inputs"] and not used["outputs"]:
        sides = {"inputs": "inputDatasetVersions", "outputs": "outputDatasetVersions"}
        used = {name: [named(part["datasetVersionId"]) for part in latest[0][key]] for name, key in sides.items()}
    facets = {} if version is None else facets_of(db, version["run"] or version["id"], ["job"])
    job_type, parent = facets.get("jobType", {}), one(db, "SELECT name FROM jobs WHERE id = ?", job["parent"])
    return {
        **job_core(job, None if parent is None else parent["name"]),
        **used,
        **shown(job, "current_version"),
        "latestRun": latest[0] if latest else None,
        "latestRuns": latest or None,
        "facets": facets,
        "labels": [job_type[key] for key in ("jobType", "integration") if job_type.get(key)],
        "tags": [],
    }


def job_version_answer(db: Connection, job: Row, version: Row) -> Json:
    run = one(db, "SELECT * FROM runs WHERE id = ?", version["run"])
    return {
        "id": {**named(job), "version": version["version"]},
        **named(job),
        **shown(version, "version created_at location"),
        **_used(db, version["id"]),
        "latestRun": None if run is None else run_answer(db, run, of_job_version=True),
    }


def _used(db: Connection, job_version: str | None) -> dict[str, list[Json]]:
    query = (
        "SELECT d.namespace, d.name FROM job_version_datasets u JOIN datasets d ON d.id = u.dataset"
        " WHERE u.version = ? AND u.io = ? ORDER BY d.namespace, d.name"
    )
    sides = {"inputs": "INPUT", "outputs": "OUTPUT"}
    return {name: [named(row) for row in db.execute(query, (job_version, io))] for name, io in sides.items()}


def dataset_core(dataset: Row | Json, version: Row | Json | None) -> Json:
    """What a dataset's own answer and its node in the graph share."""
    return {
        **_described(dataset, version),
        **shown(dataset, "created_at updated_at"),
        "lastModifiedAt": None,
        "lastLifecycleState": None if version is None else version["lifecycle_state"],
    }


def dataset_answer(db: Connection, dataset: Row, *, with_facets: bool = True) -> Json:
    rows = db.execute(
        "SELECT c.*, d.namespace, d.name FROM column_lineage c JOIN datasets d ON d.id = c.of_dataset"
        " WHERE c.dataset = ? ORDER BY c.field, d.namespace, d.name, c.of_field",
        (dataset["id"],),
    )
    columns: dict[str, Json] = {}
    for row in rows:
        said = shown(row, "transformation_description transformation_type")
        column = columns.setdefault(row["field"], {"name": row["field"], "inputFields": [], **said})
        source = {"namespace": row["namespace"], "dataset": row["name"], "field": row["of_field"]}
        column["inputFields"].append({**source, **said})
    return {
        **dataset_core(dataset, one(db, "SELECT * FROM dataset_versions WHERE id = ?", dataset["current_version"])),
        **shown(dataset, "current_version"),
        "columnLineage": list(columns.values()) or None,
        "facets": facets_of(db, dataset["current_version"], OF_DATASET) if with_facets else {},
        "deleted": bool(dataset["deleted"]),
    }


def dataset_version_answer(db: Connection, dataset: Row, version: Row, kinds: Sequence[str]) -> Json:
    run = one(db, "SELECT * FROM runs WHERE id = ?", version["run"])
    return {
        **_described(dataset, version),
        **shown(version, "version created_at lifecycle_state"),
        "currentSchemaVersion": made_id("schema", dataset["id"], version["fields"]),
        "createdByRun": None if run is None else run_answer(db, run),
        "facets": facets_of(db, version["id"], kinds),
    }


def _described(dataset: Row | Json, version: Row | Json | None) -> Json:
    fields = {} if version is None else json.loads(version["fields"])
    return {
        "id": named(dataset),
        **shown(dataset, "namespace name source_name description"),
        "type": "DB_TABLE",
        "physicalName": dataset["name"],
        "tags": [],
        "fields": [
            {"name": name, "type": type_, "tags": [], "description": said} for name, (type_, said) in fields.items()
        ],
    }

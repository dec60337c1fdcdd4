"""One event into rows, by the rules of Marquez 0.50; the caller gives the transaction.

The graph, a job's version and a dataset's current version follow the order of arrival.
Runs and times follow the times in the events.
"""

import json
from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any

from lineage_assets.marquez.embedded.event import DatasetPart, Event, Facets, JobPart, RunPart, run_uuid
from lineage_assets.marquez.embedded.instants import zoned_text
from lineage_assets.marquez.embedded.received_datasets import keep_facets, keep_namespace, read_dataset, write_dataset
from lineage_assets.marquez.embedded.store import made_id

ENDED = ("COMPLETED", "FAILED", "ABORTED")


def receive(db: Connection, event: Event, body: object, now: int) -> None:
    """Keep the event and what follows from it."""
    db.execute(
        "INSERT INTO events (kind, type, at, body) VALUES (?, ?, ?, ?)",
        (event.kind, event.type, event.at, json.dumps(body, separators=(",", ":"))),
    )
    if event.job is None:
        for part in event.outputs:
            _promote(db, write_dataset(db, part, event.at, run=None), now)
    elif event.run is None:
        job = _keep_job(db, event, event.job, None, now)
        inputs = {read_dataset(db, part, event.at, run=None)[0] for part in event.inputs}
        outputs = {write_dataset(db, part, event.at, run=None)[0] for part in event.outputs}
        version = _keep_job_version(db, job, inputs, outputs, event.at)
        keep_facets(db, version, "job", event.job.facets, (version, event.at))
        db.execute("UPDATE job_versions SET run = ? WHERE id = ?", (version, version))
    else:
        _receive_run(db, event, event.job, event.run, now)


def _receive_run(db: Connection, event: Event, part: JobPart, run: RunPart, now: int) -> None:
    job = _keep_job(db, event, part, run, now)
    _keep_run(db, event, run, job)
    keep_facets(db, run.id, "run", run.facets, (run.id, event.at))
    keep_facets(db, run.id, "job", part.facets, (run.id, event.at))
    for dataset in event.inputs:
        read_dataset(db, dataset, event.at, run.id)
    for dataset in event.outputs:
        write_dataset(db, dataset, event.at, run.id)
    # An event that names none hides the edges there were, until a run ends with some.
    for io, parts in (("INPUT", event.inputs), ("OUTPUT", event.outputs)):
        if not parts:
            db.execute("DELETE FROM edges WHERE job = ? AND io = ?", (job, io))
    if event.state in ENDED:
        _end_run(db, event, run.id, job, now)


def _end_run(db: Connection, event: Event, run: str, job: int, now: int) -> None:
    """The run's inputs and outputs become the job's; what a good run wrote becomes current."""
    inputs = _column(
        db,
        "SELECT DISTINCT v.dataset FROM run_inputs i JOIN dataset_versions v ON v.id = i.version WHERE i.run = ?",
        run,
    )
    written = db.execute("SELECT dataset, id FROM dataset_versions WHERE run = ? ORDER BY rowid", (run,)).fetchall()
    version = _keep_job_version(db, job, set(inputs), {row["dataset"] for row in written}, event.at)
    db.execute("UPDATE runs SET version = ? WHERE id = ?", (version, run))
    db.execute("UPDATE job_versions SET run = ? WHERE id = ?", (run, version))
    if event.state == "COMPLETED":
        for row in written:
            _promote(db, (row["dataset"], row["id"]), now)


def _promote(db: Connection, written: tuple[int, str], now: int) -> None:
    dataset, version = written
    db.execute("UPDATE datasets SET version = ?, updated_at = ? WHERE id = ?", (version, now, dataset))


def _keep_job(db: Connection, event: Event, part: JobPart, run: RunPart | None, now: int) -> int:
    """The job of the event, made or brought up to date; a child is named after its parent."""
    keep_namespace(db, part.namespace, event.at)
    facets = part.facets
    streaming = facets.get("jobType", {}).get("processingType") == "STREAMING"
    parent = None if run is None else _parent_of(db, event, part, run, now)
    name, simple_name, current = part.name, part.name, None if run is None else run.id
    if parent is not None:
        simple_name = part.name.removeprefix(parent["name"] + ".")
        name, current = f"{parent['name']}.{simple_name}", parent["run"]
    row = db.execute(
        "INSERT INTO jobs (namespace, name, simple_name, parent, type, created_at, updated_at, description, location, run)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET simple_name = excluded.simple_name,"
        " parent = coalesce(excluded.parent, parent), type = excluded.type, updated_at = ?,"
        " description = excluded.description, location = excluded.location, run = excluded.run RETURNING id",
        (
            *(part.namespace, name, simple_name),
            None if parent is None else parent["id"],
            "STREAM" if streaming else "BATCH",
            *(event.at, event.at),
            facets.get("documentation", {}).get("description"),
            facets.get("sourceCodeLocation", {}).get("url"),
            current,
            now,
        ),
    ).fetchone()
    return int(row["id"])


def _parent_of(db: Connection, event: Event, part: JobPart, run: RunPart, now: int) -> Any:  # noqa: ANN401 - a row
    """The parent's job; made up in the child's namespace when no run of it was announced."""
    facet = run.facets.get("parent")
    if facet is None:
        return None
    namespace, name = facet["job"]["namespace"], facet["job"]["name"]
    if name == part.name:
        name = name.rpartition(".")[0] or name
    parent_run = run_uuid(facet["run"]["runId"], namespace, name)
    known = db.execute("SELECT j.* FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?", (parent_run,)).fetchone()
    if known is not None and (known["namespace"], known["name"]) == (namespace, name):
        return known
    if known is not None:
        parent_run = made_id("run", namespace, name, parent_run)
    made_up = JobPart(part.namespace, name, {})
    job = _keep_job(db, event, made_up, RunPart(parent_run, {}), now)
    if not db.execute("SELECT 1 FROM runs WHERE id = ?", (parent_run,)).fetchone():
        _keep_run(db, event, RunPart(parent_run, {}), job)
    return db.execute("SELECT * FROM jobs WHERE id = ?", (job,)).fetchone()


def _keep_run(db: Connection, event: Event, run: RunPart, job: int) -> None:
    db.execute(
        "INSERT INTO runs (id, job, created_at, updated_at, state, args) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET updated_at = excluded.updated_at, state = coalesce(excluded.state, state)",
        (run.id, job, event.at, event.at, event.state, json.dumps(_run_args(run.facets))),
    )
    if event.state is not None:
        moved = "ended_at" if event.state in ENDED else "started_at"
        db.execute(f"UPDATE runs SET {moved} = ? WHERE id = ?", (event.at, run.id))  # noqa: S608 - one of two names


def _run_args(facets: Facets) -> dict[str, str]:
    nominal, parent = facets.get("nominalTime", {}), facets.get("parent")
    args = {
        f"nominal_{end}_time": zoned_text(nominal[key])
        for end, key in (("start", "nominalStartTime"), ("end", "nominalEndTime"))
        if nominal.get(key) is not None
    }
    if parent is not None:
        args |= {"run_id": parent["run"]["runId"], **{key: parent["job"][key] for key in ("name", "namespace")}}
    return args


def _keep_job_version(db: Connection, job: int, inputs: set[int], outputs: set[int], at: int) -> str:
    """The version of a job with these inputs and outputs, made current, and with it the job's edges."""
    row = db.execute("SELECT namespace, name, location FROM jobs WHERE id = ?", (job,)).fetchone()
    version = made_id("job version", *row, *sorted(inputs), "->", *sorted(outputs))
    db.execute(
        "INSERT INTO job_versions (id, version, job, created_at, location) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (made_id("job version row", version), version, job, at, row["location"]),
    )
    version_row = made_id("job version row", version)
    used = [(dataset, "INPUT") for dataset in inputs] + [(dataset, "OUTPUT") for dataset in outputs]
    db.executemany("INSERT OR IGNORE INTO job_version_datasets VALUES (?, ?, ?)", [(version_row, *use) for use in used])
    db.execute("DELETE FROM edges WHERE job = ?", (job,))
    db.executemany("INSERT INTO edges VALUES (?, ?, ?)", [(job, *use) for use in used])
    db.execute("UPDATE jobs SET version = ?, updated_at = ? WHERE id = ?", (version_row, at, job))
    return version_row


def _column(db: Connection, query: str, *values: object) -> Iterable[int]:
    return (int(row[0]) for row in db.execute(query, values))

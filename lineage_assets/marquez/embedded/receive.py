"""One event into rows, by the rules of Marquez 0.50; the caller gives the transaction.

The graph, a job's version and a dataset's current version follow the order of arrival.
Runs and times follow the times in the events.
"""

import json
from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded.event import Event, Facets, Part, run_uuid
from lineage_assets.marquez.embedded.instants import zoned_text
from lineage_assets.marquez.embedded.received_datasets import keep_facets, keep_places, read_dataset, write_dataset
from lineage_assets.marquez.embedded.store import made_id

ENDED = ("COMPLETED", "FAILED", "ABORTED")


def receive(db: Connection, event: Event, sent: str, now: int) -> None:
    """Keep the event and what follows from it; ``now`` is the server's time, which a few rows show."""
    db.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?)", (event.kind, event.type, event.at, sent))
    keep_places(db, event)
    job = None if event.job is None else _keep_job(db, event, event.job, event.run, now)
    if event.run is not None and job is not None:
        _keep_run(db, event, event.run, job, event.run_facets)
        keep_facets(db, event.run, "run", event.run_facets, event)
    read = {read_dataset(db, part, event) for part in event.inputs}
    written = [write_dataset(db, part, event) for part in event.outputs]
    if job is None or event.job is None:
        _promote(db, written, now)
    elif event.run is None:
        version = _keep_job_version(db, job, read, {dataset for dataset, _ in written}, (event.at, None))
        keep_facets(db, version, "job", event.job.facets, event)
    else:
        keep_facets(db, event.run, "job", event.job.facets, event)
        # An event that names none hides the edges there were, until a run ends with some.
        for io, parts in (("INPUT", event.inputs), ("OUTPUT", event.outputs)):
            if not parts:
                db.execute("DELETE FROM edges WHERE job = ? AND io = ?", (job, io))
        if event.state in ENDED:
            _end_run(db, event, event.run, job, now)


def _end_run(db: Connection, event: Event, run: str, job: int, now: int) -> None:
    """All that the run read and wrote becomes the job's; what a good run wrote becomes current."""
    inputs = "SELECT v.dataset FROM run_inputs i JOIN dataset_versions v ON v.id = i.version WHERE i.run = ?"
    read = {row["dataset"] for row in db.execute(inputs, (run,))}
    outputs = db.execute("SELECT dataset, id FROM dataset_versions WHERE run = ? ORDER BY rowid", (run,)).fetchall()
    written: list[tuple[int, str]] = [(row["dataset"], row["id"]) for row in outputs]
    version = _keep_job_version(db, job, read, {dataset for dataset, _ in written}, (event.at, run))
    db.execute("UPDATE runs SET version = ? WHERE id = ?", (version, run))
    if event.state == "COMPLETED":
        _promote(db, written, now)


def _promote(db: Connection, written: list[tuple[int, str]], now: int) -> None:
    for dataset, version in written:
        db.execute("UPDATE datasets SET current_version = ?, updated_at = ? WHERE id = ?", (version, now, dataset))


def _keep_job(db: Connection, event: Event, part: Part, run: str | None, now: int) -> int:
    """The job of the event, made or brought up to date; a child is named after its parent."""
    parent = _parent_of(db, event, part, now) if part is event.job else None
    name, simple_name = part.name, part.name
    if parent is not None:
        simple_name = part.name.removeprefix(parent["name"] + ".")
        # A child job points to its parent's run: why Marquez shows no state for it in its graph.
        name, run = f"{parent['name']}.{simple_name}", parent["run"]
    streaming = part.facets.get("jobType", {}).get("processingType") == "STREAMING"
    db.execute(
        "INSERT INTO jobs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?) ON CONFLICT (namespace, name) DO UPDATE SET"
        " simple_name = excluded.simple_name, parent = coalesce(excluded.parent, parent), type = excluded.type,"
        " updated_at = ?, description = excluded.description, location = excluded.location, run = excluded.run",
        (
            *(part.namespace, name, simple_name, None if parent is None else parent["id"]),
            *("STREAM" if streaming else "BATCH", event.at, event.at),
            part.facets.get("documentation", {}).get("description"),
            part.facets.get("sourceCodeLocation", {}).get("url"),
            *(run, now),
        ),
    )
    return int(
        db.execute("SELECT id FROM jobs WHERE namespace = ? AND name = ?", (part.namespace, name)).fetchone()["id"]
    )


def _parent_of(db: Connection, event: Event, part: Part, now: int) -> Row | None:
    """The parent's job; made up in the child's namespace when no run of it was announced."""
    facet = event.run_facets.get("parent")
    if facet is None:
        return None
    namespace, name = facet["job"]["namespace"], facet["job"]["name"]
    if name == part.name:
        name = name.rpartition(".")[0] or name
    run = run_uuid(facet["run"]["runId"], namespace, name)
    known: Row | None = db.execute(
        "SELECT j.* FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?", (run,)
    ).fetchone()
    if known is not None and (known["namespace"], known["name"]) == (namespace, name):
        return known
    if known is not None:
        run = made_id("run", namespace, name, run)
    job = _keep_job(db, event, Part(part.namespace, name, {}, {}), run, now)
    if not db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone():
        _keep_run(db, event, run, job, {})
    made_up: Row = db.execute("SELECT * FROM jobs WHERE id = ?", (job,)).fetchone()
    return made_up


def _keep_run(db: Connection, event: Event, run: str, job: int, facets: Facets) -> None:
    started = event.at if event.state is not None and event.state not in ENDED else None
    ended = event.at if event.state in ENDED else None
    db.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, coalesce(?, 'NEW'), ?, ?, ?, NULL) ON CONFLICT (id) DO UPDATE SET"
        " updated_at = excluded.updated_at, state = coalesce(?, state),"
        " started_at = coalesce(excluded.started_at, started_at), ended_at = coalesce(excluded.ended_at, ended_at)",
        (run, job, event.at, event.at, event.state, started, ended, json.dumps(_run_args(facets)), event.state),
    )


def _run_args(facets: Facets) -> dict[str, str]:
    nominal, parent = facets.get("nominalTime", {}), facets.get("parent")
    names = {"nominalStartTime": "nominal_start_time", "nominalEndTime": "nominal_end_time"}
    args = {name: zoned_text(nominal[key]) for key, name in names.items() if nominal.get(key) is not None}
    if parent is not None:
        args |= {"run_id": parent["run"]["runId"], **{key: parent["job"][key] for key in ("name", "namespace")}}
    return args


def _keep_job_version(
    db: Connection, job: int, inputs: set[int], outputs: set[int], said: tuple[int, str | None]
) -> str:
    """The version of a job with these inputs and outputs, made current, and with it the job's edges."""
    at, run = said
    location = db.execute("SELECT location FROM jobs WHERE id = ?", (job,)).fetchone()["location"]
    version = made_id("job version", job, location, sorted(inputs), sorted(outputs))
    row = made_id("job version row", version)
    db.execute(
        "INSERT INTO job_versions VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET run = excluded.run",
        (row, version, job, at, location, run),
    )
    used = [(dataset, "INPUT") for dataset in inputs] + [(dataset, "OUTPUT") for dataset in outputs]
    db.executemany("INSERT OR IGNORE INTO job_version_datasets VALUES (?, ?, ?)", [(row, *use) for use in used])
    if {(edge["dataset"], edge["io"]) for edge in db.execute("SELECT * FROM edges WHERE job = ?", (job,))} != set(used):
        db.execute("DELETE FROM edges WHERE job = ?", (job,))
        db.executemany("INSERT INTO edges VALUES (?, ?, ?)", [(job, *use) for use in used])
    db.execute("UPDATE jobs SET current_version = ?, updated_at = ? WHERE id = ?", (row, at, job))
    return row

"""Walks: the lineage graph from a job or dataset, and the runs upstream of a run.

The graph knows only each job's current inputs and outputs, and is walked in both directions.
"""

from collections.abc import Iterable
from sqlite3 import Connection, Row
from typing import Any

from lineage_assets.marquez.embedded.answers import Json, current_version, dataset_core, job_core, named, run_core
from lineage_assets.marquez.embedded.instants import instant_text
from lineage_assets.marquez.embedded.refusals import RefusedRequestError, no_such_path, not_found


def node_of(db: Connection, node_id: str) -> tuple[str, Row]:
    """The job or dataset that a node id means; its colons are read by what there is, not by guessing."""
    kind, _, rest = node_id.partition(":")
    if kind in ("run", "datasetField"):
        raise RefusedRequestError(404, f"Node '{node_id}' must be of type dataset or job!")
    if kind not in ("job", "dataset") or not rest:
        raise no_such_path()
    for at, letter in enumerate(rest):
        found = _find(db, kind, rest[:at], rest[at + 1 :]) if letter == ":" else None
        if found is not None:
            return kind, found
    raise not_found(kind.capitalize(), rest.partition(":")[2])


def _find(db: Connection, kind: str, namespace: str, name: str) -> Row | None:
    return find_job(db, namespace, name) if kind == "job" else find_dataset(db, namespace, name)


def find_job(db: Connection, namespace: str, name: str) -> Row | None:
    row: Row | None = db.execute("SELECT * FROM jobs WHERE namespace = ? AND name = ?", (namespace, name)).fetchone()
    return row


def find_dataset(db: Connection, namespace: str, name: str) -> Row | None:
    """The dataset with this name, or with this name as a symlink."""
    row: Row | None = db.execute(
        "SELECT d.* FROM dataset_names n JOIN datasets d ON d.id = n.dataset WHERE n.namespace = ? AND n.name = ?",
        (namespace, name),
    ).fetchone()
    return row


def lineage(db: Connection, node_id: str, depth: int) -> Json:
    """The graph round a node, as far as ``depth`` jobs away."""
    kind, start = node_of(db, node_id)
    if kind == "dataset":
        job = _job_of(db, start["id"])
        jobs = {} if job is None else _jobs_within(db, job, depth)
        if not any(start["id"] in used for uses in jobs.values() for used in uses.values()):
            return {"graph": [_dataset_node(db, start, {})]}
    else:
        jobs = _jobs_within(db, start["id"], depth)
    datasets = {used for uses in jobs.values() for ids in uses.values() for used in ids}
    rows = {row["id"]: row for row in _rows(db, "jobs", jobs)}
    names = {row["id"]: row for row in _rows(db, "datasets", datasets)}
    made: dict[str, Json] = {}
    for job_id, row in rows.items():
        node = _job_node(
            db, row, {io: [names[used] for used in ids if used in names] for io, ids in jobs[job_id].items()}
        )
        made[node["id"]] = node
    for dataset_id, row in names.items():
        ends = {io: [rows[job] for job in rows if dataset_id in jobs[job][io]] for io in ("INPUT", "OUTPUT")}
        node = _dataset_node(db, row, ends)
        made[node["id"]] = node
    return {"graph": [made[node] for node in sorted(made)]}


def _job_of(db: Connection, dataset: int) -> int | None:
    """The job through which a dataset enters the graph: its latest writer, else its latest reader."""
    row = db.execute(
        "SELECT v.job FROM job_version_datasets u JOIN job_versions v ON v.id = u.version WHERE u.dataset = ?"
        " ORDER BY u.io DESC, v.created_at DESC LIMIT 1",
        (dataset,),
    ).fetchone()
    return None if row is None else int(row["job"])


def _jobs_within(db: Connection, start: int, depth: int) -> dict[int, dict[str, list[int]]]:
    """Jobs that share datasets, step by step, each with its inputs and outputs."""
    found: dict[int, dict[str, list[int]]] = {}
    frontier = {start}
    for _ in range(max(depth, 0) + 1):
        for job in frontier:
            found[job] = {"INPUT": [], "OUTPUT": []}
            for row in db.execute("SELECT dataset, io FROM edges WHERE job = ?", (job,)):
                found[job][row["io"]].append(row["dataset"])
        near = {used for job in frontier for ids in found[job].values() for used in ids}
        frontier = {
            row["job"] for used in near for row in db.execute("SELECT job FROM edges WHERE dataset = ?", (used,))
        }
        frontier -= found.keys()
        if not frontier:
            break
    return found


def _rows(db: Connection, table: str, ids: Iterable[int]) -> list[Row]:
    rows = (db.execute(f"SELECT * FROM {table} WHERE id = ?", (id_,)).fetchone() for id_ in ids)  # noqa: S608
    return [row for row in rows if row is not None]


def _edge(origin: str, destination: str) -> dict[str, str]:
    return {"origin": origin, "destination": destination}


def _id(kind: str, row: Row) -> str:
    return f"{kind}:{row['namespace']}:{row['name']}"


def _job_node(db: Connection, job: Row, uses: dict[str, list[Row]]) -> Json:
    # The graph shows the run that spoke last, without what it said; a child job's is its parent's, and not shown.
    run = db.execute("SELECT * FROM runs WHERE id = ? AND job = ?", (job["run"], job["id"])).fetchone()
    version = None if job["version"] is None else {**named(job), "version": job["version"]}
    node_id = _id("job", job)
    return {
        "id": node_id,
        "type": "JOB",
        "data": {
            **job_core(db, job),
            "inputs": [named(row) for row in uses["INPUT"]],
            "outputs": [named(row) for row in uses["OUTPUT"]],
            "latestRun": None if run is None else run_core(run, version),
        },
        "inEdges": [_edge(_id("dataset", row), node_id) for row in uses["INPUT"]],
        "outEdges": [_edge(node_id, _id("dataset", row)) for row in uses["OUTPUT"]],
    }


def _dataset_node(db: Connection, dataset: Row, ends: dict[str, list[Row]]) -> Json:
    node_id = _id("dataset", dataset)
    return {
        "id": node_id,
        "type": "DATASET",
        "data": dataset_core(dataset, current_version(db, dataset)),
        "inEdges": [_edge(_id("job", row), node_id) for row in ends.get("OUTPUT", ())],
        "outEdges": [_edge(node_id, _id("job", row)) for row in ends.get("INPUT", ())],
    }


def upstream_runs(db: Connection, run_id: str, depth: int) -> Json:
    """The run, those that made what it read, and so on; an input that no run made ends its branch."""
    runs: list[Json] = []
    seen, frontier = {run_id}, [run_id]
    for _ in range(max(depth, 0) + 1):
        answers = [answer for answer in (_upstream_run(db, run) for run in frontier) if answer is not None]
        runs += sorted(answers, key=lambda answer: str(answer["job"]["name"]))
        makers = {used["producedByRunId"] for answer in answers for used in answer["inputs"]} - {None}
        frontier = sorted(makers - seen)
        seen |= makers
    if not runs:
        raise not_found("Run", run_id)
    return {"runs": runs}


def _upstream_run(db: Connection, run_id: str) -> Json | None:
    run: Any = db.execute(
        "SELECT r.*, j.namespace, j.name FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?", (run_id,)
    ).fetchone()
    if run is None:
        return None
    inputs = db.execute(
        "SELECT d.namespace, d.name, v.version, v.run FROM run_inputs i JOIN dataset_versions v ON v.id = i.version"
        " JOIN datasets d ON d.id = v.dataset WHERE i.run = ? ORDER BY d.namespace, d.name",
        (run_id,),
    )
    start, end = instant_text(run["started_at"]), instant_text(run["ended_at"])
    return {
        "job": {**named(run), "version": run["version"]},
        "run": {"id": run_id, "start": start, "end": end, "status": run["state"]},
        "inputs": [{**named(row), "version": row["version"], "producedByRunId": row["run"]} for row in inputs],
    }

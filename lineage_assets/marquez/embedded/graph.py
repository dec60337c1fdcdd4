"""Walks: the lineage graph from a job or dataset, and the runs upstream of a run.

The graph knows only each job's current inputs and outputs, and is walked in both directions.
"""

from collections.abc import Iterable
from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded.answers import Json, dataset_core, job_core, named, one, run_core, shown
from lineage_assets.marquez.embedded.instants import instant_text
from lineage_assets.marquez.embedded.refusals import RefusedRequestError, no_such_path, not_found

Uses = dict[int, dict[str, list[int]]]
"""Datasets by job and direction."""

FIND = {
    "job": "SELECT * FROM jobs WHERE namespace = ? AND name = ?",
    "dataset": "SELECT d.* FROM datasets d JOIN dataset_names n ON n.dataset = d.id"
    " WHERE n.namespace = ? AND n.name = ?",
}
"""By namespace and name; a dataset is found by a symlink too."""


def node_of(db: Connection, node_id: str) -> tuple[str, Row]:
    """The job or dataset that a node id means; its colons are read by what there is, not by guessing."""
    kind, _, rest = node_id.partition(":")
    if kind in ("run", "datasetField"):
        raise RefusedRequestError(404, f"Node '{node_id}' must be of type dataset or job!")
    if kind not in FIND:
        raise no_such_path()
    for at, letter in enumerate(rest):
        found = one(db, FIND[kind], rest[:at], rest[at + 1 :]) if letter == ":" else None
        if found is not None:
            return kind, found
    raise not_found(kind.capitalize(), rest.partition(":")[2])


def lineage(db: Connection, node_id: str, depth: int) -> Json:
    """The graph round a node, as far as ``depth`` jobs away."""
    kind, start = node_of(db, node_id)
    job = start if kind == "job" else _job_of(db, start["id"])
    uses: Uses = {} if job is None else _jobs_within(db, job["id"], depth)
    datasets = {used for sides in uses.values() for ids in sides.values() for used in ids}
    if kind == "dataset" and start["id"] not in datasets:
        uses, datasets = {}, {start["id"]}
    jobs, tables = _rows(db, "jobs", uses), _rows(db, "datasets", datasets)
    nodes = [
        *(
            _job_node(db, row, {io: [tables[used] for used in ids] for io, ids in uses[row["id"]].items()})
            for row in jobs.values()
        ),
        *(
            _node(
                ("dataset", row, dataset_core(db, row)),
                [jobs[job] for job in uses if row["id"] in uses[job]["OUTPUT"]],
                [jobs[job] for job in uses if row["id"] in uses[job]["INPUT"]],
            )
            for row in tables.values()
        ),
    ]
    return {"graph": sorted(nodes, key=lambda node: str(node["id"]))}


def _job_of(db: Connection, dataset: int) -> Row | None:
    """The job through which a dataset enters the graph: its latest writer, else its latest reader."""
    return one(
        db,
        "SELECT v.job AS id FROM job_version_datasets u JOIN job_versions v ON v.id = u.version WHERE u.dataset = ?"
        " ORDER BY u.io DESC, v.created_at DESC LIMIT 1",
        dataset,
    )


def _jobs_within(db: Connection, start: int, depth: int) -> Uses:
    """Jobs that share datasets, step by step."""
    found: Uses = {}
    frontier = {start}
    for _ in range(max(depth, 0) + 1):
        for job in frontier:
            found[job] = {"INPUT": [], "OUTPUT": []}
            for row in db.execute("SELECT dataset, io FROM edges WHERE job = ?", (job,)):
                found[job][row["io"]].append(row["dataset"])
        near = {used for job in frontier for ids in found[job].values() for used in ids}
        sharing = (
            row["job"] for used in near for row in db.execute("SELECT job FROM edges WHERE dataset = ?", (used,))
        )
        frontier = set(sharing) - found.keys()
        if not frontier:
            break
    return found


def _rows(db: Connection, table: str, ids: Iterable[int]) -> dict[int, Row]:
    return {id_: db.execute(f"SELECT * FROM {table} WHERE id = ?", (id_,)).fetchone() for id_ in ids}  # noqa: S608


def _job_node(db: Connection, job: Row, uses: dict[str, list[Row]]) -> Json:
    # The graph shows the run that spoke last, without what it said.
    run = one(db, "SELECT * FROM runs WHERE id = ? AND job = ?", job["run"], job["id"])
    version = None if job["current_version"] is None else {**named(job), "version": job["current_version"]}
    data = {
        **job_core(db, job),
        "inputs": [named(row) for row in uses["INPUT"]],
        "outputs": [named(row) for row in uses["OUTPUT"]],
        "latestRun": None if run is None else run_core(run, version),
    }
    return _node(("job", job, data), uses["INPUT"], uses["OUTPUT"])


def _node(what: tuple[str, Row, Json], before: list[Row], after: list[Row]) -> Json:
    kind, row, data = what
    other = {"job": "dataset", "dataset": "job"}[kind]
    own = _id(kind, row)
    return {
        "id": own,
        "type": kind.upper(),
        "data": data,
        "inEdges": [{"origin": _id(other, end), "destination": own} for end in before],
        "outEdges": [{"origin": own, "destination": _id(other, end)} for end in after],
    }


def _id(kind: str, row: Row) -> str:
    return f"{kind}:{row['namespace']}:{row['name']}"


def upstream_runs(db: Connection, run_id: str, depth: int) -> Json:
    """The run, those that made what it read, and so on; an input that no run made ends its branch."""
    runs: list[Json] = []
    seen, frontier = {run_id}, {run_id}
    for _ in range(max(depth, 0) + 1):
        answers = [_upstream_run(db, run) for run in frontier]
        runs += sorted(answers, key=lambda answer: str(answer["job"]["name"]))
        frontier = {used["producedByRunId"] for answer in answers for used in answer["inputs"]} - {None} - seen
        seen |= frontier
        if not frontier:
            break
    return {"runs": runs}


def _upstream_run(db: Connection, run_id: str) -> Json:
    run = one(db, "SELECT r.*, j.namespace, j.name FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?", run_id)
    if run is None:
        raise not_found("Run", run_id)
    inputs = db.execute(
        "SELECT d.namespace, d.name, v.version, v.run AS produced_by_run_id FROM run_inputs i JOIN dataset_versions v"
        " ON v.id = i.version JOIN datasets d ON d.id = v.dataset WHERE i.run = ? ORDER BY d.namespace, d.name",
        (run_id,),
    )
    start, end = instant_text(run["started_at"]), instant_text(run["ended_at"])
    return {
        "job": shown(run, "namespace name version"),
        "run": {"id": run_id, "start": start, "end": end, "status": run["state"]},
        "inputs": [shown(row, "namespace name version produced_by_run_id") for row in inputs],
    }

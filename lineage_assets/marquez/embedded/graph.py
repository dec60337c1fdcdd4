"""Walks: the lineage graph from a job or dataset, and the runs upstream of a run.

The graph knows only each job's current inputs and outputs, and is walked in both directions.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from sqlite3 import Connection, Row
from typing import Any

from lineage_assets.marquez.embedded.answers import Json, dataset_core, job_core, named, one, run_core, shown
from lineage_assets.marquez.embedded.instants import instant_text
from lineage_assets.marquez.embedded.refusals import RefusedRequestError, no_such_path, not_found

IO = ("INPUT", "OUTPUT")
Uses = dict[int, dict[str, list[int]]]
"""Datasets by job and direction."""

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_KEPT = 10_000
"""Jobs, and datasets, whose rendering is kept."""

FIND = {
    "job": "SELECT * FROM jobs WHERE namespace = ? AND name = ?",
    "dataset": "SELECT d.* FROM datasets d JOIN dataset_names n ON n.dataset = d.id"
    " WHERE n.namespace = ? AND n.name = ?",
}
"""By namespace and name; a dataset is found by a symlink too."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A job or dataset as JSON text: its node id, its name with its namespace, and what it says of itself."""

    key: str
    """The node id as it is."""
    id: str
    name: str
    data: str


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


def lineage(db: Connection, node_id: str, depth: int) -> str:
    """The graph round a node, as far as ``depth`` jobs away, as JSON text.

    Text, for a graph may have thousands of nodes: what a node says of itself is rendered once, and again when one of
    its rows has changed.
    """
    kind, start = node_of(db, node_id)
    job = start if kind == "job" else _job_of(db, start["id"])
    uses: Uses = {} if job is None else _jobs_within(db, job["id"], depth)
    datasets = {used for sides in uses.values() for ids in sides.values() for used in ids}
    if kind == "dataset" and start["id"] not in datasets:
        uses, datasets = {}, {start["id"]}
    jobs = {row[0]: _job(row) for row in _chosen(db, _JOBS, uses)}
    return _rendered(uses, jobs, {row[0]: _dataset(row) for row in _chosen(db, _DATASETS, datasets)})


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
        found |= {job: {io: [] for io in IO} for job in frontier}
        near = set()
        for job, used, io in _chosen(db, "SELECT job, dataset, io FROM edges WHERE job", frontier):
            found[job][io].append(used)
            near.add(used)
        frontier = {job for (job,) in _chosen(db, "SELECT job FROM edges WHERE dataset", near)} - found.keys()
        if not frontier:
            break
    return found


def _chosen(db: Connection, query: str, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    """The rows with these ids, by one query for all of them."""
    cursor = db.cursor()
    cursor.row_factory = None
    return cursor.execute(query + " IN (SELECT value FROM json_each(?))", (_as_json(list(ids)),)).fetchall()  # noqa: S608 - queries of this module


def _columns(table: str, names: str) -> str:
    return ", ".join(f"{table}.{name}" for name in names.split())


_JOB = "id namespace name simple_name parent type created_at updated_at description location current_version"
_RUN = "id created_at updated_at started_at ended_at state"
_JOBS = (
    f"SELECT {_columns('j', _JOB)}, p.name, {_columns('r', _RUN)} FROM jobs j LEFT JOIN jobs p ON p.id = j.parent"  # noqa: S608 - words of this module
    " LEFT JOIN runs r ON r.id = j.run AND r.job = j.id WHERE j.id"
)
_DATASET = "id namespace name created_at updated_at source_name description"
_VERSION = "fields lifecycle_state"
_DATASETS = (
    f"SELECT {_columns('d', _DATASET)}, {_columns('v', _VERSION)} FROM datasets d"  # noqa: S608 - words of this module
    " LEFT JOIN dataset_versions v ON v.id = d.current_version WHERE d.id"
)


@lru_cache(_KEPT)
def _job(values: tuple[Any, ...]) -> Rendered:
    names = _JOB.split()
    job, parent_name = dict(zip(names, values, strict=False)), values[len(names)]
    # The graph shows the run that spoke last, without what it said.
    run = dict(zip(_RUN.split(), values[len(names) + 1 :], strict=True))
    version = None if job["current_version"] is None else {**named(job), "version": job["current_version"]}
    latest = None if run["id"] is None else run_core(run, version)
    return _kept("job", job, {**job_core(job, parent_name), "latestRun": latest})


@lru_cache(_KEPT)
def _dataset(values: tuple[Any, ...]) -> Rendered:
    names = _DATASET.split()
    dataset, version = (
        dict(zip(names, values, strict=False)),
        dict(zip(_VERSION.split(), values[len(names) :], strict=True)),
    )
    return _kept("dataset", dataset, dataset_core(dataset, None if version["fields"] is None else version))


def _kept(kind: str, row: Json, data: Json) -> Rendered:
    node_id = f"{kind}:{row['namespace']}:{row['name']}"
    return Rendered(node_id, _as_json(node_id), _as_json(named(row)), _as_json(data))


def _rendered(uses: Uses, jobs: dict[int, Rendered], tables: dict[int, Rendered]) -> str:
    """Every node with its edges, by id."""
    ends: dict[str, dict[int, list[str]]] = {io: {id_: [] for id_ in tables} for io in IO}
    nodes = {}
    for id_, job in jobs.items():
        read, written = ([tables[used] for used in uses[id_][io]] for io in IO)
        for io in IO:
            for used in uses[id_][io]:
                ends[io][used].append(job.id)
        inputs, outputs = (",".join([part.name for part in side]) for side in (read, written))
        data = f'{job.data[:-1]},"inputs":[{inputs}],"outputs":[{outputs}]}}'
        nodes[job.key] = _node(("JOB", job.id, data), [part.id for part in read], [part.id for part in written])
    for id_, table in tables.items():
        nodes[table.key] = _node(("DATASET", table.id, table.data), ends["OUTPUT"][id_], ends["INPUT"][id_])
    return f'{{"graph":[{",".join([nodes[key] for key in sorted(nodes)])}]}}'


def _node(what: tuple[str, str, str], before: list[str], after: list[str]) -> str:
    kind, own, data = what
    came = ",".join([f'{{"origin":{end},"destination":{own}}}' for end in before])
    goes = ",".join([f'{{"origin":{own},"destination":{end}}}' for end in after])
    return f'{{"id":{own},"type":"{kind}","data":{data},"inEdges":[{came}],"outEdges":[{goes}]}}'


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

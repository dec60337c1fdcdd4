"""What each path below ``/api/v1`` answers: a request and a connection in, JSON out."""

from collections.abc import Callable
from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded import answers, column_lineage, graph
from lineage_assets.marquez.embedded.answers import Json, one, shown
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.refusals import not_found

Read = Callable[[Connection, Asked], Json | list[Json] | str | None]
"""Text is JSON already."""

STATES = ("NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED", "OTHER")
FACETS_A_PAGE = 10
"""Marquez gives facets for the first ten datasets of a page only."""


def lineage(db: Connection, asked: Asked) -> str:
    return graph.lineage(db, asked.needed("nodeId"), asked.number("depth", 20))


def columns(db: Connection, asked: Asked) -> Json:
    downstream = asked.text("withDownstream").lower() == "true"
    return column_lineage.column_lineage(db, asked.needed("nodeId"), asked.number("depth", 20), downstream=downstream)


def upstream_runs(db: Connection, asked: Asked) -> Json:
    return graph.upstream_runs(db, asked.needed_id("runId"), asked.number("depth", 20))


def namespaces(db: Connection, asked: Asked) -> Json:
    return {"namespaces": [_namespace_answer(row) for row in _page(db, asked, "namespaces ORDER BY name")]}


def namespace(db: Connection, asked: Asked) -> Json:
    return _namespace_answer(_namespace(db, asked))


def _namespace_answer(row: Row) -> Json:
    return {**shown(row, "name created_at updated_at description"), "ownerName": "anonymous", "isHidden": False}


def sources(db: Connection, asked: Asked) -> Json:
    kind = {"type": "POSTGRESQL", "description": None}
    rows = _page(db, asked, "sources ORDER BY name")
    return {"sources": [{**kind, **shown(row, "name connection_url created_at updated_at")} for row in rows]}


def tags(_db: Connection, asked: Asked) -> Json:
    asked.page()
    return {"tags": []}


def jobs(db: Connection, asked: Asked) -> Json:
    return _jobs(db, asked, None)


def jobs_of_namespace(db: Connection, asked: Asked) -> Json:
    return _jobs(db, asked, asked.name("namespace"))


def _jobs(db: Connection, asked: Asked, namespace: str | None) -> Json:
    states = asked.some_of("lastRunStates", STATES)
    chosen = "jobs j LEFT JOIN runs r ON r.id = j.run WHERE (? IS NULL OR j.namespace = ?)"
    in_state = (
        f"{chosen} AND (r.state IN ({', '.join('?' * len(states))}) OR r.state IS NULL) ORDER BY j.updated_at DESC"
    )
    rows = _page(db, asked, in_state, namespace, namespace, *states, what="j.*")
    # The count ignores the states asked for, as in Marquez.
    return {
        "jobs": [answers.job_answer(db, row) for row in rows],
        "totalCount": _count(db, chosen, namespace, namespace),
    }


def job(db: Connection, asked: Asked) -> Json:
    return answers.job_answer(db, _job(db, asked))


def runs(db: Connection, asked: Asked) -> Json:
    of = _job(db, asked)["id"]
    rows = _page(db, asked, "runs WHERE job = ? ORDER BY started_at IS NULL, started_at DESC, updated_at DESC", of)
    return {"runs": [answers.run_answer(db, row) for row in rows], "totalCount": _count(db, "runs WHERE job = ?", of)}


def job_versions(db: Connection, asked: Asked) -> Json:
    of = _job(db, asked)
    rows = _page(db, asked, "job_versions WHERE job = ? ORDER BY created_at DESC", of["id"])
    return {"versions": [answers.job_version_answer(db, of, row) for row in rows]}


def job_version(db: Connection, asked: Asked) -> Json:
    of, wanted = _job(db, asked), asked.id("version")
    version = one(db, "SELECT * FROM job_versions WHERE job = ? AND version = ?", of["id"], wanted)
    return answers.job_version_answer(db, of, _known(version, "Job version", wanted))


def run(db: Connection, asked: Asked) -> Json:
    return answers.run_answer(db, _run(db, asked))


def run_facets(db: Connection, asked: Asked) -> Json | None:
    """Facets of a run or of its job; nothing at all when there are none."""
    of, _ = _run(db, asked)["id"], asked.needed("type")
    found = answers.facets_of(db, of, [asked.one_of("type", ("RUN", "JOB", "DATASET")).lower()])
    return {"runId": of, "facets": found} if found else None


def datasets(db: Connection, asked: Asked) -> Json:
    of = _namespace(db, asked)["name"]
    rows = _page(db, asked, "datasets WHERE namespace = ? ORDER BY name", of)
    page = [answers.dataset_answer(db, row, with_facets=at < FACETS_A_PAGE) for at, row in enumerate(rows)]
    return {"datasets": page, "totalCount": _count(db, "datasets WHERE namespace = ?", of)}


def dataset(db: Connection, asked: Asked) -> Json:
    return answers.dataset_answer(db, _dataset(db, asked))


def dataset_versions(db: Connection, asked: Asked) -> Json:
    of = _dataset(db, asked)
    rows = _page(db, asked, "dataset_versions WHERE dataset = ? ORDER BY created_at DESC", of["id"])
    return {
        "versions": [answers.dataset_version_answer(db, of, row, answers.OF_DATASET) for row in rows],
        "totalCount": _count(db, "dataset_versions WHERE dataset = ?", of["id"]),
    }


def dataset_version(db: Connection, asked: Asked) -> Json:
    of, wanted = _dataset(db, asked), asked.id("version")
    version = one(db, "SELECT * FROM dataset_versions WHERE dataset = ? AND version = ?", of["id"], wanted)
    return answers.dataset_version_answer(db, of, _known(version, "Dataset version", wanted), answers.OF_VERSION)


def _page(db: Connection, asked: Asked, of: str, *values: object, what: str = "*") -> list[Row]:
    return db.execute(f"SELECT {what} FROM {of} LIMIT ? OFFSET ?", (*values, *asked.page())).fetchall()  # noqa: S608


def _count(db: Connection, of: str, *values: object) -> int:
    return int(db.execute(f"SELECT count(*) FROM {of}", values).fetchone()[0])  # noqa: S608 - words of this module


def _known(row: Row | None, what: str, name: str) -> Row:
    if row is None:
        raise not_found(what, name)
    return row


def _namespace(db: Connection, asked: Asked) -> Row:
    name = asked.name("namespace")
    return _known(one(db, "SELECT * FROM namespaces WHERE name = ?", name), "Namespace", name)


def _job(db: Connection, asked: Asked) -> Row:
    of, name = _namespace(db, asked)["name"], asked.name("job")
    return _known(one(db, graph.FIND["job"], of, name), "Job", name)


def _dataset(db: Connection, asked: Asked) -> Row:
    of, name = _namespace(db, asked)["name"], asked.name("dataset")
    return _known(one(db, graph.FIND["dataset"], of, name), "Dataset", name)


def _run(db: Connection, asked: Asked) -> Row:
    wanted = asked.id("run")
    return _known(one(db, "SELECT * FROM runs WHERE id = ?", wanted), "Run", wanted)

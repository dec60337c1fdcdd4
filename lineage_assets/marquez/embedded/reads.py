"""What each path of the API answers: a request and a connection in, JSON out."""

from sqlite3 import Connection, Row

from lineage_assets.marquez.embedded import answers
from lineage_assets.marquez.embedded.answers import Json
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.graph import find_dataset, find_job
from lineage_assets.marquez.embedded.graph import lineage as lineage_graph
from lineage_assets.marquez.embedded.graph import upstream_runs as runs_upstream
from lineage_assets.marquez.embedded.column_lineage import column_lineage as column_graph
from lineage_assets.marquez.embedded.refusals import not_found

STATES = ("NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED", "OTHER")
FACETS_A_PAGE = 10
"""Marquez gives facets for the first ten datasets of a page only."""


def lineage(db: Connection, asked: Asked) -> Json:
    return lineage_graph(db, asked.needed("nodeId"), asked.number("depth", 20))


def column_lineage(db: Connection, asked: Asked) -> Json:
    downstream = asked.flag("withDownstream")
    return column_graph(db, asked.needed("nodeId"), asked.number("depth", 20), downstream=downstream)


def upstream_runs(db: Connection, asked: Asked) -> Json:
    return runs_upstream(db, asked.needed_id("runId"), asked.number("depth", 20))


def namespaces(db: Connection, asked: Asked) -> Json:
    rows = db.execute("SELECT * FROM namespaces ORDER BY name LIMIT ? OFFSET ?", asked.page())
    return {"namespaces": [answers.namespace_answer(row) for row in rows]}


def namespace(db: Connection, asked: Asked) -> Json:
    return answers.namespace_answer(_namespace(db, asked))


def sources(db: Connection, asked: Asked) -> Json:
    rows = db.execute("SELECT * FROM sources ORDER BY name LIMIT ? OFFSET ?", asked.page())
    return {"sources": [answers.source_answer(row) for row in rows]}


def source(db: Connection, asked: Asked) -> Json:
    name = asked.name("source")
    row = db.execute("SELECT * FROM sources WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise not_found("Source", name)
    return answers.source_answer(row)


def tags(_db: Connection, asked: Asked) -> Json:
    asked.page()
    return {"tags": []}


def jobs(db: Connection, asked: Asked) -> Json:
    return _jobs(db, asked, "TRUE", ())


def jobs_of_namespace(db: Connection, asked: Asked) -> Json:
    return _jobs(db, asked, "j.namespace = ?", (asked.name("namespace"),))


def _jobs(db: Connection, asked: Asked, chosen: str, values: tuple[str, ...]) -> Json:
    states = asked.some_of("lastRunStates", STATES)
    marks = ", ".join("?" * len(states))
    rows = db.execute(
        f"SELECT j.* FROM jobs j LEFT JOIN runs r ON r.id = j.run WHERE {chosen}"  # noqa: S608 - words of this module
        f" AND (r.state IN ({marks}) OR r.state IS NULL) ORDER BY j.updated_at DESC LIMIT ? OFFSET ?",
        (*values, *states, *asked.page()),
    ).fetchall()
    # The count ignores the states asked for, as in Marquez.
    total = _count(db, f"jobs j WHERE {chosen}", *values)
    return {"jobs": [answers.job_answer(db, row) for row in rows], "totalCount": total}


def job(db: Connection, asked: Asked) -> Json:
    return answers.job_answer(db, _job(db, asked))


def runs(db: Connection, asked: Asked) -> Json:
    row = _job(db, asked)
    found = db.execute(
        "SELECT * FROM runs WHERE job = ? ORDER BY started_at DESC NULLS LAST, updated_at DESC LIMIT ? OFFSET ?",
        (row["id"], *asked.page()),
    ).fetchall()
    return {
        "runs": [answers.run_answer(db, run) for run in found],
        "totalCount": _count(db, "runs WHERE job = ?", row["id"]),
    }


def job_versions(db: Connection, asked: Asked) -> Json:
    row = _job(db, asked)
    found = db.execute(
        "SELECT * FROM job_versions WHERE job = ? ORDER BY created_at DESC LIMIT ? OFFSET ?", (row["id"], *asked.page())
    ).fetchall()
    return {"versions": [answers.job_version_answer(db, row, version) for version in found]}


def job_version(db: Connection, asked: Asked) -> Json:
    row, wanted = _job(db, asked), asked.id("version")
    version = db.execute("SELECT * FROM job_versions WHERE job = ? AND version = ?", (row["id"], wanted)).fetchone()
    if version is None:
        raise not_found("Job version", wanted)
    return answers.job_version_answer(db, row, version)


def run(db: Connection, asked: Asked) -> Json:
    return answers.run_answer(db, _run(db, asked))


def run_facets(db: Connection, asked: Asked) -> Json | None:
    """Facets of a run or of its job; nothing at all when there are none."""
    row, kind = _run(db, asked), asked.one_of("type", ("RUN", "JOB", "DATASET"))
    found = answers.facets_of(db, row["id"], [kind.lower()])
    return {"runId": row["id"], "facets": found} if found else None


def datasets(db: Connection, asked: Asked) -> Json:
    name = _namespace(db, asked)["name"]
    rows = db.execute(
        "SELECT * FROM datasets WHERE namespace = ? ORDER BY name LIMIT ? OFFSET ?", (name, *asked.page())
    ).fetchall()
    page = [answers.dataset_answer(db, row, with_facets=at < FACETS_A_PAGE) for at, row in enumerate(rows)]
    return {"datasets": page, "totalCount": _count(db, "datasets WHERE namespace = ?", name)}


def dataset(db: Connection, asked: Asked) -> Json:
    return answers.dataset_answer(db, _dataset(db, asked))


def dataset_versions(db: Connection, asked: Asked) -> Json:
    row = _dataset(db, asked)
    found = db.execute(
        "SELECT * FROM dataset_versions WHERE dataset = ? ORDER BY created_at DESC LIMIT ? OFFSET ?",
        (row["id"], *asked.page()),
    ).fetchall()
    versions = [answers.dataset_version_answer(db, row, version, answers.OF_DATASET) for version in found]
    return {"versions": versions, "totalCount": _count(db, "dataset_versions WHERE dataset = ?", row["id"])}


def dataset_version(db: Connection, asked: Asked) -> Json:
    row, wanted = _dataset(db, asked), asked.id("version")
    version = db.execute(
        "SELECT * FROM dataset_versions WHERE dataset = ? AND version = ?", (row["id"], wanted)
    ).fetchone()
    if version is None:
        raise not_found("Dataset version", wanted)
    return answers.dataset_version_answer(db, row, version, answers.OF_VERSION)


def _count(db: Connection, of: str, *values: object) -> int:
    return int(db.execute(f"SELECT count(*) FROM {of}", values).fetchone()[0])  # noqa: S608 - words of this module


def _namespace(db: Connection, asked: Asked) -> Row:
    name = asked.name("namespace")
    row: Row | None = db.execute("SELECT * FROM namespaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise not_found("Namespace", name)
    return row


def _job(db: Connection, asked: Asked) -> Row:
    row = find_job(db, _namespace(db, asked)["name"], asked.name("job"))
    if row is None:
        raise not_found("Job", asked.name("job"))
    return row


def _dataset(db: Connection, asked: Asked) -> Row:
    row = find_dataset(db, _namespace(db, asked)["name"], asked.name("dataset"))
    if row is None:
        raise not_found("Dataset", asked.name("dataset"))
    return row


def _run(db: Connection, asked: Asked) -> Row:
    wanted = asked.id("run")
    row: Row | None = db.execute("SELECT * FROM runs WHERE id = ?", (wanted,)).fetchone()
    if row is None:
        raise not_found("Run", wanted)
    return row

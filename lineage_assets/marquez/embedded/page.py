"""The page at ``/`` for a person: what this server is, the jobs, and how each partition went.

Plain HTML without scripts or anything fetched. A partition is the day of a run's nominal start.
"""

import json
from html import escape
from sqlite3 import Connection, Row
from urllib.parse import quote

from lineage_assets.marquez.embedded import NAME
from lineage_assets.marquez.embedded.instants import instant_text

_DAYS_SHOWN = 31

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title><style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #222 }} small {{ color: #666 }}
td, th {{ text-align: left; vertical-align: top; padding: .3rem 1.8rem .3rem 0 }}
i {{ display: inline-block; width: 1em; height: 1em; margin-right: 2px; border-radius: 2px; background: #bbb }}
.COMPLETED {{ background: #2e9e5b }} .FAILED {{ background: #d33f3f }} .ABORTED {{ background: #e0a32e }}
.RUNNING {{ background: #3f7fd3 }}
</style><h1>{name}</h1>
<p>This is not Marquez. It keeps OpenLineage events in one file and answers Marquez's HTTP API,
as far as lineage_assets asks it. Send events to <code>/api/v1/lineage</code>; read <a href="/api/v1/jobs">jobs</a>,
<a href="/api/v1/namespaces">namespaces</a>, <a href="/api/v1/events/lineage">events</a>.</p>
<table><tr><th>job<th>last state<th>partitions<th>reads<th>writes</tr>{rows}</table></html>
"""


def page(db: Connection) -> str:
    jobs = db.execute("SELECT j.*, r.state FROM jobs j LEFT JOIN runs r ON r.id = j.run ORDER BY j.namespace, j.name")
    rows = "".join(_row(db, job) for job in jobs.fetchall())
    return _PAGE.format(name=NAME, rows=rows or "<tr><td>No events yet.</tr>")


def _row(db: Connection, job: Row) -> str:
    node = quote(f"job:{job['namespace']}:{job['name']}", safe="")
    edges = (
        "SELECT d.namespace, d.name FROM edges e JOIN datasets d ON d.id = e.dataset"
        " WHERE e.job = ? AND e.io = ? ORDER BY d.name"
    )
    reads, writes = (
        "<br>".join(_link("dataset", row) for row in db.execute(edges, (job["id"], io))) for io in ("INPUT", "OUTPUT")
    )
    return (
        f'<tr><td>{_link("job", job)}<br><small><a href="/api/v1/lineage?nodeId={node}">lineage</a></small>'
        f"<td>{escape(job['state'] or '')}<br><small>{instant_text(job['updated_at'])}</small>"
        f"<td>{_partitions(db, job)}<td>{reads}<td>{writes}</tr>\n"
    )


def _link(kind: str, row: Row) -> str:
    path = f"{quote(row['namespace'], safe='')}/{kind}s/{quote(row['name'], safe='')}"
    return f'<a href="/api/v1/namespaces/{path}">{escape(row["name"])}</a> <small>{escape(row["namespace"])}</small>'


def _partitions(db: Connection, job: Row) -> str:
    """The last verdict on each of the latest partitions, oldest first."""
    rows = db.execute(
        "SELECT r.id, r.state, f.facet FROM runs r JOIN facets f ON f.owner = r.id AND f.kind = 'run'"
        " AND f.name = 'nominalTime' WHERE r.job = ? ORDER BY r.updated_at",
        (job["id"],),
    )
    latest = {str(json.loads(row["facet"]).get("nominalStartTime"))[:10]: row for row in rows}
    return "".join(
        f'<a href="/api/v1/jobs/runs/{run["id"]}" title="{escape(day)} {run["state"]}">'
        f'<i class="{run["state"]}"></i></a>'
        for day, run in sorted(latest.items())[-_DAYS_SHOWN:]
    )

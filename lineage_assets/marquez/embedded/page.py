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

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #222 }
table { border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0 }
tr { border-bottom: 1px solid #ddd } small { color: #666 }
i { display: inline-block; width: 1em; height: 1em; margin-right: 2px; border-radius: 2px; background: #bbb }
.COMPLETED { background: #2e9e5b } .FAILED { background: #d33f3f } .ABORTED { background: #e0a32e }
.RUNNING { background: #3f7fd3 }
"""


def page(db: Connection) -> str:
    jobs = db.execute(
        "SELECT j.*, r.state FROM jobs j LEFT JOIN runs r ON r.id = j.run ORDER BY j.namespace, j.name"
    ).fetchall()
    rows = "".join(_job_row(db, job) for job in jobs) or "<tr><td>No events yet.</td></tr>"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{NAME}</title><style>{_STYLE}</style>'
        f"<h1>{NAME}</h1><p>This is not Marquez. It keeps OpenLineage events in one file and answers Marquez's HTTP API, "
        "as far as lineage_assets asks it. Send events to <code>/api/v1/lineage</code>; read "
        + ", ".join(
            f'<a href="/api/v1/{path}">{path}</a>' for path in ("namespaces", "jobs", "sources", "events/lineage")
        )
        + ".</p><table><tr><th>job</th><th>last state</th><th>partitions</th><th>reads</th><th>writes</th></tr>"
        f"{rows}</table></html>"
    )


def _job_row(db: Connection, job: Row) -> str:
    node = quote(f"job:{job['namespace']}:{job['name']}", safe="")
    edges = db.execute(
        "SELECT e.io, d.namespace, d.name FROM edges e JOIN datasets d ON d.id = e.dataset WHERE e.job = ? ORDER BY d.name",
        (job["id"],),
    ).fetchall()
    reads, writes = (
        "<br>".join(_link("dataset", row) for row in edges if row["io"] == io) for io in ("INPUT", "OUTPUT")
    )
    return (
        f'<tr><td>{_link("job", job)}<br><small><a href="/api/v1/lineage?nodeId={node}">lineage</a></small></td>'
        f"<td>{escape(job['state'] or '')}<br><small>{instant_text(job['updated_at'])}</small></td>"
        f"<td>{_partitions(db, job)}</td><td>{reads}</td><td>{writes}</td></tr>"
    )


def _link(kind: str, row: Row) -> str:
    path = f"{quote(row['namespace'], safe='')}/{kind}s/{quote(row['name'], safe='')}"
    return f'<a href="/api/v1/namespaces/{path}">{escape(row["name"])}</a> <small>{escape(row["namespace"])}</small>'


def _partitions(db: Connection, job: Row) -> str:
    """The last verdict of each of the latest partitions, oldest first."""
    rows = db.execute(
        "SELECT r.id, r.state, f.facet FROM runs r JOIN facets f ON f.owner = r.id AND f.kind = 'run'"
        " AND f.name = 'nominalTime' WHERE r.job = ? ORDER BY r.updated_at",
        (job["id"],),
    )
    latest = {json.loads(row["facet"]).get("nominalStartTime", "")[:10]: row for row in rows}
    return "".join(
        f'<a href="/api/v1/jobs/runs/{latest[day]["id"]}" title="{escape(day)} {escape(latest[day]["state"] or "")}">'
        f'<i class="{escape(latest[day]["state"] or "")}"></i></a>'
        for day in sorted(latest)[-_DAYS_SHOWN:]
    )

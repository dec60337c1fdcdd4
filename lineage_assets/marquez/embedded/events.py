"""Reads across everything received: the events themselves, a search by name, counts by hour."""

import json
from collections.abc import Iterator
from sqlite3 import Connection

from lineage_assets.marquez.embedded.answers import Json, named, shown
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.instants import instant, instant_text

_KNOWN = {
    "run": "nominalTime parent",
    "job": "documentation sourceCodeLocation sql",
    "dataset": "documentation schema dataSource description lifecycleStateChange columnLineage symlinks",
}
"""Facets that Marquez shows as null where an event has none."""

_HOUR = 3_600_000_000


def events(db: Connection, asked: Asked) -> Json:
    between = (asked.instant("after", "1970-01-01T00:00:00Z"), asked.instant("before", "2030-01-01T00:00:00Z"))
    order = asked.one_of("sortDirection", ("DESC", "ASC"))
    rows = db.execute(
        "SELECT body FROM events WHERE kind = 'RunEvent' AND at >= ? AND at < ?"  # noqa: S608 - one of two words
        f" ORDER BY at {order}, id {order} LIMIT ? OFFSET ?",
        (*between, *asked.page()),
    )
    # The count includes dataset and job events, which Marquez does not list.
    total = db.execute("SELECT count(*) FROM events WHERE at >= ? AND at < ?", between).fetchone()[0]
    return {"events": [_shown_event(json.loads(row["body"])) for row in rows], "totalCount": total}


def search(db: Connection, asked: Asked) -> Json:
    like, of, (limit, _) = f"%{asked.needed('q', 'blank')}%", asked.text("namespace"), asked.page(10)
    kinds = asked.some_of("filter", ("DATASET", "JOB"))
    order = {"NAME": "name", "UPDATE_AT": "updated_at DESC"}[asked.one_of("sort", ("NAME", "UPDATE_AT"))]
    rows = db.execute(
        "SELECT * FROM (SELECT 'JOB' AS type, namespace, name, updated_at FROM jobs"  # noqa: S608 - words of this module
        " UNION ALL SELECT 'DATASET', namespace, name, updated_at FROM datasets)"
        f" WHERE name LIKE ? AND (? = '' OR namespace = ?) AND type IN ({', '.join('?' * len(kinds))})"
        f" ORDER BY {order} LIMIT ?",
        (like, of, of, *kinds, limit),
    )
    found = [shown(row, "type namespace name updated_at") for row in rows]
    results = [{**part, "nodeId": ":".join((part["type"].lower(), part["namespace"], part["name"]))} for part in found]
    return {"totalCount": len(results), "results": results}


def event_counts(db: Connection, asked: Asked) -> list[Json]:
    """How many events of each type had their time in each of the last 24 hours."""
    query = "SELECT lower(type), count(*) FROM events WHERE at >= ? AND at < ? GROUP BY 1"
    none = dict.fromkeys(("fail", "start", "complete", "abort"), 0)
    return [
        {**interval, **none, **{type_: count for type_, count in db.execute(query, bounds) if type_ in none}}
        for interval, bounds in _hours(asked)
    ]


def job_counts(db: Connection, asked: Asked) -> list[Json]:
    """How many jobs there were at the end of each of the last 24 hours."""
    query = "SELECT count(*) FROM jobs WHERE created_at < ?"
    return [{**interval, "count": db.execute(query, bounds[1:]).fetchone()[0]} for interval, bounds in _hours(asked)]


def _hours(asked: Asked) -> Iterator[tuple[Json, tuple[int, int]]]:
    asked.needed("period")
    asked.one_of("period", ("DAY",))
    for back in range(23, -1, -1):
        start = asked.now - asked.now % _HOUR - back * _HOUR
        bounds = (start, start + _HOUR)
        yield {"startInterval": instant_text(bounds[0]), "endInterval": instant_text(bounds[1])}, bounds


def _shown_event(event: Json) -> Json:
    """The event as Marquez gives it back: fields it does not know left out, known facets it lacks null."""
    run, job, at = event["run"], event["job"], event["eventTime"]
    return {
        **{key: event.get(key) for key in ("eventType", "producer", "schemaURL")},
        "eventTime": at if isinstance(at, str) else instant_text(instant(at)),
        "run": {"runId": run["runId"], "facets": _shown_facets(run, "run")},
        "job": {**named(job), "facets": _shown_facets(job, "job")},
        "inputs": [_shown_dataset(part) for part in event.get("inputs") or ()],
        "outputs": [_shown_dataset(part) for part in event.get("outputs") or ()],
    }


def _shown_dataset(part: Json) -> Json:
    facets = _shown_facets(part, "dataset") or {}
    if facets.get("schema"):
        fields = [{"type": None, "description": None, **field} for field in facets["schema"].get("fields") or ()]
        facets["schema"] = {**facets["schema"], "fields": fields}
    if facets.get("columnLineage"):
        said = {"transformationDescription": None, "transformationType": None}
        columns = {name: {**said, **column} for name, column in (facets["columnLineage"].get("fields") or {}).items()}
        facets["columnLineage"] = {**facets["columnLineage"], "fields": columns}
    of_run = {key: part.get(key) for key in ("inputFacets", "outputFacets")}
    return {**named(part), "facets": facets or None, **of_run}


def _shown_facets(part: Json, kind: str) -> Json | None:
    facets = part.get("facets")
    return None if facets is None else {**dict.fromkeys(_KNOWN[kind].split()), **facets}

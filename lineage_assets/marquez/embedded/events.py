"""Reads across everything received: the events themselves, a search by name, counts by hour and day."""

import json
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

from lineage_assets.marquez.embedded.answers import Json, named
from lineage_assets.marquez.embedded.asked import Asked
from lineage_assets.marquez.embedded.instants import instant, instant_text
from lineage_assets.marquez.embedded.refusals import InvalidRequestError

_KNOWN_FACETS = {
    "run": ("nominalTime", "parent"),
    "job": ("documentation", "sourceCodeLocation", "sql"),
    "dataset": (
        *("documentation", "schema", "dataSource", "description"),
        *("lifecycleStateChange", "columnLineage", "symlinks"),
    ),
}
"""Facets that Marquez shows as null where an event has none."""

HOUR = 3_600_000_000
PERIODS = {"DAY": (HOUR, 24), "WEEK": (24 * HOUR, 7)}
"""Length of an interval in microseconds, and how many are shown."""


def events(db: Connection, asked: Asked) -> Json:
    between = (asked.instant("after", "1970-01-01T00:00:00Z"), asked.instant("before", "2030-01-01T00:00:00Z"))
    order = asked.one_of("sortDirection", ("DESC", "ASC"), "DESC")
    rows = db.execute(
        "SELECT body FROM events WHERE kind = 'RunEvent' AND at >= ? AND at < ?"
        f" ORDER BY at {order}, id {order} LIMIT ? OFFSET ?",
        (*between, *asked.page()),
    )
    shown = [_shown(json.loads(row["body"])) for row in rows]
    # The count includes dataset and job events, which Marquez does not list.
    total = db.execute("SELECT count(*) FROM events WHERE at >= ? AND at < ?", between).fetchone()[0]
    return {"events": shown, "totalCount": total}


def search(db: Connection, asked: Asked) -> Json:
    like = f"%{asked.needed('q', 'blank')}%"
    kinds = asked.some_of("filter", ("DATASET", "JOB"))
    order = {"NAME": "name", "UPDATE_AT": "updated_at DESC"}[asked.one_of("sort", ("NAME", "UPDATE_AT"), "NAME")]
    limit, _ = asked.page(10)
    namespace = asked.text("namespace")
    rows = db.execute(
        "SELECT * FROM (SELECT 'JOB' AS kind, namespace, name, updated_at FROM jobs"
        " UNION ALL SELECT 'DATASET', namespace, name, updated_at FROM datasets)"
        f" WHERE name LIKE ? AND (? = '' OR namespace = ?) AND kind IN ({', '.join('?' * len(kinds))})"  # noqa: S608
        f" ORDER BY {order} LIMIT ?",
        (like, namespace, namespace, *kinds, limit),
    )
    results = [
        {
            **named(row),
            "type": row["kind"],
            "updatedAt": instant_text(row["updated_at"]),
            "nodeId": f"{row['kind'].lower()}:{row['namespace']}:{row['name']}",
        }
        for row in rows
    ]
    return {"totalCount": len(results), "results": results}


def event_counts(db: Connection, asked: Asked, now: int) -> list[Json]:
    """How many events of each type had their time in each of the last hours or days."""
    counted = []
    for interval in _intervals(asked, now):
        rows = db.execute(
            "SELECT lower(type) AS type, count(*) AS n FROM events WHERE at >= ? AND at < ? GROUP BY 1", interval
        )
        found = {row["type"]: row["n"] for row in rows}
        counted.append(
            {**_times(interval), **{name: found.get(name, 0) for name in ("fail", "start", "complete", "abort")}}
        )
    return counted


def job_counts(db: Connection, asked: Asked, now: int) -> list[Json]:
    """How many jobs there were at the end of each of the last hours or days."""
    return [
        {
            **_times(interval),
            "count": db.execute("SELECT count(*) FROM jobs WHERE created_at < ?", interval[1:]).fetchone()[0],
        }
        for interval in _intervals(asked, now)
    ]


def _intervals(asked: Asked, now: int) -> list[tuple[int, int]]:
    if not asked.text("period"):
        raise InvalidRequestError(400, ["Invalid period"])
    length, count = PERIODS[asked.one_of("period", tuple(PERIODS))]
    last = now - now % length
    return [(last - back * length, last - back * length + length) for back in reversed(range(count))]


def _times(interval: tuple[int, int]) -> Json:
    return {"startInterval": instant_text(interval[0]), "endInterval": instant_text(interval[1])}


def _shown(event: Mapping[str, Any]) -> Json:
    """The event as Marquez gives it back: fields it does not know left out, known facets it lacks null."""
    run, job = event["run"], event["job"]
    return {
        "eventType": event.get("eventType"),
        "eventTime": event["eventTime"]
        if isinstance(event["eventTime"], str)
        else instant_text(instant(event["eventTime"])),
        "run": {"runId": run["runId"], "facets": _shown_facets(run, "run")},
        "job": {**named(job), "facets": _shown_facets(job, "job")},
        "inputs": [_shown_dataset(part) for part in event.get("inputs") or ()],
        "outputs": [_shown_dataset(part) for part in event.get("outputs") or ()],
        "producer": event["producer"],
        "schemaURL": event.get("schemaURL"),
    }


def _shown_dataset(part: Mapping[str, Any]) -> Json:
    facets = _shown_facets(part, "dataset")
    if facets is not None and facets["schema"] is not None:
        fields = [{"type": None, "description": None, **field} for field in facets["schema"].get("fields") or ()]
        facets["schema"] = {**facets["schema"], "fields": fields}
    if facets is not None and facets["columnLineage"] is not None:
        said = {"transformationDescription": None, "transformationType": None}
        columns = {name: {**said, **column} for name, column in facets["columnLineage"].get("fields", {}).items()}
        facets["columnLineage"] = {**facets["columnLineage"], "fields": columns}
    return {
        **named(part),
        "facets": facets,
        "inputFacets": part.get("inputFacets"),
        "outputFacets": part.get("outputFacets"),
    }


def _shown_facets(part: Mapping[str, Any], kind: str) -> Json | None:
    facets = part.get("facets")
    return None if facets is None else {**dict.fromkeys(_KNOWN_FACETS[kind]), **facets}

"""The embedded lineage server: events that it takes durably from one client, and how fast it shows a graph.

The server is a process of its own, started as ``lineage-assets marquez up`` starts it; the client is this process,
on the same cores. Events have the size of ours: 12 columns, two inputs, one output, five facets a dataset or run.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import httpx

from lineage_assets.marquez.process import down, up

TITLE = "The embedded lineage server"

_RUNS = 33
_ASKED = 12
_FACET = {"_producer": "https://example.com/bench", "_schemaURL": "https://example.com/bench/facet.json"}
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FIRST_DAY = datetime(2021, 6, 1, tzinfo=timezone.utc)

Event = Mapping[str, Any]


def rows() -> Iterable[tuple[str, str]]:
    """What was measured, and the figure with its unit."""
    with _empty_server() as client:
        yield from _taking(client)
    with _empty_server() as client:
        yield from _showing(client)


def _taking(client: httpx.Client) -> Iterator[tuple[str, str]]:
    _send(client, _bodies(_events(jobs=30, runs=4)))
    bodies = list(_bodies(_events(jobs=30, runs=_RUNS, first_run=1000)))
    taken: list[float] = []
    for body in bodies:
        sent = perf_counter()
        _send(client, [body])
        taken.append(perf_counter() - sent)
    kilobytes = sum(map(len, bodies)) / len(bodies) / 1000
    yield f"events of {kilobytes:.1f} kB kept durably, one client", f"{len(bodies) / sum(taken):.0f} a second"
    *_, late = quantiles(taken, n=100)
    yield "one of them, half the time and 99 times of 100", f"{median(taken) * 1000:.1f} ms, {late * 1000:.1f} ms"


def _showing(client: httpx.Client) -> Iterator[tuple[str, str]]:
    _send(client, _bodies(_ended(_events(jobs=300, namespace="small"))))
    _send(client, _bodies(_ended(_events(jobs=2700, namespace="rest"))))
    yield from _shown(client, "small", 300)
    _send(client, _bodies(_ended(_events(jobs=3000, namespace="large"))))
    yield from _shown(client, "large", 3000)


def _shown(client: httpx.Client, namespace: str, jobs: int) -> Iterator[tuple[str, str]]:
    """The graph asked for the first time, and again after each of some events."""
    first, nodes = _ask(client, namespace, jobs)
    again = []
    for body in islice(_bodies(_events(jobs=jobs, namespace=namespace, first_run=1)), _ASKED):
        _send(client, [body])
        again.append(_ask(client, namespace, jobs)[0])
    what = f"lineage of {jobs:,} connected jobs among {_jobs_of(client):,} ({nodes:,} nodes)"
    yield f"{what}, after an event", f"{median(again) * 1000:.0f} ms"
    yield f"{what}, asked for the first time", f"{first * 1000:.0f} ms"


def _ask(client: httpx.Client, namespace: str, jobs: int) -> tuple[float, int]:
    """Seconds until the answer was here, and its nodes."""
    query = {"nodeId": f"job:{namespace}:job_{jobs // 2:04}", "depth": "20"}
    asked = perf_counter()
    answer = client.get("/api/v1/lineage", params=query).raise_for_status()
    return perf_counter() - asked, len(answer.json()["graph"])


def _jobs_of(client: httpx.Client) -> int:
    return int(client.get("/api/v1/jobs", params={"limit": 0}).raise_for_status().json()["totalCount"])


def _bodies(events: Iterable[Event]) -> Iterator[bytes]:
    return (json.dumps(event).encode() for event in events)


def _send(client: httpx.Client, bodies: Iterable[bytes]) -> None:
    for body in bodies:
        answer = client.post("/api/v1/lineage", content=body, headers={"Content-Type": "application/json"})
        answer.raise_for_status()


@contextmanager
def _empty_server() -> Iterator[httpx.Client]:
    with tempfile.TemporaryDirectory() as folder:
        server = up(Path(folder), owner_pid=os.getpid())
        try:
            with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
                yield client
        finally:
            down(Path(folder))


def _ended(events: Iterable[Event]) -> Iterator[Event]:
    return (event for event in events if event["eventType"] == "COMPLETE")


def _events(*, jobs: int, runs: int = 1, first_run: int = 0, namespace: str = "bench") -> Iterator[Event]:
    """START and COMPLETE of every run; job n reads what n/2 and n/3 write, so that all are connected."""
    for run in range(first_run, first_run + runs):
        for job in range(1, jobs + 1):
            day = _FIRST_DAY + timedelta(days=run)
            for event_type, at in (("START", day), ("COMPLETE", day + timedelta(seconds=job))):
                yield _event((namespace, job, run), event_type, at, day)


def _event(what: tuple[str, int, int], event_type: str, at: datetime, day: datetime) -> Event:
    namespace, job, run = what
    nominal = {"nominalStartTime": day.isoformat(), "nominalEndTime": (day + timedelta(days=1)).isoformat()}
    return {
        "eventType": event_type,
        "eventTime": at.isoformat(),
        "producer": _FACET["_producer"],
        "schemaURL": _SPEC,
        "run": {
            "runId": str(uuid5(NAMESPACE_URL, f"{namespace}/{job}/{run}")),
            "facets": {
                "nominalTime": {**_FACET, **nominal},
                "processing_engine": {**_FACET, "name": "spark", "version": "3.5.9"},
                "lineage_assets_run": {**_FACET, "dagsterRun": str(run), "attempt": 1, "partition": f"{day:%Y-%m-%d}"},
            },
        },
        "job": {
            "namespace": namespace,
            "name": f"job_{job:04}",
            "facets": {
                "documentation": {**_FACET, "description": "A job that joins two tables by day."},
                "sourceCodeLocation": {
                    **_FACET,
                    "type": "git",
                    "url": "https://example.com/shop/jobs.git",
                    "version": "4f2a",
                },
                "jobType": {**_FACET, "processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"},
            },
        },
        "inputs": [_dataset(namespace, before, day, "inputFacets") for before in sorted({job // 2, job // 3})],
        "outputs": [_dataset(namespace, job, day, "outputFacets")],
    }


def _dataset(namespace: str, number: int, day: datetime, of_run: str) -> Event:
    columns = [{"name": f"column_{at:02}", "type": "STRING"} for at in range(12)]
    said: dict[str, Event] = {"subset": {**_FACET, "partitionKeys": [f"{day:%Y-%m-%d}"]}}
    if of_run == "outputFacets":
        said["outputStatistics"] = {**_FACET, "rowCount": 120_000, "size": 4_200_000, "fileCount": 3}
    return {
        "namespace": namespace,
        "name": f"public.table_{number:04}",
        "facets": {
            "schema": {**_FACET, "fields": columns},
            "dataSource": {**_FACET, "name": "lake", "uri": "s3://lake"},
        },
        of_run: said,
    }

"""Jobs of others downstream; the tests pass on the embedded lineage server and on a real Marquez alike."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from lineage_assets.datasets import Dataset
from lineage_assets.graph import AssetGraph, Input, LineageJob
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.questions.foreign import foreign_jobs
from tests.support.graphs import make_node
from tests.support.lineage_events import facet, make_event, run_id


def shop(namespace: str) -> AssetGraph:
    """orders -> weekly, both ours."""
    nodes = [
        replace(
            make_node(name),
            job=LineageJob(namespace, f"etl_{name}"),
            inputs=tuple(Input((read,)) for read in reads),
            dataset=Dataset(namespace, name, ()),
        )
        for name, reads in (("orders", ()), ("weekly", ("orders",)))
    ]
    return AssetGraph.of(nodes)


@pytest.fixture
def neighbours(lineage_url: str, lineage_namespace: str) -> str:
    """orders -> weekly -> report -> board, of which the last two are others'; the report has an owner."""
    spans = [
        ("etl_orders", [], ["orders"]),
        ("etl_weekly", ["orders"], ["weekly"]),
        ("report", ["weekly"], ["report"]),
        ("board", ["report"], []),
    ]
    with httpx.Client(base_url=lineage_url, timeout=30, trust_env=False) as http:
        for hour, (job, inputs, outputs) in enumerate(spans):
            for minute, event_type in (("00", "START"), ("30", "FAIL" if job == "report" else "COMPLETE")):
                event = make_event(
                    event_type,
                    run=job,
                    job=job,
                    namespace=lineage_namespace,
                    at=f"2021-06-01T0{hour}:{minute}:00Z",
                    inputs=inputs,
                    outputs=outputs,
                )
                if job == "report":
                    event["job"]["facets"] = {"ownership": facet(owners=[{"name": "team:bi", "type": "MAINTAINER"}])}
                assert http.post("/api/v1/lineage", json=event).status_code == 201
    return lineage_namespace


def test_jobs_of_others_are_told_with_owner_and_newest_run_the_nearest_first(
    lineage_client: MarquezClient, neighbours: str
) -> None:
    graph = shop(neighbours)
    found = foreign_jobs(lineage_client, Dataset(neighbours, "orders", ()), graph)
    assert [(job.name, job.owners, job.state, job.run_id) for job in found] == [
        ("report", ("team:bi",), "FAILED", run_id(f"{neighbours}/report")),
        ("board", (), "COMPLETED", run_id(f"{neighbours}/board")),
    ]
    assert found[0].reads == ((neighbours, "weekly"),)
    assert found[0].at is not None
    assert found[0].at.isoformat() == "2021-06-01T02:30:00+00:00"


def test_a_dataset_that_no_event_has_named_has_no_readers(
    lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    graph = shop(lineage_namespace)
    assert foreign_jobs(lineage_client, Dataset(lineage_namespace, "orders", ()), graph) == ()

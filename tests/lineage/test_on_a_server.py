"""What Marquez makes of our events: states, facets and edges survive, and the same events again change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import Cause, ColumnSource, PartitionRef, State
from lineage_assets.lineage.backfills import (
    BackfillResult,
    BackfillTold,
    backfill_ended,
    backfill_started,
)
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.parents import backfill_job
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.sender import Sender
from lineage_assets.lineage.transport import HttpTransport
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.shapes import job_node_id
from lineage_assets.partitions import key_of
from tests.lineage.facts import ORDERS, STARTED, WEEKLY, attempt, graph, verdict
from tests.support.graphs import days

GOOD, BAD = days("2021-06-03"), days("2021-06-04")
SCHEMA_CHANGE = Cause("schema change", 'the column "menu_id" is missing')
UPSTREAM = Cause("upstream", "reads what is bad: orders 2021-06-04 (schema change)")


def graph_in(namespace: str) -> AssetGraph:
    return AssetGraph.of(
        replace(
            node,
            job=replace(node.job, namespace=namespace),
            dataset=None if node.dataset is None else replace(node.dataset, namespace=namespace),
        )
        for node in graph().nodes.values()
    )


def story(namespace: str) -> tuple[Event, ...]:
    """A good day, a bad day that blocks, and the bad day made good by a backfill."""
    told, of = Projection(), graph_in(namespace)
    root = PartitionRef(ORDERS, "2021-06-04")
    week = {ORDERS: {key_of(day): "f" * 32 for day in days("2021-05-28", "2021-06-03")}}
    run, later = {"run_id": f"{namespace} 1"}, STARTED + timedelta(days=1)
    repair = {
        "run_id": f"{namespace} 2",
        "started": later,
        "ended": later + timedelta(minutes=1),
        "backfill": namespace,
    }
    columns = {"order_id": (ColumnSource(ORDERS, "id"),)}
    good = [attempt(GOOD | BAD, of=of, **run)]
    weekly = [attempt(GOOD | BAD, WEEKLY, of=of, **run)]
    again = [attempt(BAD, of=of, run_id=repair["run_id"], started=later, backfill=namespace)]
    return (
        *told.started(good, GOOD | BAD),
        *told.ended(
            good,
            GOOD | BAD,
            [verdict("2021-06-03", **run), verdict("2021-06-04", State.FAILED, cause=SCHEMA_CHANGE, **run)],
        ),
        *told.blocked(
            weekly, [verdict("2021-06-04", State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=(root,), **run)]
        ),
        *told.started(weekly, GOOD),
        *told.ended(weekly, GOOD, [verdict("2021-06-03", asset=WEEKLY, inputs=week, columns=columns, **run)]),
        *told.started(again, BAD),
        *told.ended(again, BAD, [verdict("2021-06-04", **repair)]),
    )


def send(url: str, events: Iterable[Event]) -> None:
    sender = Sender(HttpTransport(url))
    sender.send(events)
    delivery = sender.close(600)
    assert delivery.is_complete, delivery.text


def states(client: MarquezClient, namespace: str, job: str) -> list[tuple[str, str]]:
    """Partition and state of every run of a job."""
    runs = client.runs(namespace, job)
    return sorted((run.facets["lineageAssets_attempt"]["partition"], run.state) for run in runs)


def test_every_attempt_is_one_ended_run_however_often_it_is_told(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    for _ in range(2):
        send(lineage_url, story(lineage_namespace))
        assert states(lineage_client, lineage_namespace, "example.etl_orders") == [
            ("2021-06-03", "COMPLETED"),
            ("2021-06-04", "COMPLETED"),
            ("2021-06-04", "FAILED"),
        ]
        assert states(lineage_client, lineage_namespace, "example.etl_orders_7_days") == [
            ("2021-06-03", "COMPLETED"),
            ("2021-06-04", "ABORTED"),
        ]


def test_facets_of_runs_come_back_as_they_were_sent(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    events = story(lineage_namespace)
    send(lineage_url, events)
    by_state = {run.state: run for run in lineage_client.runs(lineage_namespace, "example.etl_orders")}
    failed = by_state["FAILED"].facets
    assert failed["errorMessage"]["message"] == 'schema change: the column "menu_id" is missing'
    assert failed["nominalTime"]["nominalStartTime"] == "2021-06-04T00:00:00Z"
    aborted = next(
        run for run in lineage_client.runs(lineage_namespace, "example.etl_orders_7_days") if run.state == "ABORTED"
    )
    assert aborted.facets["lineageAssets_block"]["blockedBy"] == [{"assetKey": ["orders"], "partition": "2021-06-04"}]
    assert aborted.started_at == aborted.ended_at


def test_datasets_keep_what_was_declared_and_what_was_written(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    send(lineage_url, story(lineage_namespace))
    weekly = lineage_client.dataset(lineage_namespace, "public.orders_7_days")
    assert dict(weekly.fields) == {"order_id": "INTEGER", "placed_on": "TIMESTAMP", "menu_id": "INTEGER"}
    assert weekly.facets["dataSource"]["uri"] == "s3://lake/warehouse"
    assert weekly.facets["version"]["datasetVersion"] == "6412980114027655001"
    assert list(weekly.facets["columnLineage"]["fields"]) == ["order_id"]
    complete = next(
        run for run in lineage_client.runs(lineage_namespace, "example.etl_orders_7_days") if run.state == "COMPLETED"
    )
    (written,) = complete.outputs
    assert written.facets["outputStatistics"]["rowCount"] == 120
    assert written.facets["subset"]["outputCondition"]["partitions"] == [
        {"identifier": "ds=2021-06-03", "dimensions": {"ds": "2021-06-03"}}
    ]


def test_jobs_keep_their_words_and_the_graph_its_edges_after_a_block(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    send(lineage_url, story(lineage_namespace))
    job = lineage_client.job(lineage_namespace, "example.etl_orders_7_days")
    assert job.description == "Loads newly placed orders weekly."
    assert [name for _, name in sorted(job.inputs)] == ["public.menus", "public.orders"]
    seen = lineage_client.lineage(job_node_id(lineage_namespace, "example.etl_orders"))
    assert sorted(node.name for node in seen.jobs()) == ["example.etl_orders", "example.etl_orders_7_days"]
    assert sorted(node.name for node in seen.datasets()) == ["public.menus", "public.orders", "public.orders_7_days"]


def test_a_backfill_is_a_run_that_its_runs_point_to(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    jobs = [node.job for node in graph_in(lineage_namespace).nodes.values()]
    told = BackfillTold(
        id=lineage_namespace,
        job=backfill_job(jobs),
        started=STARTED,
        requested_by="oncall@example.com",
        reason="the feed is repaired",
        plan="5f2b8c",
        assets=1,
        partitions=1,
    )
    result = BackfillResult(STARTED + timedelta(minutes=1), repaired=1)
    send(lineage_url, (backfill_started(told), *story(lineage_namespace), backfill_ended(told, result)))
    (run,) = lineage_client.runs(lineage_namespace, "example.backfill")
    assert run.state == "COMPLETED"
    assert run.facets["lineageAssets_backfill"]["result"]["repaired"] == 1
    repaired = lineage_client.runs(lineage_namespace, "example.etl_orders", limit=1)[0]
    assert repaired.facets["lineageAssets_backfill"]["run"]["runId"] == run.id

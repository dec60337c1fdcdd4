"""What is told only where asked for: pipelines as parents, physical names; and what a server makes of both."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.record import Attempt, Cause, Closing, Fact, PartitionRef, State
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.extras import Extras, extras_of
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.ids import backfill_lineage_run_id, parent_lineage_run_id
from lineage_assets.lineage.projection import Projection
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.shapes import dataset_node_id, downstream_jobs, job_node_id
from lineage_assets.settings import Settings
from tests.lineage.facts import MENUS, ORDERS, RUN, STARTED, WEEKLY, attempt, graph, verdict
from tests.lineage.test_on_a_server import graph_in, send
from tests.support.graphs import days
from tests.support.lineage_events import make_event

GOOD, BAD = "2021-06-03", "2021-06-04"
BOTH = days(GOOD) | days(BAD)
SCHEMA_CHANGE = Cause("schema change", 'the column "menu_id" is missing')
UPSTREAM = Cause("upstream", "reads what is bad: orders 2021-06-04 (schema change)")
MINUTE = timedelta(minutes=1)


def told(facts: Iterable[Fact]) -> list[tuple[str, str, str]]:
    """Job, type and time of each event of the pipelines."""
    events = (json.loads(event.body) for event in pipelines_told(facts))
    return [(event["job"]["name"], event["eventType"], event["eventTime"]) for event in events]


def run_facets(event: Event) -> dict[str, Any]:
    facets: dict[str, Any] = json.loads(event.body)["run"]["facets"]
    return facets


def whose(run: dict[str, Any]) -> tuple[str, str, str]:
    """Namespace and name of the job of a run, and the run's id."""
    return run["job"]["namespace"], run["job"]["name"], run["run"]["runId"]


def named(name: str, of: AssetKey = ORDERS) -> Attempt:
    """An attempt at an asset whose job has another name."""
    node = graph().nodes[of]
    renamed = replace(node, job=replace(node.job, name=name))
    return attempt(BOTH, of, of=AssetGraph.of([renamed]))


def test_settings_turn_them_on_and_neither_is_on_by_itself() -> None:
    assert extras_of(Settings()) == Extras()
    assert extras_of(Settings(hierarchy="parent", symlinks=True)) == Extras(parents=True, symlinks=True)


def test_a_run_names_its_pipeline_as_parent_and_as_root_its_backfill_or_else_the_pipeline() -> None:
    projection = Projection(Extras(parents=True))
    (alone,) = projection.started([attempt(days(GOOD))], days(GOOD))
    pipeline = ("food_delivery", "example", str(parent_lineage_run_id(RUN, "food_delivery", "example")))
    parent = run_facets(alone)["parent"]
    assert (whose(parent), whose(parent["root"])) == (pipeline, pipeline)
    of_ours = attempt(days(GOOD), backfill="bkfl", backfill_job=("food_delivery", "backfill"))
    (repair,) = projection.started([of_ours], days(GOOD))
    parent = run_facets(repair)["parent"]
    backfill = ("food_delivery", "backfill", str(backfill_lineage_run_id("bkfl")))
    assert (whose(parent), whose(parent["root"])) == (pipeline, backfill)
    # Whose job is not known for certain is named by nobody but itself: one run would be of two jobs.
    (of_dagsters,) = projection.started([attempt(days(GOOD), backfill="bkfl")], days(GOOD))
    assert whose(run_facets(of_dagsters)["parent"]["root"]) == pipeline


def test_a_job_without_a_prefix_has_no_parent_since_any_other_would_make_it_a_second_job() -> None:
    (event,) = Projection(Extras(parents=True)).started([replace(named("etl"), partitions=days(GOOD))], days(GOOD))
    assert "parent" not in run_facets(event)
    assert told([named("etl"), verdict(GOOD)]) == []


def test_a_pipeline_is_told_from_its_first_attempt_to_its_last_outcome() -> None:
    later = attempt(BOTH, MENUS, started=STARTED + MINUTE)
    facts = [attempt(BOTH), later, verdict(GOOD), verdict(GOOD, asset=MENUS, ended=STARTED + 3 * MINUTE)]
    assert told(facts) == [
        ("example", "START", "2021-06-07T02:00:00.000Z"),
        ("example", "COMPLETE", "2021-06-07T02:03:00.000Z"),
    ]


def test_a_pipeline_ends_as_its_worst_part_did() -> None:
    blocked = verdict(BAD, State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=(PartitionRef(ORDERS, BAD),))
    failed = verdict(BAD, State.FAILED, cause=SCHEMA_CHANGE)
    closing = Closing(ORDERS, RUN, 1, days(BAD), STARTED + MINUTE, Cause("killed", "the process is gone"))
    both = [attempt(BOTH), attempt(BOTH, WEEKLY)]
    assert [end for _, end, _ in told([*both, verdict(GOOD), blocked])] == ["START", "ABORT"]
    assert [end for _, end, _ in told([*both, verdict(GOOD), blocked, failed])] == ["START", "FAIL"]
    assert [end for _, end, _ in told([*both, verdict(GOOD), closing])] == ["START", "ABORT"]


def test_what_a_later_try_of_the_same_run_made_good_is_not_held_against_its_pipeline() -> None:
    failed, again = verdict(BAD, State.FAILED, cause=SCHEMA_CHANGE), attempt(BOTH, number=2, started=STARTED + MINUTE)
    facts = [attempt(BOTH), failed, again, verdict(BAD, number=2, ended=STARTED + 2 * MINUTE)]
    assert [end for _, end, _ in told(facts)] == ["START", "COMPLETE"]


def test_of_a_run_that_came_to_nothing_and_of_two_pipelines_each_is_told_by_itself() -> None:
    assert told([attempt(BOTH)]) == []
    facts = [attempt(BOTH), named("other.etl_menus", MENUS), verdict(GOOD), verdict(GOOD, State.FAILED, MENUS)]
    assert [(job, end) for job, end, _ in told(facts)] == [
        ("example", "START"),
        ("example", "COMPLETE"),
        ("other", "START"),
        ("other", "FAIL"),
    ]


def story(namespace: str, *, with_table_in: str | None = None) -> tuple[list[Attempt], list[Fact]]:
    """A good day and a bad one of the orders, of which the week's is blocked."""
    of = graph_in(namespace)
    if with_table_in is not None:
        of = AssetGraph(
            {
                key: replace(node, dataset=replace(node.dataset, table=f"{with_table_in}.{key[0]}"))
                for key, node in of.nodes.items()
                if node.dataset is not None
            }
        )
    run = {"run_id": namespace}
    attempts = [attempt(BOTH, asset, of=of, **run) for asset in (ORDERS, WEEKLY)]
    root = (PartitionRef(ORDERS, BAD),)
    return attempts, [
        verdict(GOOD, **run),
        verdict(BAD, State.FAILED, cause=SCHEMA_CHANGE, **run),
        verdict(GOOD, asset=WEEKLY, **run),
        verdict(BAD, State.BLOCKED, WEEKLY, cause=UPSTREAM, blocked_by=root, **run),
    ]


def events(projection: Projection, attempts: list[Attempt], records: list[Any]) -> list[Event]:
    orders, weekly = attempts
    return [
        *projection.started([orders], BOTH),
        *projection.ended([orders], BOTH, records),
        *projection.blocked([weekly], records),
        *projection.started([weekly], days(GOOD)),
        *projection.ended([weekly], days(GOOD), records),
    ]


def test_with_parents_each_job_is_the_node_it_was_and_the_pipeline_one_more_with_a_state_of_its_own(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    """Whether the pipeline is told after its runs, by the run itself, or before them, by a replay."""
    attempts, records = story(lineage_namespace)
    send(lineage_url, events(Projection(), attempts, records))
    without = {job.name for job in lineage_client.jobs(lineage_namespace)}
    assert without == {"example.etl_orders", "example.etl_orders_7_days"}
    children = events(Projection(Extras(parents=True)), attempts, records)
    pipeline = pipelines_told([*attempts, *records])
    for one in ((*children, *pipeline), (*pipeline, *children)):
        send(lineage_url, one)
        assert {job.name for job in lineage_client.jobs(lineage_namespace)} == {"example", *without}
        (run,) = lineage_client.runs(lineage_namespace, "example")
        assert (run.id, run.state) == (
            str(parent_lineage_run_id(lineage_namespace, lineage_namespace, "example")),
            "FAILED",
        )
        states = sorted(run.state for run in lineage_client.runs(lineage_namespace, "example.etl_orders"))
        assert states == ["COMPLETED", "FAILED"]
        orders = job_node_id(lineage_namespace, "example.etl_orders")
        week = job_node_id(lineage_namespace, "example.etl_orders_7_days")
        assert downstream_jobs(lineage_client.lineage(orders), orders) == (week,)


def test_with_symlinks_who_reads_the_physical_table_is_in_the_graph(
    lineage_url: str, lineage_client: MarquezClient, lineage_namespace: str
) -> None:
    attempts, records = story(lineage_namespace, with_table_in=lineage_namespace)
    send(lineage_url, events(Projection(Extras(symlinks=True)), attempts, records))
    physical = {"namespace": "s3://lake/warehouse", "name": f"{lineage_namespace}.orders"}
    for type_ in ("START", "COMPLETE"):
        foreign = make_event(type_, namespace=lineage_namespace, job="reports.orders", inputs=[physical])
        assert httpx.post(f"{lineage_url}/api/v1/lineage", json=foreign).status_code == 201
    orders = job_node_id(lineage_namespace, "example.etl_orders")
    seen = lineage_client.lineage(orders)
    assert job_node_id(lineage_namespace, "reports.orders") in downstream_jobs(seen, orders)
    by_table = lineage_client.lineage(dataset_node_id(*physical.values()))
    assert dataset_node_id(lineage_namespace, "public.orders") in by_table.nodes

"""The story of the bad days, told once on real Spark, and every claim made of it.

It passes against the embedded lineage server and, unchanged, against an empty Marquez that OPENLINEAGE_URL names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterRunStatus, RunsFilter
from pyspark.sql import Row, SparkSession

from lineage_assets.backfill.job import JOB_NAME
from lineage_assets.dagster_private import BACKFILL_TAG, BulkActionStatus
from lineage_assets.graph import name_of
from lineage_assets.ledger.dagster_log import records_of_run
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.marquez.shapes import Run, downstream_jobs, job_node_id
from lineage_assets.partitions import keys_of
from tests.e2e.worlds import ASSETS, TABLES, NeverBad, Told, Verdicts, days, reader_of

NAMESPACE = "food_delivery"
ALL_DAYS = [*days(24, 31, month=5), *days(1, 12)]
REACHED = (
    "orders_7_days",
    "deliveries",
    "top_delivery_times",
    "discounts",
    "popular_orders_day_of_week",
    "email_discounts",
)
"""What reads `orders`, near and far; a bad day of it is in their week for six days more."""
PLANNED = {"orders": days(4, 6), **{name: days(4, 12) for name in REACHED}}
BLOCKED_BY = {
    "2021-06-04": ("2021-06-04",),
    "2021-06-05": ("2021-06-04", "2021-06-05"),
    **dict.fromkeys(days(6, 10), ("2021-06-04", "2021-06-05", "2021-06-06")),
    "2021-06-11": ("2021-06-05", "2021-06-06"),
    "2021-06-12": ("2021-06-06",),
}
"""Days of `orders` that are bad and in the week of each day that is blocked."""
SOURCE_JOBS = (
    "example.etl_menus",
    "example.etl_categories",
    "example.etl_menu_items",
    "example.etl_customers",
    "example.etl_order_status",
    "example.etl_drivers",
    "example.etl_restaurants",
)
ORDERS_JOB = "example.etl_orders"
REACHED_JOBS = (
    "example.etl_orders_7_days",
    "example.etl_delivery_7_days",
    "example.delivery_times_7_days",
    "example.orders_popular_day_of_week",
    "example.email_discounts",
)
BLOG_JOBS = (*SOURCE_JOBS, ORDERS_JOB, *REACHED_JOBS)
BLOG_DATASETS = {
    "public.menus",
    "public.categories",
    "public.menu_items",
    "public.orders",
    "public.orders_7_days",
    "public.customers",
    "public.order_status",
    "public.drivers",
    "public.restaurants",
    "public.delivery_7_days",
    "public.top_delivery_times",
    "public.discounts",
    "public.popular_orders_day_of_week",
}

Attempt = tuple[str, str, str]
"""Lineage job, Dagster run, partition."""


def states(verdicts: Verdicts, *wanted: State) -> dict[str, list[str]]:
    """The partitions with one of these verdicts, by asset."""
    found = {
        name_of(asset): sorted(day for day, record in by_day.items() if record.state in wanted)
        for asset, by_day in verdicts.items()
    }
    return {name: of for name, of in found.items() if of}


def rows(session: SparkSession, table: str) -> Counter[Row]:
    return Counter(session.table(f"lake.food_delivery.{table}").collect())


def mails(home: Path) -> dict[str, bytes]:
    """Every file in the outbox, half-written ones too."""
    outbox = home / "outbox"
    return {path.relative_to(outbox).as_posix(): path.read_bytes() for path in outbox.rglob("*") if path.is_file()}


def backfill_records(told: Told) -> Iterator[PartitionRecord]:
    for run in told.instance.get_runs(filters=RunsFilter(tags={BACKFILL_TAG: told.backfill.backfill_id})):
        yield from records_of_run(told.instance, run.run_id)


def partition_of(run: Run) -> str:
    return str(run.facets["nominalTime"]["nominalStartTime"])[:10]


def attempts_in_marquez(client: MarquezClient, job: str) -> dict[str, tuple[str, ...]]:
    """States of a job's runs by partition, oldest first."""
    found: dict[str, tuple[str, ...]] = {}
    for run in sorted(client.runs(NAMESPACE, job), key=lambda one: str(one.started_at)):
        found[partition_of(run)] = (*found.get(partition_of(run), ()), run.state)
    return found


def downstream_of(graph: list[Mapping[str, Any]], node_id: str, visited: set[str]) -> list[str]:
    """The recursion of the blog's script: follow out edges, name each job. It lacks only that nothing is done twice."""
    out_edges = [edge["destination"] for node in graph if node["id"] == node_id for edge in node["outEdges"]]
    found: list[str] = []
    for out_edge in out_edges:
        if out_edge in visited:
            continue
        visited.add(out_edge)
        if out_edge.startswith("job:"):
            found.append(out_edge.rpartition(":")[2])
        found += downstream_of(graph, out_edge, visited)
    return found


@pytest.fixture(scope="module")
def repaired_tables(spark: SparkSession, told: Told) -> SparkSession:
    return reader_of(spark, told.home)


@pytest.fixture(scope="module")
def true_tables(spark: SparkSession, never_bad: NeverBad) -> SparkSession:
    return reader_of(spark, never_bad.home)


def test_every_bad_day_fails_orders_with_a_cause_of_its_own(told: Told) -> None:
    failed = {day: record for day, record in told.story.before["orders",].items() if record.state is State.FAILED}
    causes = {day: record.cause for day, record in failed.items() if record.cause is not None}
    assert {day: cause.kind for day, cause in causes.items()} == {
        "2021-06-04": "schema change",
        "2021-06-05": "incomplete data",
        "2021-06-06": "freshness",
    }
    assert 'column "discount_id" is gone' in causes["2021-06-04"].message
    assert "6 rows, at least 25 expected" in causes["2021-06-05"].message
    assert "no file for 2021-06-06" in causes["2021-06-06"].message


@pytest.mark.parametrize("asset", REACHED)
def test_a_bad_day_blocks_what_reads_it_and_the_block_names_where_it_began(told: Told, asset: str) -> None:
    blocked = {day: record for day, record in told.story.before[asset,].items() if record.state is State.BLOCKED}
    by = {day: [(name_of(ref.asset), ref.partition) for ref in record.blocked_by] for day, record in blocked.items()}
    assert by == {day: [("orders", bad) for bad in bad_days] for day, bad_days in BLOCKED_BY.items()}


def test_nothing_else_was_bad_and_nothing_was_left_out(told: Told) -> None:
    assert states(told.story.before, State.FAILED) == {"orders": days(4, 6)}
    assert states(told.story.before, State.BLOCKED) == {name: days(4, 12) for name in REACHED}
    assert states(told.story.before, *State) == dict.fromkeys(ASSETS, ALL_DAYS)


def test_the_history_succeeds_and_each_day_with_anything_bad_in_it_fails(told: Told) -> None:
    assert [run.is_success for run in told.story.runs] == [True, *[False] * 9]


def test_the_demo_says_so_and_shows_no_stack_trace(told: Told) -> None:
    assert told.is_whole
    assert "Traceback" not in told.text
    shown = [line.split() for line in told.text.splitlines()]
    assert ["orders", "oooooooooooFFFoooooo"] in shown
    assert ["orders_7_days", "ooooooooooobbbbbbbbb"] in shown
    assert sorted([words[0] for words in shown if words[1:] == ["o" * 20]][-14:]) == sorted(ASSETS)
    assert "They are the jobs of the plan." in told.text
    assert "on 1 warm driver, one JVM each." in told.text


def test_the_plan_is_the_bad_days_and_all_that_read_them_and_nothing_else(told: Told) -> None:
    assert {name_of(one.asset): list(keys_of(one.partitions)) for one in told.plan.assets} == PLANNED


def test_after_the_backfill_everything_is_good(told: Told) -> None:
    assert states(told.after, State.GOOD) == states(told.story.before, *State)


def test_the_backfill_publishes_each_planned_partition_once_and_nothing_else(told: Told) -> None:
    published = Counter((name_of(record.asset), record.partition) for record in backfill_records(told))
    assert published == Counter({(name, day): 1 for name, of in PLANNED.items() for day in of})


def test_the_backfill_leaves_alone_what_was_good(told: Told) -> None:
    assert {
        (asset, day): record
        for asset, by_day in told.after.items()
        for day, record in by_day.items()
        if record.backfill is None
    } == {
        (asset, day): record
        for asset, by_day in told.story.before.items()
        for day, record in by_day.items()
        if day not in PLANNED.get(name_of(asset), [])
    }


@pytest.mark.parametrize("table", TABLES)
def test_a_table_equals_row_for_row_that_of_a_world_that_was_never_bad(
    repaired_tables: SparkSession, true_tables: SparkSession, table: str
) -> None:
    repaired = rows(repaired_tables, table)
    assert repaired == rows(true_tables, table)
    assert {str(row["ds"]) for row in repaired} == set(ALL_DAYS)


def test_every_fingerprint_equals_that_of_a_world_that_was_never_bad(told: Told, never_bad: NeverBad) -> None:
    def fingerprints(verdicts: Verdicts) -> dict[tuple[str, str], str | None]:
        return {
            (name_of(asset), day): record.fingerprint
            for asset, by_day in verdicts.items()
            for day, record in by_day.items()
        }

    assert fingerprints(told.after) == fingerprints(never_bad.verdicts)
    assert len(fingerprints(told.after)) == 280


def test_the_mails_are_those_of_a_world_that_was_never_bad(told: Told, never_bad: NeverBad) -> None:
    sent = mails(told.home)
    assert sent == mails(never_bad.home)
    assert sorted(sent) == [f"ds={day}/email_discounts.jsonl" for day in ALL_DAYS]


def test_one_jvm_serves_the_whole_story_and_starts_no_program_for_what_is_blocked(told: Told) -> None:
    (history,), (end,) = told.story.drivers, told.drivers
    assert (history["jvm_pid"], history["programs"]) == (end["jvm_pid"], 13)
    # Seven sources a day; orders on the seven days on which it has a file of the right shape; a unit each to repair.
    assert end["programs"] == 13 + 9 * 7 + 7 + 6


@pytest.mark.usefixtures("told")
def test_the_lineage_server_holds_the_blogs_jobs_and_datasets_and_the_backfill(lineage_client: MarquezClient) -> None:
    assert {job.name for job in lineage_client.jobs(NAMESPACE)} == {*BLOG_JOBS, "example.backfill"}
    assert {dataset.name for dataset in lineage_client.datasets(NAMESPACE)} == BLOG_DATASETS
    assert [run.state for run in lineage_client.runs(NAMESPACE, "example.backfill")] == ["COMPLETED"]


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("job", BLOG_JOBS)
def test_the_lineage_server_has_every_attempt_at_every_partition_in_order(
    lineage_client: MarquezClient, job: str
) -> None:
    once: dict[str, tuple[str, ...]] = dict.fromkeys(ALL_DAYS, ("COMPLETED",))
    again: dict[str, tuple[str, ...]] = {}
    if job == ORDERS_JOB:
        again = dict.fromkeys(days(4, 6), ("FAILED", "COMPLETED"))
    elif job in REACHED_JOBS:
        again = dict.fromkeys(days(4, 12), ("ABORTED", "COMPLETED"))
    assert attempts_in_marquez(lineage_client, job) == {**once, **again}


@pytest.mark.parametrize("job", BLOG_JOBS)
def test_every_attempt_on_record_is_exactly_one_ended_run_on_the_lineage_server(
    told: Told, lineage_client: MarquezClient, job: str
) -> None:
    nodes = told.story.project.graph.nodes
    recorded = {
        (nodes[record.asset].job.name, record.run_id, record.partition)
        for run in told.instance.get_runs()
        for record in records_of_run(told.instance, run.run_id)
    }
    runs = lineage_client.runs(NAMESPACE, job)
    seen = [(job, str(run.facets["lineageAssets_attempt"]["dagsterRunId"]), partition_of(run)) for run in runs]
    assert sorted(seen) == sorted(attempt for attempt in recorded if attempt[0] == job)
    assert [run.id for run in runs if run.ended_at is None] == []


@pytest.mark.usefixtures("told")
def test_failed_and_blocked_runs_say_why(lineage_client: MarquezClient) -> None:
    failed = [run for run in lineage_client.runs(NAMESPACE, ORDERS_JOB) if run.state == "FAILED"]
    said = {partition_of(run): run.facets["errorMessage"]["message"] for run in failed}
    assert {day: message.partition(":")[0] for day, message in said.items()} == {
        "2021-06-04": "schema change",
        "2021-06-05": "incomplete data",
        "2021-06-06": "freshness",
    }
    blocked = [run for run in lineage_client.runs(NAMESPACE, "example.email_discounts") if run.state == "ABORTED"]
    by = {partition_of(run): run.facets["lineageAssets_block"]["blockedBy"] for run in blocked}
    assert by == {
        day: [{"assetKey": ["orders"], "partition": bad} for bad in bad_days] for day, bad_days in BLOCKED_BY.items()
    }


def test_the_blogs_script_finds_the_jobs_of_the_plan(told: Told, lineage_client: MarquezClient) -> None:
    node_id = f"job:food_delivery:{ORDERS_JOB}"
    graph = lineage_client.http.get("/api/v1/lineage", params={"nodeId": node_id}).json()["graph"]
    found = downstream_of(graph, node_id, {node_id})
    nodes = told.story.project.graph.nodes
    assert sorted(found) == sorted(REACHED_JOBS)
    assert {ORDERS_JOB, *found} == {nodes[planned.asset].job.name for planned in told.plan.assets}


@pytest.mark.usefixtures("told")
def test_our_own_walk_over_the_graph_agrees_and_every_job_ends_green(lineage_client: MarquezClient) -> None:
    node_id = job_node_id(NAMESPACE, ORDERS_JOB)
    graph = lineage_client.lineage(node_id)
    assert {found.rpartition(":")[2] for found in downstream_jobs(graph, node_id)} == set(REACHED_JOBS)
    assert {node.name: node.state for node in graph.jobs()} == dict.fromkeys(BLOG_JOBS, "COMPLETED")
    assert {node.name for node in graph.datasets()} == BLOG_DATASETS


def test_the_backfill_is_one_of_dagsters_own_with_all_its_runs(told: Told) -> None:
    record = told.backfill
    assert record.status is BulkActionStatus.COMPLETED_SUCCESS
    assert (record.title, record.description) == (
        "orders 2021-06-04..2021-06-06 and all that reads it",
        "the feed was repaired",
    )
    assert record.tags["lineage_assets/plan"] == told.plan.name
    runs = told.instance.get_runs(filters=RunsFilter(tags={BACKFILL_TAG: told.backfill.backfill_id}))
    assert [run.job_name for run in runs if run.tags["lineage_assets/role"] == "driver"] == [JOB_NAME]
    assert len(runs) == 1 + len(told.plan.units) == 7
    assert {run.status for run in runs} == {DagsterRunStatus.SUCCESS}

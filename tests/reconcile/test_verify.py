"""Each way in which Marquez may differ from the ledger is found and named, and after a replay there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from dagster import DagsterInstance
from dagster import DagsterRunStatus as Status

from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import State
from lineage_assets.lineage.backfills import BackfillResult, BackfillTold, backfill_ended, backfill_started
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.parents import backfill_job
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.transport import HttpTransport
from lineage_assets.marquez.client import MarquezClient
from lineage_assets.partitions import PartitionSet, key_of, ranges_text
from lineage_assets.reconcile.bookmark import Bookmark
from lineage_assets.reconcile.expected import Found, JobReport, Kind, subset
from lineage_assets.reconcile.mending import mends
from lineage_assets.reconcile.selection import Selection
from lineage_assets.reconcile.verify import Verification
from tests.lineage.facts import MENUS, ORDERS, STARTED, WEEKLY, attempt, verdict
from tests.reconcile.ledgers import World, replay, run_of, write
from tests.support.graphs import days

ORDERS_JOB, WEEKLY_JOB = "example.etl_orders", "example.etl_orders_7_days"


class Server:
    """A ledger with its story, a server, and both ways between them."""

    def __init__(self, instance: DagsterInstance, client: MarquezClient, url: str, folder: Path) -> None:
        self.instance, self.client, self.folder = instance, client, folder
        self.world = World(f"test-{uuid4()}")
        self.transport = HttpTransport(url)
        write(instance, self.world.facts())

    def replay(self, selection: Selection | None = None) -> None:
        done = replay(
            self.instance, self.world.graph, self.transport, Bookmark(self.folder / "r.json", "", ""), selection
        )
        assert done.is_over

    def reports(self, selection: Selection | None = None) -> dict[str, JobReport]:
        verification = Verification(self.instance, self.client, Selection() if selection is None else selection)
        return {report.name: report for report in verification.reports(sorted(self.world.graph.nodes))}

    def found(self, job: str, selection: Selection | None = None) -> list[tuple[Kind, str, str]]:
        return [(one.kind, one.detail, ranges_text(one.partitions)) for one in self.reports(selection)[job].found]

    def bodies(self, job: str, partition: str, run: int) -> list[dict[str, Any]]:
        """The events of one lineage run, START first, as they were sent."""
        told = (json.loads(event.body) for event in self.world.as_it_went() if event.job == job)
        return [
            body
            for body in told
            if body["run"]["facets"]["lineageAssets_attempt"].get("partition") == partition
            and body["run"]["facets"]["lineageAssets_attempt"]["dagsterRunId"] == run_of(self.world.namespace, run)
        ]

    def send(self, body: dict[str, Any]) -> None:
        self.transport.emit(json.dumps(body))


@pytest.fixture
def server(lineage_url: str, lineage_client: MarquezClient, tmp_path: Path) -> Iterator[Server]:
    with DagsterInstance.ephemeral() as instance:
        made = Server(instance, lineage_client, lineage_url, tmp_path)
        yield made
        made.transport.close()


def test_after_a_replay_nothing_differs(server: Server) -> None:
    server.replay()
    reports = server.reports()
    assert {name: (one.compared, one.is_equal, one.unknown) for name, one in reports.items()} == {
        "example.etl_orders": (4, True, 0),
        "example.etl_orders_7_days": (3, True, 0),
        "example.etl_menus": (2, True, 0),
        "example.delivery_times_7_days": (1, True, 0),
    }
    assert mends(reports.values()) == ()


def test_after_three_replays_nothing_differs(server: Server) -> None:
    for _ in range(3):
        server.replay()
    assert all(report.is_equal for report in server.reports().values())


def test_told_by_the_runs_themselves_nothing_differs(server: Server) -> None:
    for event in server.world.as_it_went():
        server.transport.emit(event.body)
    assert all(report.is_equal for report in server.reports().values())


def test_on_an_empty_server_jobs_datasets_and_runs_are_missing(server: Server) -> None:
    report = server.reports()[WEEKLY_JOB]
    assert report.is_missing
    assert report.missing_datasets == ("public.menus", "public.orders", "public.orders_7_days")
    assert server.found(WEEKLY_JOB) == [(Kind.MISSING, "", "2021-06-03..2021-06-04")]
    assert mends([report]) == ("lineage-assets lineage replay --asset orders_7_days --from 2021-06-03 --to 2021-06-04",)
    server.replay(Selection(frozenset({WEEKLY}), date(2021, 6, 3), date(2021, 6, 4)))
    assert server.reports()[WEEKLY_JOB].is_equal


def test_a_run_that_did_not_arrive_is_missing_and_its_partition_is_named(server: Server) -> None:
    left_out = {body["run"]["runId"] for body in server.bodies(ORDERS_JOB, "2021-06-04", 4)}
    for event in server.world.as_it_went():
        if str(event.lineage_run_id) not in left_out:
            server.transport.emit(event.body)
    assert server.found(ORDERS_JOB) == [(Kind.MISSING, "", "2021-06-04")]
    mend = mends(server.reports().values())
    assert mend == ("lineage-assets lineage replay --asset orders --from 2021-06-04 --to 2021-06-04",)
    server.replay(Selection(frozenset({ORDERS}), date(2021, 6, 4), date(2021, 6, 4)))
    assert all(report.is_equal for report in server.reports().values())


def test_a_run_whose_end_did_not_arrive_is_not_ended(server: Server) -> None:
    server.replay()
    start, _ = server.bodies(ORDERS_JOB, "2021-06-03", 1)
    server.send(start)
    assert server.found(ORDERS_JOB) == [(Kind.UNENDED, "RUNNING, not COMPLETED", "2021-06-03")]
    server.replay()
    assert server.found(ORDERS_JOB) == []


def test_a_run_that_ended_in_another_state_is_found(server: Server) -> None:
    server.replay()
    _, end = server.bodies(ORDERS_JOB, "2021-06-04", 1)
    server.send({**end, "eventType": "COMPLETE"})
    assert server.found(ORDERS_JOB) == [(Kind.STATE, "COMPLETED, not FAILED", "2021-06-04")]
    server.replay()
    assert server.found(ORDERS_JOB) == []


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("run", "facets", "lineageAssets_attempt", "codeVersion"), "deadbeef", "code version"),
        (("run", "facets", "lineageAssets_attempt", "partition"), "2021-06-09", "partition"),
        (("outputs", 0, "outputFacets", "outputStatistics", "rowCount"), 7, "rows of public.orders"),
        (
            ("outputs", 0, "outputFacets", "subset", "outputCondition", "partitions", 0, "dimensions", "ds"),
            "2021-06-01",
            "partitions of public.orders",
        ),
    ],
)
def test_facets_that_matter_and_differ_are_named(
    server: Server, place: tuple[str | int, ...], value: object, told: str
) -> None:
    server.replay()
    _, end = server.bodies(ORDERS_JOB, "2021-06-04", 4)
    inner: Any = end
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    server.send(end)
    assert server.found(ORDERS_JOB) == [(Kind.CONTENT, told, "2021-06-04")]
    server.replay()
    assert server.found(ORDERS_JOB) == []


def test_runs_that_the_ledger_does_not_know_are_counted_apart(server: Server) -> None:
    server.replay()
    for body in server.bodies(ORDERS_JOB, "2021-06-03", 1):
        server.send({**body, "run": {**body["run"], "runId": str(uuid4())}})
        server.send({**body, "run": {"runId": str(uuid4()), "facets": {}}})
    report = server.reports()[ORDERS_JOB]
    assert (report.is_equal, report.unknown) == (True, 4)
    elsewhere = Selection(first=date(2021, 6, 4))
    assert server.reports(elsewhere)[ORDERS_JOB].unknown == 0


def test_a_selection_looks_at_its_own_days_and_jobs_only(server: Server) -> None:
    one = Selection(frozenset({ORDERS}), date(2021, 6, 3), date(2021, 6, 3))
    assert list(server.reports(one)) == [ORDERS_JOB]
    assert server.found(ORDERS_JOB, one) == [(Kind.MISSING, "", "2021-06-03")]


def test_an_attempt_that_nobody_closed_is_named_with_the_command_that_closes_it(server: Server) -> None:
    server.replay()
    run = {"run_id": str(uuid4())}
    gone = owner().replace(":", ":1", 1)
    left = attempt(days("2021-06-08", "2021-06-09"), of=server.world.graph, owner=gone, **run)
    write(server.instance, [left, verdict("2021-06-08", **run)], Status.STARTED)
    assert server.found(ORDERS_JOB) == [
        (Kind.MISSING, "", "2021-06-08"),
        (Kind.OPEN, "its process is gone", "2021-06-09"),
    ]
    assert mends(server.reports().values()) == (
        "lineage-assets lineage flush",
        "lineage-assets lineage replay --asset orders --from 2021-06-08 --to 2021-06-08",
    )


def test_what_a_live_run_may_yet_tell_is_not_missing(server: Server) -> None:
    server.replay()
    run = {"run_id": str(uuid4())}
    going = attempt(days("2021-06-08", "2021-06-09"), of=server.world.graph, owner=owner(), **run)
    write(server.instance, [going, verdict("2021-06-08", **run)], Status.STARTED)
    for event in Projection().started([going], going.partitions):
        server.transport.emit(event.body)
    report = server.reports()[ORDERS_JOB]
    assert (report.is_equal, report.unknown, report.underway) == (True, 0, 2)


def test_a_range_with_bad_days_is_equal_after_a_replay(server: Server) -> None:
    """Its own run completed with the good days; each bad day has a run of its own."""
    run = {"run_id": run_of(server.world.namespace, 3)}
    week = days("2021-06-05", "2021-06-11")
    facts = [attempt(week, MENUS, of=server.world.graph, number=2, range_run=True, **run)]
    for day in week:
        key = key_of(day)
        state = State.FAILED if key == "2021-06-07" else State.GOOD
        facts.append(verdict(key, state, MENUS, number=2, range_run=True, **run))
    write(server.instance, facts)
    server.replay()
    report = server.reports()["example.etl_menus"]
    assert (report.compared, report.found) == (4, ())


def test_backfills_are_compared_as_runs_of_a_job_of_their_own(server: Server) -> None:
    told = BackfillTold(
        id=server.world.namespace,
        job=backfill_job(node.job for node in server.world.graph.nodes.values()),
        started=STARTED,
        requested_by="oncall@example.com",
        reason="the feed is repaired",
        plan="5f2b8c",
        assets=1,
        partitions=1,
    )
    story = (backfill_started(told), backfill_ended(told, BackfillResult(STARTED, repaired=1)))
    verification = Verification(server.instance, server.client, Selection())
    (before,) = verification.backfills([(STARTED, story)])
    assert (before.name, before.compared, [one.kind for one in before.found]) == ("example.backfill", 1, [Kind.MISSING])
    assert mends([before]) == ("lineage-assets lineage replay",)
    for event in story:
        server.transport.emit(event.body)
    (after,) = verification.backfills([(STARTED, story)])
    assert after.is_equal


def test_a_long_subset_is_read_back_as_the_days_it_spans() -> None:
    of = World("any").graph
    scattered = PartitionSet.of(range(days("2021-05-24").ranges[0][0], days("2021-05-24").ranges[0][0] + 600, 2))
    (start,) = Projection().started([attempt(scattered, of=of, range_run=True)], PartitionSet((scattered.ranges[0],)))
    assert subset(_condition_of(start)) == PartitionSet((scattered.ranges[0],))
    long = PartitionSet.between(scattered.ranges[0][0], scattered.ranges[0][0] + 400)
    (start,) = Projection().started([attempt(long, of=of, range_run=True)], long)
    assert subset(_condition_of(start)) == long
    assert subset({"outputCondition": {"type": "location"}}) is None


def test_one_command_covers_all_that_differs() -> None:
    of = JobReport("shop", "a", assets=(ORDERS,), found=(Found(Kind.MISSING, "", days("2021-06-01"), 1),))
    other = JobReport("shop", "b", assets=(MENUS,), found=(Found(Kind.STATE, "", days("2021-06-07"), 1),))
    equal = JobReport("shop", "c", assets=(WEEKLY,))
    assert mends([of, other, equal]) == (
        "lineage-assets lineage replay --asset menus --asset orders --from 2021-06-01 --to 2021-06-07",
    )
    gone = replace(other, found=(), is_missing=True)
    assert mends([of, gone]) == ("lineage-assets lineage replay --asset menus --asset orders",)


def _condition_of(event: Event) -> dict[str, Any]:
    return dict(json.loads(event.body)["outputs"][0]["outputFacets"]["subset"])


def test_where_many_assets_differ_the_command_names_the_days_alone() -> None:
    many = [
        JobReport("shop", name, assets=((name,),), found=(Found(Kind.MISSING, "", days("2021-06-01"), 1),))
        for name in "abcde"
    ]
    said = "lineage-assets lineage replay --asset a --asset b --asset c --asset d --from 2021-06-01 --to 2021-06-01"
    assert mends(many[:4]) == (said,)
    assert mends(many) == ("lineage-assets lineage replay --from 2021-06-01 --to 2021-06-01",)

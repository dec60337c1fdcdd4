"""What no process told is told by the next pass: once, whole, and as the process would have told it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, Definitions, StaticPartitionsDefinition, asset

from lineage_assets.ledger.dagster_log import facts_of_run, read_history
from lineage_assets.ledger.receipts import RECEIPT_TAG
from lineage_assets.ledger.record import Closing
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.transport import RejectedError, UndeliveredError
from lineage_assets.spark.program import Program
from lineage_assets.spark.report import Report
from tests.reconcile.conftest import KeptEvents
from tests.support.records import NOON
from tests.support.world import ShopWorld

LONG_AGO = NOON - timedelta(days=10_000)


def receipt(instance: DagsterInstance, run_id: str) -> str | None:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    tags: Mapping[str, str] = run.tags
    return tags.get(RECEIPT_TAG)


def test_a_run_without_a_receiver_is_owed_and_told_by_the_next_pass(world: ShopWorld, kept: KeptEvents) -> None:
    world.feed(1, 3)
    run = world.run(1, 3)
    assert receipt(world.instance, run.run_id) == "pending"
    flushed = world.flush_to(kept).run(LONG_AGO)
    assert (flushed.runs, flushed.events, flushed.stopped) == (1, len(kept.bodies), None)
    assert receipt(world.instance, run.run_id) == "sent"
    assert kept.ends()["example.orders", "2021-06-02"] == ["START", "FAIL"]
    assert kept.ends()["example.weekly", "2021-06-02..2021-06-03"] == ["START", "ABORT"]
    again = world.flush_to(kept).run(LONG_AGO)
    assert (again.runs, again.events) == (0, 0)


def test_a_pass_sends_the_very_bytes_that_the_run_sent(
    world: ShopWorld, kept: KeptEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told:
        """Stands where the run's sender does."""

        def __init__(self) -> None:
            self.bodies: list[str] = []

    told = Told()
    monkeypatch.setattr(
        "lineage_assets.lineage.sender.Sender.send",
        lambda _self, events: told.bodies.extend(event.body for event in events),
    )
    world.feed(1, 3)
    world.run(1, 3)
    monkeypatch.undo()
    run = world.instance.get_runs()[0]
    world.instance.add_run_tags(run.run_id, {RECEIPT_TAG: "pending"})
    world.flush_to(kept).run(LONG_AGO)
    assert kept.bodies == told.bodies


def interrupted(_program: Program) -> Report:
    raise KeyboardInterrupt


def test_a_cancelled_run_is_closed_by_its_own_process(world: ShopWorld, kept: KeptEvents) -> None:
    world.feed(1, 2)
    world.launcher.answer = interrupted
    run = world.run(1, 2)
    closings = [fact for fact in facts_of_run(world.instance, run.run_id) if isinstance(fact, Closing)]
    assert [(closing.asset, closing.cause.kind) for closing in closings] == [(("orders",), "cancelled")]
    assert read_history(world.instance, ("orders",)).underway == ()
    world.flush_to(kept).run(LONG_AGO)
    assert kept.ends()["example.orders", "2021-06-01"] == ["START", "ABORT"]
    messages = [
        event["run"]["facets"]["errorMessage"]["message"] for event in kept.events if event["eventType"] == "ABORT"
    ]
    assert messages[0] == "cancelled: the run was cancelled"
    assert all(message.startswith("not started: ") for message in messages[2:])


def test_a_run_that_never_began_is_told_of_every_asset_it_was_to_make(world: ShopWorld, kept: KeptEvents) -> None:
    job = world.definitions.resolve_implicit_global_asset_job_def()
    tags = {"dagster/partition": "2021-06-04"}
    selection = {AssetKey("orders"), AssetKey("weekly")}
    run = world.instance.create_run_for_job(job.get_subset(asset_selection=selection), tags=tags)
    world.instance.report_run_canceled(run)
    flushed = world.flush_to(kept).run(LONG_AGO)
    assert (flushed.runs, flushed.closed) == (1, 2)
    assert kept.ends() == {
        ("example.orders", "2021-06-04"): ["START", "ABORT"],
        ("example.weekly", "2021-06-04"): ["START", "ABORT"],
    }
    assert "2021-06-04" not in read_history(world.instance, ("orders",)).verdicts
    assert world.flush_to(kept).run(LONG_AGO).runs == 0


@pytest.mark.usefixtures("no_pauses")
def test_a_receiver_that_goes_down_stops_the_pass_and_the_next_one_goes_on(world: ShopWorld) -> None:
    world.feed(1, 2)
    first, second = world.run(1, 1), world.run(2, 2)
    down = KeptEvents(room=9)
    flushed = world.flush_to(down).run(LONG_AGO)
    assert flushed.stopped == "http://127.0.0.1:1 does not take events: connection refused"
    assert [receipt(world.instance, run.run_id) for run in (first, second)] == ["sent", "pending"]
    back = KeptEvents()
    world.flush_to(back).run(LONG_AGO)
    assert receipt(world.instance, second.run_id) == "sent"
    assert {days for _, days in back.ends()} == {"2021-06-02"}


def test_what_is_rejected_is_noted_and_not_tried_for_ever(world: ShopWorld) -> None:
    class Refusing(KeptEvents):
        def emit(self, body: str) -> None:
            raise RejectedError("http://127.0.0.1:1", f"HTTP 422 to {len(body)} bytes")

    world.feed(1)
    run = world.run(1, 1, select=["orders"])
    assert world.flush_to(Refusing()).run(LONG_AGO).rejected == 2
    assert receipt(world.instance, run.run_id) == "rejected"
    assert world.flush_to(KeptEvents()).run(LONG_AGO).runs == 0


@pytest.mark.usefixtures("no_pauses")
def test_a_receiver_that_is_down_holds_up_no_other_and_the_run_stays_owed(world: ShopWorld) -> None:
    world.feed(1, 2)
    runs = [world.run(day, day, select=["orders"]).run_id for day in (1, 2)]
    down, up = KeptEvents(room=1), KeptEvents()
    flushed = world.flush_to(down, up).run(LONG_AGO)
    assert (flushed.runs, flushed.events) == (0, 1)
    assert flushed.stopped is not None
    assert flushed.stopped.startswith("2 left for the next pass; the first: http://127.0.0.1:1 did not take")
    assert (days_told(down), days_told(up)) == (["01"], ["01", "01", "02", "02"])
    assert [receipt(world.instance, run) for run in runs] == ["pending", "pending"]
    down.room = None
    assert world.flush_to(down, up).run(LONG_AGO).stopped is None
    assert days_told(down) == ["01", "01", "01", "02", "02"]
    assert [receipt(world.instance, run) for run in runs] == ["sent", "sent"]


def test_what_one_receiver_refuses_another_gets_whole(world: ShopWorld, kept: KeptEvents) -> None:
    class NoStart(KeptEvents):
        def emit(self, body: str) -> None:
            if '"START"' in body:
                raise RejectedError("http://127.0.0.1:1", "HTTP 422")
            super().emit(body)

    world.feed(1)
    run = world.run(1, 1, select=["orders"])
    choosy = NoStart()
    flushed = world.flush_to(choosy, kept).run(LONG_AGO)
    assert (flushed.rejected, flushed.stopped) == (2, None)
    assert choosy.bodies == []
    assert kept.ends() == {("example.orders", "2021-06-01"): ["START", "COMPLETE"]}
    assert receipt(world.instance, run.run_id) == "rejected"


@pytest.mark.usefixtures("no_pauses")
def test_a_gap_stays_open_until_every_receiver_has_the_newest_again(world: ShopWorld, kept: KeptEvents) -> None:
    world.feed(1, 2)
    gap, newest = (world.run(day, day, select=["orders"]).run_id for day in (1, 2))
    world.instance.add_run_tags(newest, {RECEIPT_TAG: "sent"})
    assert world.flush_to(KeptEvents(room=2), kept).run(LONG_AGO).stopped is not None
    assert days_told(kept) == ["01", "01", "02", "02"]
    assert receipt(world.instance, gap) == "pending"


def days_told(kept: KeptEvents) -> list[str]:
    return [event["run"]["facets"]["lineageAssets_attempt"]["partition"][-2:] for event in kept.events]


def test_after_a_gap_is_filled_what_left_the_data_is_sent_again_and_then_the_newest(
    world: ShopWorld, kept: KeptEvents
) -> None:
    world.feed(1, 2)
    gap, *newer = (world.run(day, day, select=["orders"]).run_id for day in (1, 2, 3))
    for run_id in newer:
        world.instance.add_run_tags(run_id, {RECEIPT_TAG: "sent"})
    world.flush_to(kept).run(LONG_AGO)
    assert days_told(kept) == ["01", "01", "02", "02", "03", "03"]
    assert receipt(world.instance, gap) == "sent"


@pytest.mark.usefixtures("no_pauses")
def test_a_pass_that_stops_before_the_newest_is_sent_again_leaves_the_gap_open(world: ShopWorld) -> None:
    world.feed(1, 2)
    gap, newest = (world.run(day, day, select=["orders"]).run_id for day in (1, 2))
    world.instance.add_run_tags(newest, {RECEIPT_TAG: "sent"})
    assert world.flush_to(KeptEvents(room=2)).run(LONG_AGO).stopped is not None
    assert receipt(world.instance, gap) == "pending"
    back = KeptEvents()
    world.flush_to(back).run(LONG_AGO)
    assert days_told(back) == ["01", "01", "02", "02"]


@pytest.mark.usefixtures("no_pauses")
def test_of_many_gaps_a_few_are_settled_at_a_time(world: ShopWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_assets.reconcile.overtaken._MOST", 1)
    world.feed(1, 2, 3)
    *gaps, newest = (world.run(day, day, select=["orders"]).run_id for day in (1, 2, 3))
    world.instance.add_run_tags(newest, {RECEIPT_TAG: "sent"})
    kept = KeptEvents(room=6)
    assert world.flush_to(kept).run(LONG_AGO).stopped is not None
    assert days_told(kept) == ["01", "01", "03", "03", "02", "02"]
    assert [receipt(world.instance, gap) for gap in gaps] == ["sent", "pending"]


def test_a_run_that_never_began_does_not_count_as_newest_because_it_was_written_down_last(
    world: ShopWorld, kept: KeptEvents
) -> None:
    job = world.definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={AssetKey("orders")})
    never = world.instance.create_run_for_job(job, tags={"dagster/partition": "2021-06-04"})
    world.instance.report_run_canceled(never)
    world.feed(1)
    newest = world.run(1, 1, select=["orders"])
    world.instance.add_run_tags(newest.run_id, {RECEIPT_TAG: "sent"})
    world.flush_to(kept).run(LONG_AGO)
    assert days_told(kept) == ["04", "04", "01", "01"]


def test_a_run_of_strangers_is_left_alone(world: ShopWorld, kept: KeptEvents) -> None:
    """Its partitions may be anything, and another code location may be the one that tells of it."""

    @asset(partitions_def=StaticPartitionsDefinition(["eu", "us"]))
    def regions() -> None: ...

    job = Definitions([regions]).resolve_implicit_global_asset_job_def()
    run = world.instance.create_run_for_job(job, tags={"dagster/partition": "eu"})
    world.instance.report_run_canceled(run)
    flushed = world.flush_to(kept).run(LONG_AGO)
    assert (flushed.runs, flushed.events, receipt(world.instance, run.run_id)) == (0, 0, None)


def test_what_a_process_wrote_just_before_it_was_gone_is_not_closed(
    world: ShopWorld, kept: KeptEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends while the pass looks at it: what was read before is not all that there is."""
    world.feed(1)
    run = world.run(1, 1, select=["orders"])
    fresh = world.instance.get_run_record_by_id(run.run_id)
    assert fresh is not None
    old = fresh._replace(dagster_run=fresh.dagster_run.with_status(DagsterRunStatus.STARTED))
    monkeypatch.setattr("lineage_assets.ledger.receipts.runs_with", lambda *_: iter([old]))
    monkeypatch.setattr("lineage_assets.reconcile.closings.is_dead", lambda _: True)
    flushed = world.flush_to(kept).run(LONG_AGO)
    assert (flushed.runs, flushed.closed) == (1, 0)
    assert kept.ends() == {("example.orders", "2021-06-01"): ["START", "COMPLETE"]}
    again = world.instance.get_run_by_id(run.run_id)
    assert again is not None
    assert again.is_success


def test_time_that_is_over_leaves_the_rest_for_the_next_pass(world: ShopWorld, kept: KeptEvents) -> None:
    world.feed(1)
    world.run(1, 1, select=["orders"])
    late = world.flush_to(kept)
    late.until = NOON
    assert late.run(LONG_AGO).stopped == "its time is over; the next pass goes on"
    assert kept.bodies == []


def test_a_run_cancelled_at_the_gate_is_told_by_its_own_process(
    world: ShopWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        "lineage_assets.lineage.sender.Sender.send",
        lambda _self, events: told.extend(event.type.value for event in events),
    )

    def cancelled(*_asked: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lineage_assets.assets.step.through_gate", cancelled)
    world.feed(1, 2)
    world.run(1, 2, select=["orders"])
    assert told == ["START", "START", "ABORT", "ABORT"]


def test_a_run_that_was_cut_short_is_owed_though_all_it_began_was_sent(
    world: ShopWorld, kept: KeptEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_assets.lineage.sender.Sender.close", lambda _self, _seconds: Delivery(sent=2))
    world.feed(1)
    world.launcher.answer = interrupted
    run = world.run(1, 1)
    assert receipt(world.instance, run.run_id) == "pending"
    world.flush_to(kept).run(LONG_AGO)
    assert kept.ends()["example.two", "2021-06-01"] == ["START", "ABORT"]


def test_a_run_that_came_to_all_it_was_asked_for_has_its_receipt_at_its_end(
    world: ShopWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_assets.lineage.sender.Sender.close", lambda _self, _seconds: Delivery(sent=2))
    world.feed(1)
    assert receipt(world.instance, world.run(1, 1).run_id) == "sent"


@pytest.mark.usefixtures("no_pauses")
def test_an_event_that_a_receiver_chokes_on_keeps_no_other_run_from_being_told(world: ShopWorld) -> None:
    class Choking(KeptEvents):
        def emit(self, body: str) -> None:
            if '"partition":"2021-06-01"' in body.replace(" ", ""):
                raise UndeliveredError("http://127.0.0.1:1", "HTTP 500", is_answer=True)
            super().emit(body)

    world.feed(1, 2)
    bad, good = (world.run(day, day, select=["orders"]) for day in (1, 2))
    kept = Choking()
    flushed = world.flush_to(kept).run(LONG_AGO)
    assert flushed.stopped is not None
    assert flushed.stopped.startswith("1 left for the next pass; the first: http://127.0.0.1:1 did not take")
    assert [receipt(world.instance, run.run_id) for run in (bad, good)] == ["pending", "sent"]


@pytest.mark.usefixtures("no_pauses")
def test_a_receiver_that_says_no_to_run_after_run_stops_the_pass(world: ShopWorld) -> None:
    class OutOfOrder(KeptEvents):
        def emit(self, body: str) -> None:
            self.bodies.append(body)
            raise UndeliveredError("http://127.0.0.1:1", "HTTP 503", is_answer=True)

    world.feed(1, 2, 3, 4)
    for day in (1, 2, 3, 4):
        world.run(day, day, select=["orders"])
    kept = OutOfOrder()
    assert world.flush_to(kept).run(LONG_AGO).stopped == "http://127.0.0.1:1 does not take events: HTTP 503"
    assert len(set(kept.bodies)) == 3

"""A backfill is a lineage run of its own, and what no run of it came to is blocked by whatever is bad above it."""

from __future__ import annotations

import pytest
from dagster import AssetKey, Definitions, StaticPartitionsDefinition, asset

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.submit import Label, close_record, is_cancelled, open_record
from lineage_assets.backfill.tally import Tally
from lineage_assets.dagster_private import AssetBackfillData, AssetGraphSubset, BulkActionStatus, PartitionBackfill
from lineage_assets.ledger.dagster_log import read_history, records_of_run
from lineage_assets.ledger.receipts import RECEIPT_TAG
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.lineage.ids import backfill_lineage_run_id
from lineage_assets.reconcile import untouched
from tests.reconcile.conftest import KeptEvents
from tests.reconcile.test_flush import LONG_AGO
from tests.support.records import NOON
from tests.support.world import ShopWorld

ID = "abcdefgh"


def opened(world: ShopWorld, first: int, last: int, backfill: str = ID) -> BackfillPlan:
    """A backfill of Dagster's as its daemon would have made it: a record with a target, and no plan of ours."""
    ask = Ask("orders", f"2021-06-{first:02}", f"2021-06-{last:02}")
    plan = ask.plan_at(world.graph, NOON.replace(year=2022))
    label = Label("repair", "the feed is repaired", "oncall@example.com", {})
    open_record(world.instance, world.definitions, backfill, plan, label)
    return plan


def broken(world: ShopWorld) -> Tally:
    """Three days of which the second has no file, nothing launched below them, and the days after them there."""
    world.feed(1, 3, 4, 5)
    world.run(4, 5, select=["orders"])
    plan = opened(world, 1, 3)
    run = world.run(1, 3, select=["orders"], backfill=ID)
    return Tally(plan).with_records(records_of_run(world.instance, run.run_id))


def closed(world: ShopWorld, tally: Tally) -> None:
    close_record(world.instance, world.definitions, ID, tally)


def test_what_no_run_came_to_is_blocked_and_names_where_it_began(world: ShopWorld, kept: KeptEvents) -> None:
    closed(world, broken(world))
    flushed = world.flush_to(kept).run(LONG_AGO)
    root = (PartitionRef(("orders",), "2021-06-02"),)
    weekly = read_history(world.instance, ("weekly",)).verdicts
    assert {key[-2:]: record.blocked_by for key, record in weekly.items()} == {"02": root, "03": root, "04": root}
    best = read_history(world.instance, ("best",)).verdicts
    assert {key[-2:]: record.blocked_by for key, record in best.items()} == {"02": root, "03": root, "04": root}
    assert flushed.blocked == 9
    assert kept.ends()["example.weekly", "2021-06-02..2021-06-04"] == ["START", "ABORT"]
    assert kept.ends()["example.two", "2021-06-02..2021-06-04"] == ["START", "ABORT"]
    assert kept.ends()["example.backfill", ""] == ["START", "FAIL"]
    story = kept.events[-1]["run"]["facets"]["lineageAssets_backfill"]
    assert (story["requestedBy"], story["reason"]) == ("oncall@example.com", "the feed is repaired")
    assert story["result"] == {"repaired": 2, "reused": 0, "failed": 1, "blocked": 0, "notRun": 15}
    record = world.instance.get_backfill(ID)
    assert record is not None
    assert record.tags[RECEIPT_TAG] == "sent"
    assert world.flush_to(kept).run(LONG_AGO).backfills == 0


def test_what_was_repaired_since_is_not_called_blocked(world: ShopWorld, kept: KeptEvents) -> None:
    closed(world, broken(world))
    world.feed(2)
    world.run(1, 3, select=["orders"])
    assert world.flush_to(kept).run(LONG_AGO).blocked == 0
    assert read_history(world.instance, ("weekly",)).verdicts == {}


def test_a_cancelled_backfill_blocks_nothing(world: ShopWorld, kept: KeptEvents) -> None:
    closed(world, broken(world).cancelled())
    assert is_cancelled(world.instance, ID)
    assert world.flush_to(kept).run(LONG_AGO).blocked == 0
    assert kept.ends()["example.backfill", ""] == ["START", "ABORT"]


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("room", [0, 11, 13, 15])
def test_blocks_written_by_a_pass_that_stopped_are_told_by_the_next(world: ShopWorld, room: int) -> None:
    closed(world, broken(world))
    assert world.flush_to(KeptEvents(room=room)).run(LONG_AGO).stopped is not None
    kept = KeptEvents()
    world.flush_to(kept).run(LONG_AGO)
    assert kept.ends()["example.weekly", "2021-06-02..2021-06-04"] == ["START", "ABORT"]
    assert kept.ends()["example.two", "2021-06-02..2021-06-04"] == ["START", "ABORT"]
    assert kept.ends()["example.backfill", ""] == ["START", "FAIL"]


def test_a_strangers_backfill_is_passed_over_and_left_as_it_is(world: ShopWorld, kept: KeptEvents) -> None:
    """Its partitions may be no days, and its receipt may be another code location's."""

    letters = StaticPartitionsDefinition(["a", "b"])

    @asset(partitions_def=letters)
    def strangers() -> None: ...

    theirs = Definitions(assets=[strangers])
    target = AssetGraphSubset._make(({AssetKey("strangers"): letters.subset_with_partition_keys(["a"])}, frozenset()))
    record = PartitionBackfill(
        backfill_id="strangers",
        status=BulkActionStatus.COMPLETED_FAILED,
        from_failure=False,
        tags={},
        backfill_timestamp=NOON.timestamp(),
        backfill_end_timestamp=NOON.timestamp(),
        asset_selection=[AssetKey("strangers")],
        asset_backfill_data=AssetBackfillData.empty(target, NOON.timestamp(), world.instance),
    )
    world.instance.add_backfill(record)
    closed(world, broken(world))
    flush = world.flush_to(kept)
    flush.assets = Definitions.merge(world.definitions, theirs).resolve_asset_graph()
    assert flush.run(LONG_AGO).backfills == 1
    left = world.instance.get_backfill("strangers")
    assert left is not None
    assert RECEIPT_TAG not in left.tags


def test_a_repair_that_ends_while_a_pass_looks_is_not_overwritten(
    world: ShopWorld, kept: KeptEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Good partitions never become blocked behind the back of who made them."""
    closed(world, broken(world))
    asked: list[object] = []
    blocks = untouched._blocks

    def repaired_first(*given: object) -> object:
        if not asked:
            asked.append(given)
            world.feed(2)
            world.run(2, 2, select=["orders"])
            world.run(2, 4, select=["weekly", "best", "worst"])
        return blocks(*given)

    monkeypatch.setattr(untouched, "_blocks", repaired_first)
    assert world.flush_to(kept).run(LONG_AGO).blocked == 0
    states = {key[-2:]: one.state.value for key, one in read_history(world.instance, ("weekly",)).verdicts.items()}
    assert set(states.values()) == {"good"}


def test_a_run_told_late_does_not_own_the_graph_where_a_block_that_no_run_met_is_newer(
    world: ShopWorld, kept: KeptEvents
) -> None:
    world.feed(1)
    late = world.run(1, 1)
    closed(world, broken(world))
    world.flush_to(KeptEvents()).run(LONG_AGO)
    world.instance.add_run_tags(late.run_id, {RECEIPT_TAG: "pending"})
    world.flush_to(kept).run(LONG_AGO)
    of_weekly = [days for job, days in kept.ends() if job == "example.weekly"]
    assert of_weekly == ["2021-06-01", "2021-06-02..2021-06-04"]
    record = world.instance.get_run_by_id(late.run_id)
    assert record is not None
    assert record.tags[RECEIPT_TAG] == "sent"


def test_a_backfill_told_late_does_not_own_the_graph_of_its_job(world: ShopWorld, kept: KeptEvents) -> None:
    tally = broken(world)
    opened(world, 1, 3, "newer")
    close_record(world.instance, world.definitions, "newer", tally)
    newer = world.instance.get_backfill("newer")
    assert newer is not None
    world.instance.update_backfill(newer._replace(tags={**newer.tags, RECEIPT_TAG: "sent"}))
    closed(world, tally)
    assert world.flush_to(kept).run(LONG_AGO).backfills == 1
    told = [event["run"]["runId"] for event in kept.events if event["job"]["name"] == "example.backfill"]
    assert told == [*[str(backfill_lineage_run_id(ID))] * 2, *[str(backfill_lineage_run_id("newer"))] * 2]

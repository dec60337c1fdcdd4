"""A backfill of ours in Dagster's own list: asked for in full from the start, and closed with what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance, Definitions

from lineage_assets.assets.definitions import graph_of
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.planner import plan_backfill
from lineage_assets.backfill.request import BackfillRequest
from lineage_assets.backfill.submit import Label, close_record, is_cancelled, open_record, targeted
from lineage_assets.backfill.tally import Tally
from lineage_assets.dagster_private import AssetGraphSubset, BulkActionStatus, PartitionBackfill
from lineage_assets.graph import name_of
from lineage_assets.ledger.record import PartitionRecord, State
from lineage_assets.partitions import keys_of, ranges_text, set_of
from lineage_assets.settings import load_settings
from tests.support.graphs import NOW, days
from tests.support.recording import RecordingLauncher
from tests.support.records import make_record
from tests.support.small_shop import definitions_of

LABEL = Label("orders and all that reads it", "the feed was repaired", "ann", {"lineage_assets/plan": "abc"})


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    with DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def definitions(tmp_path: Path) -> Definitions:
    settings = load_settings().model_copy(update={"home": tmp_path, "openlineage_url": None})
    return definitions_of(RecordingLauncher(), settings)


@pytest.fixture
def plan(definitions: Definitions) -> BackfillPlan:
    request = BackfillRequest.downstream_of(("orders",), days("2021-06-04", "2021-06-05"))
    return plan_backfill(graph_of(definitions), request, now=NOW)


def record_of(instance: DagsterInstance) -> PartitionBackfill:
    record = instance.get_backfill("abcdefgh")
    assert record is not None
    return record


def subset_text(subset: AssetGraphSubset) -> dict[str, str]:
    return {
        name_of(tuple(key.path)): ranges_text(set_of(one.get_partition_keys()))
        for key, one in subset.partitions_subsets_by_asset_key.items()
        if not one.is_empty
    }


def records(plan: BackfillPlan, *bad: tuple[str, str, State]) -> list[PartitionRecord]:
    states = {(name, day): state for name, day, state in bad}
    return [
        make_record(day, states.get((one.asset[0], day), State.GOOD), asset=one.asset)
        for one in plan.assets
        for day in keys_of(one.partitions)
    ]


def test_a_record_is_opened_as_fully_requested(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    record = record_of(instance)
    data = record.get_asset_backfill_data(definitions.resolve_asset_graph())
    assert record.status is BulkActionStatus.REQUESTED
    assert (
        subset_text(data.target_subset)
        == subset_text(data.requested_subset)
        == {
            "orders": "2021-06-04..2021-06-05",
            "weekly": "2021-06-04..2021-06-07",
            "best": "2021-06-04..2021-06-07",
            "worst": "2021-06-04..2021-06-07",
        }
    )
    assert data.requested_runs_for_target_roots
    assert subset_text(data.materialized_subset) == {}


def test_a_person_sees_title_reason_author_and_tags(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    record = record_of(instance)
    assert (record.title, record.description, record.user) == (LABEL.title, LABEL.reason, "ann")
    assert record.tags["lineage_assets/plan"] == "abc"
    assert record.backfill_end_timestamp is None


def test_a_whole_plan_closes_as_success(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    close_record(instance, definitions, "abcdefgh", Tally(plan).with_records(records(plan)))
    record = record_of(instance)
    data = record.get_asset_backfill_data(definitions.resolve_asset_graph())
    assert record.status is BulkActionStatus.COMPLETED_SUCCESS
    assert record.backfill_end_timestamp is not None
    assert subset_text(data.materialized_subset) == subset_text(data.target_subset)


def test_bad_partitions_and_those_not_run_close_as_failed(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    bad = [
        ("orders", "2021-06-05", State.FAILED),
        *(("weekly", f"2021-06-0{day}", State.BLOCKED) for day in (5, 6, 7)),
    ]
    came = [record for record in records(plan, *bad) if record.asset != ("best",)]
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    close_record(instance, definitions, "abcdefgh", Tally(plan).with_records(came))
    record = record_of(instance)
    data = record.get_asset_backfill_data(definitions.resolve_asset_graph())
    assert record.status is BulkActionStatus.COMPLETED_FAILED
    assert subset_text(data.failed_and_downstream_subset) == {
        "orders": "2021-06-05",
        "weekly": "2021-06-05..2021-06-07",
        "best": "2021-06-04..2021-06-07",
    }


def test_a_click_on_cancel_just_before_the_end_is_not_lost(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    assert not is_cancelled(instance, "abcdefgh")
    instance.update_backfill(record_of(instance).with_status(BulkActionStatus.CANCELING))
    assert is_cancelled(instance, "abcdefgh")
    close_record(instance, definitions, "abcdefgh", Tally(plan).with_records(records(plan)))
    assert record_of(instance).status is BulkActionStatus.CANCELED


def test_what_a_cancelled_backfill_did_not_run_is_not_called_failed(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    done = [record for record in records(plan) if record.asset == ("orders",)]
    close_record(instance, definitions, "abcdefgh", Tally(plan).with_records(done).cancelled())
    record = record_of(instance)
    data = record.get_asset_backfill_data(definitions.resolve_asset_graph())
    assert record.status is BulkActionStatus.CANCELED
    assert subset_text(data.materialized_subset) == {"orders": "2021-06-04..2021-06-05"}
    assert subset_text(data.failed_and_downstream_subset) == {}


def test_a_record_that_a_person_deleted_counts_as_cancelled(instance: DagsterInstance) -> None:
    assert is_cancelled(instance, "nothere1")


def test_the_target_of_a_backfill_reads_back_as_planned(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    open_record(instance, definitions, "abcdefgh", plan, LABEL)
    graph = definitions.resolve_asset_graph()
    ours = {one.asset for one in plan.assets}
    assert targeted(instance, "abcdefgh", graph, ours) == {one.asset: one.partitions for one in plan.assets}
    assert targeted(instance, "abcdefgh", graph, {("weekly",)}).keys() == {("weekly",)}
    assert targeted(instance, "nothere1", graph, ours) == {}


def test_closing_a_record_that_a_person_deleted_writes_none(
    instance: DagsterInstance, definitions: Definitions, plan: BackfillPlan
) -> None:
    close_record(instance, definitions, "nothere1", Tally(plan))
    assert instance.get_backfills() == []

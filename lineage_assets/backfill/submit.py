"""A backfill of ours as one of Dagster's own: its record, written when it is opened and when it is closed.

The record is marked from the start as if all its runs were requested: the daemon, which drives every record that has
something left to request, then only keeps the accounts of this one. It also ends records in which nothing moves and
no run goes on, so a run under the backfill's tag must be going on as long as the record is open.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from dagster import AssetKey as DagsterAssetKey
from dagster import DagsterInstance, Definitions, TimeWindow, TimeWindowPartitionsDefinition

from lineage_assets.backfill.account import FINGERPRINT_TAG, RESULT_TAG
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.tally import Tally
from lineage_assets.clock import utc_now
from lineage_assets.dagster_private import (
    USER_TAG,
    AssetBackfillData,
    AssetGraphSubset,
    BaseAssetGraph,
    BulkActionStatus,
    PartitionBackfill,
    TimestampWithTimezone,
)
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.record import State
from lineage_assets.partitions import PartitionSet, key_of, set_of

_ENDING = (BulkActionStatus.CANCELING, BulkActionStatus.CANCELED)


@dataclass(frozen=True, slots=True)
class Label:
    """What a person sees of a backfill in Dagster's list."""

    title: str
    reason: str
    requested_by: str
    tags: Mapping[str, str]


def open_record(
    instance: DagsterInstance, definitions: Definitions, backfill_id: str, plan: BackfillPlan, label: Label
) -> None:
    """Write the record of a backfill that is about to run; a run under its tag must be going on already."""
    now = utc_now().timestamp()
    newest = instance.event_log_storage.get_maximum_record_id()
    target = _subset(definitions, {planned.asset: planned.partitions for planned in plan.assets})
    data = AssetBackfillData(
        target_subset=target,
        requested_runs_for_target_roots=True,
        requested_subset=target,
        # None in an empty log, from which the daemon would not count at all.
        latest_storage_id=newest if newest is not None else 0,
        materialized_subset=_subset(definitions, {}),
        failed_and_downstream_subset=_subset(definitions, {}),
        backfill_start_time=TimestampWithTimezone(now, "UTC"),
    )
    instance.add_backfill(
        PartitionBackfill(
            backfill_id=backfill_id,
            status=BulkActionStatus.REQUESTED,
            from_failure=False,
            tags={
                **label.tags,
                FINGERPRINT_TAG: plan.fingerprint,
                **({USER_TAG: label.requested_by} if label.requested_by else {}),
            },
            backfill_timestamp=now,
            asset_selection=sorted(target.asset_keys),
            title=label.title,
            description=label.reason or None,
            asset_backfill_data=data,
        )
    )


def close_record(instance: DagsterInstance, definitions: Definitions, backfill_id: str, tally: Tally) -> None:
    """Write what came of it, over whatever the daemon has counted meanwhile; a click on cancel is not lost."""
    record = instance.get_backfill(backfill_id)
    if record is None:
        return  # a person deleted it
    graph = definitions.resolve_asset_graph()
    bad = tally.of(State.FAILED, State.BLOCKED)
    data = record.get_asset_backfill_data(graph)._replace(
        materialized_subset=_subset(definitions, tally.of(State.GOOD, State.REUSED)),
        failed_and_downstream_subset=_subset(definitions, bad if tally.is_cancelled else _with(bad, tally.not_run)),
    )
    status = BulkActionStatus.COMPLETED_SUCCESS if tally.is_whole else BulkActionStatus.COMPLETED_FAILED
    tags = {**record.tags, RESULT_TAG: json.dumps(tally.counted())}
    if tally.is_cancelled or record.status in _ENDING:
        status = BulkActionStatus.CANCELED
    instance.update_backfill(
        record.with_asset_backfill_data(data, dynamic_partitions_store=instance, asset_graph=graph)._replace(
            status=status, tags=tags, backfill_end_timestamp=utc_now().timestamp()
        )
    )


def is_cancelled(instance: DagsterInstance, backfill_id: str) -> bool:
    """Whether a person has asked for its end, or deleted it."""
    record = instance.get_backfill(backfill_id)
    return record is None or record.status in _ENDING


def targeted(
    instance: DagsterInstance, backfill_id: str, graph: BaseAssetGraph[Any], ours: Container[AssetKey]
) -> dict[AssetKey, PartitionSet]:
    """The partitions of our assets that a backfill is to make, whoever launched it; none when its record is gone."""
    record = instance.get_backfill(backfill_id)
    if record is None or record.asset_backfill_data is None:
        return {}
    target = record.get_asset_backfill_data(graph).target_subset
    return {
        tuple(key.path): set_of(subset.get_partition_keys())
        for key, subset in target.partitions_subsets_by_asset_key.items()
        if tuple(key.path) in ours  # a stranger's partitions may be no days
    }


def _with(one: Mapping[AssetKey, PartitionSet], other: Mapping[AssetKey, PartitionSet]) -> dict[AssetKey, PartitionSet]:
    nothing = PartitionSet()
    return {asset: one.get(asset, nothing) | other.get(asset, nothing) for asset in {*one, *other}}


def _subset(definitions: Definitions, sets: Mapping[AssetKey, PartitionSet]) -> AssetGraphSubset:
    """The partitions as Dagster keeps them: by time windows, not by keys."""
    graph = definitions.resolve_asset_graph()
    subsets = {}
    for asset, partitions in sets.items():
        key = DagsterAssetKey(asset)
        days = graph.get(key).partitions_def
        if not isinstance(days, TimeWindowPartitionsDefinition):
            raise TypeError(f"The asset {key} has the partitions {days!r}, not days.")
        windows = (
            TimeWindow(
                days.time_window_for_partition_key(key_of(first)).start,
                days.time_window_for_partition_key(key_of(last)).end,
            )
            for first, last in partitions.ranges
        )
        subsets[key] = reduce(or_, map(days.get_partition_subset_in_time_window, windows), days.empty_subset())
    # The two fields by place: the type checker takes the class's `__hash__` for a third.
    return AssetGraphSubset._make((subsets, frozenset()))

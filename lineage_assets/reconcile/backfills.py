"""Backfills as lineage runs of their own, by whoever they were driven: read from Dagster's records of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from dagster import DagsterInstance

from lineage_assets.backfill.account import result_of, told_of
from lineage_assets.dagster_private import BaseAssetGraph, BulkActionsFilter, PartitionBackfill
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.receipts import ENDED, RECEIPT_TAG
from lineage_assets.lineage.backfills import backfill_ended, backfill_started
from lineage_assets.lineage.events import Event

_LOOKED_AT = 20
"""Newest backfills among which the last that was told is looked for; the others are strangers' then."""


def events_of_backfill(record: PartitionBackfill, assets: BaseAssetGraph[Any], graph: AssetGraph) -> tuple[Event, ...]:
    """START and end of a backfill that is over and concerns assets of ours; else nothing."""
    told, result = told_of(record, assets, graph), result_of(record, assets)
    return () if told is None or result is None else (backfill_started(told), backfill_ended(told, result))


def newest_told(
    instance: DagsterInstance, told: PartitionBackfill, assets: BaseAssetGraph[Any], graph: AssetGraph
) -> tuple[Event, ...]:
    """The events of the newest backfill, where it began after this one and has been told: it owns the graph."""
    for record in instance.get_backfills(filters=BulkActionsFilter(statuses=list(ENDED)), limit=_LOOKED_AT):
        if record.backfill_timestamp <= told.backfill_timestamp:
            break
        events = events_of_backfill(record, assets, graph) if RECEIPT_TAG in record.tags else ()
        if events:
            return events
    return ()


def backfills_told(
    instance: DagsterInstance, assets: BaseAssetGraph[Any], graph: AssetGraph
) -> Iterator[tuple[datetime, tuple[Event, ...]]]:
    """Every backfill that is over, with the time of its end, in that order."""
    records = instance.get_backfills(filters=BulkActionsFilter(statuses=list(ENDED)))
    told = (events_of_backfill(record, assets, graph) for record in records)
    yield from sorted(((events[-1].time, events) for events in told if events), key=lambda one: one[0])

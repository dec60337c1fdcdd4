"""Every private name of Dagster that the package uses, each with its reason; tried with Dagster 1.13.27.

Refuses to do anything with them: rooms import from here, and a test of imports and signatures says when Dagster moves.

- `PartitionBackfill`, `AssetBackfillData`, `AssetGraphSubset`, `TimestampWithTimezone`, `make_new_backfill_id`: a
  backfill driven by us is one of Dagster's own in its lists and pages, and Dagster has no public way to write one.
- `BaseAssetGraph`: the type of the graph by which the target of a backfill is read.
- `AssetObservationData`: an observation is written into the log of a run that can no longer write it itself.
- `BulkActionsFilter`: which backfills ended, without reading all there ever were.
- `SqlRunStorage`: what tells one instance from another, wherever their settings say that they are.
- `BulkActionStatus`: how such a backfill says that it goes on, was cancelled, ended.
"""

from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.timestamp import TimestampWithTimezone
from dagster._core.events import AssetObservationData
from dagster._core.execution.asset_backfill import AssetBackfillData
from dagster._core.execution.backfill import BulkActionsFilter, BulkActionStatus, PartitionBackfill
from dagster._core.storage.runs.sql_run_storage import SqlRunStorage
from dagster._core.utils import make_new_backfill_id

__all__ = [
    "BACKFILL_TAG",
    "DEFER_ASSET_EVENTS_TAG",
    "USER_TAG",
    "AssetBackfillData",
    "AssetGraphSubset",
    "AssetObservationData",
    "BaseAssetGraph",
    "BulkActionStatus",
    "BulkActionsFilter",
    "PartitionBackfill",
    "SqlRunStorage",
    "TimestampWithTimezone",
    "make_new_backfill_id",
]

BACKFILL_TAG = "dagster/backfill"
"""Puts a run under a backfill in the pages, and holds the backfill open while the run goes on."""

DEFER_ASSET_EVENTS_TAG = "dagster/defer_asset_events"
"""A run tag that stops Dagster's automatic materializations.

Set on the run in memory while a step of ours runs: a range with bad days must materialize the good ones only. Never
given at launch, or no planned events are written and failed partitions become invisible.
"""

USER_TAG = "user"
"""The tag of a backfill that its pages show as who launched it."""

"""Every private name of Dagster that the package uses, each with its reason; tried with Dagster 1.13.27.

Refuses to do anything with them: rooms import from here, and a test of imports and signatures says when Dagster moves.
"""

from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset

__all__ = [
    "DEFER_ASSET_EVENTS_TAG",
    "AssetGraphSubset",
]

DEFER_ASSET_EVENTS_TAG = "dagster/defer_asset_events"
"""A run tag that stops Dagster's automatic materializations.

Set on the run in memory while a step of ours runs: a range with bad days must materialize the good ones only. Never
given at launch, or no planned events are written and failed partitions become invisible.
"""

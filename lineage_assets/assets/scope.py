"""What is to be made around one step: all that its run selects, or all that its backfill targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dagster import AssetExecutionContext

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.platform import Platform
from lineage_assets.backfill.submit import targeted
from lineage_assets.graph import AssetKey
from lineage_assets.partitions import PartitionSet


@dataclass(frozen=True, slots=True)
class Scope:
    """Partitions by asset."""

    partitions: Mapping[AssetKey, PartitionSet]
    is_daemons: bool
    """A backfill that Dagster's daemon drives: its other runs make what is not in this one."""


def scope_of(context: AssetExecutionContext, asked: Asked, platform: Platform) -> Scope:
    # The daemon and the pages launch through a code server; what runs in its launcher's own process is all there is.
    if asked.backfill is not None and not asked.is_planned and context.run.remote_job_origin is not None:
        graph = context.repository_def.asset_graph
        return Scope(targeted(context.instance, asked.backfill, graph, platform.graph.nodes), is_daemons=True)
    selection = context.run.asset_selection
    chosen = set(platform.graph.nodes)
    if selection is not None:
        chosen &= {tuple(key.path) for key in selection}
    return Scope(dict.fromkeys(chosen, asked.partitions), is_daemons=False)

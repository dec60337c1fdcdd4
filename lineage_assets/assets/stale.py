"""Before a run writes anything: what it will leave stale downstream, and the command that reaches that.

A run of a backfill or a plan is not warned: there somebody has looked.
"""

from __future__ import annotations

from dagster import AssetExecutionContext

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.complete import backfill_command
from lineage_assets.assets.platform import Platform
from lineage_assets.backfill.impact import affected
from lineage_assets.clock import utc_now
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.dagster_log import read_histories
from lineage_assets.ledger.fold import built
from lineage_assets.partitions import PartitionSet, keys_of, ranges_text


def warn_of_what_goes_stale(context: AssetExecutionContext, asked: Asked, platform: Platform) -> None:
    """Warn once a run, from the first of its steps: built partitions that read what the run makes and are not in it."""
    chosen = _chosen(context, platform)
    if asked.is_planned or any(read.asset in chosen for node in asked.nodes for read in node.inputs):
        return
    reached = affected(platform.graph, dict.fromkeys(chosen, asked.partitions), utc_now())
    beyond = {
        asset: impact.partitions - (asked.partitions if asset in chosen else PartitionSet())
        for asset, impact in reached.items()
    }
    histories = read_histories(context.instance, [asset for asset, partitions in beyond.items() if partitions])
    stale = {asset: beyond[asset] & built(history) for asset, history in histories.items()}
    named = [f"{name_of(asset)} {ranges_text(partitions)}" for asset, partitions in stale.items() if partitions]
    if named:
        days = keys_of(asked.partitions)
        command = backfill_command(asked.nodes[0].key, days[0], days[-1])
        context.log.warning(
            "This run leaves stale what it does not select: %s. To redo that: %s --without-root",
            "; ".join(named),
            command,
        )


def _chosen(context: AssetExecutionContext, platform: Platform) -> set[AssetKey]:
    selection = context.run.asset_selection
    if selection is None:
        return set(platform.graph.nodes)
    return {tuple(key.path) for key in selection} & set(platform.graph.nodes)

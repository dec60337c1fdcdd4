"""Before a run writes anything: what it will leave stale downstream, and the command that reaches that.

A run of one of our plans is not warned: the plan has all of it.
"""

from __future__ import annotations

from dagster import AssetExecutionContext

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.platform import Platform
from lineage_assets.assets.scope import Scope
from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.impact import affected
from lineage_assets.clock import utc_now
from lineage_assets.graph import name_of
from lineage_assets.ledger.fold import built
from lineage_assets.ledger.reader import LogReader
from lineage_assets.partitions import PartitionSet, keys_of, ranges_text


def warn_of_what_goes_stale(
    context: AssetExecutionContext, asked: Asked, scope: Scope, platform: Platform, log: LogReader
) -> None:
    """Warn from the first steps only: built partitions that read what is made and are not to be made themselves."""
    if asked.is_planned or any(read.asset in scope.partitions for node in asked.nodes for read in node.inputs):
        return
    made = {node.key: scope.partitions.get(node.key, PartitionSet()) for node in asked.nodes}
    reached = affected(platform.graph, made, utc_now())
    beyond = {
        asset: impact.partitions - scope.partitions.get(asset, PartitionSet()) for asset, impact in reached.items()
    }
    histories = log.histories([asset for asset, partitions in beyond.items() if partitions])
    stale = {asset: beyond[asset] & built(history) for asset, history in histories.items()}
    named = [f"{name_of(asset)} {ranges_text(partitions)}" for asset, partitions in stale.items() if partitions]
    if named:
        asks = (
            Ask(name_of(key), *_ends(partitions), include_root=False) for key, partitions in made.items() if partitions
        )
        context.log.warning(
            "This %s may leave stale what it does not select: %s. To redo that: %s",
            "backfill" if scope.is_daemons else "run",
            "; ".join(named),
            "; ".join(ask.command for ask in asks),
        )


def _ends(partitions: PartitionSet) -> tuple[str, str]:
    keys = keys_of(partitions)
    return keys[0], keys[-1]

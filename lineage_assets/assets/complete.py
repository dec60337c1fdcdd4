"""The check `complete`: whether every partition that a run asked of an asset is there now, by the ledger.

It fails the run for what is missing, after the asset's step has ended well: a step that failed would take the good
partitions of every identity downstream in the same run with it.
"""

from collections.abc import Sequence

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetChecksDefinition,
    DailyPartitionsDefinition,
    Failure,
    asset_check,
)
from dagster import AssetKey as DagsterAssetKey

from lineage_assets.assets.services import SERVICES_KEY, Services
from lineage_assets.backfill.ask import Ask
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRecord, PartitionRef, State

COMPLETE_CHECK = "complete"
_NAMED = 12
"""Partitions named in a message; the rest are counted."""


def complete_check(asset: AssetKey, partitions_def: DailyPartitionsDefinition) -> AssetChecksDefinition:
    @asset_check(
        asset=DagsterAssetKey(asset),
        name=COMPLETE_CHECK,
        description="Every partition of the run was produced.",
        partitions_def=partitions_def,
        required_resource_keys={SERVICES_KEY},
    )
    def complete(context: AssetCheckExecutionContext) -> AssetCheckResult:
        keys = context.op_execution_context.partition_keys
        services: Services = getattr(context.op_execution_context.resources, SERVICES_KEY)
        history = services.log.history(asset)
        verdicts = [history.verdicts.get(key) for key in keys]
        bad = [verdict for verdict in verdicts if verdict is not None and verdict.state.is_bad]
        unmade = [key for key, verdict in zip(keys, verdicts, strict=True) if verdict is None]
        if bad or unmade:
            raise Failure(missing_text(asset, len(keys), bad, unmade), allow_retries=False)
        return AssetCheckResult(passed=True)

    return complete


def missing_text(asset: AssetKey, asked: int, bad: Sequence[PartitionRecord], unmade: Sequence[str] = ()) -> str:
    """What is missing and why, and the command that mends it once the cause is gone."""
    said = [_said(record) for record in bad] + [f"{key} (no verdict)" for key in unmade]
    shown = "; ".join(said[:_NAMED]) + (f"; and {len(said) - _NAMED} more" if len(said) > _NAMED else "")
    return (
        f"{name_of(asset)}: {len(said)} of {asked} partitions were not produced: {shown}. "
        f"When the cause is gone: {_command(asset, bad, unmade)}"
    )


def _said(record: PartitionRecord) -> str:
    why = "" if record.cause is None else f": {record.cause.kind}, {record.cause.message}"
    return f"{record.partition} {record.state.value}{why}"


def _command(asset: AssetKey, bad: Sequence[PartitionRecord], unmade: Sequence[str]) -> str:
    """Repair where the badness began: that reaches everything downstream of it."""
    roots = {ref for record in bad if record.state is State.BLOCKED for ref in record.blocked_by}
    roots |= {PartitionRef(asset, record.partition) for record in bad if record.state is State.FAILED}
    roots |= {PartitionRef(asset, key) for key in unmade}
    commands = []
    for root in sorted({ref.asset for ref in roots}):
        days = sorted(ref.partition for ref in roots if ref.asset == root)
        commands.append(Ask(name_of(root), days[0], days[-1]).command)
    return "; ".join(commands)

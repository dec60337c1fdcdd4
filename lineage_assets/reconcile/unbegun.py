"""What a run was asked for and never began: it was cancelled in the queue, could not start, or died before.

Written into the log of the run as an attempt; like any other that its run does not end, it is closed then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone

from dagster import DagsterInstance, DagsterRun, RunRecord

from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.dagster_log import append_fact, planned_assets
from lineage_assets.ledger.record import Attempt, Fact
from lineage_assets.ledger.scene import Site
from lineage_assets.partitions import PartitionSet, parse_day
from lineage_assets.reconcile.unmade import unmade_attempt

_FIRST, _LAST, _ONLY = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end", "dagster/partition"


def never_begun(
    instance: DagsterInstance, graph: AssetGraph, record: RunRecord, facts: Sequence[Fact], site: Site
) -> tuple[Attempt, ...]:
    """An attempt at each asset of ours that a run which is over was to make and did not come to."""
    run = record.dagster_run
    begun = {fact.asset for fact in facts}
    planned = {} if run.is_success else planned_assets(instance, run.run_id)
    left = planned.keys() & graph.nodes.keys() - begun
    # Strangers' assets may have partitions that are no days.
    partitions = _partitions(run) if left else PartitionSet()
    if not partitions:
        return ()
    # Not the time at which the run was made: some databases keep that in a zone of their own.
    started = min(planned.values())
    if record.start_time is not None:
        started = datetime.fromtimestamp(record.start_time, timezone.utc)
    made = (
        unmade_attempt(asset, partitions, started, run_id=run.run_id, graph=graph, site=site)
        for asset in graph.order
        if asset in left
    )
    backfill, is_range = run.tags.get(BACKFILL_TAG), len(partitions) > 1
    attempts = tuple(replace(attempt, backfill=backfill, range_run=is_range) for attempt in made)
    for attempt in attempts:
        append_fact(instance, run, attempt)
    return attempts


def _partitions(run: DagsterRun) -> PartitionSet:
    """The partitions that a run is of, by its tags."""
    first, last = run.tags.get(_FIRST, run.tags.get(_ONLY)), run.tags.get(_LAST, run.tags.get(_ONLY))
    if first is None or last is None:
        return PartitionSet()
    return PartitionSet.between(parse_day(first).toordinal(), parse_day(last).toordinal())

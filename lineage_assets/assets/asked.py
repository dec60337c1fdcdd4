"""What a Dagster run asks of one job: which of its assets, which partitions, in whose name.

The one place that reads run tags.
"""

from __future__ import annotations

from dataclasses import dataclass

from dagster import AssetExecutionContext, AssetKey, DagsterRun

from lineage_assets.assets.declaration import JobDeclaration
from lineage_assets.backfill.account import job_in
from lineage_assets.backfill.lane import PLAN_TAG, REUSE_TAG
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.graph import AssetNode
from lineage_assets.partitions import PartitionSet, keys_of, set_of

FORCE_TAG = "lineage_assets/force"
"""`true`: run everything, unchanged or not."""
ADOPT_TAG = "lineage_assets/adopt"
"""`true`: take in what the tables hold; compute nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One run's request to one job."""

    run_id: str
    nodes: tuple[AssetNode, ...]
    """The assets selected, in the order in which they are declared."""
    partitions: PartitionSet
    backfill: str | None
    backfill_job: tuple[str, str] | None
    """The lineage job that the backfill is a run of; known of backfills of ours."""
    is_planned: bool
    """Part of one of our plans: what it reads is over, and what it touches is planned."""
    may_reuse: bool
    is_adoption: bool

    @property
    def targets(self) -> tuple[str, ...]:
        return keys_of(self.partitions)


def asked_of(context: AssetExecutionContext, declaration: JobDeclaration) -> Asked:
    selected = {tuple(key.path) for key in context.selected_asset_keys}
    tags = context.run.tags
    return Asked(
        run_id=context.run.run_id,
        nodes=tuple(node for node in declaration.nodes if node.key in selected),
        partitions=set_of(context.partition_keys),
        backfill=tags.get(BACKFILL_TAG),
        backfill_job=job_in(tags),
        is_planned=PLAN_TAG in tags,
        may_reuse=tags.get(REUSE_TAG) == "true" and tags.get(FORCE_TAG) != "true",
        is_adoption=tags.get(ADOPT_TAG) == "true",
    )


def runs_check(run: DagsterRun, asset: AssetKey, check: str) -> bool:
    """Whether the run also has the check step of the asset; a run without a selection of checks has all."""
    chosen = run.asset_check_selection
    if chosen is None:
        step = f"{asset.to_python_identifier()}_{check}"
        return run.step_keys_to_execute is None or step in run.step_keys_to_execute
    return any(key.asset_key == asset and key.name == check for key in chosen)

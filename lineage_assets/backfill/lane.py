"""A lane in this process: each unit is a run of Dagster's implicit asset job, by public API, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dagster import AssetKey as DagsterAssetKey
from dagster import DagsterInstance, DagsterRunStatus, Definitions, JobDefinition

from lineage_assets.backfill.account import JOB_TAG
from lineage_assets.backfill.driver import Ran
from lineage_assets.backfill.interrupts import Heard
from lineage_assets.backfill.plan import BackfillPlan, Unit
from lineage_assets.backfill.submit import is_cancelled
from lineage_assets.dagster_private import BACKFILL_TAG
from lineage_assets.ledger.dagster_log import records_of_run
from lineage_assets.ledger.owner import OWNER_TAG, owner
from lineage_assets.partitions import key_of

PLAN_TAG = "lineage_assets/plan"
ROLE_TAG = "lineage_assets/role"
UNIT_ROLE = "unit"
REUSE_TAG = "lineage_assets/reuse"
NO_RETRIES = {"dagster/max_retries": "0"}
"""A unit's retries are the step's and the driver's own: Dagster's would run beside the backfill."""

_CANCELLING = (DagsterRunStatus.CANCELING, DagsterRunStatus.CANCELED)


@dataclass(frozen=True, slots=True)
class InProcessLane:
    """Runs the units of one backfill, under the anchor run that holds it open."""

    instance: DagsterInstance
    definitions: Callable[[], Definitions]
    backfill_id: str
    plan: BackfillPlan
    job: str
    """The tag that names the lineage job of the backfill."""
    anchor: str
    heard: Heard

    def run(self, unit: Unit) -> Ran:
        job = self.definitions().resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            asset_selection=[DagsterAssetKey(asset) for asset in unit.assets],
            instance=self.instance,
            tags=self._tags(unit),
            run_config=quiet(job),
            raise_on_error=False,
        )
        records = records_of_run(self.instance, result.run_id)
        ran = Ran(unit, result.run_id, records, is_interrupted=self.heard.interrupted())
        if ran.is_interrupted and not result.success and any(map(ran.without_verdict, unit.assets)):
            # Dagster calls it failed; nothing failed.
            self.instance.report_run_canceled(result.dagster_run, "The backfill was interrupted.")
        return ran

    def is_stopped(self) -> bool:
        run = self.instance.get_run_by_id(self.anchor)
        return (
            self.heard.interrupted()
            or is_cancelled(self.instance, self.backfill_id)
            or run is None
            or run.status in _CANCELLING
        )

    def _tags(self, unit: Unit) -> dict[str, str]:
        first, last = unit.range
        tags = {
            "dagster/asset_partition_range_start": key_of(first),
            "dagster/asset_partition_range_end": key_of(last),
            BACKFILL_TAG: self.backfill_id,
            PLAN_TAG: self.plan.name,
            JOB_TAG: self.job,
            ROLE_TAG: UNIT_ROLE,
            OWNER_TAG: owner(),
            **NO_RETRIES,
        }
        named = self.plan.request.partitions
        if not any(asset in named for asset in unit.assets):
            tags[REUSE_TAG] = "true"
        return tags


def quiet(job: JobDefinition) -> Mapping[str, Any]:
    """Configuration that keeps a run's events in the log and off the terminal, where Dagster's own logger is used."""
    return {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}} if "console" in job.loggers else {}

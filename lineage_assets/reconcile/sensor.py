"""The sensor that reconciles: while a daemon runs, whatever lineage was not told of is told within half a minute."""

from __future__ import annotations

from datetime import datetime, timedelta

from dagster import DefaultSensorStatus, SensorDefinition, SensorEvaluationContext, SkipReason, sensor

from lineage_assets.clock import utc_now
from lineage_assets.graph import AssetGraph
from lineage_assets.lineage.configuration import ReceiverConfigurationError
from lineage_assets.reconcile.passes import Project, flush
from lineage_assets.settings import Settings

SENSOR_NAME = "lineage_assets_reconcile"
_EVERY_SECONDS = 30
_PASS_SECONDS = 20.0
"""Well below the minute after which Dagster gives up on a sensor; the next tick goes on."""
_LOOK_BACK = timedelta(days=7)
"""How far back the first tick looks for what ended without ever having begun; a flush has no such bound."""


def build_reconcile_sensor(graph: AssetGraph, settings: Settings) -> SensorDefinition:
    """The sensor of one code location; on from the start."""

    @sensor(
        name=SENSOR_NAME,
        minimum_interval_seconds=_EVERY_SECONDS,
        default_status=DefaultSensorStatus.RUNNING,
        description="Tells lineage what runs could not: killed, cancelled or never begun, or with no receiver there.",
    )
    def reconcile(context: SensorEvaluationContext) -> SkipReason:
        began = utc_now()
        since = began - _LOOK_BACK if context.cursor is None else datetime.fromisoformat(context.cursor)
        repository = context.repository_def
        if repository is None:
            return SkipReason("Dagster gave no code location to look at.")
        project = Project(context.instance, graph, repository.asset_graph, settings)
        try:
            flushed = flush(project, since=since, seconds=_PASS_SECONDS)
        except ReceiverConfigurationError as error:
            return SkipReason(error.told)
        if flushed.stopped is None:
            context.update_cursor(began.isoformat())
        return SkipReason(f"{flushed}.")

    return reconcile

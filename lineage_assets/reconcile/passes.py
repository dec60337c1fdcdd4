"""A flush of a project: its settings, its receiver and its clock put together, for a command or the sensor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dagster import DagsterInstance

from lineage_assets.clock import utc_now
from lineage_assets.dagster_private import BaseAssetGraph
from lineage_assets.graph import AssetGraph
from lineage_assets.lineage.extras import extras_of
from lineage_assets.lineage.outlet import open_outlet
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.receiver import Off
from lineage_assets.lineage.sender import NOBODY_THERE
from lineage_assets.reconcile.flush import Flush, Flushed
from lineage_assets.settings import Settings

LOOK_BACK = timedelta(days=7)
"""How far back a first pass looks for what ended without ever having begun."""


@dataclass(frozen=True, slots=True)
class Project:
    """What a pass reads and writes."""

    instance: DagsterInstance
    graph: AssetGraph
    assets: BaseAssetGraph[Any]
    """Dagster's own graph of the same code location."""
    settings: Settings


def flush(project: Project, *, since: datetime | None = None, seconds: float | None = None) -> Flushed:
    """One pass, or the reason why there is nobody to tell.

    :raises ReceiverConfigurationError: the configuration of the receiver cannot be meant
    """
    outlet = open_outlet(project.settings)
    if outlet is None or isinstance(outlet, Off):
        return Flushed(stopped=NOBODY_THERE if outlet is None else outlet.reason)
    now = utc_now()
    try:
        return Flush(
            instance=project.instance,
            graph=project.graph,
            assets=project.assets,
            transport=outlet,
            projection=Projection(extras_of(project.settings)),
            warehouse=project.settings.home / "warehouse",
            now=utc_now,
            until=None if seconds is None else now + timedelta(seconds=seconds),
        ).run(now - LOOK_BACK if since is None else since)
    finally:
        outlet.close()

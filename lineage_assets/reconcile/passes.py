"""A flush of a project: its settings, its receiver and its clock put together, for a command or the sensor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dagster import DagsterInstance
from filelock import FileLock, Timeout

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
_LOCK_SECONDS = 60.0
"""How long a pass without a limit waits for another one of this state folder."""


@dataclass(frozen=True, slots=True)
class Project:
    """What a pass reads and writes."""

    instance: DagsterInstance
    graph: AssetGraph
    assets: BaseAssetGraph[Any]
    """Dagster's own graph of the same code location."""
    settings: Settings


def flush(project: Project, *, since: datetime | None = None, seconds: float | None = None) -> Flushed:
    """One pass, or the reason why there is none.

    One at a time in a state folder. Two on different hosts tell the same events with the same ids.

    :raises ReceiverConfigurationError: the configuration of the receiver cannot be meant
    """
    outlet = open_outlet(project.settings)
    if outlet is None or isinstance(outlet, Off):
        return Flushed(stopped=NOBODY_THERE if outlet is None else outlet.reason)
    now = utc_now()
    one_pass = Flush(
        instance=project.instance,
        graph=project.graph,
        assets=project.assets,
        transport=outlet,
        projection=Projection(extras_of(project.settings)),
        warehouse=project.settings.home / "warehouse",
        now=utc_now,
        until=None if seconds is None else now + timedelta(seconds=seconds),
    )
    lock = project.settings.home / "lineage" / "flush.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=_LOCK_SECONDS if seconds is None else seconds):
            return one_pass.run(now - LOOK_BACK if since is None else since)
    except Timeout:
        return Flushed(stopped="another pass goes on")
    finally:
        outlet.close()

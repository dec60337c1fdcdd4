"""A flush of a project: its settings, its receiver and its clock put together, for a command or the sensor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from dagster import DagsterInstance
from filelock import FileLock, Timeout

from lineage_assets.clock import utc_now
from lineage_assets.dagster_private import BaseAssetGraph
from lineage_assets.graph import AssetGraph
from lineage_assets.lineage.extras import extras_of
from lineage_assets.lineage.outlet import open_audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.receiver import Off
from lineage_assets.lineage.sender import NOBODY_THERE
from lineage_assets.lineage.site import CATALOG, site_at
from lineage_assets.reconcile.flush import Flush, Flushed
from lineage_assets.settings import Settings

_OVERLAP = timedelta(minutes=10)
"""A run's end may be written a little later than its time says."""
_EVER = datetime(1971, 1, 1, tzinfo=timezone.utc)
"""Before all runs; an overlap later than the first moment that computers count from."""
_MARK = "whole_pass"
"""The file that says when the last pass that got to its end began."""
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

    One at a time in a state folder. Two on different hosts tell the same events with the same ids. What ended without
    ever having begun is looked for since the given time; else since the last pass that got to its end.

    :raises ReceiverConfigurationError: the configuration of the receiver cannot be meant
    """
    audience = open_audience(project.settings)
    if audience is None or isinstance(audience, Off):
        return Flushed(stopped=NOBODY_THERE if audience is None else audience.reason)
    now = utc_now()
    one_pass = Flush(
        instance=project.instance,
        graph=project.graph,
        assets=project.assets,
        audience=audience,
        projection=Projection(extras_of(project.settings)),
        site=site_at(project.settings.home / "warehouse", CATALOG),
        now=utc_now,
        until=None if seconds is None else now + timedelta(seconds=seconds),
    )
    folder = project.settings.home / "lineage"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "flush.lock", timeout=_LOCK_SECONDS if seconds is None else seconds):
            flushed = one_pass.run((_last_pass(folder) if since is None else since) - _OVERLAP)
            if since is None and flushed.stopped is None:
                (folder / _MARK).write_text(now.isoformat(), encoding="utf-8")
            return flushed
    except Timeout:
        return Flushed(stopped="another pass goes on")
    finally:
        audience.close()


def _last_pass(folder: Path) -> datetime:
    """When the last whole pass of this state folder began; ever, where there was none."""
    try:
        return datetime.fromisoformat((folder / _MARK).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return _EVER

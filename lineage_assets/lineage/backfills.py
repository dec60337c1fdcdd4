"""A backfill in the lineage record: a run of a job of its own, with who asked for what, and what came of it.

Pure; knows no plan, only what is to be told of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineage_assets.graph import LineageJob
from lineage_assets.lineage.events import Event, bare_event
from lineage_assets.lineage.facets.run import backfill_facet, error_facet
from lineage_assets.lineage.ids import backfill_lineage_run_id
from lineage_assets.lineage.turns import TurnType


@dataclass(frozen=True, slots=True)
class BackfillTold:
    """What is known of a backfill when it starts."""

    id: str
    """Dagster's."""
    job: LineageJob
    started: datetime
    requested_by: str
    reason: str
    plan: str | None
    """The fingerprint of its plan; None where Dagster expanded it by itself."""
    assets: int
    partitions: int
    estimate_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BackfillResult:
    """What came of it, in partitions."""

    ended: datetime
    repaired: int
    reused: int = 0
    failed: int = 0
    blocked: int = 0
    not_run: int = 0
    is_cancelled: bool = False
    """A person ended it; what was not run is then no failure."""


def backfill_started(backfill: BackfillTold) -> Event:
    return _event(TurnType.START, backfill.started, backfill)


def backfill_ended(backfill: BackfillTold, result: BackfillResult) -> Event:
    """COMPLETE, FAIL when a partition is bad or left over, ABORT when a person ended it."""
    if result.is_cancelled:
        return _event(TurnType.ABORT, result.ended, backfill, result)
    bad = result.failed + result.blocked + result.not_run
    return _event(TurnType.FAIL if bad else TurnType.COMPLETE, result.ended, backfill, result)


def _event(type_: TurnType, time: datetime, backfill: BackfillTold, result: BackfillResult | None = None) -> Event:
    lineage_run = backfill_lineage_run_id(backfill.id)
    plan: dict[str, Any] = {"assets": backfill.assets, "partitions": backfill.partitions}
    story: dict[str, Any] = {
        "requestedBy": backfill.requested_by,
        "reason": backfill.reason,
        "plan": plan if backfill.plan is None else {"fingerprint": backfill.plan, **plan},
        "estimateSeconds": backfill.estimate_seconds,
    }
    if result is not None:
        counted = ("repaired", "reused", "failed", "blocked")
        story["result"] = {**{name: getattr(result, name) for name in counted}, "notRun": result.not_run}
    facets = {"lineageAssets_backfill": backfill_facet(backfill.id, lineage_run, story)}
    if result is not None and type_ is TurnType.FAIL:
        message = f"{result.failed} failed, {result.blocked} blocked, {result.not_run} not run"
        return bare_event(type_, time, lineage_run, backfill.job, {**facets, "errorMessage": error_facet(message)})
    return bare_event(type_, time, lineage_run, backfill.job, {**facets})

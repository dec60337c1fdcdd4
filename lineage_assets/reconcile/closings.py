"""Attempts that nobody will end: their run was cancelled or failed, or the process that made them is gone.

Writes into the log of such a run what it could not write itself; the verdicts before it stand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timezone

from dagster import DagsterInstance, DagsterRunStatus, RunRecord

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import append_fact
from lineage_assets.ledger.owner import OWNER_TAG, is_dead
from lineage_assets.ledger.record import Attempt, Cause, Closing, Fact
from lineage_assets.lineage.retelling import unended

_CAUSES = {
    DagsterRunStatus.CANCELED: Cause("cancelled", "the run was cancelled"),
    DagsterRunStatus.FAILURE: Cause("interrupted", "the run failed before it came to a verdict"),
    DagsterRunStatus.SUCCESS: Cause("interrupted", "the run ended without a verdict"),
}
_KILLED = Cause("killed", "the process that made it is gone")


def is_live(record: RunRecord, facts: Sequence[Fact]) -> bool:
    """Whether more may come of a run: it has not ended, and the processes that would make it are not known to be gone.

    A run that names no process is Dagster's to end: one of its steps may die, and the others go on.
    """
    owner = record.dagster_run.tags.get(OWNER_TAG)
    if record.dagster_run.is_finished:
        return False
    if owner is None or not is_dead(owner):
        return True
    # A step may outlive the process that started it.
    return any(not is_dead(attempt.owner) for attempt in _open(facts))


def bury(instance: DagsterInstance, record: RunRecord) -> None:
    """End a run in Dagster whose process is gone: without run monitoring it would be going on for ever."""
    run = record.dagster_run
    if not run.is_finished and OWNER_TAG in run.tags:
        instance.report_run_failed(run, f"{_KILLED.message}: {run.tags[OWNER_TAG]}.")


def close(
    instance: DagsterInstance, record: RunRecord, facts: Sequence[Fact], unbegun: Collection[AssetKey], now: datetime
) -> tuple[Closing, ...]:
    """Close every attempt of a run that is not live which came to no end.

    `unbegun` are the assets that the run was asked for and never came to.
    """
    run = record.dagster_run
    cause = _CAUSES.get(run.status, _KILLED)
    ended = now if record.end_time is None else datetime.fromtimestamp(record.end_time, timezone.utc)
    not_started = Cause("not started", f"{cause.message}, before this was begun")
    closings = tuple(
        Closing(asset, run.run_id, number, partitions, ended, not_started if asset in unbegun else cause)
        for (asset, number), partitions in unended(facts).items()
    )
    for closing in closings:
        append_fact(instance, run, closing)
    return closings


def _open(facts: Sequence[Fact]) -> list[Attempt]:
    left = unended(facts)
    return [fact for fact in facts if isinstance(fact, Attempt) and (fact.asset, fact.number) in left]

"""Attempts that nobody will end: their run was cancelled or failed, or the process that made them is gone.

Writes into the log of such a run what it could not write itself; the verdicts before it stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from dagster import DagsterInstance, DagsterRunStatus, RunRecord

from lineage_assets.ledger.dagster_log import append_closing
from lineage_assets.ledger.owner import is_dead
from lineage_assets.ledger.record import Attempt, Cause, Closing, Fact
from lineage_assets.lineage.retelling import unended

_CAUSES = {
    DagsterRunStatus.CANCELED: Cause("cancelled", "the run was cancelled"),
    DagsterRunStatus.FAILURE: Cause("interrupted", "the run failed before it came to a verdict"),
    DagsterRunStatus.SUCCESS: Cause("interrupted", "the run ended without a verdict"),
}
_KILLED = Cause("killed", "the process that made it is gone")


def is_live(record: RunRecord, facts: Sequence[Fact]) -> bool:
    """Whether more may come of a run: it has not ended, and no process of an open attempt is known to be gone."""
    if record.dagster_run.is_finished:
        return False
    return not any(is_dead(attempt.owner) for attempt in _open(facts))


def close(instance: DagsterInstance, record: RunRecord, facts: Sequence[Fact], now: datetime) -> tuple[Fact, ...]:
    """The facts of a run that is not live, with a closing for every attempt that came to no end."""
    run = record.dagster_run
    cause = _CAUSES.get(run.status, _KILLED)
    ended = now if record.end_time is None else datetime.fromtimestamp(record.end_time, timezone.utc)
    closings = [
        Closing(asset, run.run_id, number, partitions, ended, cause)
        for (asset, number), partitions in unended(facts).items()
    ]
    for closing in closings:
        append_closing(instance, run, closing)
    return (*facts, *closings)


def _open(facts: Sequence[Fact]) -> list[Attempt]:
    left = unended(facts)
    return [fact for fact in facts if isinstance(fact, Attempt) and (fact.asset, fact.number) in left]

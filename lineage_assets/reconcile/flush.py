"""The flush: one pass over what lineage has not been told yet, run by run and backfill by backfill, oldest first.

What a command and the sensor share. A run that goes on is its own process's; what is stopped by a receiver that does
not answer, or by the clock, is left for the next pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import Any

from dagster import DagsterInstance, RunRecord

from lineage_assets.backfill.submit import targeted
from lineage_assets.dagster_private import BaseAssetGraph, BulkActionStatus, PartitionBackfill
from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.dagster_log import facts_of_run, newest_attempt
from lineage_assets.ledger.receipts import Receipt, backfills_without, note, note_backfill, runs_with, runs_without
from lineage_assets.ledger.record import Attempt, Closing, Fact, PartitionRecord
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.foreground import send_now
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import retell
from lineage_assets.lineage.transport import Transport, UndeliveredError
from lineage_assets.reconcile.backfills import events_of_backfill
from lineage_assets.reconcile.closings import bury, close, is_live
from lineage_assets.reconcile.unbegun import never_begun
from lineage_assets.reconcile.untouched import Backfill, blocked_by_nobody

_BLOCKING = (BulkActionStatus.COMPLETED_FAILED, BulkActionStatus.FAILED)
"""A backfill that a person cancelled blocked nothing."""


@dataclass(frozen=True, slots=True)
class Flushed:
    """What one pass did."""

    runs: int = 0
    backfills: int = 0
    events: int = 0
    rejected: int = 0
    closed: int = 0
    """Attempts that died without a verdict."""
    blocked: int = 0
    """Partitions that no run came to, blocked by what is above them."""
    live: int = 0
    """Runs that go on, left to their own processes."""
    stopped: str | None = None
    """Why the pass did not get to its end."""

    def __str__(self) -> str:
        counted = (
            (self.events, "events sent"),
            (self.rejected, "rejected"),
            (self.closed, "attempts closed"),
            (self.blocked, "partitions found blocked"),
            (self.live, "runs going on"),
        )
        said = [f"{self.runs} runs and {self.backfills} backfills told", *(f"{n} {word}" for n, word in counted if n)]
        return ", ".join(said) + ("" if self.stopped is None else f"; stopped: {self.stopped}")


@dataclass
class Flush:
    """One pass."""

    instance: DagsterInstance
    graph: AssetGraph
    assets: BaseAssetGraph[Any]
    """Dagster's own graph of the same code location, by which the targets of backfills are read."""
    transport: Transport
    projection: Projection
    warehouse: Path
    now: Callable[[], datetime]
    until: datetime | None = None
    done: Flushed = field(default_factory=Flushed)
    _touched: dict[AssetKey, str] = field(default_factory=dict)
    """Asset to the last run of it that was told here."""

    def run(self, since: datetime) -> Flushed:
        """Tell what is owed; of runs that never began, and of backfills, those that ended since the given time."""
        try:
            for record in chain(runs_with(self.instance, Receipt.PENDING), runs_without(self.instance, since)):
                self._look_at_the_clock()
                self._run(record)
            for backfill in sorted(backfills_without(self.instance, since), key=lambda one: one.backfill_timestamp):
                self._look_at_the_clock()
                self._backfill(backfill)
            self._newest_again()
        except UndeliveredError as error:
            self.done = replace(self.done, stopped=f"{error.url} does not take events: {error.reason}")
        except _OutOfTimeError:
            self.done = replace(self.done, stopped="its time is over; the next pass goes on")
        return self.done

    def _run(self, record: RunRecord) -> None:
        facts: Sequence[Fact] = facts_of_run(self.instance, record.dagster_run.run_id)
        if is_live(record, facts):
            self.done = replace(self.done, live=self.done.live + 1)
            return
        unbegun = never_begun(self.instance, self.graph, record, facts, self.warehouse)
        whole = close(self.instance, record, facts, unbegun, self.now())
        bury(self.instance, record)
        rejected = self._tell(whole)
        note(self.instance, record.dagster_run, Receipt.REJECTED if rejected else Receipt.SENT)
        new = sum(isinstance(fact, Closing) for fact in whole[len(facts) :])
        self.done = replace(self.done, runs=self.done.runs + 1, closed=self.done.closed + new)

    def _backfill(self, record: PartitionBackfill) -> None:
        self._blocks_of(record)
        rejected = self._send(events_of_backfill(record, self.assets, self.graph))
        note_backfill(self.instance, record, Receipt.REJECTED if rejected else Receipt.SENT)
        self.done = replace(self.done, backfills=self.done.backfills + 1)

    def _blocks_of(self, record: PartitionBackfill) -> None:
        if record.status not in _BLOCKING or record.backfill_end_timestamp is None:
            return
        targets = targeted(self.instance, record.backfill_id, self.assets)
        ended = datetime.fromtimestamp(record.backfill_end_timestamp, timezone.utc)
        backfill = Backfill(record.backfill_id, ended, targets)
        for facts in blocked_by_nobody(self.instance, self.graph, backfill, self.warehouse):
            self._tell(facts)
            blocked = sum(isinstance(fact, PartitionRecord) for fact in facts)
            self.done = replace(self.done, blocked=self.done.blocked + blocked)

    def _newest_again(self) -> None:
        """In Marquez the last run to arrive owns the graph: after a gap is filled, that must be the newest again."""
        again: dict[str, set[AssetKey]] = {}
        for asset, told in self._touched.items():
            newest = newest_attempt(self.instance, asset)
            if newest is not None and newest.run_id != told:
                again.setdefault(newest.run_id, set()).add(asset)
        for run_id, assets in again.items():
            facts = facts_of_run(self.instance, run_id)
            for events in retell((fact for fact in facts if fact.asset in assets), self.projection):
                self._send(events)

    def _tell(self, facts: Sequence[Fact]) -> int:
        """Send all that the facts of one run come to; how many events were rejected."""
        rejected = sum(self._send(events) for events in retell(facts, self.projection))
        if self.projection.extras.parents:
            rejected += self._send(pipelines_told(facts))
        self._touched.update({fact.asset: fact.run_id for fact in facts if isinstance(fact, Attempt)})
        return rejected

    def _send(self, events: Iterable[Event]) -> int:
        delivery = send_now(events, self.transport)
        self.done = replace(
            self.done, events=self.done.events + delivery.sent, rejected=self.done.rejected + delivery.rejected
        )
        return delivery.rejected

    def _look_at_the_clock(self) -> None:
        if self.until is not None and self.now() >= self.until:
            raise _OutOfTimeError


class _OutOfTimeError(Exception):
    """The pass has had its time."""

"""The flush: one pass over what lineage has not been told yet, run by run and backfill by backfill, oldest first.

What a command and the sensor share. A run that goes on is its own process's; what is stopped by a receiver that does
not answer, or by the clock, is left for the next pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from dagster import DagsterInstance, RunRecord, RunsFilter

from lineage_assets.backfill.submit import targeted
from lineage_assets.dagster_private import BaseAssetGraph, BulkActionStatus, PartitionBackfill
from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.dagster_log import facts_of_run
from lineage_assets.ledger.receipts import (
    Receipt,
    note,
    note_backfill,
    owed,
    receipt_of,
)
from lineage_assets.ledger.record import Fact, PartitionRecord
from lineage_assets.ledger.scene import Site
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import retell
from lineage_assets.lineage.transport import UndeliveredError
from lineage_assets.reconcile.backfills import events_of_backfill, newest_told
from lineage_assets.reconcile.closings import bury, close, is_live
from lineage_assets.reconcile.overtaken import Overtaken
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
            (self.events, "event sent", "events sent"),
            (self.rejected, "rejected", "rejected"),
            (self.closed, "attempt closed", "attempts closed"),
            (self.blocked, "partition found blocked", "partitions found blocked"),
            (self.live, "run going on", "runs going on"),
        )
        runs, backfills = _count(self.runs, "run", "runs"), _count(self.backfills, "backfill", "backfills")
        said = [f"{runs} and {backfills} told", *(_count(*one) for one in counted if one[0])]
        return ", ".join(said) + ("" if self.stopped is None else f"; stopped: {self.stopped}")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


@dataclass
class Flush:
    """One pass."""

    instance: DagsterInstance
    graph: AssetGraph
    assets: BaseAssetGraph[Any]
    """Dagster's own graph of the same code location, by which the targets of backfills are read."""
    audience: Audience
    projection: Projection
    site: Site
    now: Callable[[], datetime]
    until: datetime | None = None
    done: Flushed = field(default_factory=Flushed)

    def __post_init__(self) -> None:
        self._overtaken = Overtaken(self.instance)

    def run(self, since: datetime) -> Flushed:
        """Tell what is owed; of runs that never began, and of backfills, those that ended since the given time."""
        try:
            self._all(since)
            self.audience.next_story()
            self._newest_again()
            if self.audience.missed is not None and self.done.stopped is None:
                raise self.audience.missed
        except UndeliveredError as error:
            self.done = replace(self.done, stopped=f"{error.url} does not take events: {error.reason}")
        return self.done

    def _all(self, since: datetime) -> None:
        """One that cannot be told keeps no other from being told; it is owed still."""
        left: list[LineageAssetsError] = []
        try:
            for one in owed(self.instance, since):
                self._look_at_the_clock()
                self.audience.next_story()
                try:
                    self._run(one) if isinstance(one, RunRecord) else self._backfill(one)
                except LineageAssetsError as error:
                    if self.audience.is_down:
                        raise
                    left.append(error)
                else:
                    left += [] if self.audience.missed is None else [self.audience.missed]
        except _OutOfTimeError:
            self.done = replace(self.done, stopped="its time is over; the next pass goes on")
            return
        if left:
            self.done = replace(self.done, stopped=f"{len(left)} left for the next pass; the first: {left[0]}")

    def _run(self, found: RunRecord) -> None:
        run_id = found.dagster_run.run_id
        if is_live(found, facts_of_run(self.instance, run_id)):
            self.done = replace(self.done, live=self.done.live + 1)
            return
        # Only what is read after a process is known to be gone is all that it wrote; it may have told it all.
        for record in self.instance.get_run_records(RunsFilter(run_ids=[run_id])):
            if receipt_of(record.dagster_run) is receipt_of(found.dagster_run):
                self._run_that_is_over(record)

    def _run_that_is_over(self, record: RunRecord) -> None:
        run, facts = record.dagster_run, facts_of_run(self.instance, record.dagster_run.run_id)
        unbegun = never_begun(self.instance, self.graph, record, facts, self.site)
        new = close(self.instance, record, [*facts, *unbegun], {one.asset for one in unbegun}, self.now())
        bury(self.instance, record)
        if not facts and not unbegun and receipt_of(run) is None:
            return  # of strangers, or of a code location that has a sensor of its own
        # What is told is what the log says, whoever else may have closed the run just now.
        whole = facts_of_run(self.instance, run.run_id) if new else facts
        rejected = self._tell(whole)
        receipt = Receipt.REJECTED if rejected else Receipt.SENT
        self._leave(whole, lambda: note(self.instance, run, receipt))
        self.done = replace(self.done, runs=self.done.runs + self._is_told, closed=self.done.closed + len(new))

    def _backfill(self, record: PartitionBackfill) -> None:
        events = events_of_backfill(record, self.assets, self.graph)
        if not events:
            return  # of strangers, or of a code location that has a sensor of its own
        blocks = self._blocks_of(record)
        rejected = self._send(events)
        self._send(newest_told(self.instance, record, self.assets, self.graph))
        receipt = Receipt.REJECTED if rejected else Receipt.SENT
        self._leave(blocks, lambda: note_backfill(self.instance, record, receipt))
        self.done = replace(self.done, backfills=self.done.backfills + self._is_told)

    def _blocks_of(self, record: PartitionBackfill) -> list[Fact]:
        """Tell what no run of a backfill came to; the facts of it."""
        if record.status not in _BLOCKING or record.backfill_end_timestamp is None:
            return []
        told: list[Fact] = []
        targets = targeted(self.instance, record.backfill_id, self.assets, self.graph.nodes)
        ended = datetime.fromtimestamp(record.backfill_end_timestamp, timezone.utc)
        backfill = Backfill(record.backfill_id, ended, targets)
        for facts in blocked_by_nobody(self.instance, self.graph, backfill, self.site):
            self._look_at_the_clock()
            self._tell(facts)
            told += facts
            blocked = sum(isinstance(fact, PartitionRecord) for fact in facts)
            self.done = replace(self.done, blocked=self.done.blocked + blocked)
        return told

    def _leave(self, told: Iterable[Fact], receipt: Callable[[], None]) -> None:
        """Leave a receipt, at once where no run that had been told before is newer; none where a receiver missed it."""
        if not self._is_told:
            receipt = _nothing
        if not self._overtaken.keeps(told, receipt):
            receipt()
        if self._overtaken.is_full:
            self._newest_again()

    def _newest_again(self) -> None:
        for facts in self._overtaken.newest():
            for events in retell(facts, self.projection):
                self._send(events)
        self._overtaken.end(is_told=self._is_told)

    def _tell(self, facts: Sequence[Fact]) -> int:
        """Send all that the facts of one run come to; how many events were rejected."""
        rejected = sum(self._send(events) for events in retell(facts, self.projection))
        if self.projection.extras.parents:
            rejected += self._send(pipelines_told(facts))
        return rejected

    @property
    def _is_told(self) -> bool:
        """Whether each receiver has, or has refused, what is being told."""
        return self.audience.missed is None

    def _send(self, events: Iterable[Event]) -> int:
        delivery = self.audience.send(events)
        self.done = replace(
            self.done, events=self.done.events + delivery.sent, rejected=self.done.rejected + delivery.rejected
        )
        return delivery.rejected

    def _look_at_the_clock(self) -> None:
        if self.until is not None and self.now() >= self.until:
            raise _OutOfTimeError


def _nothing() -> None:
    """No receipt: it is owed still."""


class _OutOfTimeError(Exception):
    """The pass has had its time."""

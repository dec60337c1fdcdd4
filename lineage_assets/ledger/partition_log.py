"""Sparse reads of the event log: of few partitions, and of the attempts behind single verdicts.

For questions about one partition among very many, where reading the history of a whole asset costs too much. Every
read is by an index of the log, and what has to be looked for among other events is looked for within bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from dagster import AssetKey as DagsterAssetKey
from dagster import (
    AssetRecordsFilter,
    DagsterEventType,
    DagsterInstance,
    DagsterRunStatus,
    EventLogRecord,
    EventRecordsFilter,
    EventRecordsResult,
    RunsFilter,
)

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import logged_of
from lineage_assets.ledger.owner import is_dead
from lineage_assets.ledger.record import Attempt, Closing, Fact, PartitionRecord, State
from lineage_assets.ledger.seen import Seen, Tried, Unanswered
from lineage_assets.partitions import parse_day, set_of

_Fetch = Callable[..., EventRecordsResult]
_PAGE = 1000
_AT_ONCE = 400
"""Partitions named in one query."""
_FIRST_LOOK = 8
_MOST_FOR_AN_ATTEMPT = 5000
"""Events of an asset that are passed over on the way back to an attempt: the bad days of a long range."""
_MOST_FOR_SILENCE = 500
"""Events of an asset that are looked at for why a run gave no verdict; a word that came later is not found."""
_ENDED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)


@dataclass(frozen=True, slots=True)
class PartitionLogs:
    """The log of an instance as it was at a time, or as it is."""

    instance: DagsterInstance
    until: datetime | None = None

    def of(self, asset: AssetKey, partitions: Sequence[str]) -> dict[str, tuple[Seen, ...]]:
        """All that is logged of each of these partitions, in the order of the log."""
        found: dict[str, list[Seen]] = {partition: [] for partition in partitions}
        for start in range(0, len(partitions), _AT_ONCE):
            wanted = self._filter(asset, asset_partitions=list(partitions[start : start + _AT_ONCE]))
            for fetch in (self.instance.fetch_materializations, self.instance.fetch_observations):
                for record in _pages(fetch, wanted, ascending=True):
                    logged = logged_of(asset, record)
                    if logged is None:
                        continue
                    named = logged.fact.partition if isinstance(logged.fact, PartitionRecord) else logged.partition
                    if named is not None:
                        found[named].append(_seen(record, logged.fact))
        return {partition: tuple(sorted(log, key=lambda one: one.storage_id)) for partition, log in found.items()}

    def attempt_at(self, asset: AssetKey, verdict: Seen) -> Tried | None:
        """The attempt that a verdict ended: the nearest before it in the log; None where it is not found."""
        record = verdict.fact
        if not isinstance(record, PartitionRecord):
            return None
        blocked: list[str] = [record.partition] if record.state is State.BLOCKED else []
        before = self._filter(asset, before_storage_id=verdict.storage_id)
        for event in _pages(self.instance.fetch_observations, before, ascending=False, most=_MOST_FOR_AN_ATTEMPT):
            logged = logged_of(asset, event)
            fact = None if logged is None else logged.fact
            if fact is None or (fact.run_id, fact.number) != (record.run_id, record.number):
                continue
            if isinstance(fact, Attempt):
                return Tried(fact, set_of(blocked))
            if isinstance(fact, PartitionRecord) and fact.state is State.BLOCKED:
                blocked.append(fact.partition)
        return None

    def unanswered(self, asset: AssetKey, partition: str, log: Sequence[Seen]) -> tuple[Unanswered, ...]:
        """The runs that were to make the partition, by Dagster's account, and have given no verdict on it."""
        answered = {one.run_id for one in log}
        planned = EventRecordsFilter(
            DagsterEventType.ASSET_MATERIALIZATION_PLANNED, DagsterAssetKey(asset), asset_partitions=[partition]
        )
        # The storage's own method: the instance's warns of events without partitions, which are nothing to us.
        events = self.instance.event_log_storage.get_event_records(planned, limit=_PAGE, ascending=True)
        asked = {one.run_id: one for one in (_seen(event, None) for event in events) if self._is_known(one)}
        silent = {run_id: one for run_id, one in asked.items() if run_id not in answered}
        facts = self._facts_of(asset, parse_day(partition).toordinal(), silent)
        return tuple(self._unanswered(one, facts[run_id]) for run_id, one in silent.items())

    def reason_of(self, backfill: str) -> str | None:
        """Why a backfill was asked for; None where nobody said, or Dagster no longer knows it."""
        record = self.instance.get_backfill(backfill)
        return None if record is None else record.description

    def _facts_of(self, asset: AssetKey, day: int, runs: Mapping[str, Seen]) -> dict[str, list[Attempt | Closing]]:
        """What these runs said of the day without a verdict on it, looked for from the first of them on."""
        found: dict[str, list[Attempt | Closing]] = {run_id: [] for run_id in runs}
        if not runs:
            return found
        after = self._filter(asset, after_storage_id=min(one.storage_id for one in runs.values()))
        for event in _pages(self.instance.fetch_observations, after, ascending=True, most=_MOST_FOR_SILENCE):
            logged = logged_of(asset, event)
            fact = None if logged is None else logged.fact
            if isinstance(fact, (Attempt, Closing)) and fact.run_id in found and day in fact.partitions:
                found[fact.run_id].append(fact)
        return found

    def _unanswered(self, asked: Seen, facts: Sequence[Attempt | Closing]) -> Unanswered:
        attempt = next((one for one in reversed(facts) if isinstance(one, Attempt)), None)
        closing = next((one for one in reversed(facts) if isinstance(one, Closing)), None)
        status, has_ended = self._status(asked.run_id)
        is_live = not has_ended and closing is None and not (attempt is not None and is_dead(attempt.owner))
        return Unanswered(asked.run_id, asked.at, is_live, status, attempt, closing)

    def _status(self, run_id: str) -> tuple[str, bool]:
        """How a run stood, and whether it had ended."""
        found = self.instance.get_run_records(RunsFilter(run_ids=[run_id]))
        if not found:
            return "unknown", True
        status, ended = found[0].dagster_run.status, found[0].end_time
        if self.until is not None and ended is not None and ended > self.until.timestamp():
            return DagsterRunStatus.STARTED.value.lower(), False
        return status.value.lower(), status in _ENDED

    def _filter(
        self,
        asset: AssetKey,
        *,
        asset_partitions: Sequence[str] | None = None,
        before_storage_id: int | None = None,
        after_storage_id: int | None = None,
    ) -> AssetRecordsFilter:
        return AssetRecordsFilter(
            DagsterAssetKey(asset),
            asset_partitions=asset_partitions,
            before_storage_id=before_storage_id,
            after_storage_id=after_storage_id,
            # The storage leaves out the time itself; a time of record has microseconds.
            before_timestamp=None if self.until is None else self.until.timestamp() + 1e-6,
        )

    def _is_known(self, seen: Seen) -> bool:
        return self.until is None or seen.at <= self.until


def _seen(record: EventLogRecord, fact: Fact | None) -> Seen:
    entry = record.event_log_entry
    return Seen(record.storage_id, datetime.fromtimestamp(entry.timestamp, timezone.utc), entry.run_id, fact)


def _pages(
    fetch: _Fetch, wanted: AssetRecordsFilter, *, ascending: bool, most: int | None = None
) -> Iterator[EventLogRecord]:
    """The events, page by page; where only so many may be looked at, in pages that begin small and grow."""
    cursor, taken = None, 0
    size = _PAGE if most is None else _FIRST_LOOK
    while most is None or taken < most:
        page = fetch(wanted, limit=size, cursor=cursor, ascending=ascending)
        yield from page.records
        if not page.has_more:
            return
        cursor, taken, size = page.cursor, taken + size, min(size * 4, _PAGE)

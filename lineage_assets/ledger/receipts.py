"""Receipts: a tag on each run, and on each backfill that ended, that says whether lineage has been told all of it.

A run's is set before anything is recorded, so one whose process dies is found by it. Knows no event.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from enum import Enum
from heapq import merge
from math import inf

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord, RunsFilter

from lineage_assets.dagster_private import BulkActionsFilter, BulkActionStatus, PartitionBackfill
from lineage_assets.ledger.owner import OWNER_TAG

RECEIPT_TAG = "lineage_assets/lineage"
_PAGE = 100
_LONGEST_BACKFILL = timedelta(days=7)
"""Dagster finds backfills by their beginning only; one that lasts longer than this is found by a replay."""
_FARTHEST_ZONE = timedelta(hours=14)
"""Dagster's PostgreSQL storage keeps the times of runs in the zone of the server, and asks by UTC."""
ENDED = (
    BulkActionStatus.COMPLETED,
    BulkActionStatus.COMPLETED_SUCCESS,
    BulkActionStatus.COMPLETED_FAILED,
    BulkActionStatus.FAILED,
    BulkActionStatus.CANCELED,
)


class Receipt(Enum):
    """What has become of a run's events."""

    PENDING = "pending"
    """Not all sent, as far as anybody knows."""
    SENT = "sent"
    REJECTED = "rejected"
    """All were sent, and the receiver refuses some for good."""


def owe(instance: DagsterInstance, run: DagsterRun, owner: str | None) -> None:
    """Note, before a run records anything, that it is to be told; and the process without which it cannot go on."""
    owned = {} if owner is None else {OWNER_TAG: owner}
    instance.add_run_tags(run.run_id, {RECEIPT_TAG: Receipt.PENDING.value, **owned})


def receipt_of(run: DagsterRun) -> Receipt | None:
    found = run.tags.get(RECEIPT_TAG)
    return None if found is None else Receipt(found)


def note(instance: DagsterInstance, run: DagsterRun, receipt: Receipt) -> None:
    instance.add_run_tags(run.run_id, {RECEIPT_TAG: receipt.value})


def note_backfill(instance: DagsterInstance, record: PartitionBackfill, receipt: Receipt) -> None:
    """Note it on a backfill that has ended, which nobody writes any more."""
    instance.update_backfill(record._replace(tags={**record.tags, RECEIPT_TAG: receipt.value}))


def backfills_without(instance: DagsterInstance, since: datetime | None = None) -> Iterator[PartitionBackfill]:
    """The backfills that ended and have no receipt, newest first; those that ended before `since` may be left out."""
    cursor = None
    created = None if since is None else _stored(since) - _LONGEST_BACKFILL
    while True:
        wanted = BulkActionsFilter(statuses=list(ENDED), created_after=created)
        page = instance.get_backfills(filters=wanted, cursor=cursor, limit=_PAGE)
        yield from (record for record in page if RECEIPT_TAG not in record.tags)
        if len(page) < _PAGE:
            return
        cursor = page[-1].backfill_id


def runs_without(instance: DagsterInstance, since: datetime) -> Iterator[RunRecord]:
    """The runs that ended badly since then and never came to having a receipt."""
    bad = [DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]
    wanted = RunsFilter(statuses=bad, updated_after=_stored(since) - _FARTHEST_ZONE)
    for record in _paged(instance, wanted):
        ended = record.end_time if record.end_time is not None else inf
        if RECEIPT_TAG not in record.dagster_run.tags and ended >= since.timestamp():
            yield record


def runs_with(instance: DagsterInstance, receipt: Receipt) -> Iterator[RunRecord]:
    """The runs that carry a receipt, oldest first; a caller may change their receipts meanwhile."""
    return _paged(instance, RunsFilter(tags={RECEIPT_TAG: receipt.value}))


def owed(instance: DagsterInstance, since: datetime) -> Iterator[RunRecord | PartitionBackfill]:
    """All that has no receipt yet, by when it began; a backfill, by when it ended. A caller may leave receipts.

    In this order Marquez gives each run the versions of its inputs that it would have given it then.
    """
    backfills = sorted(backfills_without(instance, since), key=_ended)
    left = iter(backfills)
    backfill = next(left, None)
    runs = (runs_with(instance, Receipt.PENDING), runs_without(instance, since))
    for record in merge(*runs, key=lambda one: one.storage_id):
        began = record.start_time if record.start_time is not None else record.end_time
        while backfill is not None and began is not None and _ended(backfill) <= began:
            yield backfill
            backfill = next(left, None)
        yield record
    if backfill is not None:
        yield from (backfill, *left)


def _ended(record: PartitionBackfill) -> float:
    return record.backfill_timestamp if record.backfill_end_timestamp is None else record.backfill_end_timestamp


def _paged(instance: DagsterInstance, wanted: RunsFilter) -> Iterator[RunRecord]:
    cursor = None
    while True:
        page = instance.get_run_records(wanted, limit=_PAGE, cursor=cursor, ascending=True)
        yield from page
        if len(page) < _PAGE:
            return
        cursor = page[-1].dagster_run.run_id


def _stored(time: datetime) -> datetime:
    """A time as Dagster's storages keep and compare it: UTC, without saying so."""
    return time.astimezone(timezone.utc).replace(tzinfo=None)

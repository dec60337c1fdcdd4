"""Receipts: a tag on each run that says whether the receiver of lineage has been told all of it.

The tag is set before anything is recorded, so a run whose process dies is found by it. Knows no event.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from dagster import DagsterInstance, DagsterRun, RunRecord, RunsFilter

RECEIPT_TAG = "lineage_assets/lineage"
_PAGE = 100


class Receipt(Enum):
    """What has become of a run's events."""

    PENDING = "pending"
    """Not all sent, as far as anybody knows."""
    SENT = "sent"
    REJECTED = "rejected"
    """All were sent, and the receiver refuses some for good."""


def note(instance: DagsterInstance, run: DagsterRun, receipt: Receipt) -> None:
    instance.add_run_tags(run.run_id, {RECEIPT_TAG: receipt.value})


def runs_with(instance: DagsterInstance, receipt: Receipt) -> Iterator[RunRecord]:
    """The runs that carry a receipt, oldest first, a page at a time; a caller may change their receipts meanwhile."""
    cursor = None
    while True:
        wanted = RunsFilter(tags={RECEIPT_TAG: receipt.value})
        page = instance.get_run_records(wanted, limit=_PAGE, cursor=cursor, ascending=True)
        yield from page
        if len(page) < _PAGE:
            return
        cursor = page[-1].dagster_run.run_id

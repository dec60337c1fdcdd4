"""What a look into the log for single partitions finds: events with their time of record, and attempts. Values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from lineage_assets.ledger.record import Attempt, Closing, Fact
from lineage_assets.partitions import PartitionSet


@dataclass(frozen=True, slots=True)
class Seen:
    """One event of the log: its place, its time of record, and what it says of us."""

    storage_id: int
    at: datetime
    run_id: str
    """Dagster's; empty for what was reported by hand."""
    fact: Fact | None
    """None: somebody else's materialization."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt, and what of it the gate blocked before anything was launched."""

    attempt: Attempt
    blocked: PartitionSet = field(default_factory=PartitionSet)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A run that was to make a partition and gave no verdict on it."""

    run_id: str
    asked: datetime
    is_live: bool
    """It goes on: neither ended nor, as far as can be told, dead."""
    status: str
    """Dagster's word for how the run stands; `unknown` where it is gone."""
    attempt: Attempt | None = None
    """None: the run did not come to it."""
    closing: Closing | None = None

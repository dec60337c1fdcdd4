"""What the record says of a lineage run at one moment, in our words: what is at work, on what, and what came of it.

Values only; the OpenLineage client's classes are made from them in `facets.py` and `events.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from uuid import UUID

from lineage_assets.datasets import Dataset
from lineage_assets.graph import AssetGraph, AssetKey, LineageJob
from lineage_assets.ledger.record import Assertion, Cause, PartitionRecord, PartitionRef, Transformation
from lineage_assets.ledger.scene import Site, SourceCode
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.partitions import PartitionSet


class TurnType(Enum):
    """OpenLineage's words for the states of a run, those that we use."""

    START = "START"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


@dataclass(frozen=True, slots=True)
class LineageRun:
    """One run of a lineage job: one Dagster run's attempt at a partition or a contiguous range."""

    job: LineageJob
    assets: tuple[AssetKey, ...]
    run_id: str
    """Dagster's; of partitions that no run of a backfill came to, the backfill's id."""
    number: int
    code_version: str
    backfill: str | None
    backfill_job: tuple[str, str] | None
    """Namespace and name, where known."""
    partitions: PartitionSet
    """One range."""
    graph: AssetGraph
    """The assets and what they read, as declared when the attempt was made."""
    site: Site
    source: SourceCode

    @property
    def lineage_run_id(self) -> UUID:
        return lineage_run_id(self.run_id, self.job, self.partitions, self.number)


@dataclass(frozen=True, slots=True)
class DatasetRead:
    """An input, the partitions of it that are read, and what is known of those."""

    dataset: Dataset
    partitions: PartitionSet
    """None of what is read whole."""
    rows: int | None = None
    snapshot: int | None = None
    is_external: bool = False
    """Another producer makes it, and says where it lies."""


ColumnOf = tuple[Dataset, str, tuple[Transformation, ...]]
"""A column of an input, and how it came into the output."""


@dataclass(frozen=True, slots=True)
class DatasetWritten:
    """An output, the partitions of it that are written or were to be, and what is known of them afterwards."""

    dataset: Dataset
    partitions: PartitionSet
    owners: tuple[str, ...] = ()
    rows: int | None = None
    size_bytes: int | None = None
    files: int | None = None
    snapshot: int | None = None
    columns: Mapping[str, tuple[ColumnOf, ...]] = field(default_factory=dict)
    """Column to the input columns it is made from."""
    row_sources: tuple[ColumnOf, ...] = ()
    """Input columns that decide which rows there are."""
    nulls: Mapping[str, int] = field(default_factory=dict)
    assertions: tuple[tuple[str, Assertion], ...] = ()
    """With the partition that each was asked of."""


@dataclass(frozen=True, slots=True)
class Block:
    """Why partitions were not tried: the cause, and where the badness began."""

    cause: Cause
    by: tuple[PartitionRef, ...]


@dataclass(frozen=True, slots=True)
class Reuse:
    """Old data that stands: the records that name the runs that made it."""

    records: tuple[PartitionRecord, ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What failed, in a paragraph."""

    message: str


@dataclass(frozen=True, slots=True)
class Computation:
    """What Spark said of itself."""

    spark_version: str | None = None
    application_id: str | None = None
    drift: tuple[str, ...] = ()
    """Differences between what was declared and what was read."""


Note = Block | Reuse | Mistake | Computation


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn in a run's life: its START, or how it ended."""

    type: TurnType
    time: datetime
    run: LineageRun
    inputs: tuple[DatasetRead, ...]
    outputs: tuple[DatasetWritten, ...]
    notes: tuple[Note, ...] = ()

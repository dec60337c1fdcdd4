"""The record: what is written in the event log of every attempt at a partition, and what came of it.

Values; `record_json` has their JSON. Knows neither where they are written nor what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.scene import SceneText
from lineage_assets.partitions import PartitionSet


class State(Enum):
    """The verdict of an attempt on one partition."""

    GOOD = "good"
    """Computed, audited, published."""
    REUSED = "reused"
    """Same inputs and code as its own record: the old data stands."""
    FAILED = "failed"
    """Not computed, or computed and quarantined by a check; old data stays published."""
    BLOCKED = "blocked"
    """Not computed, because of an upstream partition."""

    @property
    def is_bad(self) -> bool:
        return self in (State.FAILED, State.BLOCKED)


@dataclass(frozen=True, slots=True, order=True)
class PartitionRef:
    """A partition of an asset."""

    asset: AssetKey
    partition: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a partition is bad: one word or two for tables and metrics, one sentence for people."""

    kind: str
    """`freshness`, `schema change`, `incomplete data`, `nulls`, `duplicate keys`, `upstream`, `job failed`, ..."""
    message: str


@dataclass(frozen=True, slots=True, order=True)
class Transformation:
    """How one column came into another, in OpenLineage's words."""

    type: str
    """`DIRECT`: its values did; `INDIRECT`: it decided which rows did."""
    subtype: str
    """`IDENTITY`, `TRANSFORMATION`, `AGGREGATION`; `JOIN`, `FILTER`, `GROUP_BY`, `SORT`, `WINDOW`, `CONDITIONAL`."""
    masking: bool = False


@dataclass(frozen=True, slots=True, order=True)
class ColumnSource:
    """An input column that an output column, or the choice of rows, depends on."""

    asset: AssetKey
    column: str
    transformations: tuple[Transformation, ...] = ()


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing that the audit asked of a partition, and what it saw."""

    kind: str
    """`row_count`, `not_null`, `unique`, ...: OpenLineage's `assertion`."""
    success: bool
    column: str | None = None
    expected: str | None = None
    actual: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """Written before anything is launched: one for an asset, its ranges and a run of it."""

    asset: AssetKey
    run_id: str
    """Dagster's."""
    number: int
    """1, or more for a retry inside the same run."""
    partitions: PartitionSet
    """What the attempt takes on: all that the run asks of the asset, blocked ones included."""
    started: datetime
    code_version: str
    owner: str
    """The process that makes it, `host/numbering:pid:start`, by which the dead are told from the living."""
    backfill: str | None = None
    backfill_job: tuple[str, str] | None = None
    """The lineage job that the backfill is a run of, namespace and name; None where that is not known for certain."""
    range_run: bool = False
    """The lineage run is one a contiguous range, not one a partition; kept so that a replay gives the same ids."""
    scene: SceneText = ""
    """What was declared and installed then, from which lineage is told for ever after; empty in old records."""


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """What came of an attempt at one partition."""

    asset: AssetKey
    partition: str
    state: State
    run_id: str
    """Dagster's, of the attempt."""
    number: int
    started: datetime
    ended: datetime
    code_version: str
    cause: Cause | None = None
    blocked_by: tuple[PartitionRef, ...] = ()
    """Where the badness began: the partitions upstream that failed or are missing, not those between."""
    rows: int | None = None
    fingerprint: str | None = None
    """The data version: 32 hexadecimal digits over the content."""
    inputs: Mapping[AssetKey, Mapping[str, str | None]] = field(default_factory=dict)
    """Per input the partitions read and their data versions; None for one that we do not own."""
    landing: str | None = None
    """The version of the landing files read."""
    snapshot: int | None = None
    """The table snapshot that holds it."""
    made_by: str | None = None
    """The Dagster run whose data this is: another run's when reused."""
    backfill: str | None = None
    range_run: bool = False
    columns: Mapping[str, tuple[ColumnSource, ...]] = field(default_factory=dict)
    """Column to the input columns it is made from, as observed, `ds` left out."""
    row_sources: tuple[ColumnSource, ...] = ()
    """Input columns that decide which rows there are: joined, filtered, grouped by."""
    drift: tuple[str, ...] = ()
    """Differences between declared and observed inputs, a sentence each."""
    warning: str | None = None
    is_repeated: bool = False
    """A block whose cause and origin are those of the verdict before: lineage has been told of it."""
    input_rows: Mapping[AssetKey, Mapping[str, int]] = field(default_factory=dict)
    """Per input the rows of the partitions read, where a record of ours has them."""
    input_snapshots: Mapping[AssetKey, int] = field(default_factory=dict)
    """Per input the table snapshot that was read."""
    size_bytes: int | None = None
    files: int | None = None
    nulls: Mapping[str, int] = field(default_factory=dict)
    """Audited column to its number of nulls."""
    assertions: tuple[Assertion, ...] = ()
    spark_version: str | None = None
    application_id: str | None = None
    """Spark's, of the program that computed it."""


@dataclass(frozen=True, slots=True)
class Closing:
    """Partitions of an attempt that will get no verdict: its run was cancelled, or its process died."""

    asset: AssetKey
    run_id: str
    number: int
    partitions: PartitionSet
    ended: datetime
    cause: Cause


Fact = Attempt | PartitionRecord | Closing
"""What the log holds of us."""

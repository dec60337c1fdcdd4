"""The record: what is written in the event log of every attempt at a partition, and what came of it.

Values and their JSON; knows neither where they are written nor what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from lineage_assets.graph import AssetKey
from lineage_assets.partitions import PartitionSet, key_of, parse_day

RECORD_KEY = "lineage_assets/record"
"""The metadata key under which a record lies in an event."""

RECORD_VERSION = 1


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
    """The process that makes it, `host:pid:start`, by which the dead are told from the living."""
    backfill: str | None = None
    range_run: bool = False
    """The lineage run is one a contiguous range, not one a partition; kept so that a replay gives the same ids."""


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
    columns: Mapping[str, tuple[tuple[AssetKey, str], ...]] = field(default_factory=dict)
    """Column to the input columns it is made from, as observed, `ds` left out."""
    drift: tuple[str, ...] = ()
    """Differences between declared and observed inputs, a sentence each."""
    warning: str | None = None


Fact = Attempt | PartitionRecord
"""What the log holds of us."""


def to_json(fact: Fact) -> dict[str, Any]:
    """The fact as the JSON object that goes into the event's metadata."""
    match fact:
        case Attempt():
            return {
                "version": RECORD_VERSION,
                "kind": "attempt",
                "run_id": fact.run_id,
                "number": fact.number,
                "ranges": [[key_of(first), key_of(last)] for first, last in fact.partitions.ranges],
                "started": fact.started.isoformat(),
                "code_version": fact.code_version,
                "owner": fact.owner,
                "backfill": fact.backfill,
                "range_run": fact.range_run,
            }
        case PartitionRecord():
            return _record_json(fact)


def _record_json(record: PartitionRecord) -> dict[str, Any]:
    cause = record.cause
    return {
        "version": RECORD_VERSION,
        "kind": "partition",
        "partition": record.partition,
        "state": record.state.value,
        "run_id": record.run_id,
        "number": record.number,
        "started": record.started.isoformat(),
        "ended": record.ended.isoformat(),
        "code_version": record.code_version,
        "cause": None if cause is None else {"kind": cause.kind, "message": cause.message},
        "blocked_by": [[list(ref.asset), ref.partition] for ref in record.blocked_by],
        "rows": record.rows,
        "fingerprint": record.fingerprint,
        "inputs": [[list(asset), dict(versions)] for asset, versions in record.inputs.items()],
        "landing": record.landing,
        "snapshot": None if record.snapshot is None else str(record.snapshot),
        "made_by": record.made_by,
        "backfill": record.backfill,
        "range_run": record.range_run,
        "columns": {name: [[list(asset), column] for asset, column in made] for name, made in record.columns.items()},
        "drift": list(record.drift),
        "warning": record.warning,
    }


def from_json(asset: AssetKey, read: Mapping[str, Any]) -> Fact:
    """The fact that `to_json` wrote into an event of `asset`."""
    if read["kind"] == "attempt":
        ranges = ((parse_day(first).toordinal(), parse_day(last).toordinal()) for first, last in read["ranges"])
        return Attempt(
            asset=asset,
            run_id=read["run_id"],
            number=read["number"],
            partitions=PartitionSet.of_ranges(ranges),
            started=datetime.fromisoformat(read["started"]),
            code_version=read["code_version"],
            owner=read["owner"],
            backfill=read["backfill"],
            range_run=read["range_run"],
        )
    cause = read["cause"]
    return PartitionRecord(
        asset=asset,
        partition=read["partition"],
        state=State(read["state"]),
        run_id=read["run_id"],
        number=read["number"],
        started=datetime.fromisoformat(read["started"]),
        ended=datetime.fromisoformat(read["ended"]),
        code_version=read["code_version"],
        cause=None if cause is None else Cause(cause["kind"], cause["message"]),
        blocked_by=tuple(PartitionRef(tuple(key), partition) for key, partition in read["blocked_by"]),
        rows=read["rows"],
        fingerprint=read["fingerprint"],
        inputs={tuple(key): versions for key, versions in read["inputs"]},
        landing=read["landing"],
        # As text: a snapshot id has more digits than a JSON number keeps on its way through a browser.
        snapshot=None if read["snapshot"] is None else int(read["snapshot"]),
        made_by=read["made_by"],
        backfill=read["backfill"],
        range_run=read["range_run"],
        columns={name: tuple((tuple(key), column) for key, column in made) for name, made in read["columns"].items()},
        drift=tuple(read["drift"]),
        warning=read["warning"],
    )

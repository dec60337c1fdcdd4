"""The record's JSON: what lies in an event's metadata, one object a fact. Pure, and the only place that spells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

from lineage_assets.errors import LineageAssetsError
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.record import (
    Assertion,
    Attempt,
    Cause,
    Closing,
    ColumnSource,
    Fact,
    PartitionRecord,
    PartitionRef,
    State,
    Transformation,
)
from lineage_assets.ledger.scene import known_fields
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.partitions import PartitionSet, key_of, parse_day

RECORD_KEY = "lineage_assets/record"
"""The metadata key under which a record lies in an event."""

RECORD_VERSION = 2
"""1 had no scene, no closings, and column sources as pairs; it is still read.

It is raised by what an older reader would get wrong, in the scene too; keys that it does not know it passes over.
"""

Json = Mapping[str, Any]
_EMPTY: tuple[object, ...] = ("", [], {})
_T = TypeVar("_T")


def to_json(fact: Fact) -> dict[str, Any]:
    """The fact as the JSON object that goes into the event's metadata; what says nothing is left out."""
    kind, said = _said(fact)
    kept = {name: value for name, value in said.items() if not _is_nothing(value)}
    return {"version": RECORD_VERSION, "kind": kind, "run_id": fact.run_id, "number": fact.number, **kept}


def _said(fact: Fact) -> tuple[str, dict[str, Any]]:
    match fact:
        case Attempt():
            return "attempt", _attempt_json(fact)
        case PartitionRecord():
            return "partition", _record_json(fact)
        case Closing():
            return "closing", _closing_json(fact)


def _is_nothing(value: object) -> bool:
    """What a reader takes for granted; a count of zero is not that."""
    return value is None or value is False or value in _EMPTY


def from_json(asset: AssetKey, read: Json) -> Fact:
    """The fact that `to_json` wrote into an event of `asset`, in this version or an earlier one.

    :raises UnreadableRecordError: it is of a later version, or damaged
    """
    version, run_id = read.get("version", 1), str(read.get("run_id", "unknown"))
    if not isinstance(version, int) or version > RECORD_VERSION:
        raise UnreadableRecordError(asset, run_id, version, f"this code reads up to version {RECORD_VERSION}")
    try:
        return _fact(asset, read)
    except (KeyError, TypeError, ValueError, LineageAssetsError) as error:
        reason = f"it is damaged ({type(error).__name__}: {error})"
        raise UnreadableRecordError(asset, run_id, version, reason) from error


def _fact(asset: AssetKey, read: Json) -> Fact:
    match read["kind"]:
        case "attempt":
            return _attempt(asset, read)
        case "closing":
            return _closing(asset, read)
        case _:
            return _record(asset, read)


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "ranges": _ranges_json(attempt.partitions),
        "started": attempt.started.isoformat(),
        "code_version": attempt.code_version,
        "owner": attempt.owner,
        "backfill": attempt.backfill,
        "backfill_job": None if attempt.backfill_job is None else list(attempt.backfill_job),
        "range_run": attempt.range_run,
        "scene": attempt.scene,
    }


def _attempt(asset: AssetKey, read: Json) -> Attempt:
    return Attempt(
        asset=asset,
        run_id=read["run_id"],
        number=read["number"],
        partitions=_ranges(read.get("ranges", ())),
        started=datetime.fromisoformat(read["started"]),
        code_version=read["code_version"],
        owner=read["owner"],
        backfill=read.get("backfill"),
        backfill_job=_pair(read.get("backfill_job")),
        range_run=read.get("range_run", False),
        scene=read.get("scene", ""),
    )


def _pair(read: Sequence[str] | None) -> tuple[str, str] | None:
    return None if read is None else (read[0], read[1])


def _closing_json(closing: Closing) -> dict[str, Any]:
    return {
        "ranges": _ranges_json(closing.partitions),
        "ended": closing.ended.isoformat(),
        "cause": _cause_json(closing.cause),
    }


def _closing(asset: AssetKey, read: Json) -> Closing:
    return Closing(
        asset=asset,
        run_id=read["run_id"],
        number=read["number"],
        partitions=_ranges(read["ranges"]),
        ended=datetime.fromisoformat(read["ended"]),
        cause=_cause(read["cause"]),
    )


def _record_json(record: PartitionRecord) -> dict[str, Any]:
    return {
        "partition": record.partition,
        "state": record.state.value,
        "started": record.started.isoformat(),
        "ended": record.ended.isoformat(),
        "code_version": record.code_version,
        "cause": None if record.cause is None else _cause_json(record.cause),
        "blocked_by": [[list(ref.asset), ref.partition] for ref in record.blocked_by],
        "is_repeated": record.is_repeated,
        "rows": record.rows,
        "fingerprint": record.fingerprint,
        "inputs": _by_asset_json(record.inputs),
        "input_rows": _by_asset_json(record.input_rows),
        # As text: a snapshot id has more digits than a JSON number keeps on its way through a browser.
        "input_snapshots": [[list(asset), str(snapshot)] for asset, snapshot in record.input_snapshots.items()],
        "landing": record.landing,
        "snapshot": None if record.snapshot is None else str(record.snapshot),
        "made_by": record.made_by,
        "backfill": record.backfill,
        "range_run": record.range_run,
        "columns": {name: [_source_json(one) for one in made] for name, made in record.columns.items()},
        "row_sources": [_source_json(one) for one in record.row_sources],
        "drift": list(record.drift),
        "warning": record.warning,
        "size_bytes": record.size_bytes,
        "files": record.files,
        "nulls": dict(record.nulls),
        "assertions": [asdict(assertion) for assertion in record.assertions],
        "spark_version": record.spark_version,
        "application_id": record.application_id,
    }


def _record(asset: AssetKey, read: Json) -> PartitionRecord:
    return PartitionRecord(
        asset=asset,
        partition=read["partition"],
        state=State(read["state"]),
        run_id=read["run_id"],
        number=read["number"],
        started=datetime.fromisoformat(read["started"]),
        ended=datetime.fromisoformat(read["ended"]),
        code_version=read["code_version"],
        cause=None if read.get("cause") is None else _cause(read["cause"]),
        blocked_by=tuple(PartitionRef(tuple(key), partition) for key, partition in read.get("blocked_by", ())),
        is_repeated=read.get("is_repeated", False),
        rows=read.get("rows"),
        fingerprint=read.get("fingerprint"),
        inputs=_by_asset(read.get("inputs", ())),
        input_rows=_by_asset(read.get("input_rows", ())),
        input_snapshots={tuple(key): int(snapshot) for key, snapshot in read.get("input_snapshots", ())},
        landing=read.get("landing"),
        snapshot=None if read.get("snapshot") is None else int(read["snapshot"]),
        made_by=read.get("made_by"),
        backfill=read.get("backfill"),
        range_run=read.get("range_run", False),
        columns={name: tuple(map(_source, made)) for name, made in read.get("columns", {}).items()},
        row_sources=tuple(map(_source, read.get("row_sources", ()))),
        drift=tuple(read.get("drift", ())),
        warning=read.get("warning"),
        size_bytes=read.get("size_bytes"),
        files=read.get("files"),
        nulls=read.get("nulls", {}),
        assertions=tuple(known_fields(Assertion, one) for one in read.get("assertions", ())),
        spark_version=read.get("spark_version"),
        application_id=read.get("application_id"),
    )


def _ranges_json(partitions: PartitionSet) -> list[list[str]]:
    return [[key_of(first), key_of(last)] for first, last in partitions.ranges]


def _ranges(read: Iterable[Iterable[str]]) -> PartitionSet:
    days = ([parse_day(key).toordinal() for key in one] for one in read)
    return PartitionSet.of_ranges((first, last) for first, last in days)


def _cause_json(cause: Cause) -> dict[str, str]:
    return {"kind": cause.kind, "message": cause.message}


def _cause(read: Json) -> Cause:
    return Cause(read["kind"], read["message"])


def _by_asset_json(values: Mapping[AssetKey, Mapping[str, _T]]) -> list[list[Any]]:
    return [[list(asset), dict(by_day)] for asset, by_day in values.items()]


def _by_asset(read: Iterable[Any]) -> dict[AssetKey, Mapping[str, Any]]:
    return {tuple(key): by_day for key, by_day in read}


def _source_json(source: ColumnSource) -> list[Any]:
    steps = [[step.type, step.subtype, step.masking] for step in source.transformations]
    return [list(source.asset), source.column, steps]


def _source(read: Any) -> ColumnSource:  # noqa: ANN401 - JSON
    key, column, *steps = read  # a record of version 1 has no third part
    return ColumnSource(tuple(key), column, tuple(Transformation(*step) for step in (steps[0] if steps else ())))

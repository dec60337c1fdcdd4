"""The records as Dagster shows them: events with what a person wants to see, data versions and provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dagster import (
    AssetCheckEvaluation,
    AssetCheckSeverity,
    AssetExecutionContext,
    AssetMaterialization,
    MetadataValue,
)
from dagster import AssetKey as DagsterAssetKey

from lineage_assets.graph import name_of
from lineage_assets.ledger.dagster_log import attempt_event, bad_event, closing_event, good_event
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import Attempt, Closing, PartitionRecord, State
from lineage_assets.partitions import ranges_text, set_of

AUDIT_CHECK = "audit"
_NOT_OURS = "INITIAL"
"""What Dagster takes for the version of an asset that nobody there makes."""


def log_attempts(context: AssetExecutionContext, attempts: Iterable[Attempt]) -> None:
    for attempt in attempts:
        context.log_event(attempt_event(attempt))


def log_closings(context: AssetExecutionContext, closings: Iterable[Closing]) -> None:
    for closing in closings:
        context.log_event(closing_event(closing))


def log_records(
    context: AssetExecutionContext,
    records: Iterable[PartitionRecord],
    histories: Mapping[tuple[str, ...], History],
    earlier: Callable[[tuple[str, ...], str], PartitionRecord | None],
) -> None:
    """Write one event a partition, and the check `audit` of those whose content fails, or failed before."""
    for record in records:
        if record.state.is_bad:
            context.log_event(bad_event(record))
        else:
            context.log_event(_materialization(record, histories))
        audited = _audit(record, earlier(record.asset, record.partition))
        if audited is not None:
            context.log_event(audited)


def _materialization(record: PartitionRecord, histories: Mapping[tuple[str, ...], History]) -> AssetMaterialization:
    return good_event(record, metadata=_shown(record), tags=_tags(record, histories))


def _shown(record: PartitionRecord) -> dict[str, MetadataValue[Any]]:
    shown: dict[str, MetadataValue[Any]] = {
        "state": MetadataValue.text(record.state.value),
        "fingerprint": MetadataValue.text(record.fingerprint or ""),
    }
    if record.rows is not None:
        shown["dagster/partition_row_count"] = MetadataValue.int(record.rows)
    if record.inputs:
        read = {name_of(asset): ranges_text(set_of(versions)) for asset, versions in record.inputs.items()}
        shown["input partitions"] = MetadataValue.json(read)
    if record.snapshot is not None:
        shown["snapshot"] = MetadataValue.text(str(record.snapshot))
    if record.made_by is not None:
        shown["made by run"] = MetadataValue.dagster_run(record.made_by)
    for name, said in (("drift", "; ".join(record.drift)), ("warning", record.warning)):
        if said:
            shown[name] = MetadataValue.text(said)
    return shown


def _tags(record: PartitionRecord, histories: Mapping[tuple[str, ...], History]) -> dict[str, str]:
    """Dagster's own provenance, so that its staleness agrees with ours.

    Without the pointer at each input's newest event, a second record of an equal version would mark all readers stale.
    """
    tags = {
        "dagster/data_version": record.fingerprint or "",
        "dagster/data_version_is_user_provided": "true",
        "dagster/code_version": record.code_version,
    }
    for asset, versions in record.inputs.items():
        name = DagsterAssetKey(asset).to_user_string()
        digest = hashlib.sha256(repr(sorted(versions.items())).encode()).hexdigest()[:32]
        tags[f"dagster/input_data_version/{name}"] = digest if asset in histories else _NOT_OURS
        tags[f"dagster/input_event_pointer/{name}"] = str(histories.get(asset, History()).newest)
    return tags


_NO_CONTENT = frozenset({"driver lost", "not launched", "cancelled", "refused", "job failed", "published by another"})
"""Causes of a failure that say nothing of what the partition holds."""


def _audit(record: PartitionRecord, earlier: PartitionRecord | None) -> AssetCheckEvaluation | None:
    """The check's evaluation of one partition, where it fails or failed before."""
    failed = _fails_audit(record)
    is_news = failed or (not record.state.is_bad and earlier is not None and _fails_audit(earlier))
    if not is_news:
        return None
    return AssetCheckEvaluation(
        asset_key=DagsterAssetKey(record.asset),
        check_name=AUDIT_CHECK,
        passed=not failed,
        metadata={},
        severity=AssetCheckSeverity.ERROR,
        description="" if record.cause is None else f"{record.cause.kind}: {record.cause.message}",
        partition=record.partition,
    )


def _fails_audit(record: PartitionRecord) -> bool:
    return record.state is State.FAILED and record.cause is not None and record.cause.kind not in _NO_CONTENT

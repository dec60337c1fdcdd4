"""The ledger's one file that knows Dagster: reads our facts out of its event log, and shapes events that hold them.

Nothing here judges: what follows from the facts is the fold's and the gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from heapq import merge
from math import inf
from typing import Any

from dagster import AssetKey as DagsterAssetKey
from dagster import (
    AssetMaterialization,
    AssetObservation,
    AssetRecordsFilter,
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogRecord,
    EventRecordsFilter,
    EventRecordsResult,
    JsonMetadataValue,
    MetadataValue,
    RunsFilter,
)

from lineage_assets.dagster_private import AssetObservationData
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.fold import History, Logged, fold_history
from lineage_assets.ledger.owner import is_dead
from lineage_assets.ledger.record import Attempt, Closing, Fact, PartitionRecord
from lineage_assets.ledger.record_json import RECORD_KEY, from_json, to_json
from lineage_assets.ledger.unreadable import UnreadableRecordError

_Fetch = Callable[..., EventRecordsResult]
_PAGE = 1000
_HELD = 10_000
"""Events held at once where the logs of several assets are read side by side."""
_LEAST_PAGE = 20
"""A query that brings less is not worth its while; of more assets than that allows the log is read as a whole."""
_NEWEST = 100
"""Observations of an asset among which its newest attempt is looked for first."""
_KINDS = (DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_OBSERVATION)
_GOING_ON = (
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)


def read_history(instance: DagsterInstance, asset: AssetKey) -> History:
    """The history of one asset: its materializations and observations, a page a query, newest first."""
    return fold_history(read_log(instance, asset))


def read_log(instance: DagsterInstance, asset: AssetKey, *, after: int | None = None) -> Iterator[Logged]:
    """What the log holds of one asset, after a storage id if one is given; in no order."""
    wanted = AssetRecordsFilter(DagsterAssetKey(asset), after_storage_id=after)
    for fetch in (instance.fetch_materializations, instance.fetch_observations):
        yield from _pages(fetch, asset, wanted, ascending=False)


def read_histories(instance: DagsterInstance, assets: Iterable[AssetKey]) -> dict[AssetKey, History]:
    return {asset: read_history(instance, asset) for asset in assets}


def live_runs(instance: DagsterInstance, histories: Mapping[AssetKey, History]) -> frozenset[str]:
    """The runs among open attempts that go on: not ended, and their process, when it was on this host, alive."""
    owners = {one.attempt.run_id: one.attempt.owner for history in histories.values() for one in history.underway}
    alive = [run_id for run_id, owner in owners.items() if not is_dead(owner)]
    if not alive:
        return frozenset()
    runs = instance.get_runs(filters=RunsFilter(run_ids=alive, statuses=list(_GOING_ON)))
    return frozenset(run.run_id for run in runs)


def facts_of_run(instance: DagsterInstance, run_id: str) -> tuple[Fact, ...]:
    """All that one run logged of us, in the order of the log.

    :raises UnreadableRecordError: some of it cannot be read
    """
    found: list[Fact] = []
    for logged in instance.all_logs(run_id, of_type=set(_KINDS)):
        event = logged.asset_materialization if logged.asset_materialization is not None else logged.asset_observation
        fact = None if event is None else _fact(tuple(event.asset_key.path), event)
        if fact is not None:
            found.append(fact)
    return tuple(found)


def records_of_run(instance: DagsterInstance, run_id: str) -> tuple[PartitionRecord, ...]:
    """The verdicts that one run gave, in the order of the log."""
    return tuple(fact for fact in facts_of_run(instance, run_id) if isinstance(fact, PartitionRecord))


def stream_log(
    instance: DagsterInstance, assets: Iterable[AssetKey], *, after: int = 0
) -> Iterator[tuple[AssetKey, Logged]]:
    """All that the log holds of the assets after a storage id, oldest first; `_HELD` events are in memory at most."""
    keys = tuple(assets)
    size = min(_PAGE, _HELD // (2 * max(len(keys), 1)))
    fetches = (instance.fetch_materializations, instance.fetch_observations)
    streams = (
        [_named(asset, after, fetch, size) for asset in keys for fetch in fetches]
        if size >= _LEAST_PAGE
        else [_of_all(instance, keys, after, kind) for kind in _KINDS]
    )
    return merge(*streams, key=lambda one: one[1].storage_id)


def _of_all(
    instance: DagsterInstance, assets: Iterable[AssetKey], after: int, kind: DagsterEventType
) -> Iterator[tuple[AssetKey, Logged]]:
    """The events of one kind, read whatever they are of; those of other assets, and what was wiped, are passed over."""
    keys = [DagsterAssetKey(asset) for asset in assets]
    wiped = dict.fromkeys((tuple(key.path) for key in keys), 0.0)
    for known in instance.get_asset_records(keys):
        details = known.asset_entry.asset_details
        at = None if details is None else details.last_wipe_timestamp
        wiped[tuple(known.asset_entry.asset_key.path)] = 0.0 if at is None else at
    wanted = EventRecordsFilter(kind, after_cursor=after)
    while page := instance.event_log_storage.get_event_records(wanted, limit=_PAGE, ascending=True):
        for record in page:
            asset = () if record.asset_key is None else tuple(record.asset_key.path)
            logged = logged_of(asset, record) if record.timestamp > wiped.get(asset, inf) else None
            if logged is not None:
                yield asset, logged
        wanted = EventRecordsFilter(kind, after_cursor=page[-1].storage_id)


def _named(asset: AssetKey, after: int, fetch: _Fetch, size: int) -> Iterator[tuple[AssetKey, Logged]]:
    wanted = AssetRecordsFilter(DagsterAssetKey(asset), after_storage_id=after)
    yield from ((asset, logged) for logged in _pages(fetch, asset, wanted, ascending=True, size=size))


def newest_attempt(instance: DagsterInstance, asset: AssetKey) -> Attempt | None:
    """The attempt at an asset that began last; one of a run that never began is written down long after it."""
    cursor = None
    while True:
        page = instance.fetch_observations(DagsterAssetKey(asset), limit=_NEWEST, cursor=cursor)
        logged = (logged_of(asset, record) for record in page.records)
        found = [one.fact for one in logged if one is not None and isinstance(one.fact, Attempt)]
        if found or not page.has_more:
            return max(found, key=lambda attempt: attempt.started, default=None)
        cursor = page.cursor


def append_fact(instance: DagsterInstance, run: DagsterRun, fact: Attempt | Closing) -> None:
    """Write into the log of a run that has ended, or whose process is dead, what it did not write itself."""
    observation = attempt_event(fact) if isinstance(fact, Attempt) else closing_event(fact)
    said = "" if isinstance(fact, Attempt) else f" {fact.cause.kind}, {fact.cause.message}"
    event = DagsterEvent(
        DagsterEventType.ASSET_OBSERVATION.value,
        job_name=run.job_name,
        event_specific_data=AssetObservationData(observation),
        message=f"{name_of(fact.asset)}:{said}",
    )
    instance.report_dagster_event(event, run.run_id)


def planned_assets(instance: DagsterInstance, run_id: str) -> dict[AssetKey, datetime]:
    """The assets that a run was to materialize, whether it came to them or not, and when that was settled."""
    planned: dict[AssetKey, datetime] = {}
    for entry in instance.all_logs(run_id, of_type={DagsterEventType.ASSET_MATERIALIZATION_PLANNED}):
        key = None if entry.dagster_event is None else entry.dagster_event.asset_key
        if key is not None:
            planned.setdefault(tuple(key.path), datetime.fromtimestamp(entry.timestamp, timezone.utc))
    return planned


def attempt_event(attempt: Attempt) -> AssetObservation:
    return AssetObservation(DagsterAssetKey(attempt.asset), metadata={RECORD_KEY: _json(attempt)})


def closing_event(closing: Closing) -> AssetObservation:
    why = f"{closing.cause.kind}: {closing.cause.message}"
    metadata: dict[str, Any] = {"cause": why, RECORD_KEY: _json(closing)}
    return AssetObservation(DagsterAssetKey(closing.asset), description=why, metadata=metadata)


def bad_event(record: PartitionRecord) -> AssetObservation:
    """A failed or blocked partition: nothing was written, so nothing is materialized."""
    why = "" if record.cause is None else f"{record.cause.kind}: {record.cause.message}"
    metadata: dict[str, Any] = {"state": record.state.value, "cause": why, RECORD_KEY: _json(record)}
    return AssetObservation(
        DagsterAssetKey(record.asset), partition=record.partition, description=why, metadata=metadata
    )


def good_event(
    record: PartitionRecord, *, metadata: Mapping[str, MetadataValue], tags: Mapping[str, str]
) -> AssetMaterialization:
    """A good or reused partition, with what a person wants to see of it."""
    return AssetMaterialization(
        DagsterAssetKey(record.asset),
        partition=record.partition,
        metadata={**metadata, RECORD_KEY: _json(record)},
        tags=dict(tags),
    )


def _json(fact: Fact) -> MetadataValue[Any]:
    return MetadataValue.json(to_json(fact))


def _pages(
    fetch: _Fetch, asset: AssetKey, wanted: AssetRecordsFilter, *, ascending: bool, size: int = _PAGE
) -> Iterator[Logged]:
    cursor = None
    while True:
        page = fetch(wanted, limit=size, cursor=cursor, ascending=ascending)
        yield from (found for found in (logged_of(asset, record) for record in page.records) if found is not None)
        if not page.has_more:
            return
        cursor = page.cursor


def logged_of(asset: AssetKey, record: EventLogRecord) -> Logged | None:
    """What one event says of an asset's partitions; None where it says nothing of them."""
    event = record.asset_materialization if record.asset_materialization is not None else record.asset_observation
    if event is None:
        return None
    try:
        fact = _fact(asset, event)
    except UnreadableRecordError as error:
        return Logged(record.storage_id, None, unreadable=error)
    if fact is not None:
        return Logged(record.storage_id, fact)
    if isinstance(event, AssetMaterialization):
        return Logged(record.storage_id, None, event.partition)
    return None


def _fact(asset: AssetKey, event: AssetMaterialization | AssetObservation) -> Fact | None:
    value = event.metadata.get(RECORD_KEY)
    if isinstance(value, JsonMetadataValue) and isinstance(value.data, Mapping):
        return from_json(asset, value.data)
    return None

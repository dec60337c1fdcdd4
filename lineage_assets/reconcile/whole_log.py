"""The event log read from its beginning to its end, whatever assets it is about and however long it has grown.

Holds a page of each asset at a time. Judges nothing: what facts come to is the retelling's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from dagster import AssetKey as DagsterAssetKey
from dagster import AssetRecordsFilter, DagsterInstance, RunsFilter

from lineage_assets.dagster_private import SqlRunStorage
from lineage_assets.graph import AssetGraph, AssetKey, LineageJob
from lineage_assets.ledger.dagster_log import facts_of_run, logged_of, stream_log
from lineage_assets.ledger.fold import Logged
from lineage_assets.ledger.reader import OVERLAP
from lineage_assets.ledger.record import Attempt, Fact
from lineage_assets.ledger.record_json import RECORD_VERSION
from lineage_assets.ledger.scene import SceneText, UnreadableSceneError, parse_scene
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.hierarchy import pipelines_told
from lineage_assets.lineage.retelling import OpenAttempt
from lineage_assets.reconcile.closings import is_live

_LOOKED_AT = 10
"""Newest observations of an asset that tell whether it is, or was, one of ours."""


def ledger_id(instance: DagsterInstance) -> str:
    """What tells this ledger from any other: its storage's own id, made with it and gone with it."""
    storage = instance.run_storage
    return storage.get_run_storage_id() if isinstance(storage, SqlRunStorage) else type(storage).__name__


def logged_assets(instance: DagsterInstance, graph: AssetGraph) -> tuple[AssetKey, ...]:
    """The assets of the graph, and those that have left it and still have facts in the log."""
    others = (tuple(key.path) for key in instance.get_asset_keys())
    gone = (asset for asset in others if asset not in graph.nodes and _is_ours(instance, asset))
    return tuple(sorted({*graph.nodes, *gone}))


def _refused(unreadable: UnreadableRecordError) -> None:
    raise unreadable


def follow_log(
    instance: DagsterInstance, assets: Collection[AssetKey], missed: Callable[[UnreadableRecordError], None] = _refused
) -> Iterator[tuple[int, Fact]]:
    """All facts with their places in the log, oldest first; also those that are written while it is read.

    What cannot be read is given to `missed`, which may raise it, and left out.
    """
    seen: set[int] = set()
    after, is_new = 0, True
    while is_new:
        is_new, until = False, newest_place(instance, assets)
        for _, logged in stream_log(instance, assets, after=after):
            if logged.storage_id > until:
                break  # what an asset read to its end has got since would be missed; it comes with the next round
            if logged.storage_id in seen:
                continue
            is_new = True
            if logged.storage_id > until - OVERLAP:
                seen.add(logged.storage_id)
            unreadable = _unreadable(logged)
            if unreadable is not None:
                missed(unreadable)
            elif logged.fact is not None:
                yield logged.storage_id, logged.fact
        after = max(until - OVERLAP, 0)
        seen = {place for place in seen if place > after}


def _unreadable(logged: Logged) -> UnreadableRecordError | None:
    """Why what is logged cannot be told; an attempt without its scene cannot either."""
    if isinstance(logged.fact, Attempt) and logged.fact.scene:
        try:
            parse_scene(logged.fact.scene)
        except UnreadableSceneError as error:
            return UnreadableRecordError(logged.fact.asset, logged.fact.run_id, RECORD_VERSION, error.reason)
    return logged.unreadable


def newest_place(instance: DagsterInstance, assets: Iterable[AssetKey]) -> int:
    """The place in the log of the newest event of these assets; 0 when there is none."""
    newest = 0
    for asset in assets:
        for fetch in (instance.fetch_materializations, instance.fetch_observations):
            page = fetch(DagsterAssetKey(asset), limit=1)
            newest = max([newest, *(record.storage_id for record in page.records)])
    return newest


def made_with(instance: DagsterInstance, wanted: Collection[AssetKey], assets: Iterable[AssetKey]) -> set[AssetKey]:
    """The wanted assets, and all that a job of theirs ever made with them: an attempt is told whole or wrong."""
    groups = job_groups(instance, assets)
    return {asset for group in groups if not group.isdisjoint(wanted) for asset in group}


def job_groups(instance: DagsterInstance, assets: Iterable[AssetKey]) -> list[set[AssetKey]]:
    """The assets by the jobs that ever made them, in the order given; two that shared a job are in one group."""
    groups: dict[int, set[AssetKey]] = {}
    jobs_of: dict[int, set[tuple[str, str]]] = {}
    of_job: dict[tuple[str, str], int] = {}
    for number, asset in enumerate(assets):
        group, jobs = {asset}, _jobs(instance, asset)
        for shared in {of_job[job] for job in jobs if job in of_job}:
            group |= groups.pop(shared)
            jobs |= jobs_of.pop(shared)
        groups[number], jobs_of[number] = group, jobs
        of_job.update(dict.fromkeys(jobs, number))
    return list(groups.values())


def goes_on(instance: DagsterInstance, attempt: OpenAttempt) -> bool:
    """Whether the process of an attempt may yet tell of it itself."""
    records = instance.get_run_records(RunsFilter(run_ids=[attempt.attempts[0].run_id]))
    return any(is_live(record, [*attempt.attempts, *attempt.outcomes]) for record in records)


def pipelines_of(instance: DagsterInstance, run_id: str) -> tuple[Event, ...]:
    """What is told of the pipelines of a Dagster run; nothing while it goes on, or where it cannot be read."""
    try:
        facts = facts_of_run(instance, run_id)
    except UnreadableRecordError:
        return ()  # whoever reads the log has named it
    records = instance.get_run_records(RunsFilter(run_ids=[run_id]))
    return () if any(is_live(record, facts) for record in records) else pipelines_told(facts)


def _jobs(instance: DagsterInstance, asset: AssetKey) -> set[tuple[str, str]]:
    """Every job that an asset was made by, by the scenes of its attempts."""
    scenes = set()
    cursor, is_over = None, False
    while not is_over:
        page = instance.fetch_observations(DagsterAssetKey(asset), limit=1000, cursor=cursor, ascending=True)
        logged = (logged_of(asset, record) for record in page.records)
        scenes |= {one.fact.scene for one in logged if one is not None and isinstance(one.fact, Attempt)}
        cursor, is_over = page.cursor, not page.has_more
    jobs = (job for scene in scenes if scene for job in _job_in(scene))
    return {(job.namespace, job.name) for job in jobs}


def _job_in(scene: SceneText) -> tuple[LineageJob, ...]:
    try:
        return (parse_scene(scene).node.job,)
    except UnreadableSceneError:
        return ()  # whoever reads the log names it


def _is_ours(instance: DagsterInstance, asset: AssetKey) -> bool:
    found = instance.fetch_observations(AssetRecordsFilter(DagsterAssetKey(asset)), limit=_LOOKED_AT).records
    logged = (logged_of(asset, record) for record in found)
    return any(one is not None and (one.fact is not None or one.unreadable is not None) for one in logged)

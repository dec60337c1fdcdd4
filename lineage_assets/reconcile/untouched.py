"""Partitions that a backfill was to make and no run of it came to, because of what is bad above them.

Dagster's daemon launches nothing below a failure; without this nobody would ever say that they are blocked, and by
what. What nobody blocked was just not run, and nothing is written of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dagster import DagsterInstance

from lineage_assets.graph import AssetGraph, AssetKey, AssetNode
from lineage_assets.ledger.dagster_log import (
    attempt_event,
    bad_event,
    read_histories,
    stream_log,
    upstream_of,
)
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.gate import Blocked, Gate
from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import Attempt, Fact, PartitionRecord, State
from lineage_assets.ledger.scene import SourceCode, scene_of, scene_text
from lineage_assets.lineage.site import site_at
from lineage_assets.partitions import PartitionSet, key_of, set_of
from lineage_assets.reconcile.unbegun import NO_CODE


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is to be known of a backfill that ended."""

    id: str
    ended: datetime
    targets: dict[AssetKey, PartitionSet]


def blocked_by_nobody(
    instance: DagsterInstance, graph: AssetGraph, backfill: Backfill, warehouse: Path
) -> Iterator[tuple[Fact, ...]]:
    """Record the blocks that no run met, a job at a time; upstream first, so that each names where it began."""
    ours = [asset for asset in graph.order if asset in backfill.targets]
    histories = read_histories(instance, [*upstream_of(graph, ours), *ours])
    pending = {asset: backfill.targets[asset] - _judged(histories[asset], backfill) for asset in ours}
    for job in dict.fromkeys(graph.nodes[asset].job for asset in ours):
        before: list[Fact] = []
        attempts: list[Attempt] = []
        records: list[PartitionRecord] = []
        made = [asset for asset in ours if graph.nodes[asset].job == job]
        for asset in made:
            old = _written_before(instance, asset, histories[asset], backfill.id)
            before += old
            blocked = _blocked(Gate(graph, histories, pending=pending), graph.nodes[asset], pending[asset])
            pending[asset] -= set_of(blocked)
            if blocked:
                attempt = _attempt(graph, asset, backfill, set_of(blocked), warehouse)
                attempts.append(replace(attempt, number=1 + max((fact.number for fact in old), default=0)))
                records += _records(attempts[-1], blocked)
        # All attempts first, as a run does: the assets of a job are tried together.
        _write(instance, [*attempts, *records])
        histories.update(read_histories(instance, made if attempts else []))
        if before or attempts:
            yield (*sorted(before, key=lambda fact: not isinstance(fact, Attempt)), *attempts, *records)


def _blocked(gate: Gate, node: AssetNode, partitions: PartitionSet) -> dict[str, Blocked]:
    """What is blocked of the partitions; what only waits for others that were not run either is not."""
    own = replace(gate, pending={asset: days for asset, days in gate.pending.items() if asset != node.key})
    verdicts = {key_of(day): own.judge(node, key_of(day)) for day in partitions}
    return {key: verdict for key, verdict in verdicts.items() if isinstance(verdict, Blocked)}


def _judged(history: History, backfill: Backfill) -> PartitionSet:
    """The partitions that a run of the backfill came to, or any run since it was over."""
    verdicts = history.verdicts.items()
    return set_of(key for key, one in verdicts if one.backfill == backfill.id or one.ended > backfill.ended)


def _written_before(instance: DagsterInstance, asset: AssetKey, history: History, backfill: str) -> tuple[Fact, ...]:
    """What a pass that did not get to its end wrote of this backfill: it is told again."""
    known: list[Fact] = [*history.verdicts.values(), *(one.attempt for one in history.underway)]
    if not any(fact.run_id == backfill for fact in known):
        return ()
    log = (logged.fact for _, logged in stream_log(instance, [asset]))
    return tuple(fact for fact in log if fact is not None and fact.run_id == backfill)


def _attempt(
    graph: AssetGraph, asset: AssetKey, backfill: Backfill, partitions: PartitionSet, warehouse: Path
) -> Attempt:
    return Attempt(
        asset=asset,
        run_id=backfill.id,
        number=1,
        partitions=partitions,
        started=backfill.ended,
        code_version=NO_CODE,
        owner=owner(),
        backfill=backfill.id,
        scene=scene_text(scene_of(asset, graph, site_at(warehouse, "lake"), SourceCode())),
    )


def _records(attempt: Attempt, blocked: Mapping[str, Blocked]) -> Iterator[PartitionRecord]:
    for key, verdict in sorted(blocked.items()):
        yield PartitionRecord(
            asset=attempt.asset,
            partition=key,
            state=State.BLOCKED,
            run_id=attempt.run_id,
            number=attempt.number,
            started=attempt.started,
            ended=attempt.started,
            code_version=attempt.code_version,
            cause=verdict.cause,
            blocked_by=verdict.refs,
            backfill=attempt.backfill,
        )


def _write(instance: DagsterInstance, facts: Iterable[Fact]) -> None:
    for fact in facts:
        match fact:
            case Attempt():
                instance.report_runless_asset_event(attempt_event(fact))
            case PartitionRecord():
                instance.report_runless_asset_event(bad_event(fact))

"""Partitions that a backfill was to make and no run of it came to, because of what is bad above them.

Dagster's daemon launches nothing below a failure; without this nobody would ever say that they are blocked, and by
what. What nobody blocked was just not run, and nothing is written of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from dagster import DagsterInstance

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.dagster_log import attempt_event, bad_event, live_runs, stream_log
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.gate import Blocked, Gate
from lineage_assets.ledger.reader import LogReader
from lineage_assets.ledger.record import Attempt, Fact, PartitionRecord, State
from lineage_assets.ledger.scene import Site
from lineage_assets.partitions import PartitionSet, keys_of, set_of
from lineage_assets.reconcile.unmade import unmade_attempt


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is to be known of a backfill that ended."""

    id: str
    ended: datetime
    targets: dict[AssetKey, PartitionSet]


def blocked_by_nobody(
    instance: DagsterInstance, graph: AssetGraph, backfill: Backfill, site: Site
) -> Iterator[tuple[Fact, ...]]:
    """Record the blocks that no run met, a job at a time; upstream first, so that each names where it began."""
    log = LogReader(instance)
    ours = [asset for asset in graph.order if asset in backfill.targets]
    pending = {asset: backfill.targets[asset] - _judged(log.history(asset), backfill) for asset in ours}
    for job in dict.fromkeys(graph.nodes[asset].job for asset in ours):
        made = [asset for asset in ours if graph.nodes[asset].job == job]
        before = [fact for asset in made for fact in _written_before(instance, asset, log.history(asset), backfill.id)]
        new = _blocks(instance, graph, backfill, log, {asset: pending[asset] for asset in made}, pending)
        attempts = [
            replace(
                unmade_attempt(asset, set_of(blocked), backfill.ended, run_id=backfill.id, graph=graph, site=site),
                number=1 + max((fact.number for fact in before if fact.asset == asset), default=0),
                backfill=backfill.id,
            )
            for asset, blocked in new.items()
        ]
        records = [record for attempt in attempts for record in _records(attempt, new[attempt.asset])]
        pending.update({asset: pending[asset] - set_of(blocked) for asset, blocked in new.items()})
        # All attempts first, as a run does: the assets of a job are tried together.
        _write(instance, [*attempts, *records])
        if before or attempts:
            yield (*sorted(before, key=lambda fact: not isinstance(fact, Attempt)), *attempts, *records)


def _blocks(
    instance: DagsterInstance,
    graph: AssetGraph,
    backfill: Backfill,
    log: LogReader,
    left: Mapping[AssetKey, PartitionSet],
    pending: Mapping[AssetKey, PartitionSet],
) -> dict[AssetKey, dict[str, Blocked]]:
    """What is blocked of one job's assets, by the log as it is just now: a repair may be under way, or done."""
    wanted = [asset for asset, partitions in left.items() if partitions]
    histories = log.histories([*graph.upstream_of(wanted), *wanted])
    live = live_runs(instance, histories)
    others = {asset: partitions for asset, partitions in pending.items() if asset not in left}
    gate = Gate(graph, histories, live, others)
    found: dict[AssetKey, dict[str, Blocked]] = {}
    for asset in wanted:
        history = histories[asset]
        being_made = (one.partitions for one in history.underway if one.attempt.run_id in live)
        still = left[asset] - _judged(history, backfill)
        for days in being_made:
            still -= days
        verdicts = {key: gate.judge(graph.nodes[asset], key) for key in keys_of(still)}
        found[asset] = {key: verdict for key, verdict in verdicts.items() if isinstance(verdict, Blocked)}
    return {asset: blocked for asset, blocked in found.items() if blocked}


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

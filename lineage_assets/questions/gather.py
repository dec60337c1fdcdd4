"""Reads what a question needs, level by level up the records, a query an asset and level. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.gate import reads_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.ledger.seen import Seen, Tried, Unanswered
from lineage_assets.partitions import keys_of
from lineage_assets.questions.known import AttemptKey, Log, Verdict, newest, verdicts

_MOST_ATTEMPTS = 200
"""Attempts that are looked up for one answer: the sources of what is nearest."""
_MOST_BACKFILLS = 20


class Logs(Protocol):
    """Where logs come from: the event log, or a test."""

    def of(self, asset: AssetKey, partitions: Sequence[str]) -> Mapping[str, Log]: ...

    def attempt_at(self, asset: AssetKey, verdict: Seen) -> Tried | None: ...

    def unanswered(self, asset: AssetKey, partition: str, log: Log) -> tuple[Unanswered, ...]: ...

    def reason_of(self, backfill: str) -> str | None: ...


class NoLogs:
    """Of a project whose Dagster instance was never made: nothing."""

    def of(self, asset: AssetKey, partitions: Sequence[str]) -> Mapping[str, Log]:  # noqa: ARG002 - the protocol's
        return dict.fromkeys(partitions, ())

    def attempt_at(self, asset: AssetKey, verdict: Seen) -> Tried | None:  # noqa: ARG002
        return None

    def unanswered(self, asset: AssetKey, partition: str, log: Log) -> tuple[Unanswered, ...]:  # noqa: ARG002
        return ()

    def reason_of(self, backfill: str) -> str | None:  # noqa: ARG002
        return None


def read_logs(logs: Logs, refs: Iterable[PartitionRef]) -> dict[PartitionRef, Log]:
    """The logs of these partitions, a query an asset."""
    by_asset: dict[AssetKey, list[str]] = {}
    for ref in sorted(set(refs)):
        by_asset.setdefault(ref.asset, []).append(ref.partition)
    return {
        PartitionRef(asset, partition): log
        for asset, partitions in by_asset.items()
        for partition, log in logs.of(asset, partitions).items()
    }


def read_upstream(
    graph: AssetGraph, logs: Logs, start: Iterable[PartitionRef], depth: int
) -> tuple[dict[PartitionRef, Log], bool]:
    """The logs of partitions and of all they read, `depth` levels up; and whether there is more above."""
    wanted = set(start)
    declared = frozenset(wanted)
    found: dict[PartitionRef, Log] = {}
    for _ in range(depth + 1):
        found |= read_logs(logs, wanted)
        near = (_above(graph, ref, found[ref], is_asked=ref in declared) for ref in wanted)
        wanted = {ref for refs in near for ref in refs} - found.keys()
        if not wanted:
            return found, False
    return found, True


def _above(graph: AssetGraph, ref: PartitionRef, log: Log, *, is_asked: bool) -> Iterator[PartitionRef]:
    """What a partition was made from by its records; and by declaration, where the gate would have to judge."""
    for verdict in verdicts(log):
        read = (PartitionRef(asset, key) for asset, days in verdict.record.inputs.items() for key in days)
        yield from (one for one in (*read, *verdict.record.blocked_by) if one.asset in graph.nodes)
    last = newest(log)
    node = graph.nodes.get(ref.asset)
    if node is not None and (is_asked or last is None or last.record.state.is_bad):
        for asset, days in reads_of(graph, node, ref.partition).items():
            if asset in graph.nodes:
                yield from (PartitionRef(asset, key) for key in keys_of(days))


def read_attempts(logs: Logs, wanted: Iterable[Verdict]) -> dict[AttemptKey, Tried]:
    """The attempts behind verdicts; one lookup serves all verdicts of an attempt."""
    found: dict[AttemptKey, Tried | None] = {}
    for verdict in wanted:
        if len(found) == _MOST_ATTEMPTS:
            break
        if verdict.attempt not in found:
            found[verdict.attempt] = logs.attempt_at(verdict.record.asset, verdict.seen)
    return {key: tried for key, tried in found.items() if tried is not None}


def read_reasons(logs: Logs, wanted: Iterable[Verdict]) -> dict[str, str]:
    """Why the backfills that verdicts name were asked for; where none is named, nothing is read."""
    named = {one.record.backfill for one in wanted if one.record.backfill is not None}
    said = {backfill: logs.reason_of(backfill) for backfill in sorted(named)[:_MOST_BACKFILLS]}
    return {backfill: reason for backfill, reason in said.items() if reason}


def first_recorded(logs: Logs, refs: Iterable[PartitionRef]) -> datetime | None:
    """When the first thing was recorded of any of these partitions."""
    return min((log[0].at for log in read_logs(logs, refs).values() if log), default=None)

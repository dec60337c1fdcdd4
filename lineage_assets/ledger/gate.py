"""The gate: whether a partition may be computed from what its inputs are now.

Pure: folds the records of the asset's whole upstream, asks neither Dagster's status pages nor Marquez.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lineage_assets.graph import AssetGraph, AssetKey, AssetNode, name_of
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef, State
from lineage_assets.partitions import PartitionSet, keys_of, parse_day

_NO_HISTORY = History()


@dataclass(frozen=True, slots=True)
class Go:
    """Every input partition may be read."""

    versions: Mapping[AssetKey, Mapping[str, str | None]]
    """Per input the partitions to read and their data versions.

    Of an input that is not ours it is the snapshot of its whole table, or None where that cannot be told.
    """
    snapshots: Mapping[AssetKey, Mapping[str, int]]
    """Per input the partitions to read and the table snapshots that hold them, where the record names one."""
    rows: Mapping[AssetKey, Mapping[str, int]] = field(default_factory=dict)
    """Per input the rows of the partitions to read, where the record has them."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A live run, or the same backfill, is making an input partition: waiting is not failing."""

    refs: tuple[PartitionRef, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """An input partition is bad; the refs are where the badness began."""

    cause: Cause
    refs: tuple[PartitionRef, ...]


Verdict = Go | Wait | Blocked


@dataclass(frozen=True)
class Gate:
    """What the verdicts are made from, read once for all partitions of a run."""

    graph: AssetGraph
    histories: Mapping[AssetKey, History]
    """Of every asset upstream, near and far."""
    live_runs: frozenset[str] = frozenset()
    """Runs that are going on; the run that asks is not among them."""
    pending: Mapping[AssetKey, PartitionSet] = field(default_factory=dict)
    """What the same backfill targets and has not given a verdict on yet."""
    others: Mapping[AssetKey, int] = field(default_factory=dict)
    """Current snapshots of inputs that are not ours, where they can be told."""

    def judge(self, node: AssetNode, partition: str) -> Verdict:
        """The verdict on one partition of an asset, over all that it would read."""
        waits: set[PartitionRef] = set()
        bad: dict[PartitionRef, str] = {}
        versions: dict[AssetKey, dict[str, str | None]] = {}
        snapshots: dict[AssetKey, dict[str, int]] = {}
        rows: dict[AssetKey, dict[str, int]] = {}
        for asset, read in reads_of(self.graph, node, partition).items():
            versions[asset], snapshots[asset] = {}, {}
            for ref in (PartitionRef(asset, key) for key in keys_of(read)):
                if self._is_coming(ref):
                    waits.add(ref)
                bad.update(self._badness(ref))
                published = self._history(asset).published.get(ref.partition)
                versions[asset][ref.partition] = None if published is None else published.fingerprint
                if published is not None and published.snapshot is not None:
                    snapshots[asset][ref.partition] = published.snapshot
                if published is not None and published.rows is not None:
                    rows.setdefault(asset, {})[ref.partition] = published.rows
                if asset in self.others:
                    snapshots[asset][ref.partition] = self.others[asset]
                    versions[asset][ref.partition] = str(self.others[asset])
        if waits:
            return Wait(tuple(sorted(waits)))
        if bad:
            return Blocked(_cause(bad), tuple(sorted(bad)))
        return Go(versions, snapshots, rows)

    def _history(self, asset: AssetKey) -> History:
        return self.histories.get(asset, _NO_HISTORY)

    def _is_coming(self, ref: PartitionRef) -> bool:
        day = parse_day(ref.partition).toordinal()
        if day in self.pending.get(ref.asset, PartitionSet()):
            return True
        underway = self._history(ref.asset).underway
        return any(one.attempt.run_id in self.live_runs and day in one.partitions for one in underway)

    def _badness(self, ref: PartitionRef) -> Mapping[PartitionRef, str]:
        """Where the badness of an input partition began, and what it is; empty when it may be read."""
        if ref.asset not in self.graph.nodes:
            return {}
        return self._unknown(ref) or self._bad.get(ref, {})

    def _unknown(self, ref: PartitionRef) -> Mapping[PartitionRef, str]:
        history = self._history(ref.asset)
        if ref.partition in history.unrecorded:
            return {ref: "not adopted"}
        return {} if ref.partition in history.verdicts else {ref: "missing"}

    @cached_property
    def _bad(self) -> Mapping[PartitionRef, Mapping[PartitionRef, str]]:
        """Every partition that is bad by now, with where that began.

        Assets in graph order and their days in order: what a record read was judged before it, a self-dependent
        asset's yesterday included.
        """
        found: dict[PartitionRef, Mapping[PartitionRef, str]] = {}
        for asset in self.graph.order:
            for partition, record in sorted(self._history(asset).verdicts.items()):
                ref = PartitionRef(asset, partition)
                roots = self._roots(ref, record, found)
                if roots:
                    found[ref] = roots
        return found

    def _roots(
        self, ref: PartitionRef, record: PartitionRecord, bad: Mapping[PartitionRef, Mapping[PartitionRef, str]]
    ) -> Mapping[PartitionRef, str]:
        if not record.state.is_bad:
            read = (PartitionRef(asset, key) for asset, versions in record.inputs.items() for key in versions)
            return {root: kind for one in read for root, kind in bad.get(one, {}).items()}
        # A block whose reason was mended since is still a block: nobody has computed the partition.
        reasons = (self._unknown(one) or bad.get(one, {}) for one in record.blocked_by)
        still = {root: kind for one in reasons for root, kind in one.items()}
        return still or {ref: "blocked" if record.state is State.BLOCKED else _kind(record)}


def _kind(record: PartitionRecord) -> str:
    return "failed" if record.cause is None else record.cause.kind


def _cause(bad: Mapping[PartitionRef, str]) -> Cause:
    """`orders 2021-06-04 (schema change), 2021-06-05 (missing)`: what blocks, by asset."""
    by_asset: dict[AssetKey, list[str]] = {}
    for ref, kind in sorted(bad.items()):
        by_asset.setdefault(ref.asset, []).append(f"{ref.partition} ({kind})")
    named = "; ".join(f"{name_of(asset)} {', '.join(days)}" for asset, days in by_asset.items())
    return Cause("upstream", f"reads what is bad: {named}")


def reads_of(graph: AssetGraph, node: AssetNode, partition: str) -> dict[AssetKey, PartitionSet]:
    """What a partition reads of each input: through the window, clipped to the input's partitions."""
    day = PartitionSet.of([parse_day(partition).toordinal()])
    found: dict[AssetKey, PartitionSet] = {}
    for read in node.inputs:
        wanted = read.window.reads(day)
        owned = graph.nodes.get(read.asset)
        found[read.asset] = wanted if owned is None else owned.partitions.clip(wanted)
    return found

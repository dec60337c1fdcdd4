"""What was read to answer a question: the logs of some partitions, and what follows from each on its own.

Pure values. The latest in a log wins, as in the fold of a whole history; knows no storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.fold import History, Logged, fold_history
from lineage_assets.ledger.gate import Gate
from lineage_assets.ledger.record import PartitionRecord, PartitionRef, State
from lineage_assets.ledger.scene import SourceCode, parse_scene
from lineage_assets.ledger.seen import Seen, Tried

Log = Sequence[Seen]
"""All that is logged of one partition, in the order of the log."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A record in its place in the log."""

    seen: Seen
    record: PartitionRecord

    @property
    def ref(self) -> PartitionRef:
        return PartitionRef(self.record.asset, self.record.partition)

    @property
    def attempt(self) -> AttemptKey:
        return self.record.asset, self.record.run_id, self.record.number, self.record.state is State.BLOCKED


AttemptKey = tuple[AssetKey, str, int, bool]
"""Asset, run and number; and whether it was looked for from a block, which shows less of what else was blocked."""


@dataclass(frozen=True)
class Known:
    """The part of the ledger that a question is about."""

    graph: AssetGraph
    at: datetime
    """The time the question is asked of."""
    logs: Mapping[PartitionRef, Log] = field(default_factory=dict)
    tried: Mapping[AttemptKey, Tried] = field(default_factory=dict)
    code_now: Mapping[AssetKey, str] = field(default_factory=dict)
    """The code versions of the code location; empty where the question is asked of the past."""
    is_past: bool = False
    """Asked of a time before now: what is done today mends nothing of it."""
    began: datetime | None = None
    """When the first was recorded of what is asked about, where that was after the time asked of."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why backfills were asked for, in the words of who asked."""

    def log(self, ref: PartitionRef) -> Log:
        return self.logs.get(ref, ())

    def published(self, ref: PartitionRef) -> Verdict | None:
        return published(self.log(ref))

    def reason(self, record: PartitionRecord) -> str | None:
        """Why the backfill was asked for that a record names."""
        return None if record.backfill is None else self.reasons.get(record.backfill)

    def source(self, verdict: Verdict) -> SourceCode | None:
        """Where the code of an attempt is kept; None where no scene tells."""
        tried = self.tried.get(verdict.attempt)
        return parse_scene(tried.attempt.scene).source if tried is not None and tried.attempt.scene else None

    @cached_property
    def gate(self) -> Gate:
        """The gate as it would judge by what is known here; live runs are not among it."""
        logged: dict[AssetKey, list[Logged]] = {}
        for ref, log in self.logs.items():
            logged.setdefault(ref.asset, []).extend(Logged(one.storage_id, one.fact, ref.partition) for one in log)
        histories: dict[AssetKey, History] = {asset: fold_history(events) for asset, events in logged.items()}
        return Gate(self.graph, histories)


def verdicts(log: Log) -> Iterator[Verdict]:
    for seen in log:
        if isinstance(seen.fact, PartitionRecord):
            yield Verdict(seen, seen.fact)


def newest(log: Log) -> Verdict | None:
    """The newest verdict, whatever it is."""
    return next(reversed(tuple(verdicts(log))), None)


def published(log: Log) -> Verdict | None:
    """The newest verdict that left data: whose data a reader sees."""
    return next((one for one in reversed(tuple(verdicts(log))) if not one.record.state.is_bad), None)


def is_unrecorded(log: Log) -> bool:
    """Whether somebody else's materialization is newer than any verdict of ours."""
    return bool(log) and log[-1].fact is None


def maker(log: Log, verdict: Verdict) -> Verdict:
    """The verdict of the run that computed what this one lets stand; itself where it computed, or nothing is found."""
    record = verdict.record
    if record.state is not State.REUSED or record.made_by is None:
        return verdict
    made = (
        one
        for one in reversed(tuple(verdicts(log)))
        if one.record.state is State.GOOD
        and one.record.run_id == record.made_by
        and one.record.fingerprint == record.fingerprint
        and one.seen.storage_id < verdict.seen.storage_id
    )
    return next(made, verdict)


def of_version(log: Log, version: str | None, before: int) -> Verdict | None:
    """The verdict whose data has this version, as a reader found it that was recorded at `before`."""
    held = [
        one
        for one in verdicts(log)
        if not one.record.state.is_bad and version is not None and one.record.fingerprint == version
    ]
    earlier = [one for one in held if one.seen.storage_id < before]
    found = earlier[-1] if earlier else next(iter(held), None)
    return None if found is None else maker(log, found)

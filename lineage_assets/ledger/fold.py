"""The ledger: the log's facts of one asset folded into what is known of each partition.

Pure: takes facts in the order of the log, asks nobody. The latest in the log wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lineage_assets.ledger.record import Attempt, Closing, Fact, PartitionRecord
from lineage_assets.ledger.unreadable import UnreadableRecordError
from lineage_assets.partitions import PartitionSet, parse_day, set_of


@dataclass(frozen=True, slots=True)
class Logged:
    """One event of the log: its place, and our fact; or a materialization that is none of ours."""

    storage_id: int
    fact: Fact | None
    partition: str | None = None
    unreadable: UnreadableRecordError | None = None
    """Our fact, where it cannot be read: nothing may be judged without it, and the rest can be told."""


@dataclass(frozen=True, slots=True)
class Underway:
    """An attempt and the partitions it has not given a verdict on."""

    attempt: Attempt
    partitions: PartitionSet

    def without(self, partitions: PartitionSet) -> Underway:
        return Underway(self.attempt, self.partitions - partitions)


@dataclass(frozen=True, slots=True)
class History:
    """What the log says of one asset."""

    verdicts: Mapping[str, PartitionRecord] = field(default_factory=dict)
    """The newest verdict on each partition."""
    published: Mapping[str, PartitionRecord] = field(default_factory=dict)
    """The newest good or reused record of each partition: whose data a reader sees."""
    underway: tuple[Underway, ...] = ()
    unrecorded: frozenset[str] = frozenset()
    """Partitions whose newest materialization is not ours: there, but nothing is known of them."""
    newest: int = 0
    """The storage id of the newest event that was folded."""


def fold_history(log: Iterable[Logged]) -> History:
    """The history of one asset; the order in which the events are given does not matter.

    :raises UnreadableRecordError: a fact is there that cannot be read
    """
    verdicts: dict[str, PartitionRecord] = {}
    published: dict[str, PartitionRecord] = {}
    unrecorded: set[str] = set()
    open_attempts: dict[tuple[str, int], Underway] = {}
    newest = 0
    for event in sorted(log, key=lambda event: event.storage_id):
        newest = event.storage_id
        if event.unreadable is not None:
            raise event.unreadable
        match event.fact:
            case Attempt() as attempt:
                open_attempts[attempt.run_id, attempt.number] = Underway(attempt, attempt.partitions)
            case PartitionRecord() as record:
                verdicts[record.partition] = record
                unrecorded.discard(record.partition)
                if not record.state.is_bad:
                    published[record.partition] = record
                _close(open_attempts, record)
            case Closing() as closing:
                left = open_attempts.get((closing.run_id, closing.number))
                if left is not None:
                    open_attempts[closing.run_id, closing.number] = left.without(closing.partitions)
            case None:
                if event.partition is not None:
                    unrecorded.add(event.partition)
    return History(
        verdicts=verdicts,
        published=published,
        underway=tuple(one for one in open_attempts.values() if one.partitions),
        unrecorded=frozenset(unrecorded),
        newest=newest,
    )


def _close(open_attempts: dict[tuple[str, int], Underway], record: PartitionRecord) -> None:
    """A verdict ends every attempt of its run at that partition: a retry speaks for the tries before it."""
    day = PartitionSet.of([parse_day(record.partition).toordinal()])
    for key, underway in open_attempts.items():
        if key[0] == record.run_id:
            open_attempts[key] = underway.without(day)


def built(history: History) -> PartitionSet:
    """The partitions that hold data a reader sees."""
    return set_of({*history.published, *history.unrecorded})

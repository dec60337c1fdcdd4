"""From what was data made: the records walked up from one version, every version once. Pure.

A version of a partition is found by its fingerprint in the partition's own log, also when it was replaced since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from lineage_assets.graph import LineageJob, name_of
from lineage_assets.ledger.record import PartitionRecord, PartitionRef, State
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.partitions import PartitionSet, parse_day
from lineage_assets.questions.known import Known, Verdict, maker, of_version, verdicts


class ReadOf(Enum):
    """What became of looking for an input version."""

    RECORD = "record"
    """A record of ours made it."""
    NOT_OURS = "not ours"
    """Another producer's dataset."""
    NO_RECORD = "no record"
    """The log has no record of this version: made before us, or its events are gone."""
    DEEPER = "deeper"
    """Further up than was asked for."""


@dataclass(frozen=True, slots=True)
class Read:
    """An input partition as a record names it."""

    ref: PartitionRef
    version: str | None
    found: ReadOf
    made: int | None = None
    """The version's place in the trace."""
    now: str | None = None
    """The version that is published now."""

    @property
    def is_superseded(self) -> bool:
        """Whether the partition was published in another version since."""
        return self.version is not None and self.now is not None and self.version != self.now


@dataclass(frozen=True, slots=True)
class Made:
    """One version of a partition's data: the verdict of the run that made it, and what that run read."""

    verdict: Verdict
    reads: tuple[Read, ...]
    verdict_count: int
    """Verdicts on the partition in all; more than one means that it has a history."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All versions that one was made from, itself first, the nearest first; by their place in the log."""

    made: Mapping[int, Made]
    is_cut: bool = False

    def __iter__(self) -> Iterator[Made]:
        return iter(self.made.values())


def trace(known: Known, start: Verdict, depth: int) -> Trace:
    """What a version was made from, `depth` levels up."""
    first = maker(known.log(start.ref), start)
    found: dict[int, Made] = {}
    level = {first.seen.storage_id: first}
    for distance in range(depth + 1):
        above: dict[int, Verdict] = {}
        for place, verdict in level.items():
            held = None if distance < depth else found.keys() | level.keys()
            reads = tuple(_reads(known, verdict, above, held))
            found[place] = Made(verdict, reads, sum(1 for _ in verdicts(known.log(verdict.ref))))
        level = {place: verdict for place, verdict in above.items() if place not in found}
        if not level:
            break
    return Trace(found, any(read.found is ReadOf.DEEPER for one in found.values() for read in one.reads))


def _reads(known: Known, verdict: Verdict, above: dict[int, Verdict], held: Collection[int] | None) -> Iterator[Read]:
    """What a version was made from; on the last level only what the trace holds already is followed."""
    for asset, days in sorted(verdict.record.inputs.items()):
        for partition, version in sorted(days.items()):
            ref = PartitionRef(asset, partition)
            if asset not in known.graph.nodes:
                yield Read(ref, version, ReadOf.NOT_OURS)
                continue
            if held is not None and ref not in known.logs:
                yield Read(ref, version, ReadOf.DEEPER)
                continue
            made = of_version(known.log(ref), version, verdict.seen.storage_id)
            published = known.published(ref)
            now = None if published is None else published.record.fingerprint
            if made is None:
                yield Read(ref, version, ReadOf.NO_RECORD, now=now)
            elif held is not None and made.seen.storage_id not in held:
                yield Read(ref, version, ReadOf.DEEPER, now=now)
            else:
                above[made.seen.storage_id] = made
                yield Read(ref, version, ReadOf.RECORD, made.seen.storage_id, now)


def lineage_run_of(known: Known, verdict: Verdict) -> UUID | None:
    """The lineage run that tells of a verdict; None where the records at hand do not show which it is."""
    job, days = _job_of(known, verdict), _told_together(known, verdict)
    if job is None or days is None:
        return None
    return lineage_run_id(verdict.record.run_id, job, days, verdict.record.number)


def _job_of(known: Known, verdict: Verdict) -> LineageJob | None:
    """The lineage job as the attempt's own scene names it, else as it is declared now."""
    tried, node = known.tried.get(verdict.attempt), known.graph.nodes.get(verdict.record.asset)
    if tried is not None and tried.attempt.scene:
        return parse_scene(tried.attempt.scene).node.job
    return None if node is None else node.job


def _told_together(known: Known, verdict: Verdict) -> PartitionSet | None:
    """The partitions whose lineage run is one with this verdict's."""
    record = verdict.record
    day = parse_day(record.partition).toordinal()
    alone = PartitionSet.of([day])
    tried = known.tried.get(verdict.attempt)
    if record.state is State.BLOCKED:
        # Equal blocks of contiguous days are one run, and a block that repeats the one before it is not told again.
        is_one = tried is not None and len(tried.attempt.partitions) == 1 and not record.is_repeated
        return alone if is_one else None
    if not record.range_run or record.state is State.FAILED:
        return alone
    if tried is None:
        return None
    ranges = (tried.attempt.partitions - tried.blocked).ranges
    return next((PartitionSet((one,)) for one in ranges if one[0] <= day <= one[1]), None)


def version_id(record: PartitionRecord) -> str:
    """A version by name, the same in every answer: `orders/2021-06-04@RUN/1`."""
    return f"{name_of(record.asset)}/{record.partition}@{record.run_id}/{record.number}"

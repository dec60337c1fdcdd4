"""What partitions reached: who read them, in which version, and how that stands now. Pure.

By records where there are any, by declared windows where a partition was never made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.gate import reads_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.partitions import PartitionSet, keys_of
from lineage_assets.questions.commands import after_impact
from lineage_assets.questions.known import Known, Verdict, is_unrecorded, newest, published, verdicts
from lineage_assets.questions.standing import Root, blocking_roots, root_at


class Effect(Enum):
    """How a reader stands; the values are what people and JSON read. The first that holds, in this order."""

    BAD = "bad"
    """Its newest verdict is bad."""
    NEVER_MADE = "never made"
    """It would read them by its declaration, and there is no verdict on it."""
    NOT_ADOPTED = "not adopted"
    WOULD_BE_BLOCKED = "would be blocked"
    """It is there; made again now, it would be blocked by what it reads of them."""
    STALE = "stale"
    """It read another version than the one that is published now, or did not read what it would read now."""
    READS_STALE = "reads what is stale"
    CURRENT = "current"


_MENDED = (Effect.BAD, Effect.STALE, Effect.READS_STALE, Effect.WOULD_BE_BLOCKED)


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A partition among those asked about, or reached, and the version of it that was read."""

    ref: PartitionRef
    version: str | None
    now: str | None
    """The version published now."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A partition that reads what was asked about, directly or through others."""

    ref: PartitionRef
    effect: Effect
    distance: int
    """1: it reads them itself."""
    consumed: Verdict | None
    """The verdict whose data it shows; None where there is none."""
    reads: tuple[ReadVersion, ...]
    """What that read of what was asked about or reached."""
    newest: Verdict | None
    earlier: tuple[Verdict, ...]
    """Verdicts before, whose data it showed, that read some of it too."""


@dataclass(frozen=True, slots=True)
class Impact:
    known: Known
    asset: AssetKey
    partitions: PartitionSet
    readers: tuple[Reader, ...]
    """In the order in which they are made."""
    roots: tuple[Root, ...]
    """Where the badness began that keeps readers of them from being made; themselves, where they are bad."""

    @property
    def commands(self) -> tuple[str, ...]:
        is_to_mend = any(reader.effect in _MENDED for reader in self.readers)
        return after_impact(self.known, self.asset, self.partitions, self.roots, is_to_mend=is_to_mend)


Reached = Mapping[AssetKey, PartitionSet]


def reached_by(graph: AssetGraph, asset: AssetKey, partitions: PartitionSet, at: datetime) -> Reached:
    """All that reads the partitions by declaration, near and far, themselves included; of days that exist."""
    found = {asset: partitions}
    for key in graph.order:
        node = graph.nodes[key]
        read = [one.window.affects(found[one.asset]) for one in node.inputs if one.asset in found]
        if read and key != asset:
            days = PartitionSet.of_ranges(each for one in read for each in one.ranges)
            reached = days & node.partitions.existing(at)
            if reached:
                found[key] = reached
    return found


def refs_of(reached: Reached) -> Iterator[PartitionRef]:
    for asset, days in reached.items():
        yield from (PartitionRef(asset, key) for key in keys_of(days))


def impact(known: Known, asset: AssetKey, partitions: PartitionSet) -> Impact:
    """Who read these partitions; `known` has the logs of all that is reached, and of what these were made from."""
    reached = reached_by(known.graph, asset, partitions, known.at)
    began = {ref: blocking_roots(known, ref) for ref in refs_of({asset: partitions})}
    bad = {ref for ref, roots in began.items() if roots}
    distance = {asset: 0}
    stale: set[PartitionRef] = set()
    readers: list[Reader] = []
    for key in known.graph.order:
        if key == asset or key not in reached:
            continue
        node = known.graph.nodes[key]
        distance[key] = 1 + min(distance[read.asset] for read in node.inputs if read.asset in distance)
        for day in keys_of(reached[key]):
            ref = PartitionRef(key, day)
            near = _declared(known, reached, ref)
            reader = _reader(known, ref, near, distance[key], would_block=any(one in bad for one in near))
            if reader.effect is Effect.CURRENT and any(one.ref in stale for one in reader.reads):
                reader = replace(reader, effect=Effect.READS_STALE)
            if reader.effect in (Effect.STALE, Effect.READS_STALE):
                stale.add(ref)
            if reader.effect in (Effect.BAD, Effect.NEVER_MADE, Effect.NOT_ADOPTED) or _read_bad(reader, bad):
                bad.add(ref)
            readers.append(reader)
    roots = sorted({root for roots in began.values() for root in roots})
    return Impact(known, asset, partitions, tuple(readers), tuple(root_at(known, root) for root in roots))


def _declared(known: Known, reached: Reached, ref: PartitionRef) -> tuple[PartitionRef, ...]:
    near = reads_of(known.graph, known.graph.nodes[ref.asset], ref.partition)
    return tuple(refs_of({asset: days & reached[asset] for asset, days in near.items() if asset in reached}))


def _read_bad(reader: Reader, bad: set[PartitionRef]) -> bool:
    return any(one.ref in bad for one in reader.reads)


def _reader(
    known: Known, ref: PartitionRef, near: Sequence[PartitionRef], distance: int, *, would_block: bool
) -> Reader:
    log = known.log(ref)
    last, shown = newest(log), published(log)
    reads = () if shown is None else tuple(_read(known, shown, near))
    if is_unrecorded(log):
        effect = Effect.NOT_ADOPTED
    elif last is None:
        effect = Effect.NEVER_MADE
    elif last.record.state.is_bad:
        effect = Effect.BAD
    elif would_block:
        effect = Effect.WOULD_BE_BLOCKED
    else:
        is_stale = len(reads) < len(near) or any(one.version != one.now for one in reads)
        effect = Effect.STALE if is_stale else Effect.CURRENT
    earlier = (
        one for one in verdicts(log) if one != shown and not one.record.state.is_bad and any(_read(known, one, near))
    )
    return Reader(ref, effect, distance, shown, reads, last, tuple(earlier))


def _read(known: Known, verdict: Verdict, near: Sequence[PartitionRef]) -> Iterator[ReadVersion]:
    """What a verdict's data was made from, of these partitions."""
    for ref in near:
        days = verdict.record.inputs.get(ref.asset, {})
        if ref.partition in days:
            now = known.published(ref)
            yield ReadVersion(ref, days[ref.partition], None if now is None else now.record.fingerprint)

"""What the records of one lineage run come to: how it ended, and why.

Pure; knows no event and no dataset.
"""

from __future__ import annotations

from collections.abc import Sequence

from lineage_assets.graph import name_of
from lineage_assets.ledger.record import Cause, PartitionRecord, State
from lineage_assets.lineage.turns import Block, Mistake, TurnType
from lineage_assets.partitions import PartitionSet, ranges_text, set_of

_NO_CAUSE = Cause("unknown", "no cause was recorded")
_MOST_CAUSES = 10


def turn_type(records: Sequence[PartitionRecord]) -> TurnType:
    """How a run ended that these records speak of: as its worst output did."""
    states = {record.state for record in records}
    if State.FAILED in states:
        return TurnType.FAIL
    return TurnType.ABORT if State.BLOCKED in states else TurnType.COMPLETE


def mistake_of(records: Sequence[PartitionRecord]) -> Mistake:
    """What failed, a cause once with the partitions it hit; the assets are named where there are several."""
    hit: dict[str, list[str]] = {}
    several = len({record.asset for record in records}) > 1
    for record in records:
        if record.state is State.FAILED:
            cause = record.cause if record.cause is not None else _NO_CAUSE
            asset = f"{name_of(record.asset)}: " if several else ""
            hit.setdefault(f"{asset}{cause.kind}: {cause.message}", []).append(record.partition)
    days = set_of(record.partition for record in records)
    told = [text if len(days) == 1 else f"{ranges_text(set_of(on))}: {text}" for text, on in hit.items()]
    left = len(told) - _MOST_CAUSES
    return Mistake("; ".join([*told[:_MOST_CAUSES], *([f"and {left} more causes"] if left > 0 else [])]))


def block_of(records: Sequence[PartitionRecord]) -> Block:
    """The block of these records: the first cause, and all partitions in which the badness began."""
    blocked = [record for record in records if record.state is State.BLOCKED]
    cause = next((record.cause for record in blocked if record.cause is not None), _NO_CAUSE)
    return Block(cause, tuple(sorted({ref for record in blocked for ref in record.blocked_by})))


def published(records: Sequence[PartitionRecord]) -> PartitionSet:
    """The partitions whose data a reader sees, made by the run or left standing."""
    return set_of(record.partition for record in records if not record.state.is_bad)


def is_same_block(record: PartitionRecord, before: PartitionRecord | None) -> bool:
    """Whether a record says only again what the verdict before it said: the same block."""
    if before is None or State.BLOCKED is not record.state or State.BLOCKED is not before.state:
        return False
    return block_of([before]) == block_of([record])

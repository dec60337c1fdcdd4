"""What a person is told when a backfill has ended and something is not there: what, why, and the command that mends it.

Pure; from the records that the runs left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.impact import NOTHING
from lineage_assets.backfill.tally import Tally
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRecord, PartitionRef, State
from lineage_assets.partitions import PartitionSet, key_of, ranges_text, set_of

_NAMED = 20
"""Lines of each kind; the rest are counted."""


def ending_lines(tally: Tally, records: Iterable[PartitionRecord]) -> Iterator[str]:
    """Nothing when all is there; else what is bad by cause, what was not run, and what to do."""
    bad = [record for record in records if record.state.is_bad]
    yield from _capped([f"failed   {line}" for line in _failed(bad)])
    for word, sets in (("blocked", tally.of(State.BLOCKED)), ("not run", tally.not_run)):
        yield from _capped([f"{word}  {name_of(asset)} {ranges_text(days)}" for asset, days in sorted(sets.items())])
    commands = [ask.command for ask in asks_that_mend(bad)]
    if tally.is_cancelled or (tally.not_run and not commands):
        yield "To run what is left, give the same command again."
    elif len(commands) == 1:
        yield f"When the cause is gone: {commands[0]}"
    elif commands:
        yield "When the causes are gone:"
        yield from (f"  {command}" for command in commands)


def asks_that_mend(bad: Iterable[PartitionRecord]) -> Iterator[Ask]:
    """A backfill from each asset in which badness began, inside this backfill or above it."""
    records = {PartitionRef(record.asset, record.partition): record for record in bad}
    roots: dict[AssetKey, PartitionSet] = {}
    for ref in _origins(records):
        roots[ref.asset] = roots.get(ref.asset, NOTHING) | set_of([ref.partition])
    for asset, days in sorted(roots.items()):
        yield Ask(name_of(asset), key_of(days.ranges[0][0]), key_of(days.ranges[-1][1]))


def _origins(records: Mapping[PartitionRef, PartitionRecord]) -> set[PartitionRef]:
    """What blocks, followed up as far as the records go."""
    origins: set[PartitionRef] = set()
    followed: set[PartitionRef] = set()
    left = list(records)
    while left:
        ref = left.pop()
        record = records.get(ref)
        if record is None or not record.blocked_by:
            origins.add(ref)
        elif ref not in followed:
            followed.add(ref)
            left += record.blocked_by
    return origins


def _failed(bad: Iterable[PartitionRecord]) -> Iterator[str]:
    """One line an asset and cause."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in bad:
        if record.state is State.FAILED:
            why = "no cause on record" if record.cause is None else f"{record.cause.kind}: {record.cause.message}"
            found.setdefault((name_of(record.asset), why), []).append(record.partition)
    for (name, why), days in sorted(found.items(), key=lambda item: (item[0][0], min(item[1]))):
        yield f"{name} {ranges_text(set_of(days))}: {why}"


def _capped(lines: list[str]) -> Iterator[str]:
    yield from lines[:_NAMED]
    if len(lines) > _NAMED:
        yield f"... and {len(lines) - _NAMED} more"

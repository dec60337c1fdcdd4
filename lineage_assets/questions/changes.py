"""What is another in the inputs of a version than in those of the version before it, near and far. Pure.

The first place to look when a number was right yesterday: what came in anew between the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lineage_assets.ledger.record import PartitionRef, State
from lineage_assets.questions.known import Known, Verdict, maker, of_version, verdicts


@dataclass(frozen=True, slots=True)
class Change:
    """A partition in two versions, of which the later was made from the earlier's successor."""

    before: Verdict
    after: Verdict
    distance: int

    @property
    def ref(self) -> PartitionRef:
        return self.after.ref

    @property
    def factor(self) -> float:
        """How many times more or fewer rows; 1 where that is not known."""
        before, after = self.before.record.rows, self.after.record.rows
        if before is None or after is None:
            return 1.0
        return (max(before, after) + 1) / (min(before, after) + 1)

    @property
    def rows(self) -> str:
        before, after = self.before.record.rows, self.after.record.rows
        if before is None or after is None:
            return "of rows that were not counted"
        if before == after:
            return f"{rows_text(after)} as in the version before"
        return f"{rows_text(after)}, {before:,} in the version before"

    @property
    def reason(self) -> str:
        return f"published again between this version and the one before it: {self.rows}"


def rows_text(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def changed_inputs(known: Known, verdict: Verdict) -> tuple[Change, ...]:
    """What changed in what a version was made from; first where rows came or went, and where it began."""
    start = own_change(known, verdict)
    if start is None:
        return ()
    found: dict[PartitionRef, Change] = {}
    level = [start]
    while level:
        above = [one for change in level for one in _inputs_of(known, change)]
        level = [one for one in {each.ref: each for each in above}.values() if one.ref not in found]
        found |= {one.ref: one for one in level}
    return tuple(sorted(found.values(), key=lambda one: (-one.factor, -one.distance, one.ref)))


def own_change(known: Known, verdict: Verdict) -> Change | None:
    """A version and the one that was published before it; None where it is the first."""
    log = known.log(verdict.ref)
    made = maker(log, verdict)
    earlier = [
        one
        for one in verdicts(log)
        if one.record.state is State.GOOD
        and one.seen.storage_id < made.seen.storage_id
        and one.record.fingerprint != made.record.fingerprint
    ]
    return Change(earlier[-1], made, 0) if earlier else None


def _inputs_of(known: Known, change: Change) -> Iterator[Change]:
    for asset, days in change.after.record.inputs.items():
        was = change.before.record.inputs.get(asset, {})
        for day, version in days.items():
            if day not in was or version == was[day]:
                continue
            log = known.log(PartitionRef(asset, day))
            before = of_version(log, was[day], change.before.seen.storage_id)
            after = of_version(log, version, change.after.seen.storage_id)
            if before is not None and after is not None:
                yield Change(before, after, change.distance + 1)

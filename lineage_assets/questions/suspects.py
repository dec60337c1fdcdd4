"""Which input versions an on-call engineer should look at first. Pure; hints, on which nothing is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.record import PartitionRef, State
from lineage_assets.questions.changes import changed_inputs, own_change, rows_text
from lineage_assets.questions.known import Known, is_unrecorded, newest, verdicts
from lineage_assets.questions.trace import Made, Read, Trace

_ENOUGH_TO_COMPARE = 3
_FAR = 2.0
"""Times the median: what holds that many more or fewer rows than its like is odd."""
_TOLD = 1.5
"""Times the rows of the version before: late rows that come in later are fewer."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """An input partition, and what is odd about it."""

    ref: PartitionRef
    reason: str
    is_weak: bool = False
    """It says nothing on its own: many that are as they should be have it too."""


def suspects(known: Known, found: Trace) -> tuple[Suspect, ...]:
    """What is odd among all that a version was made from, the most telling first, each partition once."""
    first, *above = found
    moved = changed_inputs(known, first.verdict)
    again = {change.ref for change in moved}
    kinds = (
        _superseded(known, found),
        (Suspect(change.ref, change.reason) for change in moved),
        _bad_now(known, above),
        _other_rows(known, (made for made in above if made.verdict.ref not in again)),
        _odd_rows(above),
        _noted([first, *above]),
        _failed_before(known, above),
    )
    told: dict[PartitionRef, list[Suspect]] = {}
    for kind in kinds:
        for one in kind:
            told.setdefault(one.ref, []).append(one)
    return tuple(
        Suspect(ref, "; ".join(one.reason for one in said), all(one.is_weak for one in said))
        for ref, said in told.items()
    )


def _superseded(known: Known, found: Trace) -> Iterator[Suspect]:
    read: dict[PartitionRef, Read] = {read.ref: read for made in found for read in made.reads if read.is_superseded}
    for ref in sorted(read):
        published = known.published(ref)
        if published is not None:
            when = f"{published.seen.at:%Y-%m-%d %H:%M}"
            yield Suspect(ref, f"read in a version that was replaced on {when} by run {published.record.run_id[:8]}")


def _bad_now(known: Known, above: list[Made]) -> Iterator[Suspect]:
    for made in above:
        last = newest(known.log(made.verdict.ref))
        if is_unrecorded(known.log(made.verdict.ref)):
            yield Suspect(made.verdict.ref, "made again since, without a record of ours")
        elif last is not None and last.record.state.is_bad:
            why = "" if last.record.cause is None else f": {last.record.cause.kind}"
            yield Suspect(made.verdict.ref, f"{last.record.state.value} since{why}")


def _other_rows(known: Known, above: Iterable[Made]) -> Iterator[Suspect]:
    for made in above:
        change = own_change(known, made.verdict)
        if change is not None and change.factor >= _TOLD:
            yield Suspect(change.ref, change.rows)


def _odd_rows(above: list[Made]) -> Iterator[Suspect]:
    by_asset: dict[AssetKey, list[Made]] = {}
    for made in above:
        by_asset.setdefault(made.verdict.record.asset, []).append(made)
    for alike in by_asset.values():
        counted = [(made, made.verdict.record.rows) for made in alike]
        rows = [number for _, number in counted if number is not None]
        if len(rows) < _ENOUGH_TO_COMPARE:
            continue
        middle = median(rows)
        for made, number in counted:
            if number is not None and (number * _FAR < middle or number > middle * _FAR):
                yield Suspect(
                    made.verdict.ref, f"{rows_text(number)}, where half of the others have {middle:,.0f} or more"
                )


def _noted(all_made: list[Made]) -> Iterator[Suspect]:
    for made in all_made:
        record = made.verdict.record
        for said in (*record.drift, *([] if record.warning is None else [record.warning])):
            yield Suspect(made.verdict.ref, said)


def _failed_before(known: Known, above: list[Made]) -> Iterator[Suspect]:
    for made in above:
        ref, place = made.verdict.ref, made.verdict.seen.storage_id
        earlier = (one.record for one in verdicts(known.log(ref)) if one.seen.storage_id < place)
        kinds = sorted({one.cause.kind for one in earlier if one.state is State.FAILED and one.cause is not None})
        if kinds:
            yield Suspect(ref, f"failed before it was good: {', '.join(kinds)}", is_weak=True)

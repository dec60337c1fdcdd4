"""Why a partition is as it is: what made its data, from what; or why it is not there, and what mends it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.partitions import keys_of, set_of
from lineage_assets.questions.known import Known, Verdict, is_unrecorded, newest, published
from lineage_assets.questions.standing import (
    Difference,
    Quarantine,
    Root,
    Standing,
    differences,
    quarantine_of,
    roots_of,
    standing_of,
)
from lineage_assets.questions.suspects import Suspect, suspects
from lineage_assets.questions.trace import Trace, trace


@dataclass(frozen=True, slots=True)
class Why:
    """The answer."""

    known: Known
    ref: PartitionRef
    standing: Standing
    verdict: Verdict | None
    """The newest one."""
    confirmed: Verdict | None
    """The newest verdict that left data, where it let older data stand."""
    data: Trace
    """What a reader of the table sees, and what that was made from; empty where nothing of ours is published."""
    roots: tuple[Root, ...]
    runs: tuple[Unanswered, ...]
    """That were to make it and gave no verdict: going on, cancelled, dead."""
    differences: tuple[Difference, ...]
    suspects: tuple[Suspect, ...]
    commands: tuple[str, ...]
    """What mends it, or where to look next."""
    is_cut: bool
    """More lies further up than was looked at."""

    @property
    def quarantine(self) -> Quarantine | None:
        return None if self.verdict is None else quarantine_of(self.verdict.record)


def data_of(known: Known, ref: PartitionRef, depth: int) -> Trace:
    """What a reader of the partition sees, and what that was made from."""
    log = known.log(ref)
    start = published(log)
    return Trace({}) if start is None or is_unrecorded(log) else trace(known, start, depth)


def why(known: Known, ref: PartitionRef, data: Trace, runs: Sequence[Unanswered], *, is_cut: bool) -> Why:
    """Put together what is known of a partition."""
    standing = standing_of(known, ref, runs)
    log = known.log(ref)
    last, seen = newest(log), published(log)
    roots = roots_of(known, ref)
    stands = tuple(data)
    confirmed = seen if stands and seen is not None and stands[0].verdict != seen else None
    odd = suspects(known, data) if stands else ()
    return Why(
        known=known,
        ref=ref,
        standing=standing,
        verdict=last,
        confirmed=confirmed,
        data=data,
        roots=roots,
        runs=tuple(runs),
        differences=differences(known, seen) if standing.is_there and seen is not None else (),
        suspects=odd,
        # A run that makes it gives the next verdict; there is nothing to ask for before that.
        commands=() if any(run.is_live for run in runs) else tuple(_commands(standing, ref, roots, odd)),
        is_cut=is_cut or data.is_cut,
    )


def _commands(standing: Standing, ref: PartitionRef, roots: Sequence[Root], odd: Sequence[Suspect]) -> Iterator[str]:
    """The next command, or few: badness is mended where it began, and that reaches all downstream of it."""
    if standing is Standing.NOT_ADOPTED:
        yield _over_days("adopt", [ref])
    elif standing is Standing.GOOD:
        yield from (_about("history", one.ref) for one in odd[:1])
    elif roots:
        yield from _mending(roots)
    else:
        yield _over_days("backfill", [ref])


def _mending(roots: Iterable[Root]) -> Iterator[str]:
    by_asset: dict[tuple[str, AssetKey], list[PartitionRef]] = {}
    for root in roots:
        command = "adopt" if root.state == "not adopted" else "backfill"
        by_asset.setdefault((command, root.ref.asset), []).append(root.ref)
    for (command, _), refs in sorted(by_asset.items()):
        yield _over_days(command, refs)


def _over_days(command: str, refs: Sequence[PartitionRef]) -> str:
    days = keys_of(set_of(ref.partition for ref in refs))
    return f"lineage-assets {command} {name_of(refs[0].asset)} --from {days[0]} --to {days[-1]}"


def _about(command: str, ref: PartitionRef) -> str:
    return f"lineage-assets {command} {name_of(ref.asset)} {ref.partition}"

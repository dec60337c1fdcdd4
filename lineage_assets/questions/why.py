"""Why a partition is as it is: what made its data, from what; or why it is not there, and what mends it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lineage_assets.ledger.record import PartitionRef
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.questions.commands import after_why, to_look_at
from lineage_assets.questions.known import Known, Verdict, is_unrecorded, newest, published
from lineage_assets.questions.standing import (
    Difference,
    Quarantine,
    Root,
    Standing,
    differences,
    quarantine_of,
    roots_of,
    stale_above,
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
    stale: tuple[PartitionRef, ...]
    """What it was made from, near and far, that is stale."""
    suspects: tuple[Suspect, ...]
    is_cut: bool
    """More lies further up than was looked at."""

    @property
    def commands(self) -> tuple[str, ...]:
        """What mends it, or where to look next."""
        # A run that makes it gives the next verdict; there is nothing to ask for before that.
        if any(run.is_live for run in self.runs):
            return ()
        mends = after_why(self.known, self.ref, self.standing, self.roots, self.stale)
        return mends or to_look_at(self.ref, self.suspects)

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
    stale = stale_above(known, seen) if standing.is_there and seen is not None else ()
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
        stale=tuple(one.ref for one in stale),
        suspects=suspects(known, data) if stands else (),
        is_cut=is_cut or data.is_cut,
    )

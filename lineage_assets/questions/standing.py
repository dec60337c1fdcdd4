"""How one partition stands, and where the trouble began when it is not as it should be. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from lineage_assets.graph import AssetNode, Input
from lineage_assets.ledger.gate import Blocked, reads_of
from lineage_assets.ledger.record import Cause, PartitionRecord, PartitionRef, State
from lineage_assets.ledger.seen import Unanswered
from lineage_assets.partitions import keys_of
from lineage_assets.questions.known import Known, Verdict, is_unrecorded, newest


class Standing(Enum):
    """How a partition stands; the values are what people and JSON read."""

    GOOD = "good"
    STALE = "stale"
    """Good, and its inputs or code have newer versions."""
    READS_STALE = "reads what is stale"
    """Good, and made from the newest of what it reads directly; further up something newer waits."""
    MADE_FROM_BAD = "made from bad"
    """Good by its own record; an input it was made from is bad by now, so what reads it is blocked."""
    FAILED = "failed"
    QUARANTINED = "quarantined"
    """Computed, did not pass its checks, kept on a branch."""
    BLOCKED = "blocked"
    BEING_MADE = "being made"
    NO_VERDICT = "no verdict"
    """A run was to make it and ended without a word on it."""
    NOT_ADOPTED = "not adopted"
    """There, but made without us."""
    NEVER_ASKED_FOR = "never asked for"

    @property
    def is_there(self) -> bool:
        """Whether its newest verdict left data."""
        return self in (Standing.GOOD, Standing.STALE, Standing.READS_STALE, Standing.MADE_FROM_BAD)


@dataclass(frozen=True, slots=True)
class Root:
    """Where badness began: a partition upstream, how it stands, and why."""

    ref: PartitionRef
    state: str
    """A state of the record, `missing` or `not adopted`."""
    cause: Cause | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class InputDiffers:
    """An input partition whose version is another now than the one that was read."""

    ref: PartitionRef
    read: str | None
    """None: it was not read at all."""
    now: str | None
    """None: it is not read any more, or not there."""
    run_id: str | None
    """Whose data it is now."""


@dataclass(frozen=True, slots=True)
class CodeDiffers:
    read: str
    now: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Where data that did not pass is kept."""

    branch: str
    table: str


_KEPT = re.compile(r"kept on the branch (\S+) of (\S+?)\.?$")


def quarantine_of(record: PartitionRecord) -> Quarantine | None:
    """The branch that a failure names."""
    kept = None if record.cause is None else _KEPT.search(record.cause.message)
    return None if kept is None else Quarantine(kept[1], kept[2])


def standing_of(known: Known, ref: PartitionRef, runs: Sequence[Unanswered]) -> Standing:
    """How it stands; `runs` are those that were to make it and gave no verdict."""
    last = newest(known.log(ref))
    if is_unrecorded(known.log(ref)):
        return Standing.NOT_ADOPTED
    if last is None:
        return _unmade(runs)
    if last.record.state is State.BLOCKED:
        return Standing.BLOCKED
    if last.record.state is State.FAILED:
        return Standing.FAILED if quarantine_of(last.record) is None else Standing.QUARANTINED
    return _standing_of_data(known, last)


def _unmade(runs: Sequence[Unanswered]) -> Standing:
    if any(run.is_live for run in runs):
        return Standing.BEING_MADE
    return Standing.NO_VERDICT if runs else Standing.NEVER_ASKED_FOR


def _standing_of_data(known: Known, last: Verdict) -> Standing:
    if roots_of(known, last.ref):
        return Standing.MADE_FROM_BAD
    if differences(known, last):
        return Standing.STALE
    return Standing.READS_STALE if stale_above(known, last) else Standing.GOOD


def roots_of(known: Known, ref: PartitionRef) -> tuple[Root, ...]:
    """Where the badness began of what a partition was made from or, when it is not there, would be made from."""
    node = known.graph.nodes[ref.asset]
    last = newest(known.log(ref))
    if last is None or last.record.state.is_bad or is_unrecorded(known.log(ref)):
        verdict = known.gate.judge(node, ref.partition)
        refs = verdict.refs if isinstance(verdict, Blocked) else ()
    else:
        refs = blocking_roots(known, ref)
    return tuple(root_at(known, one) for one in refs if one != ref)


def blocking_roots(known: Known, ref: PartitionRef) -> tuple[PartitionRef, ...]:
    """What would block a reader of this one partition, by the gate's own walk; nothing when it may be read."""
    node = known.graph.nodes[ref.asset]
    reader = AssetNode(("reader",), node.job, node.partitions, inputs=(Input(ref.asset),))
    found = known.gate.judge(reader, ref.partition)
    return found.refs if isinstance(found, Blocked) else ()


def root_at(known: Known, ref: PartitionRef) -> Root:
    """A partition where badness began, and what is known of how."""
    log = known.log(ref)
    last = newest(log)
    if is_unrecorded(log):
        return Root(ref, "not adopted", run_id=log[-1].run_id)
    if last is None:
        return Root(ref, "missing")
    return Root(ref, last.record.state.value, last.record.cause, last.record.run_id)


Difference = InputDiffers | CodeDiffers


def differences(known: Known, verdict: Verdict) -> tuple[Difference, ...]:
    """What the partition would be made from now and was not: newer inputs, other windows, newer code."""
    return (*_code(known, verdict), *input_differences(known, verdict))


def stale_above(known: Known, verdict: Verdict) -> tuple[Verdict, ...]:
    """What data was made from, near and far, that would itself be made from other inputs now; the nearest first."""
    found: list[Verdict] = []
    level, seen = [verdict], {verdict.ref}
    while level:
        near = {ref: known.published(ref) for one in level for ref in _read_by(known, one) if ref not in seen}
        seen |= near.keys()
        level = [one for ref, one in near.items() if one is not None and not is_unrecorded(known.log(ref))]
        # Where the reading of logs ended, nobody can tell what is newer.
        told = (one for one in level if all(ref in known.logs for ref in _read_by(known, one)))
        found += [one for one in told if any(input_differences(known, one))]
    return tuple(found)


def _read_by(known: Known, verdict: Verdict) -> Iterator[PartitionRef]:
    for asset, days in verdict.record.inputs.items():
        if asset in known.graph.nodes:
            yield from (PartitionRef(asset, key) for key in days)


def _code(known: Known, verdict: Verdict) -> Iterator[CodeDiffers]:
    now = known.code_now.get(verdict.record.asset)
    if now is not None and now != verdict.record.code_version:
        yield CodeDiffers(verdict.record.code_version, now)


def input_differences(known: Known, verdict: Verdict) -> Iterator[InputDiffers]:
    """The inputs that are another version now, or are read no more, or were not yet."""
    record = verdict.record
    declared = reads_of(known.graph, known.graph.nodes[record.asset], record.partition)
    owned = {asset: days for asset, days in declared.items() if asset in known.graph.nodes}
    wanted = {PartitionRef(asset, key) for asset, days in owned.items() for key in keys_of(days)}
    read = {
        PartitionRef(asset, key): version
        for asset, days in record.inputs.items()
        if asset in known.graph.nodes
        for key, version in days.items()
    }
    # What was taken in names no inputs: nobody knows what it was made from.
    for ref in sorted(wanted | read.keys()) if read else ():
        published = known.published(ref)
        version = None if published is None or ref not in wanted else published.record.fingerprint
        if (ref in wanted) != (ref in read) or version != read.get(ref):
            made_by = None if published is None or version is None else published.record.made_by
            yield InputDiffers(ref, read.get(ref), version, made_by)

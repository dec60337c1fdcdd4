"""From what the ledger holds of one attempt to the events that tell of it: the same facts, the same events.

Pure. Every partition tried is one run, or every contiguous range where the attempt says so; what the gate blocked is a
run that starts and is aborted at one time. What was declared is taken from the attempt's own scene, never from the
code of today. Knows neither where events go nor whether they arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import Attempt, Closing, PartitionRecord, State
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.datasets_touched import inputs_of, outputs_of
from lineage_assets.lineage.events import Event, event_of
from lineage_assets.lineage.extras import Extras
from lineage_assets.lineage.turns import Computation, LineageRun, Mistake, Note, Reuse, Turn, TurnType
from lineage_assets.lineage.verdict import block_of, mistake_of, turn_type
from lineage_assets.partitions import PartitionSet, parse_day

Outcome = PartitionRecord | Closing
"""What ends an attempt at a partition."""


@dataclass(frozen=True, slots=True)
class Day:
    """What is known of one partition of an attempt: a record an asset, or that none will come."""

    records: tuple[PartitionRecord, ...] = ()
    closing: Closing | None = None

    @property
    def turn(self) -> TurnType:
        ended = turn_type(self.records)
        return TurnType.ABORT if self.closing is not None and ended is TurnType.COMPLETE else ended

    @property
    def ended(self) -> datetime:
        times = [record.ended for record in self.records]
        return max([*times, *([] if self.closing is None else [self.closing.ended])])


@dataclass(frozen=True, slots=True)
class Projection:
    """Ledger facts as events."""

    extras: Extras = field(default_factory=Extras)

    def started(self, attempts: Sequence[Attempt], tried: PartitionSet) -> tuple[Event, ...]:
        return self.events(started(attempts, tried))

    def ended(self, attempts: Sequence[Attempt], tried: PartitionSet, outcomes: Iterable[Outcome]) -> tuple[Event, ...]:
        return self.events(ended(attempts, tried, outcomes))

    def blocked(self, attempts: Sequence[Attempt], records: Iterable[PartitionRecord]) -> tuple[Event, ...]:
        return self.events(blocked(attempts, records))

    def events(self, turns: Iterable[Turn]) -> tuple[Event, ...]:
        return tuple(event_of(turn, self.extras) for turn in turns)


def started(attempts: Sequence[Attempt], tried: PartitionSet) -> Iterator[Turn]:
    """The START of every run of one attempt at a job.

    `attempts` are those of the job's assets in one Dagster run, with one number; `tried` is what passed the gate.
    """
    return (_start(run, attempts[0].started) for run in _runs(attempts, tried))


def ended(attempts: Sequence[Attempt], tried: PartitionSet, outcomes: Iterable[Outcome]) -> Iterator[Turn]:
    """The end of every run that `started` began and whose partitions have all come to one.

    Outcomes of other attempts, and of partitions not tried, are passed over: a caller may hand in all it has.
    """
    days = _known(attempts, tried, outcomes)
    known = PartitionSet.of(days)
    for run in _runs(attempts, tried):
        if run.partitions <= known:
            yield from _ends(run, attempts[0].started, {day: days[day] for day in run.partitions})


def blocked(attempts: Sequence[Attempt], records: Iterable[PartitionRecord]) -> Iterator[Turn]:
    """START and ABORT for what the gate blocked: a pair a contiguous range and cause, where the cause is new.

    Records of other attempts or in another state are passed over.
    """
    of = {(attempt.asset, attempt.run_id, attempt.number) for attempt in attempts}
    verdicts = _by_day(
        record
        for record in records
        if record.state is State.BLOCKED and (record.asset, record.run_id, record.number) in of
    )
    told = {day: block_of(found) for day, found in verdicts.items() if not all(record.is_repeated for record in found)}
    # Consecutive days keep one distance to their place in the list.
    for _, group in groupby(enumerate(told), lambda at: (at[1] - at[0], told[at[1]])):
        days = [day for _, day in group]
        time = max(record.ended for day in days for record in verdicts[day])
        start = _start(_run(attempts, PartitionSet.of(days)), time, told[days[0]])
        yield start
        yield replace(start, type=TurnType.ABORT)


def _start(run: LineageRun, time: datetime, *notes: Note) -> Turn:
    return Turn(TurnType.START, time, run, inputs_of(run), outputs_of(run), notes)


def _ends(run: LineageRun, started: datetime, days: Mapping[int, Day]) -> Iterator[Turn]:
    """The end of one run; before it, of a range, a run of its own for every day that went wrong."""
    bad = [day for day, known in days.items() if known.turn is not TurnType.COMPLETE]
    if len(days) > 1:
        for day in bad:
            own = replace(run, partitions=PartitionSet.of([day]))
            yield _start(own, started)
            yield _end(days[day].turn, own, [days[day]])
    all_bad = TurnType.FAIL if any(one.turn is TurnType.FAIL for one in days.values()) else TurnType.ABORT
    yield _end(all_bad if len(bad) == len(days) else TurnType.COMPLETE, run, list(days.values()))


def _end(ended: TurnType, run: LineageRun, days: Sequence[Day]) -> Turn:
    of = [record for day in days for record in day.records]
    notes = [*_notes(ended, of, [day.closing for day in days if day.closing is not None]), _computation(of)]
    time = max(day.ended for day in days)
    return Turn(ended, time, run, inputs_of(run, of), outputs_of(run, of), tuple(notes))


def _notes(ended: TurnType, of: Sequence[PartitionRecord], closings: Sequence[Closing]) -> Iterator[Note]:
    reused = tuple(record for record in of if record.state is State.REUSED)
    match ended:
        case TurnType.FAIL:
            yield mistake_of(of)
        case TurnType.ABORT if closings:
            yield Mistake("; ".join(sorted({f"{one.cause.kind}: {one.cause.message}" for one in closings})))
        case TurnType.ABORT:
            yield block_of(of)
        case _:
            if reused:
                yield Reuse(reused)


def _computation(of: Sequence[PartitionRecord]) -> Computation:
    computed = next((record for record in of if record.spark_version is not None), None)
    drift = tuple(sorted({difference for record in of for difference in record.drift}))
    if computed is None:
        return Computation(drift=drift)
    return Computation(computed.spark_version, computed.application_id, drift)


def _runs(attempts: Sequence[Attempt], tried: PartitionSet) -> Iterator[LineageRun]:
    ranges = tried.ranges if attempts[0].range_run else tuple((day, day) for day in tried)
    return (_run(attempts, PartitionSet((one,))) for one in ranges)


def _run(attempts: Sequence[Attempt], partitions: PartitionSet) -> LineageRun:
    one = attempts[0]
    scenes = [parse_scene(attempt.scene) for attempt in attempts]
    return LineageRun(
        job=scenes[0].node.job,
        assets=tuple(sorted({attempt.asset for attempt in attempts})),
        run_id=one.run_id,
        number=one.number,
        code_version=one.code_version,
        backfill=one.backfill,
        backfill_job=one.backfill_job,
        partitions=partitions,
        graph=scenes[0].graph
        if len(scenes) == 1
        else AssetGraph({key: node for scene in scenes for key, node in scene.graph.nodes.items()}),
        site=scenes[0].site,
        source=scenes[0].source,
    )


def _known(attempts: Sequence[Attempt], tried: PartitionSet, outcomes: Iterable[Outcome]) -> dict[int, Day]:
    """The partitions on which every asset of the attempt has come to an end."""
    of = {(attempt.asset, attempt.run_id, attempt.number) for attempt in attempts}
    own = [one for one in outcomes if (one.asset, one.run_id, one.number) in of]
    records = _by_day(one for one in own if isinstance(one, PartitionRecord))
    closings = [one for one in own if isinstance(one, Closing)]
    days: dict[int, Day] = {}
    for day in tried:
        found = tuple(records.get(day, ()))
        closing = next((one for one in closings if day in one.partitions), None)
        if len(found) == len(attempts):
            days[day] = Day(found)
        elif closing is not None:
            days[day] = Day(found, closing)
    return days


def _by_day(records: Iterable[PartitionRecord]) -> dict[int, list[PartitionRecord]]:
    """The records by partition, in order, of each asset the last one given."""
    newest = {(record.partition, record.asset): record for record in records}
    found: dict[int, list[PartitionRecord]] = {}
    for (partition, _), record in sorted(newest.items()):
        found.setdefault(parse_day(partition).toordinal(), []).append(record)
    return found

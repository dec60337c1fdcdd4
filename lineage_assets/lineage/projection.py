"""From what the ledger holds of one attempt to the events that tell of it: the same facts, the same events.

Pure. Every partition tried is one run, or every contiguous range where the attempt says so; what the gate blocked is a
run that starts and is aborted at one time. Knows neither where events go nor whether they arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from lineage_assets.graph import AssetGraph, AssetKey
from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.lineage.datasets_touched import inputs_of, outputs_of
from lineage_assets.lineage.events import Event, event_of
from lineage_assets.lineage.names import check_names
from lineage_assets.lineage.site import Site
from lineage_assets.lineage.turns import LineageRun, Note, Reuse, Turn, TurnType
from lineage_assets.lineage.verdict import block_of, mistake_of, turn_type
from lineage_assets.partitions import PartitionSet, parse_day

Verdicts = Mapping[int, Sequence[PartitionRecord]]
"""Per partition the records of the job's assets."""


@dataclass(frozen=True, slots=True)
class Projection:
    """Ledger facts of the assets of one graph as events; refuses a graph with names that break a receiver."""

    graph: AssetGraph
    site: Site

    def __post_init__(self) -> None:
        check_names(self.graph)

    def started(self, attempts: Sequence[Attempt], tried: PartitionSet) -> tuple[Event, ...]:
        """The START of every run of one attempt at a job.

        `attempts` are those of the job's assets in one Dagster run, with one number; `tried` is what passed the gate.
        """
        return tuple(self._event(self._start(run, attempts[0].started)) for run in self._runs(attempts, tried))

    def ended(
        self, attempts: Sequence[Attempt], tried: PartitionSet, records: Iterable[PartitionRecord]
    ) -> tuple[Event, ...]:
        """The end of every run that `started` began and whose records are all here.

        Records of other attempts, and of partitions not tried, are passed over: a caller may hand in all it has.
        """
        one = attempts[0]
        of = {(attempt.asset, attempt.run_id, attempt.number) for attempt in attempts}
        verdicts = {
            day: found
            for day, found in _by_day(each for each in records if (each.asset, each.run_id, each.number) in of).items()
            if len(found) == len(attempts)
        }
        known = PartitionSet.of(verdicts)
        return tuple(
            self._event(turn)
            for run in self._runs(attempts, tried)
            if run.partitions <= known
            for turn in self._ends(run, one.started, {day: verdicts[day] for day in run.partitions})
        )

    def blocked(
        self, records: Iterable[PartitionRecord], previous: Mapping[AssetKey, Mapping[str, PartitionRecord]]
    ) -> tuple[Event, ...]:
        """START and ABORT for what the gate blocked: a pair a contiguous range and cause, where the cause is new.

        `previous` is the verdict before these on each partition; records in another state are passed over.
        """
        verdicts = _by_day(record for record in records if record.state is State.BLOCKED)
        told = {
            day: block_of(found)
            for day, found in verdicts.items()
            if any(_is_news(record, previous.get(record.asset, {}).get(record.partition)) for record in found)
        }
        events: list[Event] = []
        # Consecutive days keep one distance to their place in the list.
        for _, group in groupby(enumerate(told), lambda at: (at[1] - at[0], told[at[1]])):
            days = [day for _, day in group]
            of = [record for day in days for record in verdicts[day]]
            run = self._run(of, PartitionSet.of(days))
            start = self._start(run, max(record.ended for record in of), told[days[0]])
            events += [self._event(start), self._event(replace(start, type=TurnType.ABORT))]
        return tuple(events)

    def _start(self, run: LineageRun, time: datetime, *notes: Note) -> Turn:
        return Turn(TurnType.START, time, run, inputs_of(self.graph, run), outputs_of(self.graph, run), notes)

    def _ends(self, run: LineageRun, started: datetime, verdicts: Verdicts) -> Iterator[Turn]:
        """The end of one run; before it, of a range, a run of its own for every day that went wrong."""
        ends = {day: turn_type(found) for day, found in verdicts.items()}
        bad = [day for day, ended in ends.items() if ended is not TurnType.COMPLETE]
        if len(ends) > 1:
            for day in bad:
                own = replace(run, partitions=PartitionSet.of([day]))
                yield self._start(own, started)
                yield self._end(ends[day], own, verdicts[day])
        of = [record for found in verdicts.values() for record in found]
        yield self._end(turn_type(of) if len(bad) == len(ends) else TurnType.COMPLETE, run, of)

    def _end(self, ended: TurnType, run: LineageRun, of: Sequence[PartitionRecord]) -> Turn:
        notes: list[Note] = []
        reused = tuple(record for record in of if record.state is State.REUSED)
        match ended:
            case TurnType.FAIL:
                notes.append(mistake_of(of))
            case TurnType.ABORT:
                notes.append(block_of(of))
            case _:
                notes += [Reuse(reused)] if reused else []
        time = max(record.ended for record in of)
        return Turn(ended, time, run, inputs_of(self.graph, run, of), outputs_of(self.graph, run, of), tuple(notes))

    def _runs(self, of: Sequence[Attempt | PartitionRecord], tried: PartitionSet) -> Iterator[LineageRun]:
        ranges = tried.ranges if of[0].range_run else tuple((day, day) for day in tried)
        return (self._run(of, PartitionSet((one,))) for one in ranges)

    def _run(self, of: Sequence[Attempt | PartitionRecord], partitions: PartitionSet) -> LineageRun:
        one = of[0]
        return LineageRun(
            job=self.graph.nodes[one.asset].job,
            assets=tuple(sorted({each.asset for each in of})),
            run_id=one.run_id,
            number=one.number,
            code_version=one.code_version,
            backfill=one.backfill,
            partitions=partitions,
        )

    def _event(self, turn: Turn) -> Event:
        return event_of(turn, self.site)


def _by_day(records: Iterable[PartitionRecord]) -> dict[int, list[PartitionRecord]]:
    """The records by partition, in order, of each asset the last one given."""
    newest = {(record.partition, record.asset): record for record in records}
    found: dict[int, list[PartitionRecord]] = {}
    for (partition, _), record in sorted(newest.items()):
        found.setdefault(parse_day(partition).toordinal(), []).append(record)
    return found


def _is_news(record: PartitionRecord, before: PartitionRecord | None) -> bool:
    return before is None or before.state is not State.BLOCKED or block_of([before]) != block_of([record])

"""The ledger told again to a receiver, in the order in which attempts ended: an empty Marquez becomes what it was.

In Marquez the last to arrive owns the graph and the current versions, so order is all. What a lineage run sent is made
again from its facts; its START leaves just before its end. Knows attempts and a transport, not where either is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.delivery import Delivery
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.foreground import Audience
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.retelling import OpenAttempt
from lineage_assets.lineage.transport import UndeliveredError
from lineage_assets.lineage.turns import Turn, TurnType
from lineage_assets.reconcile.bookmark import Bookmark
from lineage_assets.reconcile.selection import Selection

Told = tuple[Event, ...]
"""Events that belong together: the START and the end of one lineage run."""
Pair = tuple[Turn, Turn]
_Job = tuple[str, str]

_MOST_REJECTED = 20
"""Lineage runs that a receiver may refuse before it has taken one: then it is the address or the key."""


def _never(_attempt: OpenAttempt) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """Where the story of the ledger comes from."""

    attempts: Iterable[tuple[int, OpenAttempt]]
    """With the place in the log of what ended each; those that are not over come last."""
    goes_on: Callable[[OpenAttempt], bool] = _never
    """Whether the process of an attempt that is not over may yet tell of it itself."""
    pipelines: Callable[[str], Told] | None = None
    """What is told of the pipelines of a Dagster run, where a hierarchy is asked for."""
    backfills: Iterable[tuple[datetime, Told]] = ()
    """What is told of each backfill, by time."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One attempt, backfill or leftover, ready to be told."""

    place: int
    """How far in the log the story is, once this is told."""
    told: Iterator[Told]
    is_attempt: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """What has been told so far."""

    attempts: int = 0
    events: int = 0
    rejected: int = 0
    reason: str | None = None
    """Why the first of those was refused."""
    place: int = 0
    is_over: bool = False
    stopped: str | None = None
    """Why it ended before it was over."""
    is_interrupted: bool = False
    """By whoever started it."""

    def with_sent(self, delivery: Delivery) -> Progress:
        return replace(
            self,
            events=self.events + delivery.sent,
            rejected=self.rejected + delivery.rejected,
            reason=self.reason if self.reason is not None else delivery.reason,
        )


@dataclass(slots=True)
class _Owner:
    """Of each job the lineage run that is to own something, and the one that does by what was told."""

    meant: dict[_Job, tuple[datetime, Pair]] = field(default_factory=dict)
    """With the time at which its attempt began: what is closed late comes late in the log, and is not newer."""
    told: dict[_Job, UUID] = field(default_factory=dict)

    def saw(self, job: _Job, began: datetime, pair: Pair, *, is_told: bool) -> None:
        if job not in self.meant or self.meant[job][0] <= began:
            self.meant.pop(job, None)  # so that the order is that of arrival
            self.meant[job] = began, pair
        if is_told:
            self.told[job] = pair[1].run.lineage_run_id

    def left(self) -> dict[_Job, Pair]:
        meant = ((job, pair) for job, (_, pair) in self.meant.items() if job in self.told)
        return {job: pair for job, pair in meant if pair[1].run.lineage_run_id != self.told[job]}


@dataclass(slots=True)
class _Owners:
    """What owns the graph and the data of each job touched."""

    graph: _Owner = field(default_factory=_Owner)
    data: _Owner = field(default_factory=_Owner)

    def saw(self, job: _Job, attempt: OpenAttempt, *, is_told: bool) -> None:
        began = attempt.attempts[0].started
        for pair in pairs_of(attempt) if is_told or job in self.graph.told else ():
            self.graph.saw(job, began, pair, is_told=is_told)
            if pair[1].type is TurnType.COMPLETE:
                self.data.saw(job, began, pair, is_told=is_told)

    def left(self) -> Iterator[Pair]:
        """The newest of each job last; before it, where that one failed, the newest that left data."""
        newest = self.graph.left()
        yield from (pair for job, pair in self.data.left().items() if newest.get(job) is not pair)
        yield from newest.values()


def chapters(source: Source, selection: Selection, projection: Projection, *, after: int = 0) -> Iterator[Chapter]:
    """What is to be told, in order; what lies up to a place in the log is told already.

    Of a part of the ledger the newest runs of the jobs touched come again at the end, and own the graph as before.
    """
    owners, place, runs = _Owners(), after, set[str]()
    backfills = iter(source.backfills if selection.is_all else ())
    backfill = next(backfills, None)
    for at, attempt in source.attempts:
        while backfill is not None and attempt.is_over and backfill[0] <= ended_at(attempt):
            if at > after:
                yield Chapter(place, iter([backfill[1]]), is_attempt=False)
            backfill = next(backfills, None)
        job = job_of(attempt)
        if not selection.touches(attempt):
            owners.saw(job, attempt, is_told=False)
            continue
        if not attempt.is_over and source.goes_on(attempt):
            continue
        pairs = tuple(pairs_of(attempt))
        owners.saw(job, attempt, is_told=True)
        pipelines = _pipelines(source, attempt, runs)
        if attempt.is_over:
            place = max(place, at)
        if at > after or not attempt.is_over:
            yield Chapter(place, _events(pairs, projection, pipelines))
    while backfill is not None:
        yield Chapter(place, iter([backfill[1]]), is_attempt=False)
        backfill = next(backfills, None)
    yield Chapter(place, _events(owners.left(), projection), is_attempt=False)


def deliver(
    story: Iterable[Chapter],
    audience: Audience,
    bookmark: Bookmark,
    *,
    saw: Callable[[Progress], None],
    stops: Callable[[], bool] = lambda: False,
) -> Progress:
    """Tell all of it, one after the other; stopped, or left by a receiver, it goes on from the bookmark.

    A receiver that is down is left out of the rest, and the others get all of it.
    """
    progress = Progress()
    try:
        for chapter in story:
            for told in chapter.told:
                if stops():
                    return replace(progress, stopped="it was interrupted", is_interrupted=True)
                progress = progress.with_sent(audience.send(told))
                if not audience.has_taken and progress.rejected >= _MOST_REJECTED:
                    return replace(progress, stopped=f"the receiver refuses every event ({progress.reason})")
            progress = replace(progress, attempts=progress.attempts + chapter.is_attempt, place=chapter.place)
            # What was refused from the beginning is told again, once the receiver takes it; so is what one missed.
            if audience.has_taken and audience.missed is None:
                bookmark.put(chapter.place)
            saw(progress)
        if audience.missed is not None:
            raise audience.missed
    except UndeliveredError as error:
        return replace(progress, stopped=f"{error.url} takes no events: {error.reason}")
    else:
        bookmark.remove()
        return replace(progress, is_over=True)
    finally:
        bookmark.save()


def pairs_of(attempt: OpenAttempt) -> Iterator[Pair]:
    """START and end of each lineage run of an attempt, in the order in which they ended."""
    starts: dict[object, Turn] = {}
    for turn in attempt.turns():
        lineage_run = turn.run.lineage_run_id
        if turn.type is TurnType.START:
            starts[lineage_run] = turn
        else:
            yield starts.pop(lineage_run), turn


def job_of(attempt: OpenAttempt) -> _Job:
    job = parse_scene(attempt.attempts[0].scene).node.job
    return job.namespace, job.name


def ended_at(attempt: OpenAttempt) -> datetime:
    return max(outcome.ended for outcome in attempt.outcomes)


def _pipelines(source: Source, attempt: OpenAttempt, runs: set[str]) -> Told:
    """Told with the first attempt of a Dagster run: Marquez makes up a parent that it has not heard of."""
    run_id = attempt.attempts[0].run_id
    if source.pipelines is None or run_id in runs:
        return ()
    runs.add(run_id)
    return source.pipelines(run_id)


def _events(pairs: Iterable[Pair], projection: Projection, before: Told = ()) -> Iterator[Told]:
    """Made as they are asked for: an attempt may be at thousands of partitions."""
    if before:
        yield before
    for pair in pairs:
        yield projection.events(pair)

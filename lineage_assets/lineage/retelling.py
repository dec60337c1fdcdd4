"""A ledger told from its facts alone: a stream of facts in the order of the log to the events they come to.

Pure, and what replay and reconciliation share. It gives the very events that the process of each run sent, or would
have sent; a run's START leaves just before its end, so that none is ever told without the other. In memory are only
the attempts that are open at one place of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lineage_assets.graph import AssetKey, LineageJob
from lineage_assets.ledger.record import Attempt, Closing, Fact, PartitionRecord, State
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.events import Event
from lineage_assets.lineage.projection import Outcome, Projection, blocked, ended, started
from lineage_assets.lineage.turns import Turn
from lineage_assets.partitions import PartitionSet, set_of

AttemptKey = tuple[str, LineageJob, int]
"""Dagster run, lineage job, number: the assets of a job are tried together."""


@dataclass(slots=True)
class OpenAttempt:
    """An attempt at a job, with what has come of it so far."""

    attempts: list[Attempt] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    left: dict[AssetKey, set[int]] = field(default_factory=dict)
    """The partitions that have come to no end yet."""

    def begin(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        self.left[attempt.asset] = set(attempt.partitions)

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.left[outcome.asset].difference_update(_partitions(outcome))

    @property
    def is_over(self) -> bool:
        return not any(self.left.values())

    def turns(self) -> tuple[Turn, ...]:
        """All that is to be told of it; a run that has not ended is left out whole."""
        records = [one for one in self.outcomes if isinstance(one, PartitionRecord)]
        # What passed the gate, or may yet.
        tried = self.attempts[0].partitions - set_of(one.partition for one in records if one.state is State.BLOCKED)
        ends = tuple(ended(self.attempts, tried, self.outcomes))
        over = {turn.run.lineage_run_id for turn in ends}
        starts = (turn for turn in started(self.attempts, tried) if turn.run.lineage_run_id in over)
        return (*blocked(self.attempts, records), *starts, *ends)


def attempts_in(log: Iterable[tuple[int, Fact]]) -> Iterator[tuple[int, OpenAttempt]]:
    """Each attempt once all of it is there, with the place in the log of what ended it, in that order.

    What is still open when the log is over comes last, at the place where the log ended.
    """
    open_attempts: dict[AttemptKey, OpenAttempt] = {}
    jobs: dict[tuple[str, AssetKey, int], AttemptKey] = {}
    place = 0
    for place, fact in log:
        if isinstance(fact, Attempt):
            if fact.scene:  # one of a version that did not keep it cannot be told: what was declared is forgotten
                key = (fact.run_id, parse_scene(fact.scene).node.job, fact.number)
                jobs[fact.run_id, fact.asset, fact.number] = key
                open_attempts.setdefault(key, OpenAttempt()).begin(fact)
            continue
        of = jobs.get((fact.run_id, fact.asset, fact.number))
        attempt = None if of is None else open_attempts.get(of)
        if of is None or attempt is None:
            continue
        attempt.add(fact)
        if attempt.is_over:
            yield place, attempt
            del open_attempts[of]
            for one in attempt.attempts:
                del jobs[one.run_id, one.asset, one.number]
    yield from ((place, attempt) for attempt in open_attempts.values())


def retell(facts: Iterable[Fact], projection: Projection) -> Iterator[tuple[Event, ...]]:
    """The events of each attempt, in the order in which the attempts came to their end."""
    for _, attempt in attempts_in(enumerate(facts)):
        yield projection.events(attempt.turns())


def unended(facts: Iterable[Fact]) -> dict[tuple[AssetKey, int], PartitionSet]:
    """The partitions of one run's attempts that have come to no end, by asset and number."""
    left: dict[tuple[AssetKey, int], PartitionSet] = {}
    for fact in facts:
        key = (fact.asset, fact.number)
        if isinstance(fact, Attempt):
            left[key] = fact.partitions
        else:
            left[key] = left.get(key, PartitionSet()) - _partitions(fact)
    return {key: partitions for key, partitions in left.items() if partitions}


def _partitions(outcome: Outcome) -> PartitionSet:
    return outcome.partitions if isinstance(outcome, Closing) else set_of([outcome.partition])

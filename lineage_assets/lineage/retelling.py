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
from lineage_assets.lineage.projection import Outcome, Projection
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

    def events(self, projection: Projection) -> tuple[Event, ...]:
        """All that is to be told of it; a run that has not ended is left out whole."""
        records = [one for one in self.outcomes if isinstance(one, PartitionRecord)]
        # What passed the gate, or may yet.
        tried = self.attempts[0].partitions - set_of(one.partition for one in records if one.state is State.BLOCKED)
        ended = projection.ended(self.attempts, tried, self.outcomes)
        over = {event.lineage_run_id for event in ended}
        started = (one for one in projection.started(self.attempts, tried) if one.lineage_run_id in over)
        return (*projection.blocked(self.attempts, records), *started, *ended)


def retell(facts: Iterable[Fact], projection: Projection) -> Iterator[tuple[Event, ...]]:
    """The events of each attempt, in the order in which the attempts came to their end.

    What is still open when the facts are over is told as far as its runs have ended.
    """
    open_attempts: dict[AttemptKey, OpenAttempt] = {}
    jobs: dict[tuple[str, AssetKey, int], AttemptKey] = {}
    for fact in facts:
        if isinstance(fact, Attempt):
            if not fact.scene:
                continue  # of a version that did not keep it: nobody knows what was declared then
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
            yield attempt.events(projection)
            del open_attempts[of]
    for attempt in open_attempts.values():
        yield attempt.events(projection)


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

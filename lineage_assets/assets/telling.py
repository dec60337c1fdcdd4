"""What a step tells the receiver of lineage: events made from its records, sent behind its back.

Never in the way: events go into the sender's queue, and nothing here waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lineage_assets.ledger.record import Attempt, PartitionRecord
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.ids import backfill_lineage_run_id, lineage_run_id
from lineage_assets.lineage.parents import parent_of, repairs
from lineage_assets.lineage.projection import Outcome, Projection
from lineage_assets.lineage.sender import Sender
from lineage_assets.partitions import PartitionSet
from lineage_assets.spark.program import Lineage, NamedRun


@dataclass
class Telling:
    """The events of one attempt at a time; a retry begins the next."""

    projection: Projection
    sender: Sender
    attempts: Sequence[Attempt] = ()
    tried: PartitionSet = field(default_factory=PartitionSet)
    outcomes: list[Outcome] = field(default_factory=list)
    has_started: bool = False

    def opened(self, attempts: Sequence[Attempt]) -> None:
        self.attempts, self.tried, self.outcomes, self.has_started = attempts, PartitionSet(), [], False

    def started(self, tried: PartitionSet) -> None:
        self.tried, self.has_started = tried, True
        self.sender.send(self.projection.started(self.attempts, tried))

    def blocked(self, records: Sequence[PartitionRecord]) -> None:
        self.sender.send(self.projection.blocked(self.attempts, records))

    def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Hold verdicts until the attempt is over: a run of a range ends once, with all its days."""
        self.outcomes += outcomes

    def ended(self) -> None:
        if self.attempts:
            self.sender.send(self.projection.ended(self.attempts, self.tried, self.outcomes))

    def spark_lineage(self, run_id: str, partitions: PartitionSet, number: int) -> Lineage:
        """How Spark's own events of a program are named, and what they stand under."""
        one = self.attempts[0]
        job = parse_scene(one.scene).node.job
        run = lineage_run_id(run_id, job, partitions, number)
        parent = lineage_run_id(run_id, job, self._first_run(partitions), number)
        above = parent_of(job, run_id)
        root, root_run = (job, parent) if above is None else above
        if one.backfill is not None and one.backfill_job is not None:
            root, root_run = repairs(*one.backfill_job), backfill_lineage_run_id(one.backfill)
        return Lineage(
            job.namespace,
            job.name,
            str(run),
            NamedRun(job.namespace, job.name, str(parent)),
            NamedRun(root.namespace, root.name, str(root_run)),
        )

    def _first_run(self, partitions: PartitionSet) -> PartitionSet:
        """The partitions of the lineage run that the first of these is part of."""
        first = partitions.ranges[0][0]
        if not self.attempts[0].range_run:
            return PartitionSet.of([first])
        return PartitionSet((next(one for one in self.tried.ranges if one[0] <= first <= one[1]),))

"""What a step tells the receiver of lineage: events made from its records, sent behind its back.

Never in the way: events go into the sender's queue, and nothing here waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from lineage_assets.ledger.record import Attempt, PartitionRecord
from lineage_assets.ledger.scene import parse_scene
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.lineage.projection import Outcome, Projection
from lineage_assets.lineage.sender import Sender
from lineage_assets.partitions import PartitionSet


@dataclass
class Telling:
    """The events of one attempt at a time; a retry begins the next."""

    projection: Projection
    sender: Sender
    attempts: Sequence[Attempt] = ()
    tried: PartitionSet = field(default_factory=PartitionSet)
    outcomes: list[Outcome] = field(default_factory=list)

    def opened(self, attempts: Sequence[Attempt]) -> None:
        self.attempts, self.tried, self.outcomes = attempts, PartitionSet(), []

    def started(self, tried: PartitionSet) -> None:
        self.tried = tried
        self.sender.send(self.projection.started(self.attempts, tried))

    def blocked(self, records: Sequence[PartitionRecord]) -> None:
        self.sender.send(self.projection.blocked(self.attempts, records))

    def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Hold verdicts until the attempt is over: a run of a range ends once, with all its days."""
        self.outcomes += outcomes

    def ended(self) -> None:
        if self.attempts:
            self.sender.send(self.projection.ended(self.attempts, self.tried, self.outcomes))

    def spark_run_id(self, run_id: str, partitions: PartitionSet, number: int) -> UUID:
        """The lineage run under which Spark's own events of a program are kept apart."""
        return lineage_run_id(run_id, parse_scene(self.attempts[0].scene).node.job, partitions, number)

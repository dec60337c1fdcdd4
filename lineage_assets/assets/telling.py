"""What a step tells the receiver of lineage: events made from its records, sent behind its back.

Never in the way: events go into the sender's queue, and nothing here waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.record import Attempt, PartitionRecord
from lineage_assets.lineage.ids import lineage_run_id
from lineage_assets.lineage.projection import Projection
from lineage_assets.lineage.sender import Sender
from lineage_assets.partitions import PartitionSet


@dataclass
class Telling:
    """The events of one attempt at a time; a retry begins the next."""

    projection: Projection
    sender: Sender
    attempts: Sequence[Attempt] = ()
    tried: PartitionSet = field(default_factory=PartitionSet)
    records: list[PartitionRecord] = field(default_factory=list)

    def started(self, attempts: Sequence[Attempt], tried: PartitionSet) -> None:
        self.attempts, self.tried, self.records = attempts, tried, []
        self.sender.send(self.projection.started(attempts, tried))

    def blocked(self, records: Sequence[PartitionRecord], before: Mapping[AssetKey, History]) -> None:
        previous = {asset: history.verdicts for asset, history in before.items()}
        self.sender.send(self.projection.blocked(records, previous))

    def keep(self, records: Sequence[PartitionRecord]) -> None:
        """Hold verdicts until the attempt is over: a run of a range ends once, with all its days."""
        self.records += records

    def ended(self) -> None:
        if self.attempts:
            self.sender.send(self.projection.ended(self.attempts, self.tried, self.records))

    def spark_run_id(self, run_id: str, partitions: PartitionSet, number: int) -> UUID:
        """The lineage run under which Spark's own events of a program are kept apart."""
        job = self.projection.graph.nodes[self.attempts[0].asset].job
        return lineage_run_id(run_id, job, partitions, number)

"""The book of one step: every verdict goes into the event log, and from there to the receiver of lineage.

Writes; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dagster import AssetExecutionContext

from lineage_assets.assets.events import log_attempts, log_records
from lineage_assets.assets.outcome import Making
from lineage_assets.assets.telling import Telling
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import Attempt, PartitionRecord
from lineage_assets.partitions import PartitionSet, set_of


@dataclass
class Book:
    """What one step has written so far."""

    context: AssetExecutionContext
    telling: Telling
    before: dict[AssetKey, History]
    """What was known of the step's own assets, and of all upstream of them, when it began."""
    written: dict[tuple[AssetKey, str], PartitionRecord] = field(default_factory=dict)

    def open(self, making: Making, partitions: PartitionSet) -> None:
        """One attempt an asset, before anything is launched: a killed process leaves at least this."""
        log_attempts(
            self.context,
            [
                Attempt(
                    asset=node.key,
                    run_id=making.asked.run_id,
                    number=making.number,
                    partitions=partitions,
                    started=making.started,
                    code_version=making.code_version,
                    owner=owner(),
                    backfill=making.asked.backfill,
                    range_run=making.range_run,
                )
                for node in making.asked.nodes
            ],
        )

    def start(self, making: Making, partitions: Iterable[str]) -> None:
        self.telling.started(making, set_of(partitions))

    def write(self, records: Iterable[PartitionRecord]) -> None:
        """Log the verdicts, then tell of them; an earlier verdict of this step on the same partition is replaced."""
        batch = list(records)
        if not batch:
            return
        log_records(self.context, batch, self.before)
        self.telling.ended(batch, self.before)
        self.written.update({(record.asset, record.partition): record for record in batch})

    def bad(self) -> list[PartitionRecord]:
        return [record for _, record in sorted(self.written.items()) if record.state.is_bad]

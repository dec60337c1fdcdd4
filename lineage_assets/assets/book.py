"""The book of one step: every verdict goes into the event log, and from there to the receiver of lineage.

Writes; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dagster import AssetExecutionContext

from lineage_assets.assets.events import log_attempts, log_records
from lineage_assets.assets.outcome import Making
from lineage_assets.assets.telling import Telling
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.partitions import PartitionSet, set_of


@dataclass
class Book:
    """What one step has written so far."""

    context: AssetExecutionContext
    telling: Telling
    before: dict[AssetKey, History]
    """What was known of the step's own assets, and of all upstream of them, when it began."""
    attempts: Sequence[Attempt] = ()
    written: dict[tuple[AssetKey, str], PartitionRecord] = field(default_factory=dict)

    def open(self, making: Making, partitions: PartitionSet) -> None:
        """One attempt an asset, before anything is launched: a killed process leaves at least this."""
        self.attempts = making.attempts(partitions, owner())
        log_attempts(self.context, self.attempts)

    def start(self, partitions: Iterable[str]) -> None:
        """Tell that the partitions which passed the gate are being made."""
        self.telling.started(self.attempts, set_of(partitions))

    def write(self, records: Iterable[PartitionRecord]) -> None:
        """Log verdicts; an earlier verdict of this step on the same partition is replaced."""
        batch = list(records)
        log_records(self.context, batch, self.before, self._earlier)
        self.written.update({(record.asset, record.partition): record for record in batch})
        blocked = [record for record in batch if record.state is State.BLOCKED]
        self.telling.blocked(blocked, self.before)
        self.telling.keep([record for record in batch if record.state is not State.BLOCKED])

    def _earlier(self, asset: AssetKey, partition: str) -> PartitionRecord | None:
        """The verdict before the one in hand: of this step, or of what was known when it began."""
        written = self.written.get((asset, partition))
        history = self.before.get(asset)
        return written if written is not None or history is None else history.verdicts.get(partition)

    def end(self) -> None:
        """The attempt has given all its verdicts."""
        self.telling.ended()

    def bad(self) -> list[PartitionRecord]:
        return [record for _, record in sorted(self.written.items()) if record.state.is_bad]

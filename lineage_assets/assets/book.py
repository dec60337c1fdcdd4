"""The book of one step: every verdict goes into the event log, and from there to the receiver of lineage.

Writes; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from dagster import AssetExecutionContext, DagsterExecutionInterruptedError

from lineage_assets.assets.events import log_attempts, log_closings, log_records
from lineage_assets.assets.outcome import Making
from lineage_assets.assets.telling import Telling
from lineage_assets.clock import utc_now
from lineage_assets.graph import AssetKey
from lineage_assets.ledger.fold import History
from lineage_assets.ledger.owner import owner
from lineage_assets.ledger.record import Attempt, Cause, Closing, Fact, PartitionRecord, State
from lineage_assets.lineage.verdict import is_same_block
from lineage_assets.partitions import PartitionSet, set_of
from lineage_assets.redaction import Secrets


@dataclass
class Book:
    """What one step has written so far."""

    context: AssetExecutionContext
    telling: Telling
    before: dict[AssetKey, History]
    """What was known of the step's own assets, and of all upstream of them, when it began."""
    facts: list[Fact]
    """All that this process has recorded of the run; added to here."""
    secrets: Secrets
    """What this process knows and nobody may read: causes, warnings and drift are told in strangers' words."""
    attempts: Sequence[Attempt] = ()
    written: dict[tuple[AssetKey, str], PartitionRecord] = field(default_factory=dict)
    _judged: dict[AssetKey, set[str]] = field(default_factory=dict)
    """Partitions on which the attempt that is open has a verdict."""

    def open(self, making: Making, partitions: PartitionSet) -> None:
        """One attempt an asset, before anything is launched: a killed process leaves at least this."""
        self.attempts = making.attempts(partitions, owner())
        self._judged = {}
        log_attempts(self.context, self.attempts)
        self.facts += self.attempts
        self.telling.opened(self.attempts)

    def start(self, partitions: Iterable[str]) -> None:
        """Tell that the partitions which passed the gate are being made."""
        self.telling.started(set_of(partitions))

    def write(self, records: Iterable[PartitionRecord]) -> None:
        """Log verdicts; an earlier verdict of this step on the same partition is replaced."""
        batch = [self._marked(record) for record in records]
        log_records(self.context, batch, self.before, self._earlier)
        self.facts += batch
        for record in batch:
            self.written[record.asset, record.partition] = record
            self._judged.setdefault(record.asset, set()).add(record.partition)
        self.telling.blocked([record for record in batch if record.state is State.BLOCKED])
        self.telling.keep([record for record in batch if record.state is not State.BLOCKED])

    def end(self) -> None:
        """The attempt has given all its verdicts."""
        self.telling.ended()

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Note of what an exception takes away, a cancellation too, that no verdict will come."""
        try:
            yield
        except (DagsterExecutionInterruptedError, KeyboardInterrupt):
            self._give_up(Cause("cancelled", "the run was cancelled"), utc_now())
            raise
        except BaseException as error:
            self._give_up(Cause("interrupted", f"{type(error).__name__}: {error}"), utc_now())
            raise

    def _give_up(self, cause: Cause, now: datetime) -> None:
        left = ((one, one.partitions - set_of(self._judged.get(one.asset, ()))) for one in self.attempts)
        said = self._masked(cause)
        closings = [Closing(one.asset, one.run_id, one.number, days, now, said) for one, days in left if days]
        log_closings(self.context, closings)
        self.facts += closings
        if not self.telling.has_started and self.attempts:
            # It was at the gate still: nobody has heard of it, and no end is told without its beginning.
            self.telling.started(self.attempts[0].partitions - set_of(self._judged.get(self.attempts[0].asset, ())))
        self.telling.keep(closings)
        self.telling.ended()

    def bad(self) -> list[PartitionRecord]:
        return [record for _, record in sorted(self.written.items()) if record.state.is_bad]

    def _marked(self, record: PartitionRecord) -> PartitionRecord:
        is_repeated = is_same_block(record, self._earlier(record.asset, record.partition))
        return replace(
            record,
            is_repeated=is_repeated,
            cause=None if record.cause is None else self._masked(record.cause),
            warning=None if record.warning is None else self.secrets.text(record.warning),
            drift=tuple(map(self.secrets.text, record.drift)),
        )

    def _masked(self, cause: Cause) -> Cause:
        return Cause(cause.kind, self.secrets.text(cause.message))

    def _earlier(self, asset: AssetKey, partition: str) -> PartitionRecord | None:
        """The verdict before the one in hand: of this step, or of what was known when it began."""
        written = self.written.get((asset, partition))
        history = self.before.get(asset)
        return written if written is not None or history is None else history.verdicts.get(partition)

"""Records and attempts as literals, with what does not matter filled in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from lineage_assets.ledger.record import Attempt, PartitionRecord, State
from lineage_assets.partitions import set_of

NOON = datetime(2021, 6, 7, 12, tzinfo=timezone.utc)


def make_record(partition: str, state: State = State.GOOD, **overrides: object) -> PartitionRecord:
    record = PartitionRecord(
        asset=("orders",),
        partition=partition,
        state=state,
        run_id="run-1",
        number=1,
        started=NOON,
        ended=NOON,
        code_version="c1",
        fingerprint=None if state.is_bad else "f" * 32,
    )
    return replace(record, **overrides)


def make_attempt(*partitions: str, run_id: str = "run-1", number: int = 1) -> Attempt:
    return Attempt(("orders",), run_id, number, set_of(partitions), NOON, "c1", "host:1:0")

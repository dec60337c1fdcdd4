"""A backfill told to the receiver of lineage: its start, and what came of it. Never in its way."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from dagster import DagsterInstance

from lineage_assets.backfill.account import result_of, told_of
from lineage_assets.dagster_private import BaseAssetGraph
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.receipts import Receipt, note_backfill
from lineage_assets.lineage.backfills import backfill_ended, backfill_started
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Told:
    """The story of one backfill, begun; all of it is read from the backfill's own record."""

    instance: DagsterInstance
    id: str
    assets: BaseAssetGraph[Any]
    graph: AssetGraph
    sender: Sender
    since: float

    @classmethod
    def started(
        cls,
        instance: DagsterInstance,
        backfill_id: str,
        assets: BaseAssetGraph[Any],
        graph: AssetGraph,
        settings: Settings,
    ) -> Told:
        told = cls(instance, backfill_id, assets, graph, sender_for(settings), monotonic())
        record = instance.get_backfill(backfill_id)
        backfill = None if record is None else told_of(record, assets, graph)
        if backfill is not None:
            told.sender.send([backfill_started(backfill)])
        return told

    def ended(self) -> str:
        """Tell the end, wait a little for it to arrive, and say in a line whether it did."""
        record = self.instance.get_backfill(self.id)
        backfill = None if record is None else told_of(record, self.assets, self.graph)
        result = None if record is None else result_of(record, self.assets)
        if backfill is not None and result is not None:
            self.sender.send([backfill_ended(backfill, result)])
        delivery = self.sender.close(monotonic() - self.since)
        # What no run came to may be blocked: the reconciler looks at that, and leaves the receipt then.
        is_whole = result is not None and not result.not_run
        if record is not None and is_whole and delivery.sent and delivery.is_complete:
            note_backfill(self.instance, record, Receipt.SENT)
        return delivery.text

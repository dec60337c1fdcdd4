"""A backfill told to the receiver of lineage: its start, and what came of it. Never in its way."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from lineage_assets.backfill.ask import Ask
from lineage_assets.backfill.plan import BackfillPlan
from lineage_assets.backfill.tally import Tally
from lineage_assets.clock import utc_now
from lineage_assets.graph import AssetGraph
from lineage_assets.ledger.record import State
from lineage_assets.lineage.backfills import (
    BackfillResult,
    BackfillTold,
    backfill_ended,
    backfill_started,
)
from lineage_assets.lineage.parents import backfill_job
from lineage_assets.lineage.sender import Sender, sender_for
from lineage_assets.settings import Settings


@dataclass(frozen=True, slots=True)
class Told:
    """The story of one backfill, begun."""

    backfill: BackfillTold
    sender: Sender
    since: float

    @classmethod
    def started(cls, backfill_id: str, ask: Ask, plan: BackfillPlan, graph: AssetGraph, settings: Settings) -> Told:
        root = graph.nodes[plan.request.roots[0].asset].job
        backfill = BackfillTold(
            id=backfill_id,
            job=backfill_job([root, *(node.job for node in graph.nodes.values())]),
            started=utc_now(),
            requested_by=ask.requested_by,
            reason=ask.reason,
            plan=plan.fingerprint,
            assets=len(plan.assets),
            partitions=plan.partition_count,
        )
        sender = sender_for(settings)
        sender.send([backfill_started(backfill)])
        return cls(backfill, sender, monotonic())

    def ended(self, tally: Tally) -> str:
        """Tell the end, wait a little for it to arrive, and say in a line whether it did."""
        result = BackfillResult(
            ended=utc_now(),
            repaired=tally.count(State.GOOD),
            reused=tally.count(State.REUSED),
            failed=tally.count(State.FAILED),
            blocked=tally.count(State.BLOCKED),
            not_run=tally.not_run_count,
            is_cancelled=tally.is_cancelled,
        )
        self.sender.send([backfill_ended(self.backfill, result)])
        return self.sender.close(monotonic() - self.since).text

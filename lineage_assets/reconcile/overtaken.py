"""Runs that were told late, after newer ones of the same asset: in Marquez the last to arrive owns the graph.

Their receipts are held back until the newest have been told again, so that a pass which is stopped in between leaves
nothing behind that the next one would not find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from dagster import DagsterInstance

from lineage_assets.graph import AssetKey, LineageJob
from lineage_assets.ledger.dagster_log import facts_of_run, newest_attempt, stream_log
from lineage_assets.ledger.receipts import RECEIPT_TAG, Receipt, receipt_of
from lineage_assets.ledger.record import Attempt, Fact
from lineage_assets.ledger.scene import parse_scene

_MOST = 50
"""Receipts held back at a time: what a pass that is stopped has to tell again."""


@dataclass
class Overtaken:
    """What has been told in one pass and may own the graph wrongly."""

    instance: DagsterInstance
    _newest: dict[AssetKey, Attempt | None] = field(default_factory=dict)
    """As it was when the pass first came to the asset: what began since has an end to tell yet."""
    _again: dict[tuple[str, LineageJob], set[AssetKey]] = field(default_factory=dict)
    """A newer run and a job that it owns, with the assets by which it was found."""
    _receipts: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self._receipts) >= _MOST

    def keeps(self, told: Iterable[Fact], receipt: Callable[[], None]) -> bool:
        """Whether a newer run has been told before these facts; the receipt of them is kept then."""
        kept = False
        for (run_id, job), assets in _jobs(told).items():
            newest = self._newest_of(assets)
            if newest is not None and newest.run_id != run_id and self._is_told(newest.run_id):
                self._again.setdefault((newest.run_id, job), set()).update(assets)
                kept = True
        if kept:
            self._receipts.append(receipt)
        return kept

    def newest(self) -> Iterator[list[Fact]]:
        """The facts of each run that is to own the graph again."""
        for (run_id, job), known in self._again.items():
            found = facts_of_run(self.instance, run_id) or self._of_backfill(run_id, known)
            # All that the job made in that run: an attempt is told whole or wrong.
            assets = _jobs(found).get((run_id, job), set())
            yield [fact for fact in found if fact.asset in assets]

    def leave_receipts(self) -> None:
        for receipt in self._receipts:
            receipt()
        self._again.clear()
        self._receipts.clear()

    def _newest_of(self, assets: Iterable[AssetKey]) -> Attempt | None:
        for asset in assets:
            if asset not in self._newest:
                self._newest[asset] = newest_attempt(self.instance, asset)
        known = (self._newest[asset] for asset in assets)
        return max((one for one in known if one is not None), key=lambda one: one.started, default=None)

    def _is_told(self, run_id: str) -> bool:
        """What is not told yet is told later in this pass, or by its own process."""
        run = self.instance.get_run_by_id(run_id)
        if run is not None:
            return receipt_of(run) in (Receipt.SENT, Receipt.REJECTED)
        backfill = self.instance.get_backfill(run_id)
        return backfill is not None and RECEIPT_TAG in backfill.tags

    def _of_backfill(self, backfill: str, assets: Iterable[AssetKey]) -> list[Fact]:
        """Blocks that no run met are in the log of the assets only."""
        logged = (one.fact for _, one in stream_log(self.instance, sorted(assets)))
        return [fact for fact in logged if fact is not None and fact.run_id == backfill]


def _jobs(facts: Iterable[Fact]) -> dict[tuple[str, LineageJob], set[AssetKey]]:
    """The assets of each job tried, by run and job; one of a version that kept no scene is told by nobody."""
    found: dict[tuple[str, LineageJob], set[AssetKey]] = {}
    for fact in facts:
        if isinstance(fact, Attempt) and fact.scene:
            found.setdefault((fact.run_id, parse_scene(fact.scene).node.job), set()).add(fact.asset)
    return found

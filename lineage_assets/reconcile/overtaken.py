"""Runs that were told late, after newer ones of the same job: in Marquez the last to arrive owns graph and data.

Their receipts are held back until the newest have been told again, so that a pass which is stopped in between leaves
nothing behind that the next one would not find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from dagster import AssetKey as DagsterAssetKey
from dagster import DagsterInstance

from lineage_assets.graph import AssetKey, LineageJob
from lineage_assets.ledger.dagster_log import facts_of_run, logged_of, newest_attempt, stream_log
from lineage_assets.ledger.receipts import RECEIPT_TAG, Receipt, receipt_of
from lineage_assets.ledger.record import Attempt, Fact, PartitionRecord
from lineage_assets.ledger.scene import parse_scene

_MOST = 50
"""Receipts held back at a time: what a pass that is stopped has to tell again."""
_LOOKED_AT = 10
"""Newest materializations among which one of ours is looked for."""

_Newest = tuple[PartitionRecord | None, Attempt | None]
"""What left the data that is there, and what was tried last."""
_Again = dict[tuple[str, LineageJob], set[AssetKey]]
"""A newer run and a job of it, with the assets by which it was found."""


@dataclass
class Overtaken:
    """What has been told in one pass and may own the graph wrongly."""

    instance: DagsterInstance
    _known: dict[AssetKey, _Newest] = field(default_factory=dict)
    """As it was when the pass first came to the asset: what began since has an end to tell yet."""
    _data: _Again = field(default_factory=dict)
    _graph: _Again = field(default_factory=dict)
    _receipts: list[Callable[[], None]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self._receipts) >= _MOST

    def keeps(self, told: Iterable[Fact], receipt: Callable[[], None]) -> bool:
        """Whether a newer run has been told before these facts; the receipt of them is kept then."""
        kept = False
        for (_, job), attempts in _jobs(told).items():
            assets, began = {one.asset for one in attempts}, max(one.started for one in attempts)
            for again, newest in zip((self._data, self._graph), self._newest_of(assets), strict=True):
                if newest is not None and newest.started > began and self._is_told(newest.run_id):
                    again.setdefault((newest.run_id, job), set()).update(assets)
                    kept = True
        if kept:
            self._receipts.append(receipt)
        return kept

    def newest(self) -> Iterator[list[Fact]]:
        """The facts of each run that is to own the data of a job again, and then the graph."""
        data = {key: assets for key, assets in self._data.items() if key not in self._graph}
        for (run_id, job), known in [*data.items(), *self._graph.items()]:
            found = facts_of_run(self.instance, run_id) or self._of_backfill(run_id, known)
            # All that the job made in that run: an attempt is told whole or wrong.
            assets = {one.asset for one in _jobs(found).get((run_id, job), ())}
            yield [fact for fact in found if fact.asset in assets]

    def end(self, *, is_told: bool) -> None:
        """The newest have been told again, and the receipts are left; or they have not, and all of it is owed still."""
        for receipt in self._receipts if is_told else ():
            receipt()
        self._data.clear()
        self._graph.clear()
        self._receipts.clear()

    def _newest_of(self, assets: Iterable[AssetKey]) -> _Newest:
        for asset in assets:
            if asset not in self._known:
                self._known[asset] = _newest_good(self.instance, asset), newest_attempt(self.instance, asset)
        records = [one for one, _ in map(self._known.__getitem__, assets) if one is not None]
        attempts = [one for _, one in map(self._known.__getitem__, assets) if one is not None]
        return (
            max(records, key=lambda one: one.started, default=None),
            max(attempts, key=lambda one: one.started, default=None),
        )

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


def _newest_good(instance: DagsterInstance, asset: AssetKey) -> PartitionRecord | None:
    page = instance.fetch_materializations(DagsterAssetKey(asset), limit=_LOOKED_AT)
    logged = (logged_of(asset, record) for record in page.records)
    facts = (one.fact for one in logged if one is not None)
    return next((fact for fact in facts if isinstance(fact, PartitionRecord)), None)


def _jobs(facts: Iterable[Fact]) -> dict[tuple[str, LineageJob], list[Attempt]]:
    """The attempts by run and job; one of a version that kept no scene is told by nobody."""
    found: dict[tuple[str, LineageJob], list[Attempt]] = {}
    for fact in facts:
        if isinstance(fact, Attempt) and fact.scene:
            found.setdefault((fact.run_id, parse_scene(fact.scene).node.job), []).append(fact)
    return found

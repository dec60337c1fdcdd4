"""The reader of a run: histories of assets, each event of the log fetched once however often they are asked for.

A step asks for its whole upstream, and the next step of the run for much of the same. Kept no longer than a run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dagster import DagsterInstance

from lineage_assets.graph import AssetKey
from lineage_assets.ledger.dagster_log import read_log
from lineage_assets.ledger.fold import History, Logged, fold_history

OVERLAP = 500
"""Storage ids that are looked at again: PostgreSQL may show an event after another with a higher id, by as many as
there are writers at work."""


@dataclass(slots=True)
class LogReader:
    """The log of one instance as far as it was read."""

    instance: DagsterInstance
    _seen: dict[AssetKey, dict[int, Logged]] = field(default_factory=dict)
    _folded: dict[AssetKey, History] = field(default_factory=dict)

    def history(self, asset: AssetKey) -> History:
        """The history of an asset as the log has it now."""
        seen = self._seen.setdefault(asset, {})
        after = max(seen) - OVERLAP if seen else 0
        new = {one.storage_id: one for one in read_log(self.instance, asset, after=after if after > 0 else None)}
        if asset not in self._folded or not new.keys() <= seen.keys():
            seen.update(new)
            self._folded[asset] = fold_history(seen.values())
        return self._folded[asset]

    def histories(self, assets: Iterable[AssetKey]) -> dict[AssetKey, History]:
        return {asset: self.history(asset) for asset in assets}
